"""`greedy`: the least deadwood now (docs/rules.md, section 7)."""

from sisepai.cards import N_TYPES
from sisepai.engine.records import PASS, WIN
from sisepai.jit import inner, lowest, small
from sisepai.rules.hand import add_card, deadwood, discardable, held, loose_cards, remove_card
from sisepai.rules.offers import dead_after, lift_partners, put_back_partners
from sisepai.rules.tables import POINTS_SHIFT, SOLDIERS
from sisepai.strategies.base import Strategy

NOTHING = 99  # deadwood of a choice that cannot be made


@inner
def answer(view):
    """Win if offered; else the meld that leaves the least deadwood, when that is less than now or must be."""
    offers, hand = view.offers, view.hand
    if offers.win:
        return WIN
    best, best_dead, best_points = PASS, NOTHING if offers.forced else hand.dead, -1
    for i in range(offers.n):
        dead = _least_after(view.tables, hand, offers, i)
        points = view.tables.exposed[offers.kind[i], view.table.card] >> POINTS_SHIFT
        # The offers come in the order that breaks further ties.
        if dead < best_dead or (dead == best_dead and best != PASS and points > best_points):
            best, best_dead, best_points = i, dead, points
    return best


@small
def _least_after(tables, hand, offers, i):
    """The least deadwood over all discards after laying meld `i`; NOTHING - 1 when there is no discard."""
    dead = dead_after(tables, hand, offers, i)
    if dead > 0:  # a card that is left over is never a General, a flower or locked, so it can be discarded
        return dead - 1
    locked = hand.locked
    lift_partners(tables, hand, offers, i)
    least = _least_dead(tables, hand)
    put_back_partners(tables, hand, offers, i, locked)
    return least


@inner
def _least_dead(tables, hand):
    """The least deadwood over all discards, by trying each."""
    least = NOTHING - 1
    legal = discardable(hand)
    for card in range(N_TYPES):
        if legal >> card & 1:
            remove_card(tables, hand, card)
            least = min(least, deadwood(tables, hand))
            add_card(tables, hand, card)
    return least


@inner
def discard(view):
    """Of the discards that leave the least deadwood the one with the least potential, then the lowest card."""
    hand = view.hand
    cards = loose_cards(view.tables, hand)
    if cards == 0:
        cards = _cards_with_least(view.tables, hand)
    best = 1 << 30
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        best = min(best, potential(view, card) << 5 | card)
    return best & 31


@inner
def _cards_with_least(tables, hand):
    """Mask of the discards with the least deadwood, by trying each."""
    least = _least_dead(tables, hand)
    legal = discardable(hand)
    cards = 0
    for card in range(N_TYPES):
        if legal >> card & 1:
            remove_card(tables, hand, card)
            if deadwood(tables, hand) == least:
                cards |= 1 << card
            add_card(tables, hand, card)
    return cards


@small
def live(view, card):
    """Copies of a card that the seat cannot see."""
    return view.tables.copies[card] - view.table.seen[card] - held(view.hand, card)


@small
def potential(view, card):
    """How much a concealed card may still become."""
    rank = card % 7
    in_hand = view.hand.one | view.hand.locked
    value = 2 * live(view, card)
    if rank == 6:
        others = in_hand & SOLDIERS & ~(1 << card)
        return value + 2 * ((others >> 6 & 1) + (others >> 13 & 1) + (others >> 20 & 1) + (others >> 27 & 1))
    first = card - rank + 3 * (rank >= 3)
    a = first + (card == first)
    b = first + 2 - (card == first + 2)
    return value + live(view, b) * (in_hand >> a & 1) + live(view, a) * (in_hand >> b & 1)


STRATEGY = Strategy(
    "greedy",
    "takes every win and every meld that lowers the deadwood; discards what is worth least to the hand",
    answer,
    discard,
    source="docs/rules.md, section 7",
)
