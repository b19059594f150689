"""``sisepai tune``: looks for better parameters of a strategy, and tells on fresh decks whether they are."""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.boundary import printable
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.params import Choice, WholeNumber
from sisepai.cli.progress import shown
from sisepai.cli.stopping import leave_now, tidying_up
from sisepai.errors import InputError

if TYPE_CHECKING:
    from sisepai.rules import RuleSet
    from sisepai.runs.tunefile import TuneFile
    from sisepai.strategies import Entry
    from sisepai.strategies.tuning import Axis, Search, Table

OBJECTIVES = ("win", "score")
CONFIRM = 20  # times the decks of a candidate are played to confirm
MOST = 1_000_000


@dataclass(frozen=True)
class Task:
    """What is asked, read and checked."""

    name: str
    against: str
    only: str
    rules: "RuleSet"
    entry: "Entry"
    others: list["Entry"]
    seats: list[int]
    axes: list["Axis"]
    objective: str
    seed: int
    trials: int
    decks: int
    out: Path
    threads: int

    def question(self) -> dict[str, Any]:
        """All that decides what a candidate reaches; how many are tried does not."""
        from sisepai import __version__

        return {
            "version": __version__,
            "strategy": self.entry.label,
            "digest": self.entry.digest,
            "tuned": [axis.parameter.name for axis in self.axes],
            "objective": self.objective,
            "against": [self.others[seat].label for seat in self.seats],
            "against digests": [self.others[seat].digest for seat in self.seats],
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "decks": self.decks,
        }


@click.command()
@click.argument("name")
@click.option("--objective", type=Choice(OBJECTIVES), default="win", show_default=True,
              help="Win more deals, or more points a deal.")  # fmt: skip
@click.option("--against", default="greedy", show_default=True,
              help="At the other seats: one for all, or one a seat, with commas.")  # fmt: skip
@shared.playing("rules")
@shared.playing("seed")
@click.option("--trials", type=WholeNumber(1, MOST), default="1000", show_default=True,
              help="Candidates to play, up to whole generations.")  # fmt: skip
@click.option("--decks", type=WholeNumber(2, MOST), default="2000", show_default=True,
              help="Decks for each candidate; the confirmation plays 20 times as many.")  # fmt: skip
