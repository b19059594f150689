"""How two runs differ: over the decks they share, or as two runs that have nothing to do with each other."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sisepai.analysis.intervals import Ints, difference, mover, t_quantile
from sisepai.analysis.summary import Mean, Rate, Summary
from sisepai.analysis.tally import block_sums, moments, whole_blocks, win_features

if TYPE_CHECKING:
    from sisepai.runs.manifest import Manifest
    from sisepai.runs.reader import Run

Decks = tuple[NDArray[np.uint64], NDArray[Any]]
Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Difference:
    """One figure in two runs: the second minus the first, standard error, 95% interval; None where not
    enough is seen.

    ``kind`` is ``rate`` or ``points``. Paired, ``first`` and ``second`` are the figures on the shared decks.
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
    """Two runs, by name: ``paired`` over the ``decks`` they share; or not, and ``unlike`` says why."""

    first: str
    second: str
    paired: bool
    decks: int
    unlike: list[str]
    differences: list[Difference]


def unlike(one: "Manifest", other: "Manifest") -> list[str]:
    """What keeps equal deck numbers from being equal decks: other seeds, packs or hands; empty when they are."""
    mine, theirs = one.rules, other.rules
    different = {
        "seed": one.seed != other.seed,
        "pack": mine.pack_size != theirs.pack_size,
        "number of seats": mine.players != theirs.players,
        "hands": (mine.hand_size, mine.dealer_leads) != (theirs.hand_size, theirs.dealer_leads),
    }
    return [what for what, differs in different.items() if differs]


def compare(one: "Run", other: "Run", summaries: tuple[Summary, Summary]) -> Comparison:
    """The second run minus the first: paired where they share whole blocks of the same decks, otherwise not."""
    names = summaries[0].run.name, summaries[1].run.name
    reasons = unlike(one.manifest, other.manifest)
    if not reasons:
        sums = _PairedSums.of(one, other)
        if sums.decks:
            return Comparison(*names, True, sums.decks, [], _paired(sums, (one.manifest, other.manifest)))
        reasons = ["deck numbers"]
    return Comparison(*names, False, 0, reasons, _unpaired(summaries))


@dataclass
class _PairedSums:
    """Totals and gram matrix over the decks of both runs: features of the first, of the second, and 1 a deck."""

    names: list[str]
    total: Ints
    gram: Ints
    decks: int = 0

    @classmethod
    def of(cls, one: "Run", other: "Run") -> "_PairedSums":
        names = [
            f"{side}.{name}" for side, run in enumerate((one, other)) for name in win_features(run.manifest)
        ]
        count = len(names) + 1
        sums = cls([*names, "decks"], np.zeros(count, np.int64), np.zeros((count, count), np.int64))
        for values in _shared(_by_deck(one), _by_deck(other)):
            total, gram = moments(values)
            sums.total += total
            sums.gram += gram
            sums.decks += values.shape[1]
        return sums

    def weights(self, side: int, name: str) -> Ints:
        """The features of one run whose name begins so, as weights."""
        return np.array([own.startswith(f"{side}.{name}") for own in self.names], np.int64)

    def per_deck(self, count: int) -> Ints:
        """``count`` a deck, as weights."""
        return np.array([0] * (len(self.names) - 1) + [count], np.int64)


def _by_deck(run: "Run") -> Iterator[Decks]:
    size = run.manifest.plan.block
    for decks, rows, _ in whole_blocks(run.deals, win_features(run.manifest), size, decks=True):
        yield decks, block_sums(rows, size)


def _shared(one: Iterator[Decks], other: Iterator[Decks]) -> Iterator[NDArray[Any]]:
    """The block sums of both runs (and a row of ones) on the decks both have; decks ascend in each run."""
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


def _beyond(side: Decks, edge: np.uint64) -> Decks:
    decks, sums = side
    cut = int(np.searchsorted(decks, edge, side="right"))
    return decks[cut:], sums[:, cut:]


def _paired(sums: _PairedSums, manifests: tuple["Manifest", "Manifest"]) -> list[Difference]:
    first, second = (_ratios(sums, side, manifest) for side, manifest in enumerate(manifests))
    differences = []
    for what in (what for what in first if what in second):
        estimate, se = difference(sums.total, sums.gram, first[what], second[what], sums.decks)
        a, b = (_quotient(sums.total, *figures[what]) for figures in (first, second))
        interval = _reach(estimate, se, sums.decks, what)
        differences.append(Difference(what, _kind(what), a, b, estimate, se, *interval))
    return differences


def _ratios(sums: _PairedSums, side: int, manifest: "Manifest") -> dict[str, tuple[Ints, Ints]]:
    """The figures that are compared, each as numerator and denominator (weights of the features)."""
    wins, points = sums.weights(side, "seat"), sums.weights(side, "score")
    dealt = sums.per_deck(manifest.plan.block)
    figures = {
        "drawn": (dealt - wins, dealt),
        "points a deal": (points, dealt),
        "points a win": (points, wins),
    }
    for seat in range(manifest.rules.players):
        figures[f"seat {seat}"] = sums.weights(side, f"seat{seat}"), dealt
    for after in range(manifest.rules.players):
        figures[f"place {after}"] = sums.weights(side, f"place{after}"), dealt
    for entry, label in enumerate(manifest.labels):
        chairs = sums.per_deck(int((manifest.plan.seatings == entry).sum()))
        figures[f"strategy {label}"] = sums.weights(side, f"entry{entry}"), chairs
    return figures


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
    }
    figures |= {f"seat {seat}": rate for seat, rate in enumerate(summary.seats)}
    figures |= {f"place {after}": rate for after, rate in enumerate(summary.places)}
    return figures | {f"strategy {wins.strategy}": wins.per_seat_deal for wins in summary.strategies}


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
    return "points" if what.startswith("points") else "rate"
