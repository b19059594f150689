"""Any chunk, any thread, with or without events: deal number i is the same deal."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from engine_tools import PRESET_NAMES, VARIANT_IDS, VARIANTS, rules_of, same_chunks, simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from sisepai.engine.simulator import Chunk, decks

MIXED = "random,greedy,random,greedy"


def joined(chunks):
    """Chunks in order as one."""
    return Chunk(
        np.concatenate([chunk.rows for chunk in chunks]).view(np.recarray),
        np.concatenate([chunk.events for chunk in chunks]),
        np.concatenate([chunk.event_counts for chunk in chunks]),
    )


@pytest.fixture(scope="module", params=PRESET_NAMES)
def table(request):
    """(simulator, 600 deals of it from number 1,000 on)."""
    sim = simulator(rules_of(request.param, {}), MIXED)
    return sim, sim.play(1000, 600, events=True)


@settings(deadline=None, max_examples=30)
@given(cuts=st.lists(st.integers(0, 600), max_size=6))
def test_chunks_split_at_any_place(table, cuts):
    sim, whole = table
    edges = [0, *sorted(cuts), 600]
    parts = [sim.play(1000 + low, high - low, events=True) for low, high in pairwise(edges)]
    assert same_chunks(joined(parts), whole)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads(table, threads):
    sim, whole = table
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda first: sim.play(first, 25, events=True), range(1000, 1600, 25)))
    assert same_chunks(joined(parts), whole)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=VARIANT_IDS)
def test_events_change_nothing(name, options):
    players = options.get("players", 4)
    sim = simulator(rules_of(name, options), ",".join(MIXED.split(",")[:players]))
    assert same_chunks(sim.play(50, 200), sim.play(50, 200, events=True))


def test_a_deal_is_the_same_in_another_simulator(table):
    sim, whole = table
    again = sim.play(1234, 1, events=True)
    assert again.rows[0].tobytes() == whole.rows[234].tobytes()


def test_no_deals(table):
    sim, _ = table
    empty = sim.play(5, 0, events=True)
    assert (len(empty.rows), len(empty.events), len(empty.event_counts)) == (0, 0, 0)
    assert sim.play(5, 0).events is None


def test_given_decks_play_as_seeded_ones():
    """`play_decks` with the decks of a seed plays the deals of that seed."""
    for name in PRESET_NAMES:
        rules = rules_of(name, {})
        sim = simulator(rules, "random", 11)
        assert same_chunks(
            sim.play_decks(*decks(rules, 11, 0, 100), events=True), sim.play(0, 100, events=True)
        )


def test_events_need_room_that_grows():
    """Redeals make events without number: the room is enlarged, and nothing is lost."""
    rules = rules_of("classic", {"players": 4, "redeal": "always", "hand_size": 12})
    sim = simulator(rules, "random", 3)
    whole = sim.play(0, 300, events=True)
    assert int(whole.event_counts.sum()) == len(whole.events)
    alone = [sim.play(deal, 1, events=True) for deal in range(300)]
    assert same_chunks(joined(alone), whole)
    assert (
        np.add.reduceat(whole.events["event"] == 1, np.cumsum([0, *whole.event_counts[:-1]])) > 0
    ).sum() == (whole.rows.redeals > 0).sum()
