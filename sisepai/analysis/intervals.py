"""Rates, means and differences with honest error bars, from sums over independent units.

The unit is the *block*: all deals of one deck. Deals of one deck hang together, so nothing here counts them
as independent; where a deck is played once, the block is the deal and everything falls back to the textbook
case.

Every estimate is a ratio ``R = Y / X`` of two sums over the blocks (wins over deals, points over wins), and
every variance follows from two arrays: the total of each feature over all blocks, and the *gram* matrix,
the sum over the blocks of the products of each pair of features. Both hold exact integers and the
arithmetic on them stays exact up to the last square root, so results depend neither on the order of the
blocks nor on rounding: a difference that is zero in every block has standard error zero.
``docs/statistics.md`` tells the whole story with its sources.
"""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
Ints = NDArray[np.int64]


@cache
def normal_quantile(level: float = LEVEL) -> float:
    """The z that a normal variable exceeds in size with probability ``1 - level``; 1.959964 for 95%."""
    return NormalDist().inv_cdf(0.5 + level / 2)


@cache
def t_quantile(df: int, level: float = LEVEL) -> float:
    """The t that a Student variable with ``df`` >= 1 degrees of freedom exceeds in size with probability
    ``1 - level``.

    Up to 30 degrees by bisection of the exact distribution function, beyond by the Cornish-Fisher expansion
    ``z + (z^3 + z) / 4v + (5z^5 + 16z^3 + 3z) / 96v^2 + (3z^7 + 19z^5 + 17z^3 - 15z) / 384v^3``, there good
    to six digits. Abramowitz & Stegun (1964), Handbook of Mathematical Functions, 26.7.3-5.
    """
    z = normal_quantile(level)
    if df > 30:
        second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
        return z + (z**3 + z) / (4 * df) + second + third
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _t_inside(angle, df) < level:
            low = angle
        else:
            high = angle
    return math.sqrt(df) * math.tan((low + high) / 2)


def _t_inside(angle: float, df: int) -> float:
    """P(|T| < sqrt(df) tan(angle)): the finite sums of Abramowitz & Stegun 26.7.3 (odd) and 26.7.4 (even)."""
    odd = df % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, df, 2):
        total += term
        term *= math.cos(angle) ** 2 * k / (k + 1)
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if odd else total


def wilson(rate: float, n: float, z: float | None = None) -> tuple[float, float]:
    """The Wilson score interval of a rate seen in ``n`` > 0 independent trials; always inside [0, 1].

    ``(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)``. Wilson (1927), JASA 22:209-212;
    recommended by Brown, Cai & DasGupta (2001), Statistical Science 16:101-133. ``n`` need not be whole;
    ``z`` is for 95% unless given.
    """
    z = normal_quantile() if z is None else z
    share = z * z / n
    middle = rate + share / 2
    half = z * math.sqrt(rate * (1 - rate) / n + share / (4 * n))
    # At the ends the formula is exactly 0 or 1; rounding must not say otherwise.
    low = 0.0 if rate <= 0 else max(0.0, (middle - half) / (1 + share))
    high = 1.0 if rate >= 1 else min(1.0, (middle + half) / (1 + share))
    return low, high


def clustered_wilson(rate: float, se: float, trials: int, blocks: int) -> tuple[float, float] | None:
    """The Wilson interval of a rate whose trials come in blocks; None below two blocks.

    Wilson's formula with the *effective* number of independent trials in place of the number of trials:
    ``n_eff = p(1-p) / se^2 * (z / t)^2``, with the block-robust ``se`` of :func:`ratio` and Student's ``t``
    with ``blocks - 1`` degrees of freedom. Korn & Graubard (1998), Survey Methodology 24:193-201, for n_eff
    and its correction by t; Franco, Little, Louis & Slud (2019), J. Survey Statistics and Methodology
    7:334-364, for Wilson's form with it. Two rules keep it sane where the variance seen is no guide: ``se``
    is taken as at least ``1 / trials`` (as if one trial in one block had gone the other way), and a rate of
    exactly 0 or 1 counts each block as one trial.
    """
    if blocks < 2:
        return None
    if rate <= 0 or rate >= 1:
        return wilson(rate, blocks)
    correction = (normal_quantile() / t_quantile(blocks - 1)) ** 2
    return wilson(rate, rate * (1 - rate) / max(se, 1 / trials) ** 2 * correction)


