"""The best partition of one hand with its melds, for people; kernels use `rules/hand.py`, tests compare the two."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sisepai.cards import COPIES, FLOWER, MELDS, N_TYPES, check_copies, format_cards
from sisepai.errors import InputError
from sisepai.rules.melds import Cards, melds_of, points_of
from sisepai.rules.ruleset import RuleSet

Wins = tuple[tuple[int, int], ...]  # (card, unseen copies)


@dataclass(frozen=True)
class Meld:
    """A meld of a partition: its kind, its cards in order of card number, and its points."""

    kind: str
    cards: Cards
    points: int


@dataclass(frozen=True)
class Analysis:
    """What `analyze` finds: `points` is None unless the hand is complete; `wins_on` holds (card, unseen copies)."""

    deadwood: int
    points: int | None
    melds: tuple[Meld, ...]
    wins_on: Wins


@cache
def _families(rules: RuleSet) -> tuple[tuple[Cards, ...], ...]:
    """The melds in groups that share no card type, so that each group can be solved by itself."""
    families: list[tuple[set[int], list[Cards]]] = []
    for cards in melds_of(rules):
        types, melds = set(cards), [cards]
        for family in [f for f in families if f[0] & types]:
            families.remove(family)
            types, melds = types | family[0], melds + family[1]
        families.append((types, melds))
    return tuple(tuple(sorted(melds)) for _, melds in families)


@cache
def _solve(
    rules: RuleSet, melds: tuple[Cards, ...], hand: Cards
) -> tuple[int, int, tuple[int, ...], tuple[Cards, ...]]:
    """(-deadwood, points, tie-break, melds) of the best partition of `hand`; greater is better."""
    if not hand:
        return 0, 0, (0,) * len(MELDS), ()
    lost = _solve(rules, melds, hand[1:])
    best = (lost[0] - 1, *lost[1:])
    held = Counter(hand)
    for meld in melds:
        if meld[0] == hand[0] and not Counter(meld) - held:
            kind = melds_of(rules)[meld]
            dead, points, ties, rest = _solve(rules, melds, _without(hand, meld))
            points += points_of(rules, kind, meld, exposed=False)
            ties = tuple(n + (name == kind) for n, name in zip(ties, reversed(MELDS), strict=True))
            best = max(best, (dead, points, ties, (meld, *rest)))
    return best


def _without(hand: Cards, cards: Iterable[int]) -> Cards:
    left = list(hand)
    for card in cards:
        left.remove(card)
    return tuple(left)


def best_partition(rules: RuleSet, cards: Iterable[int]) -> tuple[int, tuple[Meld, ...]]:
    """Deadwood and melds of the partition with the least deadwood, then the most concealed points."""
    hand = tuple(sorted(cards))
    deadwood, melds = 0, []
    for family in _families(rules):
        types = {card for meld in family for card in meld}
        dead, _, _, found = _solve(rules, family, tuple(card for card in hand if card in types))
        deadwood -= dead
        for meld in found:
            melds.append(_meld(rules, melds_of(rules)[meld], meld))
    return deadwood, tuple(_in_order(melds))


def best_win(
    rules: RuleSet, cards: Iterable[int], card: int, locked: Sequence[int] = ()
) -> tuple[Meld, ...] | None:
    """The melds of the best-scoring win of a concealed hand with `card`, its exposed meld first; None if incomplete.

    `locked` are the types of dealt triples, not among `cards`, that stay whole or become a quad.
    """
    hand = tuple(sorted(cards))
    triples = [_meld(rules, "triple", (one,) * 3) for one in locked]
    wins = []
    for meld, kind in melds_of(rules).items():
        partners = Counter(meld) - Counter([card])
        if card in meld and not partners - Counter(hand):
            deadwood, rest = best_partition(rules, _without(hand, partners.elements()))
            if deadwood == 0:
                wins.append((_meld(rules, kind, meld, exposed=True), *_in_order([*triples, *rest])))
    if card in locked:
        deadwood, rest = best_partition(rules, hand)
        if deadwood == 0:
            others = [meld for meld in triples if meld.cards[0] != card]
            wins.append((_meld(rules, "quad", (card,) * 4, exposed=True), *_in_order([*others, *rest])))
    return max(wins, key=_worth, default=None)


def _meld(rules: RuleSet, kind: str, cards: Cards, exposed: bool = False) -> Meld:
    return Meld(kind, cards, points_of(rules, kind, cards, exposed))


def _in_order(melds: Iterable[Meld]) -> list[Meld]:
    return sorted(melds, key=lambda meld: meld.cards)


def _worth(melds: Iterable[Meld]) -> tuple[int, ...]:
    """Points, then how many melds of each kind, the last kind first: the order of `tables.POINTS_SHIFT`."""
    kinds = Counter(meld.kind for meld in melds)
    return (sum(meld.points for meld in melds), *(kinds[kind] for kind in reversed(MELDS)))


def analyze(
    rules: RuleSet, cards: Sequence[int], exposed: Sequence[tuple[str, Sequence[int]]] = ()
) -> Analysis:
    """What a hand is worth: `cards` are concealed, `exposed` are melds on the table with their kinds.

    Raises
    ------
    InputError
        No cards, more than a full hand, more copies than the pack has, or exposed cards that are no such meld.
    """
    laid = [_exposed_meld(rules, kind, meld) for kind, meld in exposed]
    everything = [*cards, *(card for meld in laid for card in meld.cards)]
    full = rules.hand_size + 1
    if not everything:
        raise InputError("the hand is empty; write its cards, as in 'Kr Ar Er RyRyRy F'")
    if len(everything) > full:
        raise InputError(f"the hand has {len(everything)} cards; a full one has {full}")
    # Packs differ in flowers; a hand may hold as many as any pack.
    check_copies(everything)
    deadwood, melds = best_partition(rules, cards)
    melds = (*laid, *melds)
    points = sum(meld.points for meld in melds) if deadwood == 0 else None
    wins_on = _wins_on(rules, cards, laid, everything) if len(everything) == rules.hand_size else ()
    return Analysis(deadwood, points, melds, wins_on)


def _exposed_meld(rules: RuleSet, kind: str, cards: Sequence[int]) -> Meld:
    meld = tuple(sorted(cards))
    if melds_of(rules).get(meld) != kind:
        raise InputError(f"exposed '{kind}: {format_cards(cards)}': no such meld under {rules.name}")
    return _meld(rules, kind, meld, exposed=True)


def _wins_on(rules: RuleSet, cards: Sequence[int], laid: list[Meld], everything: list[int]) -> Wins:
    fixed = sum(meld.points for meld in laid)
    wins = []
    for card in range(N_TYPES):
        unseen = (rules.flowers if card == FLOWER else COPIES) - everything.count(card)
        melds = best_win(rules, cards, card) if unseen > 0 else None
        if melds and fixed + sum(meld.points for meld in melds) >= rules.min_points:
            wins.append((card, unseen))
    return tuple(wins)
