"""Looks for better parameters of a strategy with CMA-ES, and plays what is found against the start (docs/tune.md).

Hansen & Ostermeier (2001), Evolutionary Computation 9:159-195, with the learning rates of Nomura, Akimoto & Ono (2023),
arXiv:2304.03473, which is what makes it stand the noise of dealt cards; both come with the package `cmaes`. It is told
sums of whole numbers alone, so that no number of threads changes where it goes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sisepai.engine.simulator import Simulator
from sisepai.errors import InputError
from sisepai.rules.ruleset import RuleSet
from sisepai.strategies.base import Entry, Parameter, Value

OBJECTIVES = ("win", "score")
STEP = 0.15  # the first standard deviation, along sides of length 1
STEEPEST = 4.0  # power of an axis
TUNING_DECKS = 2**40  # the first deck that candidates play; the confirmation counts from 0 and stays below
PARTS = 40  # of the confirmation, each with as many decks as a candidate plays
PIECES = 120  # of a strategy's shard: so small that all threads end a generation together

Ints = NDArray[np.int64]
Values = dict[str, Value]


@dataclass(frozen=True)
class Axis:
    """A parameter as a side of the box in which the search moves, from 0 (`low`) to 1 (`high`).

    The start lies in the middle, and the scale on the way to the ends is a power: so a weight of 10 that may be
    anything from 0 to 100 is moved in steps of its own size, not of the range's.
    """

    parameter: Parameter
    start: float

    @property
    def place(self) -> float:
        """Where the start lies: 0.5, or nearer to an end for a value that is next to it."""
        place = self._share ** (1 / self._power)
        return 1 - place if self._upper else place

    def value(self, place: float) -> Value:
        """The value at a place, with as many digits as tell: three, or a thousandth of the range if that is finer."""
        low, high, whole = self.parameter.low, self.parameter.high, self.parameter.whole
        share = (1 - place if self._upper else place) ** self._power * (high - low)
        value = high - share if self._upper else low + share
        if whole:
            return round(value)
        digits = max(3 - _magnitude(high - low), 2 - _magnitude(value))
        return min(max(round(value, digits), float(low)), float(high))

    @property
    def _upper(self) -> bool:
        """Whether the start lies in the upper half, so that distances count from `high`."""
        return 2 * self.start > self.parameter.low + self.parameter.high

    @property
    def _share(self) -> float:
        """How far the start is from the nearer end, as a share of the range: at most 0.5."""
        low, high = self.parameter.low, self.parameter.high
        return min(self.start - low, high - self.start) / (high - low)

    @property
    def _power(self) -> float:
        if self._share <= 0:
            return 2.0
        return min(math.log(self._share, 0.5), STEEPEST)


def _magnitude(value: float) -> int:
    """The power of ten that `value` has."""
    return math.floor(math.log10(abs(value))) if value else 0


def axes_of(entry: Entry, fixed: Sequence[str], only: Sequence[str] = ()) -> tuple[Axis, ...]:
    """The parameters to be tuned: those named by `only`, otherwise all with a range that are not `fixed`.

    Raises
    ------
    InputError
        There is none, or one of `only` is not to be tuned.
    """
    able = {
        p.name: p
        for p in entry.strategy.parameters
        if not p.choices and not p.is_price and p.low < p.high and math.isfinite(p.high - p.low)
    }
    for key in only:
        if key not in able:
            known = ", ".join(able) or "none"
            raise InputError(
                f"{entry.name} has no parameter '{key}' that can be tuned (those that can: {known})"
            )
    chosen = [p for p in able.values() if (p.name in only if only else p.name not in fixed)]
    if not chosen:
        other = "other " if fixed else ""
        raise InputError(
            f"{entry.name} has no {other}parameter with a range of numbers that does more than cost time"
        )
    return tuple(Axis(p, float(p.check(entry.params.get(p.name, p.default)))) for p in chosen)


def with_values(entry: Entry, values: Mapping[str, Value]) -> Entry:
    """The entry with these parameters; as in any entry, a default is not spelled out."""
    given = {**entry.params, **values}
    parameters = entry.strategy.parameters
    kept = {p.name: given[p.name] for p in parameters if given.get(p.name, p.default) != p.default}
    return replace(entry, params=kept)


@dataclass(frozen=True)
class Question:
    """All that decides what a candidate reaches.

    `others` are the different entries beside the candidate, at most three; in `seatings`, uint8[S, players], the
    candidate is 0 and they count from 1. `decks` are the decks that each candidate plays.
    """

    rules: RuleSet
    entry: Entry
    axes: tuple[Axis, ...]
    objective: str
    others: tuple[Entry, ...]
    seatings: NDArray[np.uint8]
    seed: int
    decks: int

    def to_dict(self) -> dict[str, Any]:
        """The question, ready for JSON."""
        return {
            "strategy": self.entry.label,
            "tuned": [axis.parameter.name for axis in self.axes],
            "objective": self.objective,
            "against": [other.label for other in self.others],
            "seatings": self.seatings.tolist(),
            "digests": [entry.digest for entry in (self.entry, *self.others)],
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "decks": self.decks,
        }

    @property
    def deals(self) -> int:
        """Deals that a candidate plays."""
        return self.decks * len(self.seatings)


class Kept(Protocol):
    """What was played before, and takes what is played now (runs.tunefile.TuneFile).

    `candidates` holds parameters and sum by generation and candidate; `parts` sums and products by label and part.
    """

    candidates: dict[tuple[int, int], tuple[Values, int]]
    parts: dict[tuple[str, int], tuple[list[int], list[list[int]]]]

    def add_candidate(self, key: tuple[int, int], values: Values, total: int) -> None:
        """Keep what a candidate reached."""

    def add_part(self, key: tuple[str, int], sums: list[int], products: list[list[int]]) -> None:
        """Keep a part of a confirmation."""


class Table:
    """Plays candidates against the same others on the same decks, with `threads` threads. Compiles what plays.

    `report` is called with the number of deals of every piece that is played.

    Raises
    ------
    InputError
        A strategy cannot be compiled.
    """

    def __init__(self, question: Question, threads: int) -> None:
        self._question, self._threads = question, threads
        self._simulator(question.entry)
        self.report: Callable[[int], None] = lambda deals: None
        self._seats = np.argmax(question.seatings == 0, axis=1)
        shard = min(entry.strategy.shard_deals for entry in (question.entry, *question.others))
        self._piece = max(1, shard // PIECES // len(question.seatings))  # decks

    def play(self, candidates: Sequence[Entry], first: int) -> Iterator[Ints]:
        """What each candidate in turn did on the decks from `first` on: int64[decks, 2], deals won and their scores.

        Raises
        ------
        SisepaiError
            A strategy raised, or chose what it was not offered.
        """
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sisepai")
        try:
            for pieces in [self._begin(pool, candidate, first) for candidate in candidates]:
                blocks = []
                for piece in pieces:
                    blocks.append(piece.result())
                    self.report(len(blocks[-1]) * len(self._seats))
                yield np.concatenate(blocks)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self, pool: ThreadPoolExecutor, candidate: Entry, first: int) -> list[Future[Ints]]:
        simulator, last = self._simulator(candidate), first + self._question.decks
        return [
            pool.submit(self._blocks, simulator, deck, min(self._piece, last - deck))
            for deck in range(first, last, self._piece)
        ]

    def _simulator(self, candidate: Entry) -> Simulator:
        question = self._question
        entries = [candidate, *question.others]
        return Simulator(question.rules, entries, question.seatings, question.seed)

    def _blocks(self, simulator: Simulator, first: int, decks: int) -> Ints:
        block = len(self._seats)
        rows = simulator.play(first * block, decks * block).rows
        won = rows["winner"].reshape(decks, block) == self._seats
        scores = np.where(won, rows["score"].reshape(decks, block), 0)
        return np.stack([won.sum(1), scores.sum(1)], axis=1, dtype=np.int64)


class Search:
    """CMA-ES over the axes of a question; the same values told take it the same way.

    Raises
    ------
    InputError
        The optimiser is not installed.
    """

    def __init__(self, question: Question) -> None:
        try:
            from cmaes import CMA
        except ImportError:
            raise InputError("tuning needs a package more: pip install 'sisepai[tune]'") from None
        self._axes = question.axes
        self._optimiser = CMA(
            np.array([axis.place for axis in self._axes]), STEP, bounds=np.array([[0.0, 1.0]] * len(self._axes)),
            seed=question.seed % 2**32, lr_adapt=True,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Candidates of a generation."""
        return int(self._optimiser.population_size)

    def step(self, play: Callable[[list[Values]], list[int]]) -> list[int]:
        """One generation: `play` is given the candidates and returns what each reached, the more the better."""
        points = [self._optimiser.ask() for _ in range(self.size)]
        reached = play([self._values(point) for point in points])
        self._optimiser.tell([(point, -total) for point, total in zip(points, reached, strict=True)])
        return reached

    def found(self) -> Values:
        """The middle of where it looks: under noise a better guess than the candidate that was luckiest."""
        return self._values(self._optimiser.mean)

    def _values(self, point: NDArray[np.float64]) -> Values:
        return {axis.parameter.name: axis.value(float(x)) for axis, x in zip(self._axes, point, strict=True)}


