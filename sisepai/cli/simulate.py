"""``sisepai simulate``: plays the deals of a plan into a run directory."""

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sisepai.cli.experiment import experiment_file
from sisepai.cli.params import COUNT, MATCH, SEED, Choice, WholeNumber
from sisepai.cli.progress import duration, shown
from sisepai.errors import InputError, Interrupted, SisepaiError
from sisepai.runs import SEATINGS

if TYPE_CHECKING:
    from sisepai.engine.simulator import Simulator
    from sisepai.runs.execute import Tally
    from sisepai.runs.manifest import Manifest
    from sisepai.runs.store import Store

RUNS = Path("runs")  # where numbered runs go
KEYS = (
    "deals",
    "seed",
    "strategies",
    "seating",
    "match",
    "rules",
    "out",
    "threads",
    "events",
)  # of an experiment file
SAMPLE_SECONDS = 0.5  # that a dry run plays to tell the time


@dataclass(frozen=True)
class Wish:
    """The options that say what to play and where."""

    deals: int
    seed: int
    strategies: str
    seating: str
    match: int
    rules: str
    out: str | None
    threads: int | None
    events: bool
    resume: bool
    overwrite: bool


@click.command()
@click.argument(
    "file",
    required=False,
    is_eager=True,
    expose_value=False,
    type=click.Path(path_type=Path),
    callback=experiment_file(KEYS),
)
@click.option(
    "--deals", type=COUNT, default="1e6", show_default=True, help="How many, up to whole blocks or matches."
)
@click.option("--seed", type=SEED, default="7", show_default=True, help="Decides every deck, 0 to 2^64-1.")
@click.option(
    "--strategies", default="greedy", show_default=True, help="One for all seats, or one a seat, with commas."
)
@click.option(
    "--seating",
    type=Choice(SEATINGS),
    default="fixed",
    show_default=True,
    help="Play each deck as given, under all rotations of the seats, or under all seatings.",
)
@click.option(
    "--match", type=MATCH, default="0", show_default=True, metavar="N",
    help="N deals in a row are a match, in which the winner deals the next; 0: none.",
)  # fmt: skip
@click.option(
    "--rules", default="cardavia", show_default=True, help="The rule set; `sisepai rules` lists them."
)
@click.option("--out", metavar="DIR", help="The run directory.  [default: a new one in ./runs/]")
@click.option("--threads", type=WholeNumber(1, 4096), help="How many to play with.  [default: one a core]")
@click.option("--events", is_flag=True, help="Store every event too, ten times the bytes.")
@click.option("--resume", is_flag=True, help="Go on with the run in DIR: play what is missing or damaged.")
@click.option("--overwrite", is_flag=True, help="Replace the run in DIR once the new one is complete.")
@click.option("--dry-run", is_flag=True, help="Tell shards, bytes and time; write nothing.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary.")
def simulate(dry_run: bool, quiet: bool, as_json: bool, **options: Any) -> None:
    """Play deals and store them as a run, a directory of Parquet files.

    FILE is a TOML file with any of the keys deals, seed, strategies, seating, match, rules, out, threads and events;
    options given here win over it. Ctrl-C keeps what is finished and prints the command that goes on.

    \b
    Examples:
      sisepai simulate --deals 1e6
      sisepai simulate --strategies greedy,random,random,random --seating rotate
      sisepai simulate sims/first.toml --seed 8 --out runs/eight
    """
    wish = Wish(**options)
    _check_flags(wish)
    manifest, simulator = _prepare(wish, quiet)
    if dry_run:
        estimate = _estimate(simulator, manifest, _threads(wish))
        click.echo(json.dumps(estimate) if as_json else _forecast(estimate, manifest))
        return
    result = _play(wish, _open(wish, manifest), simulator, quiet)
    click.echo(json.dumps(result) if as_json else _summary(result, manifest))


def _check_flags(wish: Wish) -> None:
    if wish.resume and wish.overwrite:
        raise InputError("--resume and --overwrite exclude each other")
    if wish.out is None and (wish.resume or wish.overwrite):
        raise InputError(f"{'--resume' if wish.resume else '--overwrite'} needs the run it is for: --out DIR")
    if wish.out == "":
        raise InputError("--out needs the name of a folder")


