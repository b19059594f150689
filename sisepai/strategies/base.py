"""What a strategy is: two small functions over a View, typed parameters, and a word about itself."""

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from sisepai.engine.plain import Plain
from sisepai.engine.simulator import Compiled, compile_function
from sisepai.errors import InputError, unknown_name

FAST_SHARD = 120_000  # deals a shard; a multiple of 24, so that every block is whole
LONGEST_REASON = 200  # characters of what Numba says
CHEATS = " (cheats)"  # ends the label of a strategy that is shown all cards

Value = float | int | str


@dataclass(frozen=True)
class Parameter:
    """A value that tunes a strategy: a number from `low` to `high`, a whole one, or one of `choices`.

    Functions read it at its place in `view.parameters.value`, a choice as its place among the `choices`.
    """

    name: str
    default: Value
    help: str
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    choices: tuple[str, ...] = ()
    is_price: bool = False  # more of it costs time and never harms, so that it is not tuned

    @property
    def range(self) -> str:
        """The values it may have, in words."""
        if self.choices:
            return " or ".join(self.choices)
        ends = [
            f" {word} {end:g}" for word, end in (("from", self.low), ("to", self.high)) if math.isfinite(end)
        ]
        return f"a {'whole ' * self.whole}number{''.join(ends)}"

    def read(self, text: str) -> Value:
        """The value that a user typed.

        Raises
        ------
        InputError
            It is not in the range; the message names the parameter and the range.
        """
        if self.choices:
            return self.check(text)
        try:
            number = float(text)
        except ValueError:
            raise self._error(text) from None
        return self.check(int(number) if self.whole and number.is_integer() else number)

    def check(self, value: Value) -> Value:
        """The value, of the parameter's type.

        Raises
        ------
        InputError
            As `read`.
        """
        if self.choices:
            if value not in self.choices:
                raise unknown_name(f"value of {self.name}", str(value), self.choices)
            return value
        if isinstance(value, (bool, str)) or not self.low <= value <= self.high or abs(value) == math.inf:
            raise self._error(value)
        if self.whole and value != int(value):
            raise self._error(value)
        return int(value) if self.whole else float(value)

    def number(self, value: Value) -> float:
        """The value as functions read it."""
        return float(self.choices.index(value) if self.choices else value)

    def _error(self, value: Value) -> InputError:
        return InputError(f"{self.name} = {value}: must be {self.range}")


@dataclass(frozen=True)
class Strategy:
    """A strategy by name.

    `answer(view)` returns WIN, PASS or the number of an offered meld; `discard(view)` a card type. Both are
    compiled (docs/strategies.md). A strategy in plain Python has a `player` in their place, a class with these two
    methods, which is made with the parameters as keywords, once for each seat of each deal. `weights` follow the
    parameters in `view.parameters.value`; `files` are what it is written in beside the file of its functions.
    `shard_deals` is how many deals of it make a shard, a multiple of 24.
    """

    name: str
    summary: str
    answer: Callable | None = None
    discard: Callable | None = None
    parameters: tuple[Parameter, ...] = ()
    weights: tuple[float, ...] = ()
    files: tuple[Path, ...] = ()
    shard_deals: int = FAST_SHARD
    source: str = ""  # where the idea comes from
    cheats: bool = False  # it is shown all cards
    explains: bool = False  # it leaves what it thought of its choices in `view.trial.estimates`
    player: type | None = None
    plugin: str = field(default="", compare=False)  # the file or name it was loaded by, as the user wrote it
    loaded: str = field(default="", compare=False)  # its digest at that time

    @property
    def sources(self) -> tuple[str, ...]:
        """Paths of the files with its functions, and of `files`."""
        functions = [self.player] if self.player else [_plain(self.answer), _plain(self.discard)]
        return tuple(dict.fromkeys([*map(inspect.getfile, functions), *map(str, self.files)]))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The functions that are compiled and kept, as `jit.is_compiled` names them."""
        if self.player or self.plugin:
            return ()
        functions = map(_plain, (self.answer, self.discard))
        return tuple(f"{Path(inspect.getfile(one)).stem}.{one.__name__}" for one in functions)

    def digest(self) -> str:
        """SHA-256 (hex) of the files that the strategy is written in, and of its weights' files."""
        if self.loaded:
            return self.loaded
        digest = hashlib.sha256()
        for path in self.sources:
            digest.update(Path(path).read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Entry:
    """A strategy with its parameters, as `--strategies` names one."""

    strategy: Strategy
    params: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.strategy.name

    @property
    def text(self) -> str:
        """The entry as it is typed: name, then the parameters that were given."""
        return spelled(self.name, self.params)

    @property
    def label(self) -> str:
        """What tables call it: as it is typed, and whether it cheats."""
        return self.text + CHEATS * self.strategy.cheats

    @property
    def digest(self) -> str:
        """Digest of the strategy's code."""
        return self.strategy.digest()

    def compiled(self) -> Compiled | Plain:
        """The form that `Simulator` takes.

        Raises
        ------
        InputError
            Numba cannot compile it; one line, with the place.
        """
        strategy = self.strategy
        settings = {p.name: p.check(self.params.get(p.name, p.default)) for p in strategy.parameters}
        values = [*(p.number(settings[p.name]) for p in strategy.parameters), *strategy.weights]
        if strategy.player is not None:
            return Plain(partial(strategy.player, **settings), values, strategy.cheats, strategy.sources)
        try:
            answer, discard = (_compiled(f, not strategy.plugin) for f in (strategy.answer, strategy.discard))
        except Exception as error:  # of Numba's own or of Python: what it stumbles over is the strategy
            raise InputError(
                f"{strategy.plugin or strategy.name}: {_not_compiled(strategy, error)}"
            ) from error
        return Compiled(answer, discard, values, strategy.cheats, strategy.sources)


def spelled(name: str, params: Mapping[str, Value]) -> str:
    """An entry as it is typed: name, then the parameters that were given."""
    return ":".join([name, *(f"{key}={short(value)}" for key, value in params.items())])


def short(value: Value) -> str:
    """The shortest text that reads back as the same value."""
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _plain(function: Callable | None) -> Callable:
    assert function is not None
    return getattr(function, "py_func", function)


@cache
def _compiled(function: Callable | None, keep: bool) -> Callable:
    return compile_function(_plain(function), keep)


def _not_compiled(strategy: Strategy, error: Exception) -> str:
    """Why and where a strategy cannot be compiled, from the many lines that Numba says it in."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in nopython", "During: "))]
    names = {Path(path).name for path in strategy.sources}
    places = [re.match(r'File "(.*)", line (\d+)', line.removeprefix("During: ")) for line in lines]
    own = [place[2] for place in places if place and Path(place[1]).name in names]
    reason = told[0] if told else type(error).__name__
    reason = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."
    return f"{f'line {own[-1]}: ' if own else ''}'{strategy.name}' cannot be compiled: {reason}"
