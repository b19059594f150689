"""Many hands at once through the kernels, and the same questions to the naive reference.

A *hand* here is a `Hand` of naive card numbers; `judge` fills one VERDICT a hand by calling the kernels, `verdict` asks
the reference for the same things, as a dictionary.
"""

from typing import NamedTuple

import naive
import numba
import numpy as np
from naive import without

from sisepai.cards import MELDS, N_TYPES
from sisepai.engine.simulator import tables_array
from sisepai.rules.hand import HAND, add_card, best_worth, deadwood, fill_hand, loose_cards, set_aside
from sisepai.rules.offers import OFFERS, refresh, win_worth
from sisepai.rules.tables import POINTS_SHIFT

END = 255
VERDICT = np.dtype(
    [
        ("dead", "i8"),
        ("loose", "i8"),  # mask of the discards that leave one deadwood less
        ("wins", "i8"),  # mask of the winning cards, points enough
        ("worth", "i8"),  # of the whole hand, or negative
        ("win", "i8", N_TYPES),  # worth of the best win by its card, or negative
    ]
)


class Hand(NamedTuple):
    """Cards of one seat: `cards` concealed; `triples` and `quads` are locked, one number for each."""

    cards: tuple
    exposed: tuple = ()  # of (kind, cards)
    triples: tuple = ()
    quads: tuple = ()

    def size(self):
        """Cards of the seat, everything counted."""
        laid = sum(len(cards) for _, cards in self.exposed)
        return len(self.cards) + laid + 3 * len(self.triples) + 4 * len(self.quads)


@numba.njit(cache=True)
def _judge(all_tables, cards, kinds, laid, triples, quads, hands, melds, verdicts):
    tables, hand = all_tables[0], hands[0]
    for i in range(len(cards)):
        fill_hand(tables, hand, cards[i], 0, 0)
        for card in cards[i]:
            if card != END:
                add_card(tables, hand, np.int64(card))
        for j in range(kinds.shape[1]):
            if kinds[i, j] != END:
                hand.fixed += tables.exposed[kinds[i, j], laid[i, j]]
        for card in quads[i]:
            if card != END:
                for _ in range(4):
                    add_card(tables, hand, np.int64(card))
                set_aside(tables, hand, np.int64(card), 4, False)
        for card in triples[i]:
            if card != END:
                for _ in range(3):
                    add_card(tables, hand, np.int64(card))
                set_aside(tables, hand, np.int64(card), 3, True)
        refresh(tables, hand, melds[0])
        verdict = verdicts[i]
        verdict.dead = hand.dead if hand.dead == deadwood(tables, hand) else -1
        verdict.loose = loose_cards(tables, hand)
        verdict.wins = hand.wins
        rest = best_worth(tables, hand)
        verdict.worth = rest + hand.fixed if rest >= 0 else rest
        for card in range(N_TYPES):
            full = hand.count[card] + 3 * (hand.locked >> card & 1) >= (5 if card == 28 else 4)
            verdict.win[card] = -1 if full else win_worth(tables, hand, card, melds[0])


def judge(rules, hands):
    """VERDICT[len(hands)] of the kernels for hands under a `RuleSet`."""
    width = max(len(hand.cards) for hand in hands)
    verdicts = np.zeros(len(hands), VERDICT).view(np.recarray)
    _judge(
        tables_array(rules),
        _padded([hand.cards for hand in hands], width),
        _padded([[MELDS.index(kind) for kind, _ in hand.exposed] for hand in hands]),
        _padded([[cards[0] for _, cards in hand.exposed] for hand in hands]),
        _padded([hand.triples for hand in hands]),
        _padded([hand.quads for hand in hands]),
        np.zeros(1, HAND).view(np.recarray),
        np.zeros(1, OFFERS).view(np.recarray),
        verdicts,
    )
    return verdicts


def _padded(lists, width=8):
    array = np.full((len(lists), width), END, np.uint8)
    for i, numbers in enumerate(lists):
        array[i, : len(numbers)] = numbers
    return array


def points_of(worth):
    """Points of a worth; None where there is no full partition."""
    return int(worth) >> POINTS_SHIFT if worth >= 0 else None


def melds_of(worth):
    """How many melds of each kind a worth counts, by name."""
    counts = {kind: int(worth) >> 5 * number & 31 for number, kind in enumerate(MELDS)}
    return {kind: count for kind, count in counts.items() if count}


def mask_cards(mask):
    """The card types of a mask."""
    return {card for card in range(N_TYPES) if int(mask) >> card & 1}


# ------------------------------------------------------------------------------ the naive reference's answers


def naive_fixed(rules, hand):
    """Points of what is laid, shown or locked."""
    points = sum(naive.meld_points(rules, kind, cards[0], exposed=True) for kind, cards in hand.exposed)
    points += sum(naive.meld_points(rules, "quad", card, exposed=False) for card in hand.quads)
    return points + sum(naive.meld_points(rules, "triple", card, exposed=False) for card in hand.triples)


