"""What a strategy is: two small functions over a View, typed parameters, and a word about itself."""

import hashlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sisepai.engine.simulator import Compiled, compile_function
from sisepai.errors import InputError, unknown_name

FAST_SHARD = 120_000  # deals a shard; a multiple of 24, so that every block is whole

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

    @property
    def range(self) -> str:
        """The values it may have, in words."""
        if self.choices:
            return " or ".join(self.choices)
        return f"a {'whole ' * self.whole}number from {self.low:g} to {self.high:g}"

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
        if isinstance(value, (bool, str)) or not self.low <= value <= self.high:
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
    compiled (docs/strategies.md). `weights` follow the parameters in `view.parameters.value`; `files` are what it is
    written in beside the file of its functions. `shard_deals` is how many deals of it make a shard, a multiple of 24.
    """

    name: str
    summary: str
    answer: Callable
    discard: Callable
    parameters: tuple[Parameter, ...] = ()
    weights: tuple[float, ...] = ()
    files: tuple[Path, ...] = ()
    shard_deals: int = FAST_SHARD
    source: str = "the project's own"  # where the idea comes from
    cheats: bool = False  # it is shown all cards
    explains: bool = False  # it leaves what it thought of its choices in `view.trial.estimates`

    def digest(self) -> str:
        """SHA-256 (hex) of the source files that the strategy is written in, and of its weights' files."""
        digest = hashlib.sha256()
        for path in (Path(inspect.getfile(_plain(self.answer))), *self.files):
            digest.update(path.read_bytes())
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
    def label(self) -> str:
        """The entry as it is typed: name, then the parameters that were given."""
        return ":".join([self.name, *(f"{key}={short(value)}" for key, value in self.params.items())])

    @property
    def digest(self) -> str:
        """Digest of the strategy's code."""
        return self.strategy.digest()

    def compiled(self) -> Compiled:
        """The form that `Simulator` takes."""
        answer, discard = _compiled(self.strategy.answer, self.strategy.discard)
        values = [p.number(self.params.get(p.name, p.default)) for p in self.strategy.parameters]
        return Compiled(answer, discard, [*values, *self.strategy.weights], self.strategy.cheats)


def short(value: Value) -> str:
    """The shortest text that reads back as the same value."""
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _plain(function: Callable) -> Callable:
    return getattr(function, "py_func", function)


@cache
def _compiled(answer: Callable, discard: Callable) -> tuple[Callable, Callable]:
    play = compile_function(_plain(answer))
    return play, play if discard is answer else compile_function(_plain(discard))