def _prepare(wish: Wish, quiet: bool) -> tuple["Manifest", "Simulator"]:
    """What the options ask for and what plays it. All is checked here and nothing written: not even Ctrl-C while
    the kernels are compiled leaves anything behind."""
    from sisepai.jit import is_compiled
    from sisepai.rules import load
    from sisepai.runs.manifest import Manifest, Strategy
    from sisepai.runs.plan import Plan, shard_size

    rules = load(wish.rules)
    if not quiet and not is_compiled():
        click.echo("compiling the kernels, once; later starts skip this", err=True)
    from sisepai.engine.simulator import Simulator
    from sisepai.strategies import parse_entries

    entries, seats = parse_entries(wish.strategies, rules.players)
    shard_deals = shard_size((entry.strategy.shard_deals for entry in entries), wish.events, wish.match)
    plan = Plan.rounded(tuple(seats), wish.seating, wish.deals, shard_deals, wish.match)
    manifest = Manifest(
        rules=rules,
        strategies=tuple(Strategy(e.label, e.name, dict(e.params), e.digest) for e in entries),
        seats=plan.seats,
        seating=wish.seating,
        seed=wish.seed,
        deals=plan.deals,
        events=wish.events,
        shard_deals=shard_deals,
        match=wish.match,
    )
    _check_place(wish, manifest)
    return manifest, Simulator(rules, entries, plan.seatings, wish.seed, wish.match)


def _check_place(wish: Wish, manifest: "Manifest") -> None:
    from sisepai.runs import directory

    if wish.out is None:
        directory.check_writable(RUNS)
    elif wish.resume:
        directory.check_resume(Path(wish.out), manifest)
    elif wish.overwrite:
        directory.check_overwrite(Path(wish.out))
    else:
        directory.check_new(Path(wish.out))


def _open(wish: Wish, manifest: "Manifest") -> "Store":
    from sisepai.runs import directory

    if wish.out is None:
        return directory.create_numbered(RUNS, manifest)
    path = Path(wish.out)
    if wish.resume:
        return directory.resume(path, manifest)
    return directory.stage(path, manifest) if wish.overwrite else directory.create(path, manifest)


def _play(wish: Wish, store: "Store", simulator: "Simulator", quiet: bool) -> dict[str, Any]:
    """Play what is missing; returns what there is to say about it."""
    from sisepai.runs import directory, log
    from sisepai.runs.execute import Tally, execute

    path = Path(wish.out) if wish.out else store.path
    staged = store.path == directory.staging(path)
    command = _command(wish, store.manifest)
    to_go_on = f"To go on: {command} --out {shlex.quote(str(path))} {'--overwrite' if staged else '--resume'}"
    plan, threads = store.manifest.plan, _threads(wish)
    tally, begun = Tally(), time.monotonic()
    try:
        with _sigterm_is_ctrl_c():
            done = store.matching()
            total = plan.deals - sum(plan.shard(shard).count for shard in done)
            if not quiet:
                click.echo(f"playing {total:,} deals into {path} with {threads} threads", err=True)
            begin = {"event": "begin", **log.surroundings(), "threads": threads, "command": command}
            log.append(store.path, begin)
            missing = (shard for shard in range(plan.shards) if shard not in done)
            with shown(total, quiet) as show:
                execute(store, simulator, missing, threads, tally, lambda tally: show(tally.played))
            _log_end(store, tally, begun, "complete")
    except KeyboardInterrupt:
        with suppress(SisepaiError):
            _log_end(store, tally, begun, "stopped")
        line = f"stopped; {len(store.done()):,} of {plan.shards:,} shards are finished. {to_go_on}"
        if tally.busy:
            _leave_now(line)
        raise Interrupted(line) from None
    except SisepaiError as error:
        with suppress(SisepaiError):
            _log_end(store, tally, begun, "failed")
        raise SisepaiError(f"{error}. {to_go_on}") from error
    result = _result(store, tally, path, time.monotonic() - begun)
    if staged:
        directory.replace(path)
    return result


def _threads(wish: Wish) -> int:
    if wish.threads:
        return wish.threads
    # The cores this process may use, where the system tells; a container may have fewer than the machine.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _command(wish: Wish, manifest: "Manifest") -> str:
    """The command that asks for this very plan, as a shell reads it, but for where it goes."""
    words = ["sisepai", "simulate"]
    for key in ("strategies", "seating", "rules"):
        words += [f"--{key}", getattr(wish, key)]
    words += ["--match", str(wish.match)] if wish.match else []
    words += ["--deals", str(manifest.deals), "--seed", str(manifest.seed)]
    words += ["--threads", str(wish.threads)] if wish.threads else []
    words += ["--events"] if wish.events else []
    return shlex.join(words)


