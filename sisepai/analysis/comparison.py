"""How two runs differ: over the decks they share, or as two runs that have nothing to do with each other."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sisepai.analysis.intervals import Ints, difference, mover, t_quantile
from sisepai.analysis.summary import Mean, Rate, Summary
from sisepai.analysis.tally import LENGTHS, block_sums, moments, whole_blocks, win_features
from sisepai.rules import differences as rule_differences

if TYPE_CHECKING:
    from sisepai.runs.manifest import Manifest
    from sisepai.runs.reader import Run

Blocks = tuple[NDArray[np.uint64], NDArray[Any]]
Interval = tuple[float | None, float | None]
DEALER_EDGE = "dealer's edge"  # what the dealer wins more often than a seat on average


@dataclass(frozen=True)
class Difference:
    """One figure in two runs: the second minus the first, standard error, 95% interval; None where not
    enough is seen.

    ``kind`` is ``rate``, ``points`` or ``length``. Paired, ``first`` and ``second`` are the figures on the shared
    decks.
    """

    what: str
    kind: str
    first: float | None
    second: float | None
    difference: float | None
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Comparison:
    """Two runs, by name: ``paired`` over the ``decks`` they share; or not, and ``unlike`` says why.

    The decks lie in ``matches``, where there are matches. ``rules`` holds the rules in which the two differ, with both
    values (`sisepai.rules.differences`).
    """

    first: str
    second: str
    paired: bool
    decks: int
    matches: int
    unlike: list[str]
    rules: dict[str, tuple[Any, Any]]
    differences: list[Difference]


def unlike(one: "Manifest", other: "Manifest") -> list[str]:
    """What keeps equal deck numbers from being equal decks: other seeds, packs or hands; empty when they are.

    Matches of other lengths are no pairs either: the deals of a match hang together.
    """
    mine, theirs = one.rules, other.rules
    different = {
        "seed": one.seed != other.seed,
        "pack": mine.pack_size != theirs.pack_size,
        "number of seats": mine.players != theirs.players,
        "hands": (mine.hand_size, mine.dealer_leads) != (theirs.hand_size, theirs.dealer_leads),
        "matches": one.match != other.match,
    }
    return [what for what, differs in different.items() if differs]


def compare(one: "Run", other: "Run", summaries: tuple[Summary, Summary]) -> Comparison:
    """The second run minus the first: paired where they share whole blocks of the same decks, otherwise not."""
    names = summaries[0].run.name, summaries[1].run.name
    rules = rule_differences(one.manifest.rules, other.manifest.rules)
    reasons = unlike(one.manifest, other.manifest)
    if not reasons:
        sums = _PairedSums.of(one, other)
        if sums.blocks:
            match = one.manifest.match
            shared = sums.blocks * (match or 1), sums.blocks if match else 0
            differences = _paired(sums, (one.manifest, other.manifest))
            return Comparison(*names, True, *shared, [], rules, differences)
        reasons = ["deck numbers"]
    return Comparison(*names, False, 0, 0, reasons, rules, _unpaired(summaries))


@dataclass
class _PairedSums:
    """Totals and gram matrix over the blocks (decks or matches) of both runs: features of the first, of the second,
    and 1 a block.
    """

    names: list[str]
    total: Ints
    gram: Ints
    blocks: int = 0

    @classmethod
    def of(cls, one: "Run", other: "Run") -> "_PairedSums":
        names = [
            f"{side}.{name}" for side, run in enumerate((one, other)) for name in win_features(run.manifest)
        ]
        count = len(names) + 1
        sums = cls([*names, "blocks"], np.zeros(count, np.int64), np.zeros((count, count), np.int64))
        for values in _shared(_by_block(one), _by_block(other)):
            total, gram = moments(values)
            sums.total += total
            sums.gram += gram
            sums.blocks += values.shape[1]
        return sums

    def weights(self, side: int, name: str) -> Ints:
        """The features of one run whose name begins so, as weights."""
        return np.array([own.startswith(f"{side}.{name}") for own in self.names], np.int64)

    def per_block(self, count: int) -> Ints:
        """``count`` a block, as weights."""
        return np.array([0] * (len(self.names) - 1) + [count], np.int64)


def _by_block(run: "Run") -> Iterator[Blocks]:
    for numbers, rows, _ in whole_blocks(run.deals, win_features(run.manifest), run.manifest, numbers=True):
        yield numbers, block_sums(rows, run.manifest.plan.unit)


def _shared(one: Iterator[Blocks], other: Iterator[Blocks]) -> Iterator[NDArray[Any]]:
    """The sums of both runs (and a row of ones) on the blocks both have; their numbers ascend in each run."""
    a, b = next(one, None), next(other, None)
    while a is not None and b is not None:
        if not len(a[0]):
            a = next(one, None)
        elif not len(b[0]):
            b = next(other, None)
        else:
            common, i, j = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
            if len(common):
                yield np.vstack([a[1][:, i], b[1][:, j], np.ones((1, len(common)), np.uint8)])
            edge = min(a[0][-1], b[0][-1])
            a, b = _beyond(a, edge), _beyond(b, edge)


def _beyond(side: Blocks, edge: np.uint64) -> Blocks:
    numbers, sums = side
    cut = int(np.searchsorted(numbers, edge, side="right"))
    return numbers[cut:], sums[:, cut:]


def _paired(sums: _PairedSums, manifests: tuple["Manifest", "Manifest"]) -> list[Difference]:
    first, second = (_ratios(sums, side, manifest) for side, manifest in enumerate(manifests))
    differences = []
    for what in (what for what in first if what in second):
        estimate, se = difference(sums.total, sums.gram, first[what], second[what], sums.blocks)
        a, b = (_quotient(sums.total, *figures[what]) for figures in (first, second))
        interval = _reach(estimate, se, sums.blocks, what)
        differences.append(Difference(what, _kind(what), a, b, estimate, se, *interval))
    return differences


def _ratios(sums: _PairedSums, side: int, manifest: "Manifest") -> dict[str, tuple[Ints, Ints]]:
    """The figures that are compared, each as numerator and denominator (weights of the features)."""
    wins, points = sums.weights(side, "seat"), sums.weights(side, "score")
    plan, players = manifest.plan, manifest.rules.players
    dealt = sums.per_block(plan.unit)
    figures = {
        "drawn": (dealt - wins, dealt),
        "points a deal": (points, dealt),
        "points a win": (points, wins),
        DEALER_EDGE: (sums.weights(side, "place0") * players - wins, dealt * players),
    }
    for seat in range(players):
        figures[f"seat {seat}"] = sums.weights(side, f"seat{seat}"), dealt
    for after in range(players):
        figures[f"place {after}"] = sums.weights(side, f"place{after}"), dealt
    for entry, label in enumerate(manifest.labels):
        chairs = int((plan.seatings == entry).sum()) * (plan.unit // plan.block)
        figures[f"strategy {label}"] = sums.weights(side, f"entry{entry}"), sums.per_block(chairs)
    return figures | {what: (sums.weights(side, what), dealt) for what in LENGTHS}


def _quotient(total: Ints, y: Ints, x: Ints) -> float | None:
    of = int(total @ x)
    return int(total @ y) / of if of else None


def _unpaired(summaries: tuple[Summary, Summary]) -> list[Difference]:
    first, second = (_figures(summary) for summary in summaries)
    blocks = min(summary.run.blocks for summary in summaries)
    return [_apart(what, first[what], second[what], blocks) for what in first if what in second]


def _figures(summary: Summary) -> dict[str, Rate | Mean]:
    """The figures that are compared, under the names of `_ratios`."""
    figures: dict[str, Rate | Mean] = {
        "drawn": summary.drawn,
        "points a deal": summary.score.deal,
        "points a win": summary.score.win.mean,
        DEALER_EDGE: summary.dealer_edge,
    }
    figures |= {f"seat {seat}": rate for seat, rate in enumerate(summary.seats)}
    figures |= {f"place {after}": rate for after, rate in enumerate(summary.places)}
    figures |= {f"strategy {wins.strategy}": wins.per_seat_deal for wins in summary.strategies}
    return figures | {what: spread.mean for what, spread in summary.length.items()}


def _apart(what: str, a: Rate | Mean, b: Rate | Mean, blocks: int) -> Difference:
    """The difference of two independent figures."""
    estimate = None if a.value is None or b.value is None else b.value - a.value
    se = None if a.se is None or b.se is None else math.hypot(a.se, b.se)
    interval = (
        _mover(a, b) if isinstance(a, Rate) and isinstance(b, Rate) else _reach(estimate, se, blocks, what)
    )
    return Difference(what, _kind(what), a.value, b.value, estimate, se, *interval)


def _mover(a: Rate, b: Rate) -> Interval:
    ends = (a.rate, a.low, a.high, b.rate, b.low, b.high)
    p1, l1, u1, p2, l2, u2 = (math.nan if end is None else end for end in ends)
    return (None, None) if None in ends else mover((p1, l1, u1), (p2, l2, u2))


def _reach(estimate: float | None, se: float | None, blocks: int, what: str) -> Interval:
    """``estimate +- t se`` with ``blocks - 1`` degrees of freedom; a difference of rates stays in [-1, 1]."""
    if estimate is None or se is None or blocks < 2:
        return None, None
    most = 1.0 if _kind(what) == "rate" else math.inf
    reach = t_quantile(blocks - 1) * se
    return max(estimate - reach, -most), min(estimate + reach, most)


def _kind(what: str) -> str:
    if what.startswith("points"):
        return "points"
    return "length" if what in LENGTHS else "rate"
