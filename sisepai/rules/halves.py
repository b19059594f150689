"""The coupled rules, where command and field melds tie three blocks together: kernels over one half of a hand.

A half is the four colours' K-A-E (first = 0) or R-H-C (first = 3), three blocks of one rank each. Its command or field
melds, `used`, are a number in base five, one digit a colour, so that taking them out of a block is one subtraction.
Every function runs over the few `used` that are possible, most often none. Tried and dropped: four nested loops over
the colours (half as fast, and twice the code to compile).
"""

import numpy as np

from sisepai.jit import inner, lowest
from sisepai.rules.tables import GENERALS, IMPOSSIBLE, K_COMMAND, K_FIELD


@inner
def most_runs(tables, hand, first):
    """How many command or field melds each colour of a half could hold, in base five."""
    colours = hand.one & (hand.one >> 1) & (hand.one >> 2) & (GENERALS << first)
    limit = 0
    while colours:
        card = lowest(colours)
        colours &= colours - 1
        limit += min(hand.count[card], hand.count[card + 1], hand.count[card + 2]) * tables.weight[card]
    return limit


@inner
def next_used(used, limit):
    """The next number in base five no digit of which is above that of `limit`; -1 after the last."""
    place = 1
    while limit:
        if used % 5 < limit % 5:
            return (used + 1) * place
        used, limit, place = used // 5, limit // 5, place * 5
    return -1


@inner
def half_dead(tables, hand, first):
    """Deadwood of a half."""
    a, b, c = hand.block[first], hand.block[first + 1], hand.block[first + 2]
    limit = most_runs(tables, hand, first)
    least = np.int64(99)
    used = np.int64(0)
    while used >= 0:
        least = min(least, np.int64(tables.dead[a - used] + tables.dead[b - used] + tables.dead[c - used]))
        used = next_used(used, limit)
    return least


@inner
def half_loose(tables, hand, first):
    """Mask of the cards of a half that are left over in some partition with its least deadwood."""
    a, b, c = hand.block[first], hand.block[first + 1], hand.block[first + 2]
    limit = most_runs(tables, hand, first)
    least = np.int64(99)
    loose = np.int64(0)
    used = np.int64(0)
    while used >= 0:
        dead = np.int64(tables.dead[a - used] + tables.dead[b - used] + tables.dead[c - used])
        if dead <= least:
            if dead < least:
                least, loose = dead, np.int64(0)
            loose |= tables.loose[a - used] | tables.loose[b - used] << 1 | tables.loose[c - used] << 2
        used = next_used(used, limit)
    return loose << first


@inner
def half_best(tables, hand, first):
    """Greatest worth of a full partition of a half, or IMPOSSIBLE."""
    a, b, c = hand.block[first], hand.block[first + 1], hand.block[first + 2]
    limit = most_runs(tables, hand, first)
    run = tables.concealed[K_COMMAND if first == 0 else K_FIELD, first]
    best = np.int64(IMPOSSIBLE)
    used = np.int64(0)
    while used >= 0:
        x, y, z = tables.best[a - used], tables.best[b - used], tables.best[c - used]
        if x >= 0 and y >= 0 and z >= 0:
            runs = used % 5 + used // 5 % 5 + used // 25 % 5 + used // 125
            best = max(best, x + y + z + run * runs)
        used = next_used(used, limit)
    return best


@inner
def half_completes(tables, hand, first):
    """Mask of the cards with which a half has no deadwood.

    Such a card joins its own block where the other two have no deadwood, or makes one more command or field meld.
    """
    a, b, c = hand.block[first], hand.block[first + 1], hand.block[first + 2]
    limit = most_runs(tables, hand, first)
    mask = np.int64(0)
    used = np.int64(0)
    while used >= 0:
        dead_a, dead_b, dead_c = tables.dead[a - used], tables.dead[b - used], tables.dead[c - used]
        if dead_b + dead_c == 0:
            mask |= tables.completes[a - used]
        if dead_a + dead_c == 0:
            mask |= tables.completes[b - used] << 1
        if dead_a + dead_b == 0:
            mask |= tables.completes[c - used] << 2
        for colour in range(4):
            card = first + 7 * colour
            one = tables.weight[card]
            n = used // one % 5
            has_a, has_b, has_c = hand.count[card] > n, hand.count[card + 1] > n, hand.count[card + 2] > n
            if has_b and has_c and dead_a + tables.dead[b - used - one] + tables.dead[c - used - one] == 0:
                mask |= 1 << 7 * colour
            if has_a and has_c and dead_b + tables.dead[a - used - one] + tables.dead[c - used - one] == 0:
                mask |= 2 << 7 * colour
            if has_a and has_b and dead_c + tables.dead[a - used - one] + tables.dead[b - used - one] == 0:
                mask |= 4 << 7 * colour
        used = next_used(used, limit)
    return mask << first & ~_all_held(hand, first)


@inner
def _all_held(hand, first):
    """Mask of the cards of a half all copies of which are in the hand, so that none can come."""
    mask = 0
    cards = hand.three & ((GENERALS * 7) << first)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if hand.count[card] == 4:
            mask |= 1 << card
    return mask