def naive_loose(rules, cards):
    """Discards that leave one deadwood less."""
    dead = naive.deadwood(rules, cards)
    return {card for card in set(cards) if naive.deadwood(rules, without(cards, [card])) < dead}


def naive_points(rules, hand):
    """Points of the whole hand; None where cards are left over."""
    best = naive.best_partition(rules, hand.cards)
    return None if best is None else best[0] + naive_fixed(rules, hand)


def held(hand, card):
    """Copies of a card type that are in the hand and can be counted with a fifth one."""
    return hand.cards.count(card) + 3 * (card in hand.triples)


def naive_wins(rules, hand):
    """Score of the best win by its card, where there is one."""
    if naive.deadwood(rules, hand.cards) > 3:
        return {}  # the winning meld holds at most three cards of the hand, and the rest is grouped
    laid = sum(naive.meld_points(rules, kind, cards[0], exposed=True) for kind, cards in hand.exposed)
    laid += sum(naive.meld_points(rules, "quad", card, exposed=False) for card in hand.quads)
    wins = {}
    for card in range(N_TYPES):
        if held(hand, card) < (5 if card == naive.FLOWER else 4):
            best = naive.best_win(rules, hand.cards, card, laid, hand.triples)
            if best is not None:
                wins[card] = best[0]
    return wins


def check(rules, slow_rules, hands, loose=True):
    """Assert that kernels and reference agree on every hand; how many hands won on some card.

    Without `loose` the loose cards, half of the reference's work, are left out.
    """
    won = 0
    for hand, verdict in zip(hands, judge(rules, hands), strict=True):
        wins = naive_wins(slow_rules, hand)
        told = {
            "dead": naive.deadwood(slow_rules, hand.cards),
            "loose": naive_loose(slow_rules, hand.cards) if loose else None,
            "points": naive_points(slow_rules, hand),
            "wins": wins,
        }
        found = {
            "dead": int(verdict.dead),
            "loose": mask_cards(verdict.loose) if loose else None,
            "points": points_of(verdict.worth),
            "wins": {card: points_of(worth) for card, worth in enumerate(verdict.win) if worth >= 0},
        }
        assert found == told, (
            slow_rules["name"],
            [naive.codes_of(part) for part in (hand.cards, hand.triples)],
            hand,
        )
        full = {card for card in range(N_TYPES) if held(hand, card) >= (5 if card == naive.FLOWER else 4)}
        assert mask_cards(verdict.wins) - full == set(wins), hand
        won += bool(wins)
    return won


# ------------------------------------------------------------------------------------------------ random hands


def random_hand(slow_rules, source, exposed=0, locked=False):
    """A hand of 1 to 21 cards, many of them nearly complete: some melds of the rule set and some loose cards."""
    left = naive.pack(slow_rules | {"flowers": 5})
    size = source.choice([20, 20, 20, 21, 21, source.randint(1, 19)])
    laid = []
    for _ in range(source.randint(0, exposed)):
        meld = _draw_meld(slow_rules, left, source)
        if meld and Hand((), (*laid, meld)).size() <= size:
            laid.append(meld)
            _remove(left, meld[1])
    hand = Hand((), tuple(laid))
    if locked:
        hand = _lock(slow_rules, hand, left, source, size)
        # The fourth card of a dealt triple was not dealt, and one taken later lies exposed.
        left = [card for card in left if card not in hand.triples]
    cards, room = [], size - hand.size()
    loose = source.choice([0, 1, 1, 2, 3, room, room, room])
    while room - len(cards) > loose:
        meld = _draw_meld(slow_rules, left, source)
        if meld is None or len(meld[1]) > room - len(cards):
            break
        cards += meld[1]
        _remove(left, meld[1])
    cards += source.sample(left, room - len(cards))
    return hand._replace(cards=tuple(sorted(cards)))


def _lock(rules, hand, left, source, size):
    for kind, copies in (("triples", 3), ("quads", 4)):
        for card in source.sample(range(28), source.randint(0, 2)):
            lockable = card % 7 != 0 or (kind == "quads" and rules["general_quads"])
            if lockable and left.count(card) == 4 and hand.size() + copies <= size:
                hand = hand._replace(**{kind: (*getattr(hand, kind), card)})
                _remove(left, [card] * copies)
    return hand


def _draw_meld(rules, left, source):
    """A random meld of the cards left: one with a random card."""
    card = source.choice(left)
    melds = naive.melds_with(rules, card, without(left, [card]))
    if not melds:
        return None
    kind, partners = source.choice(melds)
    return kind, tuple(sorted((card, *partners)))


def _remove(left, cards):
    for card in cards:
        left.remove(card)