@click.option("--only", default="", metavar="P,Q", help="The parameters to tune.  [default: all not given]")
@click.option("--out", metavar="FILE", help="Keeps what is played.  [default: NAME.tune.jsonl]")
@click.option("--threads", type=WholeNumber(1, 4096), help="How many to play with.  [default: one a core]")
@shared.quiet
@shared.as_json()
def tune(
    name: str, objective: str, against: str, rules: str, seed: int, trials: int, decks: int, only: str,
    out: str | None, threads: int | None, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Look for better parameters of the strategy NAME with CMA-ES.

    Parameters given as NAME:key=value stay as they are. Candidates sit against the others in every seat in turn, all of
    a generation with the same decks. What is played is kept in FILE: the same command goes on after a stop, and with
    more --trials it goes further. In the end the parameters found are compared with those at the start on fresh decks.

    \b
    Examples:
      sisepai tune ukeire
      sisepai tune ukeire:objective=score --objective score --rules ten-hu
      sisepai tune ukeire --against ukeire --only win,near --trials 3000
    """
    from sisepai.rules import load
    from sisepai.strategies.tuning import check_installed

    check_installed()
    task = _task(name, objective, against, load(rules), seed, trials, decks, only, out, threads)
    announce_compiling(quiet)
    result = _run(task, quiet)
    click.echo(json.dumps(result) if as_json else _summary(result))


def _task(
    name: str, objective: str, against: str, rules: "RuleSet", seed: int, trials: int, decks: int, only: str,
    out: str | None, threads: int | None,
) -> Task:  # fmt: skip
    from sisepai.strategies import parse_entries
    from sisepai.strategies.tuning import axes_of

    others_at = rules.players - 1
    if "," in name:
        raise InputError(f"NAME '{name}': one strategy is tuned; the others are named by --against")
    if against.count(",") + 1 not in (1, others_at):
        raise InputError(
            f"--against '{against}': {against.count(',') + 1} entries for {others_at} seats; "
            f"give one for all or {others_at}"
        )
    entry = parse_entries(name, 1)[0][0]
    others, seats = parse_entries(against, others_at)
    fixed = [part.partition("=")[0] for part in name.split(":")[1:]]
    axes = axes_of(entry, fixed, [key.strip() for key in only.split(",") if key.strip()])
    path = Path(out or f"{entry.name}.tune.jsonl")
    threads = threads or _cores()
    return Task(
        name, against, only, rules, entry, others, seats, axes, objective, seed, trials, decks, path, threads
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(task: Task, quiet: bool) -> dict[str, Any]:
    from sisepai.runs.plan import seatings
    from sisepai.runs.tunefile import TuneFile
    from sisepai.strategies.tuning import Search, Table

    seating = seatings("rotate", [0, *(seat + 1 for seat in task.seats)])
    table = Table(task.rules, task.others, seating, task.seed, task.threads)
    search = Search(task.entry, task.axes, task.seed)
    with tidying_up(), TuneFile(task.out, task.question()) as file:
        try:
            return _search_and_confirm(task, file, table, search, quiet)
        except KeyboardInterrupt:
            leave_now(f"sisepai: stopped. To go on: {_command(task)}")


def _command(task: Task) -> str:
    from sisepai.rules import spelled

    words = ["sisepai", "tune", task.name, "--objective", task.objective, "--against", task.against]
    words += ["--rules", spelled(task.rules), "--seed", str(task.seed)]
    words += ["--trials", str(task.trials), "--decks", str(task.decks)]
    words += ["--only", task.only] if task.only else []
    return shlex.join([*words, "--out", str(task.out)])


def _search_and_confirm(
    task: Task, file: "TuneFile", table: "Table", search: "Search", quiet: bool
) -> dict[str, Any]:
    from sisepai.strategies.tuning import tune as run_search
    from sisepai.strategies.tuning import with_values

    known = {
        (line["generation"], line["candidate"]): (line["parameters"], line["sum"])
        for line in file.lines
        if "candidate" in line
    }
    generations = -(-task.trials // search.size)
    left = generations * search.size - len(known)
    total = (max(left, 0) + 2 * CONFIRM) * task.decks * table.block
    played = 0

    with shown(total, quiet) as show:

        def report(deals: int) -> None:
            nonlocal played
            played += deals
            show(played)

        def keep(generation: int, candidate: int, values: dict[str, Any], total: int) -> None:
            file.add({"generation": generation, "candidate": candidate, "parameters": values, "sum": total})

        for generation in run_search(
            search, table, task.entry, objective=task.objective, generations=generations, decks=task.decks,
            known=known, keep=keep, report=report,
        ):  # fmt: skip
            if not quiet:
                values = generation.values
                click.echo(
                    f"generation {generation.number + 1} of {generations}: best {values.max():.4f}, "
                    f"mean {values.mean():.4f}; {with_values(task.entry, search.found()).label}",
                    err=True,
                )
        tuned = with_values(task.entry, search.found())
        total_sums, gram, blocks = _confirm(task, file, table, tuned, report)
    return _result(task, tuned, total_sums, gram, blocks, table.block)


def _confirm(
    task: Task, file: "TuneFile", table: "Table", tuned: "Entry", report: Callable[[int], None]
) -> tuple[Any, Any, int]:
    """Sums over blocks of [deals, wins and score at the start, wins and score tuned], and of their products."""
    import numpy as np

    known = {
        line["confirm"]: line for line in file.lines if line.get("tuned") == tuned.label and "confirm" in line
    }
    total, gram = np.zeros(5, np.int64), np.zeros((5, 5), np.int64)
    for part in range(CONFIRM):
        if part not in known:
            start, new = table.play([task.entry, tuned], part * task.decks, task.decks, report)
            blocks = np.column_stack([np.full(task.decks, table.block), start, new])
            line = {"confirm": part, "tuned": tuned.label, "sums": blocks.sum(0).tolist(),
                    "products": (blocks.T @ blocks).tolist()}  # fmt: skip
            file.add(line)
            known[part] = line
        total += np.array(known[part]["sums"])
        gram += np.array(known[part]["products"])
    return total, gram, CONFIRM * task.decks


def _result(task: Task, tuned: "Entry", total: Any, gram: Any, blocks: int, block: int) -> dict[str, Any]:
    import numpy as np

    from sisepai.analysis.intervals import clustered_wilson, difference, ratio, t_quantile

    unit = np.eye(5, dtype=np.int64)
    t = t_quantile(blocks - 1)

    def rate(column: int) -> dict[str, Any]:
        value, se = ratio(total, gram, unit[column], unit[0], blocks)
        assert value is not None
        assert se is not None
        if column % 2:
            low, high = clustered_wilson(value, se, blocks * block, blocks) or (value, value)
        else:
            low, high = value - t * se, value + t * se
        return {"value": value, "se": se, "low": low, "high": high}

    column = 1 + OBJECTIVES.index(task.objective)
    step, se = difference(total, gram, (unit[column], unit[0]), (unit[column + 2], unit[0]), blocks)
    assert step is not None
    assert se is not None
    low, high = step - t * se, step + t * se
    return {
        "tuned": tuned.label,
        "start": task.entry.label,
        "objective": task.objective,
        "decks": blocks,
        "deals": blocks * block,
        "win": {"start": rate(1), "tuned": rate(3)},
        "score": {"start": rate(2), "tuned": rate(4)},
        "difference": {"value": step, "se": se, "low": low, "high": high},
        "better": low > 0,
        "file": str(task.out),
    }


def _summary(result: dict[str, Any]) -> str:
    def text(key: str, who: str) -> str:
        x, by = result[key][who], 100 if key == "win" else 1
        unit = "%" if key == "win" else ""
        return f"{x['value'] * by:.2f}{unit} ({x['low'] * by:.2f} to {x['high'] * by:.2f})"

    lines = []
    for who in ("start", "tuned"):
        lines.append(
            f"{who}: {printable(result[who])}\n  wins {text('win', who)}, scores {text('score', who)} a deal"
        )
    d, by = result["difference"], 100 if result["objective"] == "win" else 1
    said = "better" if result["better"] else "NOT better, as far as these decks tell"
    lines.append(
        f"difference {d['value'] * by:+.2f} ({d['low'] * by:+.2f} to {d['high'] * by:+.2f}) on {result['decks']:,} "
        f"fresh decks: the tuned one is {said}"
    )
    return "\n".join([*lines, result["tuned"]])
