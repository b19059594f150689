"""`ukeire`: the least deadwood first, then the live cards that win or mend the hand (docs/strategies.md).

What a hand that waits is worth is linear in a few counts, its *features*, with weights for each deadwood. A card
*mends* a hand when a take of it lowers the deadwood. Which cards do changes only near the card that leaves the hand, so
that they are looked for once, and for each discard near it alone. Cards are counted by bits.
"""

import json
from pathlib import Path

import numpy as np

from sisepai.cards import N_TYPES
from sisepai.engine.machine import DRAWER
from sisepai.engine.records import PASS, WIN
from sisepai.jit import bits, inner, lowest, small
from sisepai.rules.hand import add_card, discardable, held, loose_cards, remove_card
from sisepai.rules.offers import (
    FIRST,
    LOW_28,
    SECOND,
    THIRD,
    dead_after,
    find_wins,
    lift_partners,
    list_melds,
    meldable,
)
from sisepai.rules.tables import FLOWERS, GENERALS, K_QUAD, K_SINGLE, K_TRIPLE, SOLDIERS
from sisepai.strategies.base import Parameter, Strategy

# What counts, in the order of the weights. Live cards that win are counted as such alone.
FEATURES = (
    "down1", "down2", "down3",  # 1 if the deadwood is lower by at least so many
    "up1", "up2",  # 1 if it is higher, and how many more than one
    "take",  # 1 for a take
    "win types", "win live",  # cards that win: types of which one is live, live copies
    "any",  # live copies that mend as a triple or quad: to be had from anyone
    "near1", "near2", "near3",  # that mend otherwise, by how much: from the own draw and the seat before
    "own",  # of other Generals and flowers, while there is deadwood: from the own draw alone
    "pairs", "triples",  # types held twice, three times or more
    "lone", "soldiers",  # loose types: without a partner for command or field, and Soldiers
    "loose live",  # live copies of the loose types
    "win open", "any open", "near1 open", "near2 open", "near3 open",  # of those above: types nobody wanted before
)  # fmt: skip
N_FEATURES = len(FEATURES)
DOWN1, DOWN2, DOWN3, UP1, UP2, TAKE, WIN_TYPES, WIN_LIVE, ANY, NEAR1, NEAR2, NEAR3, OWN = range(13)
PAIRS, TRIPLES, LONE, LOOSE_SOLDIERS, LOOSE_LIVE = range(13, 18)
WIN_OPEN, ANY_OPEN, NEAR1_OPEN, NEAR2_OPEN, NEAR3_OPEN = range(18, N_FEATURES)
ANSWERS, DISCARDS = range(2)  # weights have a row for each deadwood, the last for all above too
ROWS = 9

P_OBJECTIVE, P_TAKE, P_WIN, P_ANY, P_NEAR, P_LONE, N_PARAMETERS = range(7)

NO_DISCARD = -1e9  # worth of a take after which there is none
KAE = GENERALS * 0b111  # command cards of all colours


@inner
def answer(view):
    """Win if offered; else the best of the melds and, unless forced, pass."""
    offers = view.offers
    if offers.win:
        return WIN
    hand, dead = view.scratch.hand, view.hand.dead
    row = row_of(view, ANSWERS, dead)
    take = view.parameters.value[row + TAKE] * view.parameters.value[P_TAKE]
    see_live(view)
    best, best_worth = PASS, -np.inf
    if not offers.forced:
        view.scratch.hand = view.hand
        best_worth = worth_of(view, hand, row, dead)
    for i in range(offers.n):
        worth = NO_DISCARD
        if lay_and_discard(view, i):
            worth = worth_of(view, hand, row, dead) + take
        if worth > best_worth:
            best, best_worth = i, worth
    return best


@inner
def discard(view):
    """The best of the discards that leave the least deadwood."""
    view.scratch.hand = view.hand
    see_live(view)
    return _best_discard(view, view.scratch.hand)


