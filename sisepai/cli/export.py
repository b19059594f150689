"""``sisepai export``: the deals, events or decks of a run as one file."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from sisepai.cli import options as shared
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.params import Choice
from sisepai.cli.progress import byte_size, shown
from sisepai.cli.stopping import tidying_up
from sisepai.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from sisepai.runs.store import Store
    from sisepai.strategies import Strategy

WHAT = ("deals", "events", "decks")
FORMATS = ("parquet", "csv", "jsonl")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--what", type=Choice(WHAT), default="deals", show_default=True, help="One row a deal, event or deck."
)
@click.option(
    "--format", "kind", type=Choice(FORMATS),
    help="How it is written.  [default: what the ending of FILE says]",
)  # fmt: skip
@click.option("--out", metavar="FILE", required=True, help="The file to write; - is standard output.")
@click.option("--overwrite", is_flag=True, help="Replace FILE once the new one is complete.")
@shared.plugin
@shared.quiet
def export(
    run: Path, what: str, kind: str | None, out: str, overwrite: bool, plugins: tuple[str, ...], quiet: bool
) -> None:
    """Write the deals, events or decks of a RUN to one file.

    The columns are those of the run. Events that are not stored are played again, for which
    --plugin names the plug-ins among the strategies. Decks have the columns deck, dealer,
    hand_sizes and cards: the whole pack as card numbers, hands in seat order, then the stock. Of a run that is not
    complete, what is there is written.

    \b
    Examples:
      sisepai export runs/0001 --out deals.csv
      sisepai export runs/0001 --what events --out events.parquet
      sisepai export runs/0002 --what events --out events.csv --plugin ./mine.py
      sisepai export runs/0001 --what decks --format jsonl --out - | head
    """
    kind = kind or _kind_of(out)
    if out == "-" and kind == "parquet":
        raise InputError("Parquet does not go to standard output; name a FILE, or choose csv or jsonl")
    from sisepai.runs.export import new_file
    from sisepai.runs.manifest import read_manifest
    from sisepai.runs.store import Store

    store = Store(run, read_manifest(run))
    plugged = _plugged(plugins)
    if what == "decks" or (what == "events" and not store.manifest.events):
        _compile(store, what, plugged, quiet)
    target = nullcontext(_stdout()) if out == "-" else new_file(Path(out), overwrite)
    with tidying_up(), target as file:
        # A bar beside rows on the same terminal would be a mess.
        rows, deals = _export(store, what, kind, file, plugged, quiet or out == "-")
    if out != "-":
        size = Path(out).stat().st_size
        click.echo(f"{rows:,} {what} of {deals:,} deals, {byte_size(size)}\n{out}")


def _kind_of(out: str) -> str:
    ending = Path(out).suffix.lstrip(".").lower()
    if ending in FORMATS:
        return ending
    raise InputError(
        f"--out {out}: no ending that tells the format; give it with --format {', '.join(FORMATS)}"
    )


def _plugged(words: tuple[str, ...]) -> dict[str, "Strategy"]:
    """The plug-ins that are named; most exports name none and do without the engine."""
    if not words:
        return {}
    from sisepai.strategies.registry import load_plugins

    return load_plugins(words)


def _compile(store: "Store", what: str, plugged: dict[str, "Strategy"], quiet: bool) -> None:
    """Compile before anything is written and any progress is shown, while a stop has nothing to tidy up."""
    from sisepai.engine.simulator import decks
    from sisepai.runs.replay import entries_of
    from sisepai.runs.simulate import simulator_of

    announce_compiling(() if what == "decks" else entries_of(store.manifest, plugged), quiet)
    if what == "decks":
        decks(store.manifest.rules, store.manifest.seed, 0, 1)
    else:
        simulator_of(store.manifest, plugged)


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise InputError("there is no standard output")
    return sys.stdout.buffer


def _export(
    store: "Store", what: str, kind: str, file: BinaryIO, plugged: dict[str, "Strategy"], quiet: bool
) -> tuple[int, int]:
    """Write it all; returns rows written and deals they come from."""
    from sisepai.runs.export import WRITERS, schema_of, tables

    plan, shards = store.manifest.plan, sorted(store.done())
    total = sum(plan.shard(shard).count for shard in shards)
    if len(shards) < plan.shards:
        click.echo(
            f"the run is not complete: {len(shards):,} of {plan.shards:,} shards are there, with {total:,} of "
            f"{plan.deals:,} deals",
            err=True,
        )
    rows = deals = 0
    with shown(total, quiet) as show:

        def counted() -> Iterator["pa.Table"]:
            nonlocal rows, deals
            for count, table in tables(store, what, shards, plugged):
                yield table
                rows += len(table)
                deals += count
                show(deals)

        WRITERS[kind](file, schema_of(store.manifest, what), counted())
    return rows, deals