def _log_end(store: "Store", tally: "Tally", begun: float, how: str) -> None:
    from sisepai.runs import log

    seconds = round(time.monotonic() - begun, 3)
    log.append(
        store.path,
        {"event": how, "shards": tally.shards, "deals": tally.deals, "seconds": seconds},
    )


@contextmanager
def _sigterm_is_ctrl_c() -> Iterator[None]:
    """A polite kill stops a run as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave_now(line: str) -> NoReturn:
    """End the process although threads still work: a deal of a slow strategy would keep the user waiting."""
    with suppress(OSError):
        click.echo(f"sisepai: {line}", err=True)
        sys.stdout.flush()
    os._exit(Interrupted.exit_code)


def _result(store: "Store", tally: "Tally", path: Path, seconds: float) -> dict[str, Any]:
    """What `--json` prints; the counts are those of the deals this command has played."""
    manifest = store.manifest
    wins = sum(tally.wins)
    return {
        "run": str(path),
        "run_id": manifest.run_id,
        "deals": manifest.deals,
        "shards": manifest.plan.shards,
        "bytes": sum(store.bytes().values()),
        "played": tally.deals,
        "seconds": round(seconds, 3),
        "drawn": tally.deals - wins,
        "wins": dict(zip(manifest.labels, tally.wins, strict=False)),
        "mean_score": round(tally.points / wins, 3) if wins else None,
    }


def _summary(result: dict[str, Any], manifest: "Manifest") -> str:
    played, seconds = result["played"], result["seconds"]
    if not played:
        lines = [f"nothing left to play: all {manifest.deals:,} deals are there"]
    else:
        rate = played / max(seconds, 1e-3)
        some = "" if played == manifest.deals else f" (of {manifest.deals:,})"
        lines = [
            f"{played:,} deals{some} of {manifest.rules.name} in {duration(seconds)} ({rate:,.0f} deals/s), "
            f"{result['bytes'] / 1e6:,.1f} MB",
            f"drawn {result['drawn'] / played:.2%}",
        ]
        for label, wins in result["wins"].items():
            lines.append(f"won by {label} {wins / played:.2%}")
        if result["mean_score"] is not None:
            lines.append(f"mean score of a win {result['mean_score']:.2f}")
    return "\n".join([*lines, result["run"]])


def _estimate(simulator: "Simulator", manifest: "Manifest", threads: int) -> dict[str, Any]:
    """What the run would cost, from a short sample of its own deals."""
    from sisepai.runs.schema import deal_schema, deal_table, encode, event_schema, event_table

    plan = manifest.plan
    count, seconds = 1, 0.0
    while True:
        begun = time.process_time()
        chunk = simulator.play(0, count, manifest.events)
        tables = [(deal_schema(manifest), deal_table(manifest, chunk.rows, 0))]
        if chunk.events is not None and chunk.event_counts is not None:
            tables.append(
                (event_schema(manifest), event_table(manifest, chunk.events, chunk.event_counts, 0))
            )
        sizes = [len(encode(schema, [table])) for schema, table in tables]
        seconds = time.process_time() - begun
        if seconds > SAMPLE_SECONDS or count >= min(plan.deals, plan.shard_deals):
            break
        count = min(4 * count, plan.deals, plan.shard_deals)
    # What every file costs, however few its deals, is counted once a shard.
    empty = [len(encode(schema, [])) for schema, _ in tables]
    a_deal = (sum(sizes) - sum(empty)) / count
    return {
        "run_id": manifest.run_id,
        "deals": plan.deals,
        "decks": plan.deals // plan.block,
        "shards": plan.shards,
        "bytes": round(a_deal * plan.deals + sum(empty) * plan.shards),
        "seconds": round(seconds / count * plan.deals / threads, 1),
        "threads": threads,
    }


def _forecast(estimate: dict[str, Any], manifest: "Manifest") -> str:
    return (
        f"{estimate['deals']:,} deals of {estimate['decks']:,} decks in {estimate['shards']:,} shards of "
        f"{manifest.shard_deals:,}\n"
        f"about {estimate['bytes'] / 1e6:,.1f} MB and {duration(estimate['seconds'])} with "
        f"{estimate['threads']} threads; nothing is written"
    )
