"""``sisepai report``: what runs show, for people, as JSON or as CSV files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.errors import InputError, SisepaiError

if TYPE_CHECKING:
    from sisepai.analysis.comparison import Comparison
    from sisepai.analysis.summary import Summary
    from sisepai.runs.reader import Run


@click.command()
@click.argument("paths", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--payoff", is_flag=True, help="Show mean payoffs too: each loser pays the winner's score to the winner."
)
@shared.as_json()
@click.option(
    "--csv", "folder", metavar="DIR", type=click.Path(path_type=Path),
    help="Write every table as DIR/NAME.csv instead; DIR is made if need be.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Let --csv replace files of the same names.")
def report(
    paths: tuple[Path, ...], payoff: bool, as_json: bool, folder: Path | None, overwrite: bool
) -> None:
    """Sum up runs: drawn deals, who wins, how, with what points, after how long.

    Every share has a 95% interval and every mean a standard error, both over decks where a deck is played under
    several seatings, and over matches where there are matches. Several runs stand side by side, and the second, third,
    ... are compared with the first, also when their rules differ: paired over the decks they share where seed, pack
    and hands are the same.

    \b
    Examples:
      sisepai report runs/0001
      sisepai report runs/0001 runs/0002
      sisepai report runs/0001 --payoff --json
      sisepai report runs/0001 --csv tables
    """
    if as_json and folder:
        raise InputError("--json and --csv exclude each other")
    if overwrite and not folder:
        raise InputError("--overwrite goes with --csv")
    runs, comparisons = _results(paths, payoff)
    if as_json:
        click.echo(_json(runs, comparisons))
    elif folder:
        _write_csv(folder, runs, comparisons, overwrite)
    else:
        from sisepai.analysis.tables import print_report
        from sisepai.cli.console import console

        print_report(console(), runs, comparisons)


def _results(paths: tuple[Path, ...], payoff: bool = False) -> tuple[list["Summary"], list["Comparison"]]:
    # Matrices of forty rows: on a busy machine threads of BLAS do nothing but wait for each other. Before NumPy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from polars.exceptions import PolarsError

    from sisepai.analysis.comparison import compare
    from sisepai.analysis.summary import summarise
    from sisepai.runs.reader import read_run

    # All are opened before any is read: a wrong last path should not cost the time of the first.
    opened = [read_run(path) for path in paths]
    runs = []
    for number, (run, path) in enumerate(zip(opened, paths, strict=True)):
        try:
            runs.append(summarise(run.deals, run.manifest, _name(number), str(path), payoff))
        except PolarsError as error:
            raise _damaged(run) from error
    others = zip(opened[1:], runs[1:], strict=True)
    return runs, [compare(opened[0], run, (runs[0], summary)) for run, summary in others]


def _damaged(run: "Run") -> SisepaiError:
    """The error for a run whose rows cannot be read: it names the first file that is not as its receipt says."""
    from sisepai.runs.command import command_of
    from sisepai.runs.store import Store

    store = Store(run.path, run.manifest)
    first = min(store.done() - store.matching(), default=None)
    what = f"{run.path}: a shard" if first is None else str(store.file("deals", first))
    error = SisepaiError(f"{what} is damaged")
    error.go_on = command_of(run.manifest, "--out", str(run.path), "--resume")
    return error


def _name(number: int) -> str:
    """A, B, ... Z, then R27 and on."""
    return chr(ord("A") + number) if number < 26 else f"R{number + 1}"


def _json(runs: list["Summary"], comparisons: list["Comparison"]) -> str:
    import json
    from dataclasses import asdict

    document = {"runs": [asdict(run) for run in runs], "comparisons": [asdict(pair) for pair in comparisons]}
    return json.dumps(document, indent=1, allow_nan=False)


def _write_csv(folder: Path, runs: list["Summary"], comparisons: list["Comparison"], overwrite: bool) -> None:
    from sisepai.analysis.sections import flat_tables

    tables = flat_tables(runs, comparisons)
    files = {folder / f"{name}.csv": rows for name, rows in tables.items()}
    taken = [path for path in files if path.exists()]
    if taken and not overwrite:
        raise InputError(f"{taken[0]} exists; choose another folder or add --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for path, rows in files.items():
        _write_table(path, rows)
        click.echo(str(path))


def _write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    import csv
    import io

    from sisepai.files import whole_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else ["run", "what"])
    writer.writerows(row.values() for row in rows)
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
