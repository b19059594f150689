"""The kernels of a hand against the naive solver: every state of every block, random hands, and the best partition."""

import random
from collections import Counter
from itertools import combinations_with_replacement, product

import naive
import pytest
from engine_tools import PRESET_NAMES, naive_rules_of, rules_of
from hand_tools import Hand, check, judge, melds_of, naive_points, points_of, random_hand

from sisepai.cards import FLOWER, MELDS
from sisepai.rules.melds import melds_of as melds_known
from sisepai.rules.partition import analyze, best_partition, best_win

INDEPENDENT = ("cardavia", "ten-hu")
HAND_VARIANTS = [
    ("cardavia", {}), ("classic", {}), ("ten-hu", {}), ("classic", {"colour_groups": "soldiers"}), ("own", {}),
]  # fmt: skip
FAST_RANDOM, SLOW_RANDOM, BATCH = 200, 100_000, 5_000
CONCEALED, EXPOSED, LOCKED = {}, {"exposed": 5}, {"exposed": 4, "locked": True}
COLOURS = range(0, 28, 7)


@pytest.fixture(autouse=True)
def _forget():
    """Let the reference's memory of hands go after each test."""
    yield
    naive._deadwood.cache_clear()
    naive._best_partition.cache_clear()


def agree(name, hands, loose=True, **options):
    """Kernels and reference agree on every hand; how many of them win on some card."""
    return check(rules_of(name, options), naive_rules_of(name, options), hands, loose)


# ------------------------------------------------------------------------------------- every state of every block


def states_of(types):
    """Hands of up to four of each of some card types: every state of a block."""
    for counts in product(range(5), repeat=len(types)):
        yield Hand(tuple(card for card, count in zip(types, counts, strict=True) for _ in range(count)))


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("first", [0, 3])
def test_every_state_of_a_half_colour(name, first):
    for colour in COLOURS:
        agree(name, list(states_of(range(colour + first, colour + first + 3))))


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_every_state_of_the_soldiers(name):
    agree(name, list(states_of(range(6, 28, 7))))


@pytest.mark.parametrize("rank", range(6))
def test_every_state_of_a_rank_in_four_colours(rank):
    agree("classic", list(states_of(range(rank, 28, 7))))


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_flowers(name):
    hands = [Hand((FLOWER,) * n) for n in range(6)] + [Hand((3, 3, *(FLOWER,) * n)) for n in range(6)]
    agree(name, hands, flowers=5)


def small_halves(first, size):
    """Every hand of so many cards of one half (command or field cards of all colours)."""
    types = [colour + first + i for colour in COLOURS for i in range(3)]
    for cards in combinations_with_replacement(types, size):
        if max(Counter(cards).values()) <= 4:
            yield Hand(tuple(sorted(cards)))


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("size", range(1, 5))
def test_small_halves_under_coupled_rules(first, size):
    agree("classic", list(small_halves(first, size)))


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("size", [5, 6, 7])
def test_larger_halves_under_coupled_rules(first, size):
    agree("classic", list(small_halves(first, size)))


@pytest.mark.parametrize(("first", "count"), [(0, 150), (3, 150)])
def test_random_halves_under_coupled_rules(first, count):
    source = random.Random(first)
    types = [colour + first + i for colour in COLOURS for i in range(3)]
    hands = [Hand(tuple(sorted(source.sample(types * 4, source.randint(8, 21))))) for _ in range(count)]
    agree("classic", hands)


# ------------------------------------------------------------------------------------------------ random hands


def random_hands_agree(name, options, form, count):
    """Random hands in batches; a good part of them must win on some card, or they would show little."""
    slow_rules, source, won = naive_rules_of(name, options), random.Random(f"{name} {form}"), 0
    for start in range(0, count, BATCH):
        hands = [random_hand(slow_rules, source, **form) for _ in range(min(BATCH, count - start))]
        won += agree(name, hands, loose=count <= BATCH, **options)
        if count > BATCH:
            naive._deadwood.cache_clear()
            naive._best_partition.cache_clear()
    assert won > count / 20