@small
def lay_and_discard(view, i):
    """Make `scratch.hand` that after meld `i` of the offers and the best discard; false where there is none."""
    tables, offers, hand = view.tables, view.offers, view.scratch.hand
    view.scratch.hand = view.hand
    lift_partners(tables, hand, offers, i)
    hand.fixed += tables.exposed[offers.kind[i], view.table.card]
    card = _best_discard(view, hand)
    if card >= 0:
        remove_card(tables, hand, card)
    return card >= 0


@small
def row_of(view, what, dead):
    """Where the weights for a deadwood begin in the parameters."""
    objective = np.int64(view.parameters.value[P_OBJECTIVE])
    return N_PARAMETERS + ((2 * objective + what) * ROWS + min(dead, ROWS - 1)) * N_FEATURES


@small
def see_live(view):
    """Masks of the cards of which at least one, two, three, four copies are where the seat cannot see; and of those
    that were discarded before, so that hardly anybody holds two of them."""
    live, table = view.scratch.live, view.table
    one, two, three, four, open_ = 0, 0, 0, 0, 0
    for card in range(N_TYPES):
        n = view.tables.copies[card] - view.table.seen[card] - held(view.hand, card)
        one |= (n > 0) << card
        two |= (n > 1) << card
        three |= (n > 2) << card
        four |= (n > 3) << card
        for seat in range(view.tables.players):
            open_ |= (table.discarded[seat, card] > 0) << card
    view.scratch.open = open_
    live[0], live[1], live[2], live[3] = one, two, three, four


@small
def _copies(live, cards):
    """Live copies of the cards of a mask (the fifth flower left out)."""
    return bits(cards & live[0]) + bits(cards & live[1]) + bits(cards & live[2]) + bits(cards & live[3])


@inner
def _best_discard(view, hand):
    """The best of the discards that leave the least deadwood; -1 where there is none."""
    tables, melds = view.tables, view.scratch.melds
    cards, dead = least_dead(view, hand)
    if cards & (cards - 1) == 0:
        return lowest(cards) if cards else np.int64(-1)
    row = row_of(view, DISCARDS, dead)
    mending = _mending(view, hand, LOW_28)
    best, best_worth = np.int64(-1), -np.inf
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        remove_card(tables, hand, card)
        find_wins(tables, hand, melds)
        near = _near(tables, card)
        worth = _weighed(view, hand, row, dead, _merged(mending, _mending(view, hand, near), near))
        add_card(tables, hand, card)
        if worth > best_worth:
            best, best_worth = card, worth
    return best


@small
def least_dead(view, hand):
    """The discards that leave the least deadwood, as a mask, and that deadwood."""
    find_wins(view.tables, hand, view.scratch.melds)
    loose = loose_cards(view.tables, hand)
    if loose:
        return loose, hand.dead - 1
    return discardable(hand), np.int64(0)


@small
def _near(tables, card):
    """Mask of the cards that may mend a hand otherwise once `card` has left it: those of its block or half."""
    rank = card % 7
    if rank == 6:
        return SOLDIERS
    if tables.coupled:
        return KAE if rank < 3 else KAE << 3
    return 0b111 << (card - rank + 3 * (rank >= 3))


@small
def _merged(old, new, near):
    """What mends a hand: `new` among the cards `near`, `old` elsewhere."""
    far = ~near
    return old[0] & far | new[0], old[1] & far | new[1], old[2] & far | new[2], old[3] & far | new[3]


@inner
def _mending(view, hand, cards):
    """Those live ones of `cards` that mend the hand, as masks: as a triple or quad; otherwise, by one, two, three."""
    tables, melds = view.tables, view.scratch.melds
    alike, by_one, by_two, by_three = 0, 0, 0, 0
    cards &= view.scratch.live[0] & meldable(tables, hand, DRAWER)
    while cards:
        card = lowest(cards)
        bit = 1 << card
        cards &= cards - 1
        list_melds(tables, hand, card, DRAWER, melds)
        most, kind = 0, K_SINGLE
        for i in range(melds.n):
            lower = hand.dead - dead_after(tables, hand, melds, i) + 1  # one for the discard
            if lower > most:
                most, kind = lower, melds.kind[i]
        if kind == K_TRIPLE or kind == K_QUAD:
            alike |= bit
        elif kind != K_SINGLE:
            by_one |= bit if most == 1 else 0
            by_two |= bit if most == 2 else 0
            by_three |= bit if most > 2 else 0
    return alike, by_one, by_two, by_three


