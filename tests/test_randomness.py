"""The generator, the decks and the seats' streams against a second implementation, written from docs/seeds.md."""

import hashlib
import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import naive
import numba
import numpy as np
import pytest
from engine_tools import (
    ORDER_OF_OFFERS,
    VARIANT_IDS,
    VARIANTS,
    events_by_deal,
    later_deck,
    naive_rules_of,
    rules_of,
    seeded_decks,
    simulator,
)
from naive_deal import PASS, WIN, play_deal

from sisepai.cards import CODES
from sisepai.engine.randomness import RNG, below, open_stream, refill
from sisepai.engine.simulator import Simulator, decks
from sisepai.strategies import parse_entries

PAGE = Path(__file__).parents[1] / "docs" / "seeds.md"
MASK = 2**32 - 1

# --------------------------------------------------------------------------------- the recipe of docs/seeds.md


def philox(counter, key):
    """Four words of Philox4x32-10."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & MASK, (a >> 32) ^ c3 ^ k1, a & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return c0, c1, c2, c3


def words(seed, deck, attempt, stream):
    """The words of a stream, without end."""
    block = 0
    while True:
        yield from philox((deck & MASK, deck >> 32, 8 * attempt + stream, block), (seed & MASK, seed >> 32))
        block += 1


def number_below(source, n):
    """A number below n."""
    while True:
        product = next(source) * n
        if product & MASK >= 2**32 % n:
            return product >> 32


def deck_of(seats, flowers, seed, deck, attempt=0):
    """(dealer, cards)."""
    source = words(seed, deck, attempt, 0)
    dealer = number_below(source, seats)
    cards = [card for card in range(28) for _ in range(4)] + [28] * flowers
    for i in range(len(cards) - 1):
        j = i + number_below(source, len(cards) - i)
        cards[i], cards[j] = cards[j], cards[i]
    return dealer, cards


def vector(rules, seed, deck, attempt):
    """An entry of the page's vectors."""
    data = naive.rule_set(rules)
    dealer, cards = deck_of(4, data["flowers"], seed, deck, attempt)
    return {
        "rules": rules, "seed": seed, "deck": deck, "attempt": attempt, "dealer": dealer,
        "first": " ".join(CODES[card] for card in cards[:8]), "sha256": hashlib.sha256(bytes(cards)).hexdigest(),
    }  # fmt: skip


def page_vectors():
    return json.loads(re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])


# ----------------------------------------------------------------------------------------------------- generator

# Published with Random123: counter, key, words.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def hexes(text):
    return [int(word, 16) for word in text.split()]


@numba.njit
def _refill(rngs):
    refill(rngs[0])


@numba.njit
def _below(rngs, seed, deck, attempt, stream, bounds, numbers):
    open_stream(rngs[0], seed, deck, attempt, stream)
    for i in range(len(bounds)):
        numbers[i] = below(rngs[0], bounds[i])


def new_rng():
    return np.zeros(1, RNG).view(np.recarray)


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert list(philox(hexes(counter), hexes(key))) == hexes(expected)
    rngs = new_rng()
    fields = ("deck0", "deck1", "stream", "block", "key0", "key1")
    for field, value in zip(fields, hexes(counter + " " + key), strict=True):
        rngs[field] = value
    _refill(rngs)
    assert list(rngs.word[0][:4]) == hexes(expected)


@pytest.mark.parametrize(("seed", "deck", "attempt", "stream"), [
    (0, 0, 0, 0), (7, 1, 0, 1), (2**64 - 1, 2**64 - 1, 1000, 4), (2**32, 2**33 + 5, 3, 2),
])  # fmt: skip
def test_numbers_below(seed, deck, attempt, stream):
    """Small and huge bounds; just above a power of two nearly half of the words are refused."""
    bounds = [1, 2, 3, 117, 2**31 + 1, 2**32 - 1, 3 * 2**30] * 30
    numbers = np.zeros(len(bounds), np.int64)
    _below(new_rng(), np.uint64(seed), np.uint64(deck), attempt, stream, np.array(bounds, np.int64), numbers)
    source = words(seed, deck, attempt, stream)
    assert list(numbers) == [number_below(source, bound) for bound in bounds]


