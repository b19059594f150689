"""Measures how strong and how fast strategies are; `sisepai strategies` tells what is recorded here.

    python benchmarks/strength.py                            all that come along, under every rule set (hours)
    python benchmarks/strength.py ukeire --rules cardavia    one of them anew; the rest of the record stays
    python benchmarks/strength.py search:rollouts=50 search:rollouts=100 --rules cardavia
    python benchmarks/strength.py --nothing --figure docs/search.svg     draw what is recorded of `search`
    python benchmarks/strength.py greedy --decks 100 --record rehearsal.json     for no record

One seat of the strategy plays against three of greedy, every deck under all rotations of the seats, through the command
line; the interval is that of `sisepai report`, over decks. The speed is that of a second, shorter run on one thread.
Leave the machine alone meanwhile. What is finished is recorded at once, so that Ctrl-C loses one strategy at most.
"""

import argparse
import json
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from children import CORES, machine, run_main, run_python, say, versions

from sisepai.analysis.intervals import ratio
from sisepai.analysis.summary import summarise
from sisepai.analysis.tally import tally
from sisepai.errors import InputError
from sisepai.files import write_whole
from sisepai.jit import kernel_digest
from sisepai.rules import PRESETS, load
from sisepai.runs.plan import seatings
from sisepai.runs.reader import read_run
from sisepai.strategies import STRATEGIES, Entry, parse_entries
from sisepai.strategies.base import CHEATS, spelled
from sisepai.strategies.measured import FILE, OPPONENT, RULES, Strength, read

SEED = 41  # of decks that nothing was tuned on
DECKS = {"greedy": 200_000, "random": 50_000, "ukeire": 250_000}
SLOW_DECKS = 2_000  # of the others
SPEED_SECONDS = 20  # for how long the speed is measured, about
DEALS_AT_LEAST = 24


class Table:
    """An entry at one seat against `OPPONENT` at the others."""

    def __init__(self, text: str, rules: str, seed: int, folder: Path) -> None:
        players = load(rules).players
        entries, seats = parse_entries(",".join([text, *[OPPONENT] * (players - 1)]), players)
        self.entry: Entry = entries[0]
        if STRATEGIES.get(self.entry.name) is not self.entry.strategy:
            raise InputError(f"{text} does not come along with the program, so there is no place in its record")
        self.rules, self.seed, self.folder = rules, seed, folder
        self.block = len(seatings("rotate", seats))
        words = [spelled(entry.name, entry.params) for entry in entries]
        self.name, self.strategies = words[0], ",".join(words[seat] for seat in seats)

    def words(self, deals: int) -> list[str]:
        """The command that plays so many deals."""
        cheating = ["--allow-cheating"] if self.entry.strategy.cheats else []
        return ["simulate", "--strategies", self.strategies, "--seating", "rotate", "--rules", self.rules,
                "--deals", str(deals), "--seed", str(self.seed), *cheating]  # fmt: skip

    def play(self, deals: int, *more: str) -> tuple[Path, float]:
        """Play them; returns the run and the deals a second."""
        out = self.folder / "run"
        command = ["-m", "sisepai", *self.words(deals), *more, "--out", str(out), "--overwrite", "--quiet", "--json"]
        done = json.loads(run_python(command, self.folder).output)
        return out, done["played"] / max(done["seconds"], 1e-3)

    def measure(self, decks: int) -> Strength:
        """How strong and how fast the entry is."""
        deals = decks * self.block
        path, rate = self.play(deals, "--threads", str(CORES))
        run = read_run(path)
        wins = summarise(run.deals, run.manifest).strategies[0].per_seat_deal
        sums = tally(run.deals, run.manifest, payoff=True)
        seats = run.manifest.seats.count(0)
        points, points_se = ratio(sums.total, sums.gram, sums.weights("points_entry0"), sums.dealt * seats, sums.blocks)
        _, speed = self.play(max(DEALS_AT_LEAST, round(rate / CORES * SPEED_SECONDS)), "--threads", "1")
        return Strength(
            entry=self.name, digest=self.entry.digest, rules=self.rules, seed=self.seed, decks=decks,
            deals=deals, wins=wins.rate, low=wins.low, high=wins.high, points=points, points_se=points_se,
            speed=round(speed, 1), command=shlex.join(["sisepai", *self.words(deals)]), machine=machine(),
            versions=f"{versions()}, kernels {kernel_digest()}",
        )  # fmt: skip


def record(new: Strength, file: Path) -> None:
    """Put a measurement into the record, in place of an earlier one of the same entry and rule set."""
    kept = {(one.entry, one.rules): one for one in [*read(file), new]}
    ordered = sorted(kept.values(), key=_place)
    text = json.dumps([asdict(one) for one in ordered], indent=1, ensure_ascii=False)
    write_whole(file, f"{text}\n".encode())