@inner
def worth_of(view, hand, row, dead):
    """What a hand that waits is worth, by the weights from `row` on; `dead` is the deadwood to compare with."""
    find_wins(view.tables, hand, view.scratch.melds)
    return _weighed(view, hand, row, dead, _mending(view, hand, LOW_28))


@inner
def _weighed(view, hand, row, dead, mending):
    """`worth_of` when the winning cards and those that mend are known."""
    p, scratch = view.parameters.value, view.scratch
    w, live, open_ = p[row:], scratch.live, scratch.open
    down, wins, one = dead - hand.dead, hand.wins, hand.one
    alike, by_one, by_two, by_three = mending
    loose = loose_cards(view.tables, hand)
    paired = (one >> 1 | one >> 2) & FIRST | (one << 1 | one >> 1) & SECOND | (one << 1 | one << 2) & THIRD
    total = w[DOWN1] * (down > 0) + w[DOWN2] * (down > 1) + w[DOWN3] * (down > 2)
    total += w[UP1] * (down < 0) + w[UP2] * max(-down - 1, 0)
    winning = w[WIN_TYPES] * bits(wins & live[0]) + w[WIN_LIVE] * _copies(live, wins)
    winning += w[WIN_OPEN] * _copies(live, wins & open_)
    total += p[P_WIN] * winning
    total += p[P_ANY] * (
        w[ANY] * _copies(live, alike & ~wins) + w[ANY_OPEN] * _copies(live, alike & ~wins & open_)
    )
    near = w[NEAR1] * _copies(live, by_one & ~wins) + w[NEAR1_OPEN] * _copies(live, by_one & ~wins & open_)
    near += w[NEAR2] * _copies(live, by_two & ~wins) + w[NEAR2_OPEN] * _copies(live, by_two & ~wins & open_)
    near += w[NEAR3] * _copies(live, by_three & ~wins) + w[NEAR3_OPEN] * _copies(
        live, by_three & ~wins & open_
    )
    if hand.dead > 0:
        near += w[OWN] * _copies(live, (GENERALS | FLOWERS) & ~(wins | by_one | by_two | by_three))
    total += p[P_NEAR] * near
    total += w[PAIRS] * bits(hand.two & ~hand.three) + w[TRIPLES] * bits(hand.three)
    total += p[P_LONE] * w[LONE] * bits(loose & ~paired & ~SOLDIERS)
    return total + w[LOOSE_SOLDIERS] * bits(loose & SOLDIERS) + w[LOOSE_LIVE] * _copies(live, loose)


def _times(name, what):
    """A parameter that multiplies weights."""
    return Parameter(name, 1.0, f"{what}, times so much", 0.25, 4.0)


FILE = Path(__file__).with_name("ukeire.json")
_found = json.loads(FILE.read_text(encoding="utf-8"))

STRATEGY = Strategy(
    "ukeire",
    "the least deadwood first, then the live cards that win or mend the hand",
    answer,
    discard,
    (
        Parameter("objective", "win", "what is most: deals won, or points", choices=("win", "score")),
        _times("take", "what a take costs"),
        _times("win", "live cards that win"),
        _times("any", "live cards to be had from anyone"),
        _times("near", "live cards to be had from the own draw and the seat before"),
        _times("lone", "loose cards without a partner"),
    ),
    weights=tuple(
        weight
        for objective in ("win", "score")
        for what in ("answers", "discards")
        for row in _found[objective][what]
        for weight in row
    ),
    files=(FILE,),
    source="ukeire, or tile acceptance, of mahjong: count the live cards that improve the hand",
)
