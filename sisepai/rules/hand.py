"""The concealed hand of one seat and what it is worth: kernels over the tables of a rule set.

A hand is one record (HAND). Moving a card changes one count, at most three masks and one block state; `refresh`
then renews what the windows ask of it. All functions take the tables first and never allocate.
"""

import numpy as np

from sisepai.cards import FLOWER, N_TYPES
from sisepai.jit import inner, lowest, small
from sisepai.rules.tables import (
    ANY_MELD,
    COLOURS3,
    COLOURS4,
    FLOWERS,
    GENERALS,
    IMPOSSIBLE,
    N_BLOCKS,
    PAIR,
    POINTS_SHIFT,
    QUAD,
    RUN,
    SINGLE,
    TRIPLE,
)

HAND = np.dtype(
    [
        ("count", "i8", N_TYPES),  # concealed cards by type, locked triples left out
        ("cards", "i8"),  # concealed cards, locked triples included
        ("one", "i8"), ("two", "i8"), ("three", "i8"),  # masks of `count`: at least so many of a type
        ("locked", "i8"),  # mask of dealt triples, in hand, that may not be split
        ("block", "i8", N_BLOCKS),  # block states of `count` (rules/tables.py)
        ("fixed", "i8"),  # worth of exposed melds, shown quads and locked triples
        ("dead", "i8"),  # deadwood at the last refresh
        ("half", "i8", 2),  # of it, under coupled rules, that of K-A-E and of R-H-C
        ("wins", "i8"),  # mask: cards that complete the hand
        ("wants", "i8", 5),  # by place: mask of the cards with which something may be answered
    ],
    align=True,
)  # fmt: skip

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
NO_CARD = 255

# Meld kinds by their number in cards.MELDS.
K_SINGLE, K_PAIR, K_TRIPLE, K_QUAD, K_COMMAND, K_FIELD, K_SOLDIERS3, K_SOLDIERS4, K_COLOURS3, K_COLOURS4 = (
    range(10)
)

LOW_28 = (1 << 28) - 1
FIRST = GENERALS * 0b0001001  # Generals and Chariots: the first cards of command and field
SECOND, THIRD = FIRST << 1, FIRST << 2
MOST_LOSS = 2  # one more card lowers the deadwood by at most two: its meld had at most two loose cards before


@small
def add_card(tables, hand, card):
    """Put one card into the concealed hand; without branches, since which way they go is chance."""
    bit = 1 << card
    hand.count[card] += 1
    hand.cards += 1
    hand.block[tables.block_of[card]] += tables.weight[card]
    hand.three |= hand.two & bit
    hand.two |= hand.one & bit
    hand.one |= bit


@small
def remove_card(tables, hand, card):
    """Take one card out of the concealed hand."""
    bit = 1 << card
    n = hand.count[card]
    hand.count[card] = n - 1
    hand.cards -= 1
    hand.block[tables.block_of[card]] -= tables.weight[card]
    hand.one &= ~(bit & ~hand.two)
    hand.two &= ~(bit & ~hand.three)
    hand.three &= ~((n < 4) << card)


@small
def fill_hand(tables, hand, cards, first, size):
    """Make the concealed hand of `size` cards from place `first` of `cards` on; what was there is forgotten."""
    for card in range(N_TYPES):
        hand.count[card] = 0
    for block in range(N_BLOCKS):
        hand.block[block] = tables.start[block]
    one, two, three = 0, 0, 0
    for i in range(first, first + size):
        card = np.int64(cards[i])
        bit = 1 << card
        hand.count[card] += 1
        hand.block[tables.block_of[card]] += tables.weight[card]
        three |= two & bit
        two |= one & bit
        one |= bit
    hand.one = one
    hand.two = two
    hand.three = three
    hand.cards = size
    hand.locked = 0
    hand.fixed = 0


@inner
def set_aside(tables, hand, card, copies, stays):
    """Take a dealt quad or triple out of what may be partitioned, at its concealed worth; `stays` keeps it in hand."""
    for _ in range(copies):
        remove_card(tables, hand, card)
    hand.fixed += tables.concealed[K_QUAD if copies == 4 else K_TRIPLE, card]
    if stays:
        hand.locked |= 1 << card
        hand.cards += copies


@small
def held(hand, card):
    """Copies of a card type in the concealed hand, a locked triple's included."""
    return hand.count[card] + 3 * (hand.locked >> card & 1)


@inner
def unlock_for_quad(tables, hand, card):
    """A locked triple becomes part of a quad: its cards can leave the hand, its worth goes."""
    hand.locked ^= 1 << card
    hand.fixed -= tables.concealed[K_TRIPLE, card]
    hand.cards -= 3
    for _ in range(3):
        add_card(tables, hand, card)


# --- coupled rules: a half is the four colours' K-A-E (first = 0) or R-H-C (first = 3), three blocks of one rank each.
# Its command or field melds, `used`, are a number in base five, one digit a colour, so that taking them out of a block
# is one subtraction. All functions of a half run over the few `used` that are possible: most often none.


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