@pytest.mark.parametrize("form", [CONCEALED, EXPOSED, LOCKED], ids=["concealed", "exposed", "locked"])
@pytest.mark.parametrize(("name", "options"), HAND_VARIANTS)
def test_random_hands(name, options, form):
    random_hands_agree(name, options, form, FAST_RANDOM)


@pytest.mark.slow
@pytest.mark.parametrize("form", [CONCEALED, LOCKED], ids=["concealed", "laid"])
@pytest.mark.parametrize("name", PRESET_NAMES)
def test_many_random_hands(name, form):
    random_hands_agree(name, {}, form, SLOW_RANDOM)


# ------------------------------------------------------------------------------------------ the best partition


def valid(rules, melds, cards):
    """The melds are melds of the rule set and made of these cards."""
    assert sorted(card for meld in melds for card in meld.cards) == sorted(cards)
    for meld in melds:
        assert melds_known(rules)[meld.cards] == meld.kind


@pytest.mark.parametrize(("name", "options"), HAND_VARIANTS)
def test_best_partition(name, options):
    rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
    source = random.Random(name)
    hands = [random_hand(slow_rules, source) for _ in range(300)]
    for hand, verdict in zip(hands, judge(rules, hands), strict=True):
        deadwood, melds = best_partition(rules, hand.cards)
        assert deadwood == verdict.dead == naive.deadwood(slow_rules, hand.cards)
        if deadwood == 0:
            valid(rules, melds, hand.cards)
            assert (
                sum(meld.points for meld in melds)
                == points_of(verdict.worth)
                == naive_points(slow_rules, hand)
            )
            assert Counter(meld.kind for meld in melds) == melds_of(verdict.worth)


@pytest.mark.parametrize(("name", "options"), HAND_VARIANTS)
def test_best_win(name, options):
    """The melds of a win, as people are shown them, are those that the kernels count in a row."""
    rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
    source, seen = random.Random(name), 0
    hands = [random_hand(slow_rules, source) for _ in range(60)]
    for hand, verdict in zip(hands, judge(rules, hands), strict=True):
        for card, worth in enumerate(verdict.win):
            melds = best_win(rules, hand.cards, card) if hand.cards.count(card) < 4 else None
            if worth >= 0:
                seen += 1
                valid(rules, melds, [*hand.cards, card])
                assert card in melds[0].cards
                assert sum(meld.points for meld in melds) == points_of(worth)
                assert Counter(meld.kind for meld in melds) == melds_of(worth)
            elif rules.min_points == 0:
                assert melds is None or hand.cards.count(card) >= 4
    assert seen > 20


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_analyze(name):
    rules, slow_rules = rules_of(name, {}), naive_rules_of(name, {})
    source = random.Random(name)
    hands = [random_hand(slow_rules, source, exposed=4) for _ in range(120)]
    for hand, verdict in zip(hands, judge(rules, hands), strict=True):
        found = analyze(rules, hand.cards, hand.exposed)
        assert found.deadwood == verdict.dead
        assert found.points == naive_points(slow_rules, hand)
        if hand.size() == 20:
            everything = [*hand.cards, *(card for _, cards in hand.exposed for card in cards)]
            unseen = {
                card: (rules.flowers if card == FLOWER else 4) - everything.count(card) for card in range(29)
            }
            wins = {card for card, worth in enumerate(verdict.win) if worth >= 0}
            assert dict(found.wins_on) == {card: unseen[card] for card in wins if unseen[card] > 0}


def test_every_meld_is_known():
    """The melds people are shown are those of the reference, for each rule set and each card."""
    for name, options in HAND_VARIANTS:
        rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
        pack = tuple(naive.pack(slow_rules | {"flowers": 1}))
        slow = set()
        for card in set(pack):
            for kind, partners in naive.melds_with(slow_rules, card, naive.without(pack, [card])):
                slow.add((tuple(sorted((card, *partners))), kind))
        assert set(melds_known(rules).items()) == slow
        assert {kind for _, kind in slow} <= set(MELDS)