def generations(
    question: Question, search: Search, table: Table, kept: Kept, count: int
) -> Iterator[list[float]]:
    """Search for `count` generations, each on the next decks from `TUNING_DECKS` on; what is kept is not played again.

    Yields after every generation what its candidates reached a deal.

    Raises
    ------
    InputError
        What is kept is not what this search asks for.
    SisepaiError
        A strategy raised, or chose what it was not offered.
    """
    column = OBJECTIVES.index(question.objective)

    def reached(generation: int, asked: list[Values]) -> list[int]:
        totals = list(_known(kept, generation, asked))
        rest = asked[len(totals) :]
        entries = [with_values(question.entry, values) for values in rest]
        played = table.play(entries, TUNING_DECKS + generation * question.decks) if rest else ()
        for values, blocks in zip(rest, played, strict=True):
            total = int(blocks[:, column].sum())
            kept.add_candidate((generation, len(totals)), values, total)
            totals.append(total)
        return totals

    for generation in range(count):
        totals = search.step(partial(reached, generation))
        yield [total / question.deals for total in totals]


def _known(kept: Kept, generation: int, asked: list[Values]) -> Iterator[int]:
    """The sums of the first candidates of a generation, as far as they are kept."""
    for i, values in enumerate(asked):
        if (generation, i) not in kept.candidates:
            return
        stored, total = kept.candidates[generation, i]
        if stored != values:
            raise InputError(
                f"candidate {i} of generation {generation} is not the one that this search asks for; "
                "start anew in another file"
            )
        yield total


