"""What a hand makes with a card: its melds, what each leaves and is worth, the cards it wins on and wants; kernels."""

import numpy as np

from sisepai.cards import FLOWER, N_TYPES, NONE
from sisepai.jit import inner, small
from sisepai.rules.halves import half_completes, half_dead
from sisepai.rules.hand import add_card, best_worth, remove_card, set_aside, unlock_for_quad
from sisepai.rules.tables import (
    ANY_MELD,
    COLOURS3,
    COLOURS4,
    FLOWERS,
    GENERALS,
    IMPOSSIBLE,
    K_COLOURS3,
    K_COLOURS4,
    K_COMMAND,
    K_FIELD,
    K_PAIR,
    K_QUAD,
    K_SINGLE,
    K_SOLDIERS3,
    K_SOLDIERS4,
    K_TRIPLE,
    N_BLOCKS,
    N_PLACES,
    PAIR,
    POINTS_SHIFT,
    QUAD,
    RUN,
    SINGLE,
    TRIPLE,
)

MOST_MELDS = (
    8  # of one card: pair, triple, quad, command or field, and three sets of three colours, one of four
)
# The melds that a hand makes with a card; as the offers of a window also whether it may win and may not pass.
OFFERS = np.dtype(
    [
        ("n", "i8"),
        ("kind", "i8", MOST_MELDS),
        ("partners", "i8", (MOST_MELDS, 3)),
        ("win", "i8"),
        ("forced", "i8"),
    ],
    align=True,
)

LOW_28 = (1 << 28) - 1
FIRST = GENERALS * 0b0001001  # Generals and Chariots: the first cards of command and field
SECOND, THIRD = FIRST << 1, FIRST << 2
MOST_LOSS = 2  # one more card lowers the deadwood by at most two: its meld had at most two loose cards before


@small
def _append(melds, kind, first, second, third):
    n = melds.n
    melds.kind[n] = kind
    melds.partners[n, 0] = first
    melds.partners[n, 1] = second
    melds.partners[n, 2] = third
    melds.n = n + 1


@inner
def list_melds(tables, hand, card, place, melds):
    """Fill `melds` with every meld the hand makes with `card` and `place` allows.

    They come in the order in which `greedy` prefers them at equal deadwood and points: single, quad, triple,
    command or field, four colours, three colours, pair; within a kind by partner card numbers.
    """
    may = tables.may[place]
    melds.n = 0
    if may[SINGLE] >> card & 1:
        _append(melds, K_SINGLE, NONE, NONE, NONE)
    if may[QUAD] & (hand.three | hand.locked) & (1 << card):
        _append(melds, K_QUAD, card, card, card)
    if may[TRIPLE] & hand.two & (1 << card):
        _append(melds, K_TRIPLE, card, card, NONE)
    if card != FLOWER:
        _list_mixed(hand, card, may, melds)
    if may[PAIR] & hand.one & (1 << card):
        _append(melds, K_PAIR, card, NONE, NONE)


@small
def _list_mixed(hand, card, may, melds):
    """Command, field and groups of colours with `card`."""
    rank = card % 7
    if may[RUN] >> card & 1:
        first = card - rank + (0 if rank < 3 else 3)
        run = (7 << first) ^ (1 << card)
        if hand.one & run == run:
            low = first if first != card else first + 1
            high = first + 2 if first + 2 != card else first + 1
            _append(melds, K_COMMAND if rank < 3 else K_FIELD, low, high, NONE)
    if may[COLOURS3] >> card & 1 or may[COLOURS4] >> card & 1:
        a = rank if rank != card else rank + 7
        b = rank + 7 if a == rank and rank + 7 != card else rank + 14
        c = rank + 21 if rank + 21 != card else rank + 14
        has_a, has_b, has_c = hand.one >> a & 1, hand.one >> b & 1, hand.one >> c & 1
        soldiers = rank == 6
        if may[COLOURS4] >> card & 1 and has_a & has_b & has_c:
            _append(melds, K_SOLDIERS4 if soldiers else K_COLOURS4, a, b, c)
        if may[COLOURS3] >> card & 1:
            kind = K_SOLDIERS3 if soldiers else K_COLOURS3
            if has_a & has_b:
                _append(melds, kind, a, b, NONE)
            if has_a & has_c:
                _append(melds, kind, a, c, NONE)
            if has_b & has_c:
                _append(melds, kind, b, c, NONE)


@small
def _takes_locked(hand, melds, i):
    """Whether meld `i` is a quad over a locked triple."""
    return melds.kind[i] == K_QUAD and hand.locked >> melds.partners[i, 0] & 1 == 1


@inner
def lift_partners(tables, hand, melds, i):
    """Take the partners of meld `i` out of the hand, and the worth of a locked triple that becomes a quad."""
    if _takes_locked(hand, melds, i):
        unlock_for_quad(tables, hand, melds.partners[i, 0])
    for j in range(3):
        partner = melds.partners[i, j]
        if partner != NONE:
            remove_card(tables, hand, partner)


@inner
def put_back_partners(tables, hand, melds, i, locked):
    """Undo `lift_partners`; `locked` is the hand's mask from before."""
    for j in range(3):
        partner = melds.partners[i, j]
        if partner != NONE:
            add_card(tables, hand, partner)
    if hand.locked != locked:
        set_aside(tables, hand, melds.partners[i, 0], 3, True)


