"""The pieces of a deal, timed by pytest-benchmark: `pytest benchmarks`.

Pieces are called in a compiled loop over many decks, since one call is shorter than a clock's tick; `extra_info` holds
how many a round has, `per_piece_ns` what one costs at the least.
"""

import numba
import numpy as np
import pytest

from sisepai.engine.chunk import WORK, one, shuffle_deck
from sisepai.engine.dealing import deal
from sisepai.engine.randomness import RNG
from sisepai.engine.simulator import Simulator, decks, tables_array
from sisepai.rules import PRESETS, preset
from sisepai.rules.hand import add_card, remove_card
from sisepai.rules.offers import refresh
from sisepai.rules.tables import MOST_CARDS
from sisepai.strategies import STRATEGIES, parse_entries

SEED = 7
PIECES = 2_000
CHUNK = 10_000
FAST = [name for name, strategy in STRATEGIES.items() if strategy.shard_deals >= CHUNK]


@numba.njit(error_model="numpy")
def shuffles(tables, rng, cards, n):
    for i in range(n):
        shuffle_deck(tables[0], rng[0], np.uint64(SEED), np.uint64(i), 0, cards)


@numba.njit(error_model="numpy")
def deals(tables, work, cards, dealers):
    """Deal every deck: hands filled, dealt quads shown, all that a window asks of a hand known."""
    game = work[0].game
    for i in range(len(dealers)):
        game.table.events = 0
        for j in range(cards.shape[1]):
            game.hidden.deck[j] = cards[i, j]
        deal(tables[0], game, np.int64(dealers[i]))


@numba.njit(error_model="numpy")
def refreshes(tables, work, cards, places):
    """Move one card of a dealt hand out and in, and renew the hand each time."""
    game = work[0].game
    for i in range(len(cards)):
        hand = game.hands[places[i]]
        card = np.int64(cards[i])
        remove_card(tables[0], hand, card)
        refresh(tables[0], hand, game.melds)
        add_card(tables[0], hand, card)
        refresh(tables[0], hand, game.melds)


@pytest.fixture(params=PRESETS)
def rules(request):
    return preset(request.param)


def timed(benchmark, pieces, function, *arguments):
    """Time a function that does so many pieces."""
    function(*arguments)  # compiled
    benchmark(function, *arguments)
    benchmark.extra_info["pieces"] = pieces
    if benchmark.stats:
        benchmark.extra_info["per_piece_ns"] = round(benchmark.stats["min"] / pieces * 1e9, 1)


def test_shuffle(benchmark):
    tables = tables_array(preset("cardavia"))
    timed(benchmark, PIECES, shuffles, tables, one(RNG), np.zeros(MOST_CARDS, np.uint8), PIECES)


def test_deal(benchmark, rules):
    dealers, cards = decks(rules, SEED, 0, PIECES)
    timed(benchmark, PIECES, deals, tables_array(rules), one(WORK), cards, dealers)


def test_refresh(benchmark, rules):
    tables, work = tables_array(rules), one(WORK)
    dealers, packs = decks(rules, SEED, 0, 1)
    deals(tables, work, packs, dealers)
    hands = work["game"]["hands"][0, : rules.players]
    held = [(seat, card) for seat, hand in enumerate(hands) for card, n in enumerate(hand["count"]) if n]
    seats, cards = (np.array(values, np.uint8) for values in zip(*held, strict=True))
    timed(benchmark, 2 * len(cards), refreshes, tables, work, cards, seats)


@pytest.mark.parametrize("strategy", FAST)
def test_chunk(benchmark, rules, strategy):
    """Whole deals as a run plays them: decks, strategies, rows."""
    entries, seats = parse_entries(strategy, rules.players)
    simulator = Simulator(rules, entries, np.array([seats], np.uint8), SEED)
    timed(benchmark, CHUNK, simulator.play, 0, CHUNK)


def test_chunk_with_events(benchmark):
    entries, seats = parse_entries("greedy", 4)
    simulator = Simulator(preset("cardavia"), entries, np.array([seats], np.uint8), SEED)
    timed(benchmark, CHUNK, simulator.play, 0, CHUNK, True)
