"""Tunes a strategy's parameters with CMA-ES on decks that all candidates of a generation play (docs/tune.md).

Hansen & Ostermeier (2001), Evolutionary Computation 9:159-195; Hansen (2016), arXiv:1604.00772. The optimiser itself is
the package `cmaes`. What it is told are sums of whole numbers, so that no number of threads changes where it goes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sisepai.engine.simulator import Simulator
from sisepai.errors import InputError, SisepaiError
from sisepai.rules.ruleset import RuleSet
from sisepai.strategies.base import Entry, Parameter, Value

OBJECTIVES = ("win", "score")
TUNING_DECKS = (
    2**40
)  # the first deck that candidates play; those of the confirmation count from 0 and stay below it
STEP = 0.15  # the first standard deviation, of a box with sides of 1
CHUNKS = (
    120  # pieces that a strategy's shard is cut into: small enough that all threads end a generation together
)

Block = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A parameter as a side of the box in which the optimiser moves, from 0 to 1.

    The value from which it starts lies in the middle, `low` and `high` at the ends, and between them the scale is a
    power: a weight of 10 that may be 0 to 100 is moved in steps of its own size, not of the range's.
    """

    parameter: Parameter
    start: float

    @property
    def _mirrored(self) -> bool:
        return self.start > (self.parameter.low + self.parameter.high) / 2

    @property
    def _power(self) -> float:
        p = self.parameter
        share = min(self.start - p.low, p.high - self.start) / (p.high - p.low)
        return min(math.log(share) / math.log(0.5), 4.0) if share > 0 else 1.0

    def place(self) -> float:
        """Where the start lies: 0.5, nearer to an end where the value is next to one."""
        p = self.parameter
        share = min(self.start - p.low, p.high - self.start) / (p.high - p.low)
        below = share ** (1 / self._power)
        return 1 - below if self._mirrored else below

    def value(self, place: float) -> Value:
        """The value at a place of the side, as it is typed: three digits, or a thousandth of the range."""
        p = self.parameter
        span = p.high - p.low
        place = min(max(place, 0.0), 1.0)
        value = (
            p.high - span * (1 - place) ** self._power
            if self._mirrored
            else p.low + span * place**self._power
        )
        if p.whole:
            return round(value)
        digits = 3 - math.floor(math.log10(span))
        if value:
            digits = max(digits, 2 - math.floor(math.log10(abs(value))))
        return min(max(round(value, digits), p.low), p.high)


def axes_of(entry: Entry, fixed: Sequence[str], only: Sequence[str]) -> list[Axis]:
    """The parameters of `entry` to be tuned: those named by `only`, or all that have a range and are not `fixed`.

    Raises
    ------
    InputError
        There is none, or one named by `only` has no range.
    """
    name = entry.name
    ranged = {p.name: p for p in entry.strategy.parameters if not p.choices and math.isfinite(p.high - p.low)}
    for key in only:
        if key not in ranged:
            known = ", ".join(ranged) or "none"
            raise InputError(f"{name} has no parameter '{key}' that can be tuned (those that can: {known})")
    chosen = [p for p in ranged.values() if (p.name in only if only else p.name not in fixed)]
    if not chosen:
        what = "no other parameter" if fixed else "no parameter"
        raise InputError(f"{name} has {what} with a range of numbers, so there is nothing to tune")
    return [Axis(p, float(entry.params.get(p.name, p.default))) for p in chosen]


def with_values(entry: Entry, values: Mapping[str, Value]) -> Entry:
    """The entry with these parameters; as in any other, defaults are not spelled out."""
    given = {**entry.params, **values}
    parameters = entry.strategy.parameters
    kept = {p.name: given[p.name] for p in parameters if given.get(p.name, p.default) != p.default}
    return replace(entry, params=kept)


