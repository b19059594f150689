"""``sisepai simulate``: plays the deals of a plan into a run directory."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.boundary import printable
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.experiment import experiment_file, naming, typed
from sisepai.cli.params import COUNT
from sisepai.cli.progress import byte_size, duration, shown
from sisepai.cli.stopping import leave_now, tidying_up
from sisepai.errors import InputError, Interrupted, SisepaiError

if TYPE_CHECKING:
    from sisepai.engine.simulator import Simulator
    from sisepai.runs.execute import Progress
    from sisepai.runs.manifest import Manifest
    from sisepai.runs.simulate import Place
    from sisepai.runs.store import Store
    from sisepai.strategies import Strategy

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
    plugins: tuple[str, ...]
    allow_cheating: bool


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
@shared.playing("seed")
@shared.playing("strategies")
@shared.playing("seating")
@shared.playing("match")
@shared.playing("rules")
@click.option("--out", metavar="DIR", help="The run directory.  [default: a new one in ./runs/]")
@shared.threads
@click.option("--events", is_flag=True, help="Store every event too, ten times the bytes.")
@click.option("--resume", is_flag=True, help="Go on with the run in DIR: play what is missing or damaged.")
@click.option("--overwrite", is_flag=True, help="Replace the run in DIR once the new one is complete.")
@shared.plugin
@shared.allow_cheating
@click.option("--dry-run", is_flag=True, help="Tell shards, bytes and time; write nothing.")
@shared.quiet
@shared.as_json("Print one JSON object instead of the summary.")
def simulate(dry_run: bool, quiet: bool, as_json: bool, **options: Any) -> None:
    """Play deals and store them as a run, a directory of Parquet files.

    FILE is a TOML file with any of the keys deals, seed, strategies, seating, match, rules, out, threads and events;
    options given here win over it. Ctrl-C keeps what is finished and prints the command that goes on.

    \b
    Examples:
      sisepai simulate --deals 1e6
      sisepai simulate --strategies greedy,random,random,random --seating rotate
      sisepai simulate sims/first.toml --seed 8 --out runs/eight
      sisepai simulate --strategies ./mine.py:bold:risk=0.2,greedy,greedy,greedy
    """
    wish = Wish(**options)
    _check_flags(wish)
    manifest, place, plugged = _prepare(wish)
    from sisepai.runs.replay import entries_of
    from sisepai.runs.simulate import estimate, simulator_of

    announce_compiling(entries_of(manifest, plugged), quiet)
    simulator = simulator_of(manifest, plugged)
    with _showing_faults(manifest, plugged):
        if dry_run:
            expected = estimate(simulator, manifest, shared.threads_for(wish.threads, simulator.in_steps))
            click.echo(json.dumps(expected) if as_json else _forecast(expected, manifest))
            return
        result = _play(wish, manifest, place, simulator, plugged, quiet)
    click.echo(json.dumps(result) if as_json else _summary(result, manifest))


def _check_flags(wish: Wish) -> None:
    if wish.resume and wish.overwrite:
        raise InputError("--resume and --overwrite exclude each other")
    if wish.out is None and (wish.resume or wish.overwrite):
        raise InputError(f"{'--resume' if wish.resume else '--overwrite'} needs the run it is for: --out DIR")
    if wish.out == "":
        with naming("out"):
            raise InputError("--out needs the name of a folder")


def _prepare(wish: Wish) -> tuple["Manifest", "Place", dict[str, "Strategy"]]:
    """What the options ask for, where it goes, and the plug-ins in it. All is checked here and nothing written."""
    from sisepai.rules import load

    with naming("rules"):
        rules = load(wish.rules)
    from sisepai.runs.simulate import Place, plan_run
    from sisepai.strategies.registry import check_cheating, load_plugins, parse_entries, plugged_of

    plugged = load_plugins(wish.plugins)
    with naming("strategies"):
        entries, seats = parse_entries(wish.strategies, rules.players, plugged, typed("strategies"))
        check_cheating(entries, wish.allow_cheating)
    with naming("deals", "seating", "match"):
        manifest = plan_run(
            rules, entries, seats, deals=wish.deals, seed=wish.seed, seating=wish.seating, match=wish.match,
            events=wish.events,
        )  # fmt: skip
    place = Place(None if wish.out is None else Path(wish.out), wish.resume, wish.overwrite)
    with naming("out"):
        place.check(manifest, plugged_of(entries))
    return manifest, place, plugged_of(entries)


@contextmanager
def _showing_faults(manifest: "Manifest", plugged: Mapping[str, "Strategy"]) -> Iterator[None]:
    """A strategy that fails ends the command with the one that shows the deal."""
    from sisepai.engine.faults import StrategyFault
    from sisepai.runs.command import replay_of

    try:
        yield
    except StrategyFault as fault:
        fault.show = replay_of(manifest, fault.deal, plugged)
        raise


def _tell_speed(simulator: "Simulator", manifest: "Manifest", plugged: Mapping[str, "Strategy"]) -> None:
    """Say before it begins that it will be slow, and how slow."""
    from sisepai.runs.simulate import speed

    plain = [name for name, strategy in plugged.items() if strategy.player]
    names = f"{', '.join(plain)} {'is' if len(plain) == 1 else 'are'}"
    click.echo(f"{names} plain Python: about {speed(simulator, manifest):,.0f} deals/s to expect", err=True)


def _play(
    wish: Wish, manifest: "Manifest", place: "Place", simulator: "Simulator", plugged: Mapping[str, "Strategy"],
    quiet: bool,
) -> dict[str, Any]:  # fmt: skip
    """Play what is missing; returns what there is to say about it."""
    from sisepai.runs.execute import Progress
    from sisepai.runs.simulate import play

    progress, threads = Progress(), shared.threads_for(wish.threads, simulator.in_steps)
    with tidying_up(), place.open(manifest) as store:
        path = place.final(store)
        with _telling_how_to_go_on(store, _command(wish, place, store, plugged), progress):
            done = store.matching()
            total = manifest.deals - sum(manifest.plan.shard(shard).count for shard in done)
            if not quiet:
                if total and simulator.in_steps:
                    _tell_speed(simulator, manifest, plugged)
                where = printable(str(path))
                click.echo(f"playing {total:,} deals into {where} with {_counted(threads)}", err=True)
            with shown(total, quiet) as show:
                seconds = play(
                    store, simulator, done, threads, progress, lambda progress: show(progress.played), plugged
                )
            result = _result(store, progress, path, seconds)
        place.finish(store)
    return result


@contextmanager
def _telling_how_to_go_on(store: "Store", command: str, progress: "Progress") -> Iterator[None]:
    """Whatever ends the playing names the ``command`` that goes on, where it would not end in the same way."""
    try:
        yield
    except KeyboardInterrupt:
        shards = store.manifest.plan.shards
        # None when it was stopped while looking at what is there.
        so_far = (
            "" if progress.finished is None else f"; {progress.finished:,} of {shards:,} shards are finished"
        )
        stopped = Interrupted(f"stopped{so_far}")
        stopped.go_on = command
        if progress.busy:  # a deal of a slow strategy would keep the user waiting
            leave_now(f"sisepai: {stopped}. To go on: {command}")
        raise stopped from None
    except SisepaiError as error:
        if _may_pass(error):
            error.go_on = command
        raise


def _may_pass(error: SisepaiError) -> bool:
    """Whether the same command may do better later: the disk was full, not a strategy wrong or a path in the way."""
    cause = error.__cause__
    in_the_way = (FileExistsError, NotADirectoryError, IsADirectoryError)
    return isinstance(cause, OSError) and not isinstance(cause, in_the_way)


def _command(wish: Wish, place: "Place", store: "Store", plugged: Mapping[str, "Strategy"]) -> str:
    """The command that goes on with this run."""
    from sisepai.runs.command import command_of

    threads = ["--threads", str(wish.threads)] if wish.threads else []
    flag = "--overwrite" if place.is_staged(store) else "--resume"
    return command_of(store.manifest, *threads, "--out", str(place.final(store)), flag, plugged=plugged)


def _result(store: "Store", progress: "Progress", path: Path, seconds: float) -> dict[str, Any]:
    """What `--json` prints; ``played`` is what this command has played, the rest is about the whole run."""
    from sisepai.runs.command import report_of

    manifest = store.manifest
    return {
        "run": str(path),
        "run_id": manifest.run_id,
        "deals": manifest.deals,
        "shards": manifest.plan.shards,
        "played": progress.deals,
        "seconds": seconds,
        "bytes": sum(store.bytes().values()),
        "complete": len(store.done()) == manifest.plan.shards,
        "command": report_of(str(path)),
    }


def _summary(result: dict[str, Any], manifest: "Manifest") -> str:
    played, seconds = result["played"], result["seconds"]
    if played:
        rate = played / max(seconds, 1e-3)
        some = "" if played == manifest.deals else f" (of {manifest.deals:,})"
        size = byte_size(result["bytes"])
        line = f"{played:,} deals{some} of {manifest.rules.name} in {duration(seconds)} ({rate:,.0f} deals/s), {size}"
    else:
        line = f"nothing left to play: all {manifest.deals:,} deals are there"
    return "\n".join([line, f"next: {result['command']}", result["run"]])


def _forecast(expected: dict[str, Any], manifest: "Manifest") -> str:
    return (
        f"{expected['deals']:,} deals of {expected['decks']:,} decks in {expected['shards']:,} shards of "
        f"{manifest.shard_deals:,}\n"
        f"about {byte_size(expected['bytes'])} and {duration(expected['seconds'])} with "
        f"{_counted(expected['threads'])}; nothing is written"
    )


def _counted(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"
