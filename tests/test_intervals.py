"""Intervals and standard errors: against published figures, plain formulas over arrays, and simulated coverage."""

import math

import numpy as np
import pytest

from sisepai.analysis.intervals import (
    clustered_wilson,
    difference,
    mover,
    normal_quantile,
    quantiles,
    ratio,
    t_quantile,
    wilson,
)

COUNT, OTHER = np.array([1, 0]), np.array([0, 1])


def sums(*features):
    """Totals and gram matrix of block sums."""
    values = np.array(features, np.int64)
    return values.sum(axis=1), values @ values.T


def test_normal_quantile():
    assert normal_quantile() == pytest.approx(1.959963985, abs=1e-9)


# A printed table of Student's t, two-sided 5%.
T_TABLE = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    9: 2.262,
    10: 2.228,
    30: 2.042,
    40: 2.021,
    60: 2.0,
    120: 1.98,
}


@pytest.mark.parametrize(("df", "t"), [*T_TABLE.items(), (10**9, 1.960)])
def test_t_quantile(df, t):
    assert t_quantile(df) == pytest.approx(t, abs=6e-4)


# Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3.
@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_published(count, of, low, high):
    assert wilson(count / of, of) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("of", [1, 2, 7, 1000, 10**9])
@pytest.mark.parametrize("share", [0, 1e-9, 0.3, 1 - 1e-9, 1])
def test_wilson_stays_inside(share, of):
    low, high = wilson(share, of)
    assert 0 <= low <= share <= high <= 1


# Newcombe (1998), Statistics in Medicine 17:873-890, table II, method 10.
@pytest.mark.parametrize(
    ("a", "m", "b", "n", "low", "high"),
    [(56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (10, 10, 0, 20, 0.6791, 1.0)],
)
def test_mover_published(a, m, b, n, low, high):
    first, second = (b / n, *wilson(b / n, n)), (a / m, *wilson(a / m, m))
    assert mover(first, second) == pytest.approx((low, high), abs=5e-5)


def test_ratio_is_the_plain_mean_when_blocks_are_single_deals():
    x = np.random.default_rng(1).poisson(12, 500)
    total, gram = sums(x, np.ones_like(x))
    mean, se = ratio(total, gram, COUNT, OTHER, len(x))
    assert mean == pytest.approx(x.mean())
    assert se == pytest.approx(x.std(ddof=1) / math.sqrt(len(x)))


def test_mean_over_wins_is_the_plain_mean_over_wins():
    rng = np.random.default_rng(2)
    won = rng.random(500) < 0.3
    points = np.where(won, rng.poisson(9, 500), 0)
    total, gram = sums(points, won)
    mean, se = ratio(total, gram, COUNT, OTHER, int(won.sum()))
    assert mean == pytest.approx(points[won].mean())
    assert se == pytest.approx(points[won].std(ddof=1) / math.sqrt(won.sum()))


def test_ratio_over_blocks_is_its_formula():
    rng = np.random.default_rng(3)
    x = rng.binomial(6, 0.8, 300)
    y = rng.binomial(x, 0.4)
    rate, se = ratio(*sums(y, x), COUNT, OTHER, 300)
    residuals = (y - rate * x) / x.sum()
    assert rate == y.sum() / x.sum()
    assert se == pytest.approx(math.sqrt(300 / 299 * (residuals**2).sum()))


def test_ratio_survives_huge_sums():
    rate, se = ratio(
        np.array([10**15, 4 * 10**15]), np.array([[10**18] * 2, [10**18] * 2]), COUNT, OTHER, 10**15
    )
    assert rate == 0.25
    assert math.isfinite(se)


def test_difference_is_the_paired_formula():
    rng = np.random.default_rng(4)
    common = rng.integers(0, 3, 400)
    a, b = common + rng.binomial(2, 0.3, 400), common + rng.binomial(2, 0.5, 400)
    four = np.full(400, 4)
    weights = np.eye(3, dtype=int)
    d, se = difference(*sums(a, b, four), (weights[0], weights[2]), (weights[1], weights[2]), 400)
    plain = (b - a) / 4
    assert d == pytest.approx(plain.mean())
    assert se == pytest.approx(plain.std(ddof=1) / 20)


def test_equal_runs_differ_by_exactly_nothing():
    a = np.random.default_rng(5).poisson(3, 997)
    three = np.full(997, 3)
    weights = np.eye(3, dtype=int)
    result = difference(*sums(a, a, three), (weights[0], weights[2]), (weights[1], weights[2]), 997)
    assert result == (0.0, 0.0)


def test_not_enough():
    assert ratio(*sums([0], [0]), COUNT, OTHER, 0) == (None, None)
    assert ratio(*sums([1], [4]), COUNT, OTHER, 1) == (0.25, None)
    assert difference(*sums([1], [0]), (COUNT, OTHER), (COUNT, OTHER), 1) == (None, None)
    assert clustered_wilson(0.5, 0.1, 4, 1) is None


def test_clustered_wilson_of_nothing_counts_blocks():
    assert clustered_wilson(0.0, 0.0, 400, 100) == wilson(0.0, 100)
    assert clustered_wilson(1.0, 0.0, 400, 100) == wilson(1.0, 100)


def test_clustered_wilson_without_variance_is_no_point():
    low, high = clustered_wilson(0.5, 0.0, 40, 10)
    assert low < 0.5 < high


def test_clustered_wilson_of_whole_blocks_is_wilson_of_blocks():
    """Deals that always agree within their deck are worth one deal."""
    y = 4 * (np.random.default_rng(6).random(5000) < 0.2)
    rate, se = ratio(*sums(y, np.full(5000, 4)), COUNT, OTHER, 5000)
    assert clustered_wilson(rate, se, 20000, 5000) == pytest.approx(wilson(rate, 5000), rel=1e-3)


@pytest.mark.parametrize(("mean", "size", "blocks"), [(0.05, 4, 100), (0.25, 4, 200), (0.5, 24, 40)])
def test_clustered_wilson_covers(mean, size, blocks):
    """Beta-binomial blocks with correlation 0.2: the interval covers, one that ignores the blocks does not."""
    rng = np.random.default_rng(7)
    chances = rng.beta(4 * mean, 4 * (1 - mean), (1000, blocks))
    inside = naive = 0
    for y in rng.binomial(size, chances):
        rate, se = ratio(*sums(y, np.full(blocks, size)), COUNT, OTHER, blocks)
        low, high = clustered_wilson(rate, se, size * blocks, blocks)
        inside += low <= mean <= high
        low, high = wilson(rate, size * blocks)
        naive += low <= mean <= high
    assert 0.925 <= inside / 1000 <= 0.975
    assert naive / 1000 < 0.9


@pytest.mark.parametrize("count", [1, 2, 19, 20, 1000])
def test_quantiles(count):
    values = np.random.default_rng(8).poisson(5, count)
    levels = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    expected = [np.quantile(values, level, method="inverted_cdf") for level in levels]
    assert quantiles(np.bincount(values, minlength=256), levels) == expected


def test_quantiles_of_nothing():
    assert quantiles(np.zeros(256, np.int64), (0.5,)) is None
