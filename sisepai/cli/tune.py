"""``sisepai tune``: looks for better parameters of a strategy, and tells on fresh decks whether they are better."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.boundary import printable
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.params import Choice, WholeNumber
from sisepai.cli.progress import shown
from sisepai.cli.stopping import leave_now, tidying_up
from sisepai.errors import InputError, SisepaiError

if TYPE_CHECKING:
    from sisepai.runs.tunefile import TuneFile
    from sisepai.strategies import Entry
    from sisepai.strategies.tuning import Question, Search, Table

MOST = WholeNumber(1, 1_000_000)
Figure = dict[str, float]


@dataclass(frozen=True)
class Wish:
    """The options that decide what is played, as they are typed."""

    objective: str
    against: str
    rules: str
    seed: int
    trials: int
    decks: int
    only: str | None
    out: str | None
    threads: int | None


@click.command()
@click.argument("name")
@click.option(
    "--objective", type=Choice(("win", "score")), default="win", show_default=True,
    help="More deals won, or more points a deal.",
)  # fmt: skip
@click.option(
    "--against", default="greedy", show_default=True,
    help="At the other seats: one for all, or one a seat, with commas.",
)  # fmt: skip
@shared.playing("rules")
@shared.playing("seed")
@click.option(
    "--trials", type=MOST, default="2000", show_default=True, help="Candidates, up to whole generations."
)
@click.option(
    "--decks", type=MOST, default="500", show_default=True,
    help="How many each candidate plays, in every seat; 40 times as many confirm.",
)  # fmt: skip
@click.option("--only", metavar="P,Q", help="The parameters to tune.  [default: all that NAME does not give]")
@click.option("--out", metavar="FILE", help="Keeps what is played.  [default: NAME.tune.jsonl]")
@shared.threads
@shared.quiet
@shared.as_json("Print one JSON object instead of the summary.")
def tune(name: str, quiet: bool, as_json: bool, **options: Any) -> None:
    """Look for better parameters of a strategy with CMA-ES.

    NAME is a strategy; parameters given as NAME:key=value stay as they are. Each candidate plays against the others,
    in every seat in turn; all of a generation play the same decks. In the end what was found and what it began with
    play fresh decks, and the last line is the better of them.

    FILE keeps what is played: the same command goes on after a stop, and with more --trials it looks further.

    \b
    Examples:
      sisepai tune ukeire
      sisepai tune ukeire --only win,near --trials 5000
      sisepai tune ukeire:objective=score --objective score --rules ten-hu
    """
    wish = Wish(**options)
    question, path = _question(name, wish)
    from sisepai.runs.tunefile import TuneFile
    from sisepai.strategies.tuning import Search, Table

    search = Search(question)
    entries = [question.entry, *question.others]
    announce_compiling(entries, quiet)
    plain = any(entry.strategy.player for entry in entries)
    table = Table(question, shared.threads_for(wish.threads, plain))
    with (
        tidying_up(),
        TuneFile(path, question.to_dict()) as file,
        _telling_how_to_go_on(name, wish, path, file),
    ):
        result = _search_and_confirm(question, search, table, file, wish.trials, quiet)
    click.echo(json.dumps(result) if as_json else _summary(result))


def _question(name: str, wish: Wish) -> tuple["Question", Path]:
    """What is asked, and the file that keeps the answers; nothing is written."""
    from sisepai.rules import load
    from sisepai.runs.plan import seatings
    from sisepai.strategies import parse_entries
    from sisepai.strategies.tuning import Question, axes_of

    rules = load(wish.rules)
    seats, given = rules.players - 1, wish.against.count(",") + 1
    if given not in (1, seats):
        raise InputError(
            f"--against '{wish.against}': {given} entries for {seats} seats; give one for all or {seats}"
        )
    if "," in name:
        raise InputError(f"'{name}': one strategy is tuned; name the others with --against")
    (entry,), _ = parse_entries(name, 1)
    others, at = parse_entries(wish.against, seats)
    cheats = [one.name for one in (entry, *others) if one.strategy.cheats]
    if cheats:
        raise InputError(f"{cheats[0]} sees all cards: nothing is tuned with it")
    fixed = [part.partition("=")[0] for part in name.split(":")[1:]]
    only = [key.strip() for key in wish.only.split(",")] if wish.only is not None else []
    question = Question(
        rules=rules, entry=entry, axes=axes_of(entry, fixed, only), objective=wish.objective, others=tuple(others),
        seatings=seatings("rotate", [0, *(1 + other for other in at)]), seed=wish.seed, decks=wish.decks,
    )  # fmt: skip
    return question, Path(f"{entry.name}.tune.jsonl" if wish.out is None else wish.out)


def _search_and_confirm(
    question: "Question", search: "Search", table: "Table", file: "TuneFile", trials: int, quiet: bool
) -> dict[str, Any]:
    from sisepai.strategies.tuning import PARTS, confirm, generations, with_values

    count = -(-trials // search.size)
    known = sum(generation < count for generation, _ in file.candidates)
    # Of a confirmation that has begun it is not known yet whether it is of what will be found.
    total = (count * search.size - known + 2 * PARTS) * question.deals
    played, note = 0, "generation 1"

    with shown(total, quiet, lambda: note) as show:

        def report(deals: int) -> None:
            nonlocal played
            played += deals
            show(played)

        table.report = report
        for number, reached in enumerate(generations(question, search, table, file, count), 1):
            note = f"generation {number:,}: {_told(question.objective, reached)}"
        tuned = with_values(question.entry, search.found())
        note = "confirming"
        total_and_gram = confirm(question, table, file, tuned)
    return _result(question, tuned, *total_and_gram, trials=count * search.size)


def _told(objective: str, reached: list[float]) -> str:
    mean, best = sum(reached) / len(reached), max(reached)
    return f"mean {mean:.1%}, best {best:.1%}" if objective == "win" else f"mean {mean:.2f}, best {best:.2f}"


@contextmanager
def _telling_how_to_go_on(name: str, wish: Wish, path: Path, file: "TuneFile") -> Iterator[None]:
    command = _command(name, wish, path)
    try:
        yield
    except KeyboardInterrupt:
        # All that is kept is in the file, and nobody waits for deals that are under way.
        leave_now(f"sisepai: stopped; {len(file.candidates):,} candidates are kept. To go on: {command}")
    except SisepaiError as error:
        if isinstance(error.__cause__, OSError):  # the disk was full; another time there may be room
            error.go_on = command
        raise


def _command(name: str, wish: Wish, path: Path) -> str:
    words = ["sisepai", "tune", name]
    for key in fields(wish):
        value = str(path) if key.name == "out" else getattr(wish, key.name)
        words += [] if value is None else [f"--{key.name}", str(value)]
    return shlex.join(words)


def _result(question: "Question", tuned: "Entry", total: Any, gram: Any, trials: int) -> dict[str, Any]:
    """What `--json` prints."""
    from sisepai.strategies.conformance import typed

    blocks = int(total[0]) // len(question.seatings)
    try:
        figures = {key: _compared(total, gram, blocks, column) for column, key in ((1, "win"), (2, "score"))}
    except ValueError as error:  # no decks add up to these
        raise InputError("the confirmation that is kept is damaged; start anew in another file") from error
    low = figures[question.objective]["difference"]["low"]
    return {
        "start": typed(question.entry),
        "tuned": typed(tuned),
        "objective": question.objective,
        "trials": trials,
        "decks": blocks,
        "deals": int(total[0]),
        **figures,
        "better": low > 0,
        "use": typed(tuned if low > 0 else question.entry),
    }


def _compared(total: Any, gram: Any, blocks: int, column: int) -> dict[str, Figure]:
    """The start, the tuned one and their difference a deal, of wins (column 1) or scores (2)."""
    import numpy as np

    from sisepai.analysis.intervals import clustered_wilson, difference, ratio, t_quantile

    deals, start, tuned = np.eye(5, dtype=np.int64)[[0, column, column + 2]]
    estimates = {
        "start": ratio(total, gram, start, deals, blocks),
        "tuned": ratio(total, gram, tuned, deals, blocks),
        "difference": difference(total, gram, (start, deals), (tuned, deals), blocks),
    }
    figures = {}
    for who, (value, se) in estimates.items():
        if value is None or se is None:
            raise ValueError("no deals")
        half = t_quantile(blocks - 1) * se
        low, high = value - half, value + half
        if column == 1 and who != "difference":
            low, high = clustered_wilson(value, se, int(total[0]), blocks) or (low, high)
        figures[who] = {"value": value, "se": se, "low": low, "high": high}
    return figures


def _summary(result: dict[str, Any]) -> str:
    lines = [f"{who}: {printable(result[who])}" for who in ("start", "tuned")]
    lines.append(f"{'':12}{'wins':27}points a deal")
    for who in ("start", "tuned", "difference"):
        sign = "+" if who == "difference" else ""
        wins = _interval(result["win"][who], 100, f"{sign}.2f", "" if sign else "%")
        lines.append(f"{who:12}{wins:27}{_interval(result['score'][who], 1, f'{sign}.3f')}")
    lines.append(f"{_verdict(result)}, on {result['decks']:,} fresh decks")
    return "\n".join([*lines, printable(result["use"])])


def _interval(figure: Figure, scale: float, form: str, unit: str = "") -> str:
    value, low, high = (format(scale * figure[key], form) for key in ("value", "low", "high"))
    return f"{value}{unit} ({low} to {high})"


def _verdict(result: dict[str, Any]) -> str:
    if result["tuned"] == result["start"]:
        return "nothing else was found than the start"
    if result["better"]:
        return "the tuned one is better"
    worse = result[result["objective"]]["difference"]["high"] < 0
    return "the tuned one is WORSE" if worse else "the tuned one is NOT shown to be better"
