"""Any chunk, any thread, with or without events: deal number i is the same deal."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from engine_tools import PRESET_NAMES, VARIANT_IDS, VARIANTS, rules_of, same_chunks, simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from sisepai import cards
from sisepai.engine import machine, records
from sisepai.engine.simulator import Chunk, Simulator, decks
from sisepai.errors import InputError
from sisepai.rules import tables
from sisepai.rules.ruleset import PLACES
from sisepai.strategies import parse_entries

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


def test_the_kernels_numbers_are_the_places_of_their_names():
    for prefix, names in (("E_", cards.EVENTS), ("O_", cards.OUTCOMES), ("BY_", cards.WIN_BY)):
        assert [getattr(records, prefix + name.upper()) for name in names] == list(range(len(names)))
    assert [getattr(tables, "K_" + name.upper()) for name in cards.MELDS] == list(range(len(cards.MELDS)))
    places = (machine.DRAWER, machine.DRAW_NEXT, machine.DRAW_OTHERS, machine.DISCARD_NEXT, machine.DISCARD_OTHERS)
    assert PLACES == ("draw_drawer", "draw_next", "draw_others", "discard_next", "discard_others")
    assert places == tuple(range(len(PLACES)))


def test_a_match_in_chunks_has_the_dealers_of_the_whole():
    rules = rules_of("classic", {})
    whole = simulator(rules, "greedy", 7, match=6).play(0, 60)
    pieces = [simulator(rules, "greedy", 7, match=6).play(first, 12).rows for first in range(0, 60, 12)]
    assert np.concatenate(pieces).tobytes() == whole.rows.tobytes()
    for before, after, number in zip(whole.rows, whole.rows[1:], range(1, 60), strict=False):
        if number % 6:
            assert after["dealer"] == (before["dealer"] if before["winner"] == 255 else before["winner"])


def test_what_kernels_do_not_check_is_checked_before():
    rules = rules_of("classic", {})
    matches = simulator(rules, "greedy", 7, match=10)
    with pytest.raises(ValueError, match="not the first of its match"):
        matches.play(15, 10)
    with pytest.raises(ValueError, match="dealers"):
        matches.play(15, 1, dealers=np.array([4], np.uint8))
    with pytest.raises(ValueError, match="packs"):
        matches.play_decks(np.zeros(1, np.uint8), np.zeros((1, 5), np.uint8))
    with pytest.raises(InputError, match="one seating"):
        Simulator(rules, parse_entries("greedy", 4)[0], np.zeros((2, 4), np.uint8), 7, match=10)
