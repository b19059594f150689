"""Seeded randomness: Philox4x32-10, a counter-based generator, so that no draw depends on another deal.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11); checked against its
published vectors. The key is the seed, the counter is (deck low, deck high, stream, block): streams of different
seeds, decks, attempts or seats never share a block. `docs/seeds.md` tells how to reproduce a deck.
"""

import numpy as np

from sisepai.jit import inner, small

BLOCKS = 8  # made at a time, so that the compiler may work on several at once
WORDS = 4 * BLOCKS

RNG = np.dtype(
    [("key0", "u4"), ("key1", "u4"), ("deck0", "u4"), ("deck1", "u4"), ("stream", "u4"), ("block", "u4"),
     ("word", "u4", WORDS), ("at", "i8")],
    align=True,
)  # fmt: skip

MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW_32 = np.uint64(0xFFFFFFFF)
BITS_32 = np.uint64(32)
ROUNDS = 10

DECK_STREAM = 0  # seat s has stream s + 1
ATTEMPT_STEP = 8  # streams an attempt: the stream word is attempt * 8 + stream


@inner
def refill(rng):
    """Fill `rng.word` with the 32-bit words of the next blocks."""
    # All reads before all writes, and no carry between blocks: the compiler then works on four or more at once.
    deck0, deck1, stream = np.uint64(rng.deck0), np.uint64(rng.deck1), np.uint64(rng.stream)
    key0, key1, first = np.uint64(rng.key0), np.uint64(rng.key1), np.uint64(rng.block)
    for block in range(BLOCKS):
        x0, x1, x2, x3 = deck0, deck1, stream, first + np.uint64(block)
        k0, k1 = key0, key1
        for _ in range(ROUNDS):
            a, b = MULTIPLIER_0 * (x0 & LOW_32), MULTIPLIER_1 * (x2 & LOW_32)
            x0, x1, x2, x3 = (b >> BITS_32) ^ x1 ^ k0, b & LOW_32, (a >> BITS_32) ^ x3 ^ k1, a & LOW_32
            k0, k1 = (k0 + WEYL_0) & LOW_32, (k1 + WEYL_1) & LOW_32
        rng.word[4 * block] = x0
        rng.word[4 * block + 1] = x1
        rng.word[4 * block + 2] = x2
        rng.word[4 * block + 3] = x3
    rng.block += np.uint32(BLOCKS)
    rng.at = 0


@small
def open_stream(rng, seed, deck, attempt, stream):
    """Set `rng` to the start of a stream; `seed` and `deck` are uint64."""
    rng.key0 = seed & LOW_32
    rng.key1 = seed >> BITS_32
    rng.deck0 = deck & LOW_32
    rng.deck1 = deck >> BITS_32
    rng.stream = np.uint32(attempt * ATTEMPT_STEP + stream)
    rng.block = np.uint32(0)
    rng.at = WORDS


@small
def next_word(rng):
    """The next 32-bit word of the stream, as uint64."""
    if rng.at == WORDS:
        refill(rng)
    rng.at += 1
    return np.uint64(rng.word[rng.at - 1])


@small
def below(rng, n):
    """A uniform whole number from 0 to n - 1 (n < 2^32), exactly uniform.

    Multiply-shift with rejection: Lemire, "Fast random integer generation in an interval" (ACM TOMACS 2019).
    """
    bound = np.uint64(n)
    product = next_word(rng) * bound
    if product & LOW_32 < bound:
        while product & LOW_32 < (np.uint64(1) << BITS_32) % bound:
            product = next_word(rng) * bound
    return np.int64(product >> BITS_32)


@inner
def shuffle(rng, cards, n):
    """Put the first `n` entries of `cards` in uniform random order (Fisher-Yates, from the front).

    The draws are those of `below`; the place in the stream is kept in a register meanwhile.
    """
    at = rng.at
    for i in range(n - 1):
        bound = np.uint64(n - i)
        if at == WORDS:
            refill(rng)
            at = 0
        product = np.uint64(rng.word[at]) * bound
        at += 1
        if product & LOW_32 < bound:  # once in forty million draws
            rng.at = at - 1
            j = i + below(rng, n - i)
            at = rng.at
        else:
            j = i + np.int64(product >> BITS_32)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card
    rng.at = at
