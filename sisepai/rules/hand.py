"""The concealed hand of one seat: its record, how cards move, its deadwood and best partition, as kernels.

Moving a card changes one count, at most three masks and one block state (rules/tables.py). All functions take the
tables first and never allocate; `rules/offers.py` says what a hand may do with a card.
"""

import numpy as np

from sisepai.cards import FLOWER, N_TYPES
from sisepai.jit import inner, small
from sisepai.rules.halves import half_best, half_dead, half_loose
from sisepai.rules.tables import (
    FLOWERS,
    GENERALS,
    IMPOSSIBLE,
    K_QUAD,
    K_SINGLE,
    K_TRIPLE,
    N_BLOCKS,
    N_PLACES,
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
        ("wants", "i8", N_PLACES),  # by place: mask of the cards with which something may be answered
    ],
    align=True,
)  # fmt: skip


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