def _place(one: Strength) -> tuple[int, int, str, int]:
    """Strategies as they are listed, each with its defaults first; parameters in the order of their size."""
    names, rules = list(STRATEGIES), list(PRESETS)
    return names.index(one.strategy), len(one.entry), one.entry, rules.index(one.rules)


def page(records: Iterable[Strength]) -> str:
    """The record as a page for people."""
    records = list(records)
    makers = list(dict.fromkeys((one.machine, one.versions) for one in records))
    heads = ("strategy", "rules", "wins", "95% interval", "points a deal", "std. error", "deals/s", "decks", "made",
             "command")  # fmt: skip
    lines = [
        "# How strong the strategies are",
        "",
        f"Made by `make strength`. One seat against three of `{OPPONENT}`; intervals and standard errors are over",
        "decks, each played under all rotations of the seats. `deals/s` are those of one thread.",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(_cells(one, makers.index((one.machine, one.versions)) + 1))} |" for one in records),
        "",
        "Made with",
        "",
        *(f"{number}. {where}; {with_what}" for number, (where, with_what) in enumerate(makers, 1)),
    ]
    return "\n".join(lines) + "\n"


def _cells(one: Strength, maker: int) -> list[str]:
    strategy = STRATEGIES[one.strategy]
    cheats = CHEATS * strategy.cheats
    changed = "" if one.digest == strategy.digest() else ", before its code was changed"
    return [
        f"`{one.entry}`{cheats}", one.rules, f"{one.wins:.2%}", one.interval, f"{one.points:.3f}",
        f"{one.points_se:.4f}", one.pace, f"{one.decks:,}", f"{maker}{changed}", f"`{one.command}`",
    ]  # fmt: skip


def draw(records: Iterable[Strength], path: Path) -> None:
    """How the strength of `search` grows with its rollouts, as an SVG; needs matplotlib (the extra `bench`)."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("a figure needs matplotlib: pip install 'sisepai[bench]'") from None
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "sisepai", "svg.fonttype": "none", "font.size": 11}
    from matplotlib import pyplot

    records = [one for one in records if one.rules == RULES]
    found = sorted((one for one in records if rollouts_of(one) is not None), key=rollouts_of)
    if not found:
        raise InputError("nothing is recorded of search yet, so there is nothing to draw")
    numbers = [rollouts_of(one) for one in found]
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    wins = [100 * one.wins for one in found]
    below = [100 * (one.wins - one.low) for one in found]
    above = [100 * (one.high - one.wins) for one in found]
    axes.errorbar(numbers, wins, (below, above), marker="o", capsize=3, color="tab:blue")
    for one in records:
        if one.entry in ("greedy", "ukeire"):
            axes.axhline(100 * one.wins, color="0.6", linestyle="--", linewidth=1)
            axes.annotate(one.entry, (numbers[0], 100 * one.wins), (0, 4), textcoords="offset points", color="0.4")
    axes.set_xscale("log")
    axes.set_xticks(numbers, map(str, numbers))
    axes.minorticks_off()
    axes.set_xlabel("rollouts a choice, on average")
    axes.set_ylabel(f"wins, % of deals, against three {OPPONENT}")
    axes.set_title(f"search, {RULES}; 95% intervals over decks", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def rollouts_of(one: Strength) -> int | None:
    """The rollouts of an entry of `search` in which nothing else is changed."""
    if one.strategy != "search":
        return None
    entry = parse_entries(one.entry, 2)[0][0]
    default = next(p.default for p in entry.strategy.parameters if p.name == "rollouts")
    return int(entry.params.get("rollouts", default)) if set(entry.params) <= {"rollouts"} else None


def main() -> None:
    """Read the options, measure, record, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("entries", nargs="*", metavar="STRATEGY", help="as --strategies has one; without, all")
    parser.add_argument("--rules", choices=PRESETS, action="append", help="under this rule set; repeatable")
    parser.add_argument("--decks", type=int, help="how many, instead of what each strategy is given")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--nothing", action="store_true", help="measure nothing: print what is recorded")
    parser.add_argument("--record", metavar="FILE", type=Path, default=FILE, help="the record; the program's own")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page there too")
    parser.add_argument("--figure", metavar="FILE", type=Path, help="draw the strength of search by rollouts (SVG)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed
    for entry in () if options.nothing else options.entries or STRATEGIES:
        for rules in options.rules or PRESETS:
            with tempfile.TemporaryDirectory(prefix="sisepai-bench-") as folder:
                table = Table(entry, rules, options.seed, Path(folder))
                decks = options.decks or DECKS.get(table.entry.name, SLOW_DECKS)
                say(f"{table.name}, {rules}: {decks:,} decks")
                record(table.measure(decks), options.record)
    records = read(options.record)
    print(page(records), end="")
    if options.write:
        options.write.write_text(page(records), encoding="utf-8")
    if options.figure:
        draw(records, options.figure)


if __name__ == "__main__":
    run_main(main)
