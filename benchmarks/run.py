"""Measures what sisepai promises of speed, memory and bytes, and writes a Markdown table.

    python benchmarks/run.py                                   print the table
    python benchmarks/run.py --write benchmarks/results.md     and keep it (`make bench`)
    python benchmarks/run.py --quick                           a rehearsal with few deals; for no record
    python benchmarks/run.py --only kernels                    one part: kernels, runs, large, start

Leave the machine alone meanwhile. Every figure is the median of several rounds with their least and greatest beside
it; a round measures everything once, so that what is compared was measured side by side. Runs go to a temporary
folder (TMPDIR moves it; 1 GB) that is removed at the end, however that comes.

Processor times and peak memory are those the system counts for a finished child process. This script loads no more than
the standard library: on Linux a child's peak memory is never less than its parent's.
"""

import argparse
import json
import shutil
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from children import CORES, Cost, machine, run_python, say, versions

KERNEL_TIMES = Path(__file__).with_name("kernel_times.py")
DISK_BYTES = 1_000_000_000


class Sizes(NamedTuple):
    """How much is measured, as people write it."""

    rounds: int
    kernel: str  # deals a kernel time
    run: str  # deals of the runs whose time counts
    large: str  # deals of the large run
    large_rounds: int


FULL = Sizes(rounds=7, kernel="2e5", run="1e6", large="1e7", large_rounds=3)
QUICK = Sizes(rounds=2, kernel="1e4", run="2e4", large="1e5", large_rounds=1)


@dataclass
class Row:
    """A line of the table: values by round, and what the limit is."""

    what: str
    unit: str
    command: str
    values: list[float] = field(default_factory=list)
    limit: str = ""
    holds: Callable[[float], bool] | None = None
    digits: int = 2

    def cells(self) -> list[str]:
        """The row as Markdown cells."""
        if not self.values:
            return [self.what, "-", "", self.limit, "", f"`{self.command}`"]
        middle = statistics.median(self.values)
        low, high = (self._number(value) for value in (min(self.values), max(self.values)))
        met = "" if self.holds is None else "yes" if self.holds(middle) else "**no**"
        unit = f" {self.unit}" if self.unit else ""
        spread = "" if len(self.values) == 1 else f"{low} to {high}"
        return [self.what, f"{self._number(middle)}{unit}", spread, self.limit, met, f"`{self.command}`"]

    def _number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"