class Table:
    """Plays candidates against the same others on the same decks with all threads.

    Parameters
    ----------
    rules : RuleSet
    others : the entries beside the candidate, at most three different ones
    seatings : uint8[S, players]: 0 is the candidate, i the i-th of the others
    seed : 0 .. 2**64 - 1
    threads : at least 1
    """

    def __init__(
        self, rules: RuleSet, others: Sequence[Entry], seatings: NDArray[np.uint8], seed: int, threads: int
    ) -> None:
        self._rules, self._others, self._seatings, self._seed = rules, others, seatings, seed
        self._seats = np.argmax(seatings == 0, axis=1)
        self._threads = threads

    @property
    def block(self) -> int:
        """Deals of a deck."""
        return len(self._seatings)

    def play(
        self,
        candidates: Sequence[Entry],
        first: int,
        decks: int,
        report: Callable[[int], None] = lambda deals: None,
    ) -> Iterator[Block]:
        """The blocks of each candidate in turn, int64[decks, 2]: deals it won and what they scored.

        `report` is called with the deals of every piece that is played.

        Raises
        ------
        SisepaiError
            A strategy chose what was not offered.
        """
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sisepai")
        try:
            jobs = [self._submit(pool, candidate, first, decks) for candidate in candidates]
            for pieces in jobs:
                blocks = []
                for piece in pieces:
                    blocks.append(piece.result())
                    report(len(blocks[-1]) * self.block)
                yield np.concatenate(blocks)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, pool: ThreadPoolExecutor, entry: Entry, first: int, decks: int) -> list[Future[Block]]:
        simulator = Simulator(self._rules, [entry, *self._others], self._seatings, self._seed)
        shard = min(e.strategy.shard_deals for e in (entry, *self._others))
        size = max(1, shard // CHUNKS // self.block)
        last = first + decks
        return [
            pool.submit(self._blocks, simulator, n, min(size, last - n)) for n in range(first, last, size)
        ]

    def _blocks(self, simulator: Simulator, first: int, decks: int) -> Block:
        rows = simulator.play(first * self.block, decks * self.block).rows
        won = rows["winner"].reshape(decks, self.block) == self._seats
        scores = np.where(won, rows["score"].reshape(won.shape), 0)
        return np.stack([won.sum(1), scores.sum(1)], axis=1, dtype=np.int64)


@dataclass(frozen=True)
class Generation:
    """What a generation came to: its number from 0, and what each candidate reached a deal."""

    number: int
    values: NDArray[np.float64]


class Search:
    """CMA-ES over the parameters of an entry.

    Known values (by generation and candidate) are told again and not played, which takes it to where it was.
    """

    def __init__(self, entry: Entry, axes: Sequence[Axis], seed: int) -> None:
        from cmaes import CMA

        self._entry, self._axes = entry, axes
        box = np.array([[0.0, 1.0]] * len(axes))
        self._optimiser: Any = CMA(
            np.array([axis.place() for axis in axes]), STEP, bounds=box, seed=seed % 2**32
        )
        self._points: list[NDArray[np.float64]] = []

    @property
    def size(self) -> int:
        """Candidates of a generation."""
        return int(self._optimiser.population_size)

    def ask(self) -> list[dict[str, Value]]:
        """The parameters of the candidates of the next generation."""
        self._points = [self._optimiser.ask() for _ in range(self.size)]
        return [self._values(point) for point in self._points]

    def tell(self, values: NDArray[np.float64]) -> None:
        """What they reached, the more the better."""
        self._optimiser.tell([(p, -float(v)) for p, v in zip(self._points, values, strict=True)])

    def found(self) -> dict[str, Value]:
        """The middle of where it searches: under noise a better guess than the candidate that was luckiest."""
        return self._values(self._optimiser.mean)

    def _values(self, point: NDArray[np.float64]) -> dict[str, Value]:
        return {axis.parameter.name: axis.value(float(x)) for axis, x in zip(self._axes, point, strict=True)}


def tune(
    search: Search,
    table: Table,
    entry: Entry,
    *,
    objective: str,
    generations: int,
    decks: int,
    known: Mapping[tuple[int, int], tuple[dict[str, Value], int]],
    keep: Callable[[int, int, dict[str, Value], int], None],
    report: Callable[[int], None],
) -> Iterator[Generation]:
    """Run the search; each generation plays the next `decks` decks from `TUNING_DECKS` on.

    Parameters
    ----------
    known
        By generation and candidate the parameters and the sum that were kept.
    keep
        Called with generation, candidate, parameters and sum of every candidate that is played, in order.
    report
        Called with numbers of deals played.

    Raises
    ------
    InputError
        What is known belongs to another search.
    SisepaiError
        A strategy chose what was not offered.
    """
    column = OBJECTIVES.index(objective)
    for generation in range(generations):
        asked = search.ask()
        sums = []
        for i, values in enumerate(asked):
            if (generation, i) not in known:
                break
            stored, total = known[generation, i]
            if stored != values:
                raise InputError(f"generation {generation}, candidate {i}: not the one this search asks for")
            sums.append(total)
        rest = [with_values(entry, values) for values in asked[len(sums) :]]
        first = TUNING_DECKS + generation * decks
        for blocks in table.play(rest, first, decks, report) if rest else ():
            total = int(blocks[:, column].sum())
            keep(generation, len(sums), asked[len(sums)], total)
            sums.append(total)
        reached = np.array(sums) / (decks * table.block)
        search.tell(reached)
        yield Generation(generation, reached)


def check_installed() -> None:
    """Refuse early where the optimiser is missing.

    Raises
    ------
    InputError
        It is.
    """
    try:
        import cmaes  # noqa: F401
    except ImportError:
        raise InputError("tuning needs the package cmaes: pip install 'sisepai[tune]'") from None


__all__ = ["OBJECTIVES", "Axis", "Generation", "Search", "SisepaiError", "Table", "axes_of", "tune"]
