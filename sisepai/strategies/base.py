"""What a strategy is: two small functions over a View, typed parameters, and a word about itself."""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sisepai.engine.simulator import Compiled, compile_function

FAST_SHARD = 120_000  # deals a shard; a multiple of 24, so that every block is whole


@dataclass(frozen=True)
class Parameter:
    """A number that tunes a strategy; functions read it at its place in `view.parameters.value`."""

    name: str
    default: float
    low: float
    high: float
    help: str


@dataclass(frozen=True)
class Strategy:
    """A strategy by name.

    `answer(view)` returns WIN, PASS or the number of an offered meld; `discard(view)` a card type. Both are
    compiled (docs/strategies.md). `shard_deals` is how many deals of it make a shard, a multiple of 24.
    """

    name: str
    summary: str
    answer: Callable
    discard: Callable
    parameters: tuple[Parameter, ...] = ()
    shard_deals: int = FAST_SHARD

    def digest(self) -> str:
        """SHA-256 (hex) of the source file that the strategy is written in."""
        return hashlib.sha256(Path(inspect.getfile(_plain(self.answer))).read_bytes()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """A strategy with its parameters, as `--strategies` names one."""

    strategy: Strategy
    params: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.strategy.name

    @property
    def label(self) -> str:
        """The entry as it is typed: name, then the parameters that were given."""
        return ":".join([self.name, *(f"{key}={_short(value)}" for key, value in self.params.items())])

    @property
    def digest(self) -> str:
        """Digest of the strategy's code."""
        return self.strategy.digest()

    def compiled(self) -> Compiled:
        """The form that `Simulator` takes."""
        answer, discard = _compiled(self.strategy.answer, self.strategy.discard)
        return Compiled(
            answer, discard, [self.params.get(p.name, p.default) for p in self.strategy.parameters]
        )


def _short(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _plain(function: Callable) -> Callable:
    return getattr(function, "py_func", function)


@cache
def _compiled(answer: Callable, discard: Callable) -> tuple[Callable, Callable]:
    return compile_function(_plain(answer)), compile_function(_plain(discard))