def test_streams_share_no_words():
    starts = Counter()
    for seed in (0, 1, 2**32, 2**63):
        for deck in (0, 1, 2**32):
            for attempt in (0, 1):
                for stream in range(5):
                    starts[tuple(islice(words(seed, deck, attempt, stream), 4))] += 1
    assert set(starts.values()) == {1}
    assert len(starts) == 4 * 3 * 2 * 5


# --------------------------------------------------------------------------------------------------------- decks


def test_the_pages_vectors():
    vectors = page_vectors()
    assert {v["seed"] for v in vectors} >= {0, 7, 2**64 - 1}
    for given in vectors:
        assert given == vector(given["rules"], given["seed"], given["deck"], given["attempt"])
        dealers, cards = decks(
            rules_of(given["rules"], {}), given["seed"], given["deck"], 1, given["attempt"]
        )
        assert dealers[0] == given["dealer"]
        assert hashlib.sha256(cards[0].tobytes()).hexdigest() == given["sha256"]


@pytest.mark.parametrize(("name", "options"), [
    ("cardavia", {}), ("classic", {"players": 2, "flowers": 3}), ("ten-hu", {"players": 3}),
])  # fmt: skip
@pytest.mark.parametrize(("seed", "first"), [(7, 0), (2**64 - 1, 2**32 - 3), (123456789, 2**64 - 20)])
def test_decks(name, options, seed, first):
    rules = rules_of(name, options)
    for attempt in (0, 2):
        dealers, cards = decks(rules, seed, first, 10, attempt)
        for i in range(10):
            expected = deck_of(rules.players, rules.flowers, seed, first + i, attempt)
            assert (dealers[i], list(cards[i])) == expected


def test_decks_do_not_depend_on_strategies():
    rules = rules_of("cardavia", {})
    dealt = []
    for strategies in ("greedy", "random", "random,greedy,random,greedy"):
        rows = simulator(rules, strategies).play(5, 300).rows
        dealt.append((rows.dealer.tolist(), rows.dealt_deadwood.tolist()))
    assert dealt[0] == dealt[1] == dealt[2]