def ratio(total: Ints, gram: Ints, y: Ints, x: Ints, blocks: int) -> tuple[float | None, float | None]:
    """``R = Y / X`` for two sums over blocks, and its block-robust standard error; None for what cannot be
    told.

    ``se^2 = B/(B-1) * sum_b (y_b - R x_b)^2 / X^2``: the linearised (Taylor) variance of a ratio of totals
    with blocks drawn independently. Cochran (1977), Sampling Techniques, 3rd ed., ch. 6. With one deal a
    block and ``x`` the number of deals it is the familiar ``s / sqrt(n)``; with ``x`` the wins and
    ``blocks`` the blocks with a win, the ``s / sqrt(n)`` over the wins.

    Parameters
    ----------
    total : int64[K]
        Sum of each feature over the blocks.
    gram : int64[K, K]
        Sum over the blocks of the product of each pair of features.
    y, x : int64[K]
        The two sums, as weights of the features.
    blocks : int
        B, the number of blocks that hold anything of ``x``.
    """
    y_sum, x_sum = int(total @ y), int(total @ x)
    if x_sum <= 0:
        return None, None
    if blocks < 2:
        return y_sum / x_sum, None
    residual = [x_sum * int(a) - y_sum * int(b) for a, b in zip(y, x, strict=True)]
    return y_sum / x_sum, _root(_quadratic(gram, residual), x_sum**2, blocks)


def difference(
    total: Ints, gram: Ints, first: tuple[Ints, Ints], second: tuple[Ints, Ints], blocks: int
) -> tuple[float | None, float | None]:
    """``R2 - R1`` of two ratios over the *same* blocks, and its standard error; None for what cannot be told.

    ``se^2 = B/(B-1) * sum_b (e2_b - e1_b)^2`` with ``e = (y - R x) / X``: the linearised variance again, of
    the difference within the block, so whatever both share in a block (its cards) cancels. Cochran (1977),
    sec. 6.10.

    Parameters
    ----------
    total, gram
        As in :func:`ratio`, over the features of both.
    first, second : (int64[K], int64[K])
        Numerator and denominator of each ratio, as weights of the features.
    blocks : int
        B, the number of blocks.
    """
    (y1, x1), (y2, x2) = first, second
    y1_sum, x1_sum, y2_sum, x2_sum = (int(total @ v) for v in (y1, x1, y2, x2))
    if x1_sum <= 0 or x2_sum <= 0:
        return None, None
    # Cross-multiplied, so that equal ratios give exactly zero.
    estimate = (y2_sum * x1_sum - y1_sum * x2_sum) / (x1_sum * x2_sum)
    if blocks < 2:
        return estimate, None
    e1 = [x1_sum * int(a) - y1_sum * int(b) for a, b in zip(y1, x1, strict=True)]
    e2 = [x2_sum * int(a) - y2_sum * int(b) for a, b in zip(y2, x2, strict=True)]
    residual = [b * x1_sum**2 - a * x2_sum**2 for a, b in zip(e1, e2, strict=True)]
    return estimate, _root(_quadratic(gram, residual), (x1_sum * x2_sum) ** 2, blocks)


def mover(first: tuple[float, float, float], second: tuple[float, float, float]) -> tuple[float, float]:
    """The interval of ``p2 - p1`` from two independent rates and their own intervals, each ``(p, low,
    high)``.

    ``d - sqrt((p2-l2)^2 + (u1-p1)^2)`` to ``d + sqrt((u2-p2)^2 + (p1-l1)^2)``; it never leaves [-1, 1] when
    the two stay in [0, 1]. Newcombe (1998), Statistics in Medicine 17:873-890, method 10; Zou & Donner
    (2008), same journal, 27:1693-1702, for any two intervals.
    """
    (p1, l1, u1), (p2, l2, u2) = first, second
    return p2 - p1 - math.hypot(p2 - l2, u1 - p1), p2 - p1 + math.hypot(u2 - p2, p1 - l1)


def quantiles(counts: Ints, levels: tuple[float, ...]) -> list[int] | None:
    """The smallest value that at least ``level`` of the observations do not exceed, one a level; None
    without any.

    ``counts`` (int64[V]) holds how often each value 0, 1, ... was seen. The inverse of the empirical
    distribution function: definition 1 of Hyndman & Fan (1996), The American Statistician 50:361-365.
    """
    cumulative = counts.cumsum()
    n = int(cumulative[-1]) if len(cumulative) else 0
    if not n:
        return None
    # Rounded before it is rounded up: 0.95 * 20 is 19, whatever binary fractions say.
    ranks = [max(1, math.ceil(round(level * n, 6))) for level in levels]
    return [int(value) for value in np.searchsorted(cumulative, ranks)]


def _quadratic(gram: Ints, weights: list[int]) -> int:
    """The exact ``w' G w``. Python's integers, since the products outgrow 64 bits."""
    used = [i for i, weight in enumerate(weights) if weight]
    return sum(weights[i] * weights[j] * int(gram[i, j]) for i in used for j in used)


def _root(squares: int, scale: int, blocks: int) -> float:
    """``sqrt(B/(B-1) * squares) / scale``; divided before the root, so that huge integers do not overflow."""
    return math.sqrt(squares / scale / scale * blocks / (blocks - 1))