@inner
def deadwood(tables, hand):
    """The fewest cards left over when the rest of the concealed hand is partitioned into melds."""
    if tables.coupled:
        return half_dead(tables, hand, 0) + half_dead(tables, hand, 3) + np.int64(tables.dead[hand.block[6]])
    dead = 0
    for block in range(N_BLOCKS):
        dead += tables.dead[hand.block[block]]
    return dead


@inner
def loose_cards(tables, hand):
    """Mask of the cards whose discard leaves one deadwood less; none when there is no deadwood."""
    loose = 0
    if tables.coupled:
        for first in range(0, 6, 3):
            loose |= half_loose(tables, hand, first)
        return loose | (np.int64(tables.loose[hand.block[6]]) << 6)
    for block in range(N_BLOCKS):
        loose |= np.int64(tables.loose[hand.block[block]]) << tables.shift[block]
    return loose


@small
def discardable(hand):
    """Mask of the cards the rules let the seat discard: no Generals, no flowers, nothing locked."""
    return hand.one & ~(GENERALS | FLOWERS)


@inner
def best_worth(tables, hand):
    """Greatest worth of a full partition of the concealed cards (`fixed` left out), or IMPOSSIBLE."""
    flowers = hand.count[FLOWER]
    total = flowers * tables.concealed[K_SINGLE, FLOWER]
    if tables.coupled:
        command, field = half_best(tables, hand, 0), half_best(tables, hand, 3)
        soldiers = tables.best[hand.block[6]]
        if command < 0 or field < 0 or soldiers < 0:
            return np.int64(IMPOSSIBLE)
        return total + command + field + soldiers
    for block in range(N_BLOCKS):
        worth = tables.best[hand.block[block]]
        if worth < 0:
            return np.int64(IMPOSSIBLE)
        total += worth
    return total


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
        _append(melds, K_SINGLE, NO_CARD, NO_CARD, NO_CARD)
    if may[QUAD] & (hand.three | hand.locked) & (1 << card):
        _append(melds, K_QUAD, card, card, card)
    if may[TRIPLE] & hand.two & (1 << card):
        _append(melds, K_TRIPLE, card, card, NO_CARD)
    if card != FLOWER:
        _list_mixed(hand, card, may, melds)
    if may[PAIR] & hand.one & (1 << card):
        _append(melds, K_PAIR, card, NO_CARD, NO_CARD)


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
            _append(melds, K_COMMAND if rank < 3 else K_FIELD, low, high, NO_CARD)
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
                _append(melds, kind, a, b, NO_CARD)
            if has_a & has_c:
                _append(melds, kind, a, c, NO_CARD)
            if has_b & has_c:
                _append(melds, kind, b, c, NO_CARD)


@inner
def lift_partners(tables, hand, melds, i):
    """Take the partners of meld `i` out of the hand, and the worth of a locked triple that becomes a quad."""
    partner = melds.partners[i, 0]
    if partner != NO_CARD and hand.locked >> partner & 1:
        unlock_for_quad(tables, hand, partner)
    for j in range(3):
        partner = melds.partners[i, j]
        if partner != NO_CARD:
            remove_card(tables, hand, partner)


@inner
def put_back_partners(tables, hand, melds, i, locked):
    """Undo `lift_partners`; `locked` is the hand's mask from before."""
    for j in range(3):
        partner = melds.partners[i, j]
        if partner != NO_CARD:
            add_card(tables, hand, partner)
    if hand.locked != locked:
        set_aside(tables, hand, melds.partners[i, 0], 3, True)


@small
def dead_after(tables, hand, melds, i):
    """Deadwood once the partners of meld `i` have left the hand; `hand.dead` must be fresh."""
    first = melds.partners[i, 0]
    if first == NO_CARD:
        return hand.dead
    if hand.locked >> first & 1:
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
        if melds.partners[i, j] != NO_CARD:
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
    return best if best >> POINTS_SHIFT >= tables.min_points else np.int64(IMPOSSIBLE)


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
def refresh(tables, hand, melds):
    """Renew deadwood, winning cards and what the seat may answer, after the concealed hand has changed."""
    if tables.coupled:
        wins, hand.dead = _coupled_completing(tables, hand)
    else:
        wins, hand.dead = _block_completing(tables, hand)
    if hand.locked and hand.dead == 0:
        wins |= hand.locked  # a locked triple takes its fourth card as a quad
    if wins and tables.min_points > 0:
        wins = _with_points(tables, hand, wins, melds)
    hand.wins = wins
    one = hand.one
    quad = hand.three | hand.locked
    run = (one >> 1) & (one >> 2) & FIRST | (one << 1) & (one >> 1) & SECOND | (one << 1) & (one << 2) & THIRD
    a = (one << 7 | one >> 21) & LOW_28
    b = (one << 14 | one >> 14) & LOW_28
    c = (one << 21 | one >> 7) & LOW_28
    colours4 = a & b & c
    colours3 = a & b | a & c | b & c
    for place in range(5):
        may = tables.may[place]
        hand.wants[place] = (
            wins | may[SINGLE] | may[PAIR] & one | may[TRIPLE] & hand.two | may[QUAD] & quad | may[RUN] & run
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