@small
def dead_after(tables, hand, melds, i):
    """Deadwood once the partners of meld `i` have left the hand; `hand.dead` must be fresh."""
    first = melds.partners[i, 0]
    if first == NONE:
        return hand.dead
    if _takes_locked(hand, melds, i):
        return hand.dead  # a locked triple was no deadwood
    if tables.coupled and first % 7 != 6:
        half = 0 if first % 7 < 3 else 1
        locked = hand.locked
        lift_partners(tables, hand, melds, i)
        rest = half_dead(tables, hand, 3 * half)
        put_back_partners(tables, hand, melds, i, locked)
        return hand.dead - hand.half[half] + rest
    # All partners come from one block.
    state = hand.block[tables.block_of[first]]
    rest = state
    for j in range(3):
        if melds.partners[i, j] != NONE:
            rest -= tables.weight[melds.partners[i, j]]
    return hand.dead - tables.dead[state] + tables.dead[rest]


@inner
def meld_worth(tables, hand, card, melds, i):
    """Worth of the whole hand after laying meld `i` with `card`, exposed, or IMPOSSIBLE when cards are left over."""
    locked = hand.locked
    lift_partners(tables, hand, melds, i)
    rest = best_worth(tables, hand)
    total = rest + hand.fixed + tables.exposed[melds.kind[i], card] if rest >= 0 else rest
    put_back_partners(tables, hand, melds, i, locked)
    return total


@inner
def win_worth(tables, hand, card, melds):
    """Greatest worth with `card` over the choice of its meld, or IMPOSSIBLE: incomplete or too few points."""
    list_melds(tables, hand, card, ANY_MELD, melds)
    best = np.int64(IMPOSSIBLE)
    for i in range(melds.n):
        best = max(best, meld_worth(tables, hand, card, melds, i))
    return best if is_win(tables, best) else np.int64(IMPOSSIBLE)


@small
def is_win(tables, worth):
    """Whether a worth (with `fixed`) stands for a complete hand with points enough."""
    return worth >= 0 and worth >> POINTS_SHIFT >= tables.min_points


@inner
def _coupled_completing(tables, hand):
    """`completing` under coupled rules, and the deadwood before."""
    soldiers = np.int64(tables.dead[hand.block[6]])
    dead = soldiers
    for half in range(2):
        hand.half[half] = half_dead(tables, hand, 3 * half)
        dead += hand.half[half]
    mask = np.int64(0)
    if dead > MOST_LOSS:
        return mask, dead
    for half in range(2):
        if dead == hand.half[half]:
            mask |= half_completes(tables, hand, 3 * half)
    if dead == soldiers:
        mask |= np.int64(tables.completes[hand.block[6]]) << 6
    return mask | (FLOWERS if dead == 0 else 0), dead


@small
def _block_completing(tables, hand):
    """`completing` where blocks are independent: only the one block with deadwood, if any, can be mended."""
    dead = 0
    worst = 0
    bad = 0
    for block in range(N_BLOCKS):
        d = np.int64(tables.dead[hand.block[block]])
        if d > 0:
            dead += d
            bad += 1
            worst = block
    if bad > 1 or dead > MOST_LOSS:
        return 0, dead
    if bad == 1:
        return np.int64(tables.completes[hand.block[worst]]) << tables.shift[worst], dead
    mask = FLOWERS
    for block in range(N_BLOCKS):
        mask |= np.int64(tables.completes[hand.block[block]]) << tables.shift[block]
    return mask, dead


@small
def find_wins(tables, hand, melds):
    """Renew deadwood and winning cards, after the concealed hand has changed."""
    if tables.coupled:
        wins, hand.dead = _coupled_completing(tables, hand)
    else:
        wins, hand.dead = _block_completing(tables, hand)
    if hand.locked and hand.dead == 0:
        wins |= hand.locked  # a locked triple takes its fourth card as a quad
    if wins and tables.min_points > 0:
        wins = _with_points(tables, hand, wins, melds)
    hand.wins = wins


@small
def refresh(tables, hand, melds):
    """Renew deadwood, winning cards and what the seat may answer, after the concealed hand has changed."""
    find_wins(tables, hand, melds)
    shapes = _shapes(hand)
    for place in range(N_PLACES):
        hand.wants[place] = hand.wins | _laid_with(tables.may[place], shapes)


@small
def meldable(tables, hand, place):
    """Mask of the cards with which the hand makes a meld that `place` allows."""
    return _laid_with(tables.may[place], _shapes(hand))


@small
def _shapes(hand):
    """By shape of meld, from pair on: mask of the cards for which the rest of such a meld is in the hand."""
    one = hand.one
    run = (one >> 1) & (one >> 2) & FIRST | (one << 1) & (one >> 1) & SECOND | (one << 1) & (one << 2) & THIRD
    a = (one << 7 | one >> 21) & LOW_28
    b = (one << 14 | one >> 14) & LOW_28
    c = (one << 21 | one >> 7) & LOW_28
    return one, hand.two, hand.three | hand.locked, run, a & b | a & c | b & c, a & b & c


@small
def _laid_with(may, shapes):
    pair, triple, quad, run, colours3, colours4 = shapes
    return (
        may[SINGLE] | may[PAIR] & pair | may[TRIPLE] & triple | may[QUAD] & quad | may[RUN] & run
        | may[COLOURS3] & colours3 | may[COLOURS4] & colours4
    )  # fmt: skip


@inner
def _with_points(tables, hand, wins, melds):
    """Those of the completing cards that also bring the points a win needs."""
    enough = 0
    for card in range(N_TYPES):
        if wins >> card & 1 and win_worth(tables, hand, card, melds) >= 0:
            enough |= 1 << card
    return enough
