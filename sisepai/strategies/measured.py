"""What is known of how strong strategies are: figures that `benchmarks/strength.py` measures and writes."""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("measured.json")
OPPONENT = "greedy"  # at all seats but one, whoever is measured
RULES = "cardavia"  # under which strategies are compared


@dataclass(frozen=True)
class Strength:
    """One seat of an entry against `OPPONENT` at all others, every deck under all rotations of the seats.

    `wins` is the share of its seat's deals that it wins, from `low` to `high` its 95% interval over decks; `points`
    what its seat wins a deal, with the standard error over decks; `speed` deals a second of one thread.
    """

    entry: str  # as `--strategies` has it
    digest: str  # of the strategy's code
    rules: str
    seed: int
    decks: int
    deals: int
    wins: float
    low: float
    high: float
    points: float
    points_se: float
    speed: float
    command: str
    machine: str
    versions: str

    @property
    def strategy(self) -> str:
        """The strategy's name."""
        return self.entry.partition(":")[0]

    @property
    def interval(self) -> str:
        """The interval of the wins, in percent."""
        return f"{100 * self.low:.2f} to {100 * self.high:.2f}"

    @property
    def pace(self) -> str:
        """The deals a second, as precise as they are."""
        return f"{self.speed:,.0f}" if self.speed >= 10 else f"{self.speed:.1f}"


def read(path: Path = FILE) -> list[Strength]:
    """All that was measured, in the order of the file; nothing where there is none."""
    if not path.exists():
        return []
    return [Strength(**record) for record in json.loads(path.read_text(encoding="utf-8"))]


def measured(strategy: str) -> list[Strength]:
    """What was measured of one strategy, with its defaults and with other parameters."""
    return [strength for strength in read() if strength.strategy == strategy]