def test_seatings_share_a_deck():
    """Deal i plays deck i // S, under seating i % S."""
    rules = rules_of("cardavia", {})
    entries, _ = parse_entries("greedy,random,random,random", 4)
    seatings = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1]], np.uint8)
    chunk = Simulator(rules, entries, seatings, 7).play(4, 20)
    dealers, _ = decks(rules, 7, 0, 8)
    assert chunk.rows.dealer.tolist() == [dealers[i // 3] for i in range(4, 24)]
    alone = [Simulator(rules, entries, seatings[s : s + 1], 7).play(0, 8).rows for s in range(3)]
    for row, i in zip(chunk.rows, range(4, 24), strict=True):
        assert row.tobytes() == alone[i % 3][i // 3].tobytes()


# ----------------------------------------------------------------------------------------------- seats' streams


class RandomByThePage:
    """The strategy `random`, drawing from the stream that the page gives its seat."""

    def __init__(self, seed, deck, seat):
        self.place, self.attempt = (seed, deck, seat), 0
        self.source = None

    def below(self, n):
        if self.source is None:
            seed, deck, seat = self.place
            self.source = words(seed, deck, self.attempt, seat + 1)
        return number_below(self.source, n)

    def answer(self, view, offers):
        if WIN in offers:
            return WIN
        if offers == [PASS]:
            return PASS
        ordered = sorted((o for o in offers if o != PASS), key=lambda o: (ORDER_OF_OFFERS.index(o[0]), o[1]))
        ordered += [PASS] if PASS in offers else []
        return ordered[self.below(len(ordered))]

    def discard(self, view):
        legal = view.own.discardable()
        return legal[self.below(len(legal))]


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=VARIANT_IDS)
def test_random_plays_as_the_page_says(name, options):
    """So `random` is uniform over its answers and cards, from its seat's own stream, card by card."""
    rules, slow_rules, seed, first, count = (
        rules_of(name, options),
        naive_rules_of(name, options),
        99,
        2**32 - 5,
        12,
    )
    events = events_by_deal(simulator(rules, "random", seed).play(first, count, events=True))
    for i, (dealer, hands, stock) in enumerate(seeded_decks(rules, seed, first, count)):
        seats = [RandomByThePage(seed, first + i, seat) for seat in range(rules.players)]

        def next_deck(attempt, seats=seats, deck=first + i, dealer=dealer):
            for seat in seats:
                seat.attempt = attempt
            return later_deck(rules, seed, deck, dealer, attempt)

        assert events[i] == play_deal(slow_rules, dealer, hands, stock, seats, next_deck).events


# -------------------------------------------------------------------------------------------------- chi-squares

DECKS = 200_000


def far(statistic, freedom):
    """How many standard deviations a chi-square lies from its mean (by its cube root, which is nearly normal)."""
    spread = 2 / (9 * freedom)
    return abs((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5


def chi_square(counts, expected):
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.fixture(scope="module")
def many():
    """(dealers, cards, copies of each type) of many decks of `cardavia`."""
    dealers, cards = decks(rules_of("cardavia", {}), 7, 0, DECKS)
    return dealers, cards, np.array([4] * 28 + [5])


def test_cards_by_position(many):
    _, cards, copies = many
    size = len(cards[0])
    counts = np.array([np.bincount(cards[:, place], minlength=29) for place in range(size)])
    expected = np.broadcast_to(len(cards) * copies / size, counts.shape)
    # The rows of a permutation hang together: (n - 1) / n makes the sum a chi-square of (n - 1)(k - 1).
    assert far(chi_square(counts, expected) * (size - 1) / size, (size - 1) * 28) < 4


@pytest.mark.parametrize("place", [0, 19, 57, 115])
def test_neighbours_within_a_deck(many, place):
    _, cards, copies = many
    counts = np.bincount(29 * cards[:, place].astype(int) + cards[:, place + 1], minlength=29 * 29)
    pairs = np.outer(copies, copies) - np.diag(copies)
    expected = len(cards) * pairs.ravel() / pairs.sum()
    assert far(chi_square(counts, expected), 29 * 29 - 1) < 4


@pytest.mark.parametrize("other", ["next deck", "next seed", "next attempt", "next block of decks"])
@pytest.mark.parametrize("place", [0, 60, 116])
def test_neighbouring_decks(many, other, place):
    _, cards, copies = many
    rules, one = rules_of("cardavia", {}), cards
    if other == "next deck":
        one, two = cards[::2], cards[1::2]
    elif other == "next seed":
        two = decks(rules, 8, 0, DECKS)[1]
    elif other == "next attempt":
        two = decks(rules, 7, 0, DECKS, 1)[1]
    else:
        two = decks(rules, 7, 2**32, DECKS)[1]
    counts = np.bincount(29 * one[:, place].astype(int) + two[:, place], minlength=29 * 29)
    expected = len(one) * np.outer(copies, copies).ravel() / 117**2
    assert far(chi_square(counts, expected), 29 * 29 - 1) < 4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_dealers(players):
    rules = rules_of("cardavia", {"players": players})
    dealers, cards = decks(rules, 7, 0, 60_000)
    counts = np.bincount(dealers, minlength=players)
    assert len(counts) == players
    assert far(chi_square(counts, np.full(players, 60_000 / players)), players - 1) < 4
    # The dealer tells nothing of the next dealer, nor of the first card.
    pairs = np.bincount(players * dealers[::2].astype(int) + dealers[1::2], minlength=players**2)
    assert far(chi_square(pairs, np.full(players**2, 30_000 / players**2)), players**2 - 1) < 4
    cells = np.bincount(29 * dealers.astype(int) + cards[:, 0], minlength=29 * players)
    expected = 60_000 / players * np.tile(np.array([4] * 28 + [5]) / 117, players)
    assert far(chi_square(cells, expected), 29 * players - 1) < 4


if __name__ == "__main__":  # print the vectors of the page
    asked = [("cardavia", 7, 0, 0), ("cardavia", 7, 1, 0), ("cardavia", 7, 0, 1), ("cardavia", 0, 0, 0),
             ("cardavia", 2**64 - 1, 0, 0), ("cardavia", 7, 2**32, 0), ("cardavia", 2**64 - 1, 2**64 - 1, 0),
             ("classic", 7, 0, 0), ("ten-hu", 2**64 - 1, 10**12, 3)]  # fmt: skip
    lines = [json.dumps(vector(*one)).replace(', "first"', ',\n "first"').replace(', "sha256"', ',\n "sha256"')
             for one in asked]  # fmt: skip
    print("[\n" + ",\n".join(lines) + "\n]")