def confirm(question: Question, table: Table, kept: Kept, tuned: Entry) -> tuple[Ints, Ints]:
    """Play the start and `tuned` on the decks from 0 on, which no candidate has seen: `PARTS` times those of one.

    Returns
    -------
    total : int64[5]
        Sums over the blocks of deals, wins and scores of the start, wins and scores of the tuned one.
    gram : int64[5, 5]
        Sums over the blocks of the products of each pair.

    Raises
    ------
    InputError
        What is kept is not of these decks.
    SisepaiError
        A strategy raised, or chose what it was not offered.
    """
    total, gram = np.zeros(5, np.int64), np.zeros((5, 5), np.int64)
    for part in range(PARTS):
        key = (tuned.label, part)
        if key not in kept.parts:
            start, new = table.play([question.entry, tuned], part * question.decks)
            deals = np.full(question.decks, len(question.seatings))
            blocks = np.column_stack([deals, start, new])
            kept.add_part(key, blocks.sum(0).tolist(), (blocks.T @ blocks).tolist())
        sums, products = kept.parts[key]
        if sums[0] != question.deals or products[0] != [len(question.seatings) * n for n in sums]:
            raise InputError("the confirmation that is kept is damaged; start anew in another file")
        total += np.array(sums)
        gram += np.array(products)
    return total, gram
