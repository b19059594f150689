"""Seeded randomness: Philox4x32-10, a counter-based generator, so that no draw depends on another deal.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11); checked against its
published vectors. The key is the seed, the counter is (deck low, deck high, stream, block): streams of different
seeds, decks, attempts or seats never share a block. `docs/seeds.md` tells how to reproduce a deck.
"""

import numpy as np

from sisepai.jit import inner

RNG = np.dtype(
    [("key0", "u4"), ("key1", "u4"), ("deck0", "u4"), ("deck1", "u4"), ("stream", "u4"), ("block", "u4"),
     ("word", "u4", 4), ("left", "i8")],
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
def philox(rng):
    """Fill `rng.word` with the four 32-bit words of its next block."""
    x0, x1 = np.uint64(rng.deck0), np.uint64(rng.deck1)
    x2, x3 = np.uint64(rng.stream), np.uint64(rng.block)
    k0, k1 = np.uint64(rng.key0), np.uint64(rng.key1)
    for _ in range(ROUNDS):
        a, b = MULTIPLIER_0 * x0, MULTIPLIER_1 * x2
        x0, x1, x2, x3 = (b >> BITS_32) ^ x1 ^ k0, b & LOW_32, (a >> BITS_32) ^ x3 ^ k1, a & LOW_32
        k0, k1 = (k0 + WEYL_0) & LOW_32, (k1 + WEYL_1) & LOW_32
    rng.word[0] = x0
    rng.word[1] = x1
    rng.word[2] = x2
    rng.word[3] = x3
    rng.left = 4
    rng.block += np.uint32(1)


@inner
def open_stream(rng, seed, deck, attempt, stream):
    """Set `rng` to the start of a stream; `seed` and `deck` are uint64."""
    rng.key0 = seed & LOW_32
    rng.key1 = seed >> BITS_32
    rng.deck0 = deck & LOW_32
    rng.deck1 = deck >> BITS_32
    rng.stream = np.uint32(attempt * ATTEMPT_STEP + stream)
    rng.block = np.uint32(0)
    rng.left = 0


@inner
def next_word(rng):
    """The next 32-bit word of the stream, as uint64."""
    if rng.left == 0:
        philox(rng)
    rng.left -= 1
    return np.uint64(rng.word[3 - rng.left])


@inner
def below(rng, n):
    """A uniform whole number from 0 to n - 1 (n < 2^32), exactly uniform.

    Multiply-shift with rejection: Lemire, "Fast random integer generation in an interval" (ACM TOMACS 2019).
    """
    bound = np.uint64(n)
    product = next_word(rng) * bound
    low = product & LOW_32
    if low < bound:
        while low < (np.uint64(1) << BITS_32) % bound:
            product = next_word(rng) * bound
            low = product & LOW_32
    return np.int64(product >> BITS_32)


@inner
def shuffle(rng, cards, n):
    """Put the first `n` entries of `cards` in uniform random order (Fisher-Yates, from the front)."""
    for i in range(n - 1):
        j = i + below(rng, n - i)
        cards[i], cards[j] = cards[j], cards[i]