class Bench:
    """Runs the parts and keeps their rows, in order."""

    def __init__(self, sizes: Sizes, folder: Path) -> None:
        self.sizes = sizes
        self.folder = folder
        self.rows: dict[str, Row] = {}
        self.kernels = ""  # digest of the kernels that were measured

    def measure(self, parts: Iterable[str]) -> None:
        """Measure these parts, round by round."""
        kinds = {"kernels": self._kernels, "runs": self._runs, "large": self._large, "start": self._start}
        self._call("simulate", "--deals", "2400", "--out", "warm")  # kernels compiled, files in the system's cache
        for turn in range(self.sizes.rounds):
            for part in parts:
                if part != "large" or turn < self.sizes.large_rounds:
                    say(f"round {turn + 1} of {self.sizes.rounds}: {part}")
                    kinds[part](turn)

    def _kernels(self, turn: int) -> None:
        command = [str(KERNEL_TIMES), "--deals", self.sizes.kernel, "--first", str(turn)]
        found = json.loads(run_python(command, self.folder).output)
        self.kernels = found["kernels"]
        shown = "run.py --only kernels"
        for name, micros in found["deal"].items():
            limit = at_most(4.0, "µs (3.0 aimed at)") if name == "cardavia, greedy ×4" else None
            self._add(f"kernel, a deal of {name}, one thread", micros, "µs", shown, limit)
        for name, micros in found["take"].items():
            self._add(f"kernel, the time a take of {name}", micros, "µs", shown, None, digits=3)
        for name, micros in found["rollout"].items():
            self._add(f"a rollout of a whole deal of {name}, greedy ×4", micros, "µs", shown)
            deal = found["deal"][f"{name}, greedy ×4"]
            what = f"rollouts a second of {name}, in deals of the kernel"
            self._add(what, deal / micros, "×", shown, at_least(1.0, "×") if name == "cardavia" else None)
        own = found["take"]["cardavia"]
        for name, times in (("classic", 2.5), ("ten-hu", 1.2)):
            ratio = found["take"][name] / own
            self._add(f"the time a take of {name}, in that of cardavia", ratio, "×", shown, at_most(times, "×"))
        name = "kernel, deals a second of two threads, in those of one"
        self._add(name, found["two_threads"], "×", shown, at_least(1.85, "×") if CORES > 1 else None)

    def _runs(self, turn: int) -> None:
        deals = float(self.sizes.run)
        command = f"sisepai simulate --deals {self.sizes.run}"
        kernel = [str(KERNEL_TIMES), "--all-cores", "--deals", self.sizes.run]
        all_cores = json.loads(run_python(kernel, self.folder).output)["seconds"]
        name = f"kernel, {self.sizes.run} deals on all {CORES} cores"
        self._add(name, all_cores, "s", "run.py --only runs")
        cost = self._simulate(self.sizes.run, "run")
        self._add(f"`simulate`, {self.sizes.run} deals, warm", cost.seconds, "s", command)
        over = "its time, less 1 s, in that of the kernel on all cores"
        self._add(over, (cost.seconds - 1) / all_cores, "×", command, at_most(1.3, "×"))
        self._add("its processor time", cost.processor, "s", command)
        self._add("its peak memory", cost.peak / 1e6, "MB", command, at_most(400, "MB", 0), digits=0)
        self._add("bytes a deal", self._bytes("run") / deals, "", command, at_most(14, "", 0), digits=1)
        cost = self._simulate(self.sizes.run, "events", "--events")
        command += " --events"
        size = self._bytes("events") / deals
        self._add("bytes a deal, with events", size, "", command, at_most(110, "", 0), digits=1)
        micros = cost.processor / deals * 1e6
        self._add("processor time a deal, with events", micros, "µs", command, at_most(12, "µs", 0))
        self._add("peak memory, with events", cost.peak / 1e6, "MB", command, digits=0)

    def _large(self, turn: int) -> None:
        command = f"sisepai simulate --deals {self.sizes.large}"
        small = self._simulate(self.sizes.run, "run")
        cost = self._simulate(self.sizes.large, "large")
        self._add(f"`simulate`, {self.sizes.large} deals", cost.seconds, "s", command)
        self._add("its peak memory", cost.peak / 1e6, "MB", command, digits=0)
        name = f"its peak memory, in that of {self.sizes.run} deals"
        self._add(name, cost.peak / small.peak, "×", command, at_most(1.1, "×"))
        cost = self._call("report", "large")
        name = f"`report` on {self.sizes.large} deals"
        self._add(name, cost.seconds, "s", "sisepai report RUN", at_most(3, "s", 0))
        self._add("its peak memory", cost.peak / 1e6, "MB", "sisepai report RUN", digits=0)

    def _start(self, turn: int) -> None:
        cost = self._call("--help")
        self._add("`sisepai --help`", cost.seconds, "s", "sisepai --help", at_most(0.25, "s"), digits=3)
        if turn >= self.sizes.large_rounds:
            return
        arguments = ("simulate", "--deals", "2400", "--out", "first", "--overwrite")
        cache = self.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        cold = self._call(*arguments, NUMBA_CACHE_DIR=str(cache))
        warm = self._call(*arguments, NUMBA_CACHE_DIR=str(cache))
        command = "NUMBA_CACHE_DIR=EMPTY sisepai simulate --deals 2400"
        extra = cold.seconds - warm.seconds
        self._add("first start ever, more than later ones", extra, "s", command, at_most(20, "s", 0), digits=1)

    def _simulate(self, deals: str, name: str, *more: str) -> Cost:
        return self._call("simulate", "--deals", deals, "--out", name, "--overwrite", *more)

    def _call(self, *arguments: str, **environment: str) -> Cost:
        quiet = ("--quiet",) if arguments[0] == "simulate" else ()
        return run_python(["-m", "sisepai", *arguments, *quiet], self.folder, environment)

    def _bytes(self, name: str) -> int:
        return sum(path.stat().st_size for path in (self.folder / name).rglob("*") if path.is_file())

    def _add(
        self,
        what: str,
        value: float,
        unit: str,
        command: str,
        limit: tuple[str, Callable[[float], bool]] | None = None,
        digits: int = 2,
    ) -> None:
        row = self.rows.setdefault(f"{what} {command}", Row(what, unit, command, digits=digits))
        row.limit, row.holds = limit or ("", None)
        row.values.append(value)


def at_most(limit: float, unit: str, digits: int = 1) -> tuple[str, Callable[[float], bool]]:
    """A limit from above, in words and as a test."""
    shown = f"{limit:.2f}" if limit < 1 else f"{limit:.{digits}f}"
    return f"≤ {shown} {unit}".strip(), lambda value: value <= limit


def at_least(limit: float, unit: str) -> tuple[str, Callable[[float], bool]]:
    """A limit from below."""
    return f"≥ {limit:.2f} {unit}".strip(), lambda value: value >= limit


def table(bench: Bench, quick: bool) -> str:
    """The whole page."""
    heads = ("what", "median", "from to", "limit", "met", "command")
    lines = [
        "# What sisepai costs",
        "",
        "Made by `make bench` on a machine that did nothing else; medians over rounds. `RUN` is the run before it.",
        "",
        f"- Machine: {machine()}",
        f"- Versions: {versions()}; kernels {bench.kernels or 'not measured'}",
        f"- Deals are `cardavia`, greedy ×4, seed 7, where nothing else is said; {bench.sizes.rounds} rounds, "
        f"{bench.sizes.large_rounds} of the large runs and first starts",
        *(["- **A rehearsal with few deals: these figures mean nothing.**"] if quick else []),
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row.cells())} |" for row in bench.rows.values()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the options, measure, print and write."""
    parts = ("kernels", "runs", "large", "start")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few deals and rounds, to see that all works")
    parser.add_argument("--only", choices=parts, action="append", help="measure this part; repeatable")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the table there too")
    options = parser.parse_args()
    if shutil.disk_usage(tempfile.gettempdir()).free < DISK_BYTES:
        sys.exit(f"{tempfile.gettempdir()}: less than 1 GB free; set TMPDIR to a folder with more room")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed
    with tempfile.TemporaryDirectory(prefix="sisepai-bench-", ignore_cleanup_errors=True) as name:
        bench = Bench(QUICK if options.quick else FULL, Path(name))
        bench.measure(options.only or parts)
    page = table(bench, options.quick)
    print(page, end="")
    if options.write:
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
