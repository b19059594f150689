"""Plays a run from its plan to its last shard: what is to be played, where it may go, the playing, what it would cost.

Nothing here speaks to a user; the command line and scripts in Python call the same functions.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sisepai.engine.simulator import Simulator
from sisepai.errors import SisepaiError
from sisepai.rules import RuleSet
from sisepai.runs import directory, log
from sisepai.runs.command import command_of
from sisepai.runs.execute import Progress, execute
from sisepai.runs.manifest import FILE, Manifest, PlannedEntry, read_manifest
from sisepai.runs.plan import Plan, shard_size
from sisepai.runs.replay import check_plugged, entries_of
from sisepai.runs.schema import deal_schema, deal_table, encode, event_schema, event_table
from sisepai.runs.store import Store
from sisepai.strategies import Entry, Strategy

RUNS = Path("runs")  # where numbered runs go
SAMPLE_SECONDS = 0.5  # that are played to tell the time

Sampled = TypeVar("Sampled")


def plan_run(
    rules: RuleSet, entries: Sequence[Entry], seats: Sequence[int], *,
    deals: int, seed: int, seating: str = "fixed", match: int = 0, events: bool = False,
) -> Manifest:  # fmt: skip
    """The manifest of at least ``deals`` deals; ``entries`` and ``seats`` are what `parse_entries` returns.

    Raises
    ------
    InputError
        Too many deals, or matches under several seatings.
    """
    shard_deals = shard_size((entry.strategy.shard_deals for entry in entries), events, match)
    plan = Plan.rounded(tuple(seats), seating, deals, shard_deals, match)
    strategies = tuple(PlannedEntry(e.label, e.name, dict(e.params), e.digest) for e in entries)
    return Manifest(
        rules=rules, strategies=strategies, seats=plan.seats, seating=seating, seed=seed, deals=plan.deals,
        events=events, shard_deals=shard_deals, match=match,
    )  # fmt: skip


def simulator_of(manifest: Manifest, plugged: Mapping[str, Strategy] | None = None) -> Simulator:
    """What plays the deals of a run; the kernels are compiled here.

    Raises
    ------
    InputError
        As `entries_of`, or a strategy cannot be compiled.
    """
    entries = entries_of(manifest, plugged)
    return Simulator(manifest.rules, entries, manifest.plan.seatings, manifest.seed, manifest.match)


@dataclass(frozen=True)
class Place:
    """Where a run goes: ``path``, or a new numbered folder below `RUNS`."""

    path: Path | None
    resume: bool = False
    overwrite: bool = False

    def check(self, manifest: Manifest, plugged: Mapping[str, Strategy] | None = None) -> None:
        """Refuse a place where this run cannot be; nothing is written.

        Raises
        ------
        InputError
            Something else is there, or nothing can be written, or a run to go on with was made by other plug-ins.
        """
        if self.path is None:
            directory.check_writable(RUNS)
        elif self.resume:
            if plugged and (self.path / FILE).exists():
                check_plugged(read_manifest(self.path), plugged)
            directory.check_resume(self.path, manifest)
        elif self.overwrite:
            directory.check_overwrite(self.path)
        else:
            directory.check_new(self.path)

    def open(self, manifest: Manifest) -> Store:
        """The run directory, made where it is not there.

        Raises
        ------
        OSError, SisepaiError
            It cannot be made.
        """
        if self.path is None:
            return directory.create_numbered(RUNS, manifest)
        if self.resume:
            return directory.resume(self.path, manifest)
        return (directory.stage if self.overwrite else directory.create)(self.path, manifest)

    def final(self, store: Store) -> Path:
        """Where the run is once it is complete."""
        return self.path or store.path

    def is_staged(self, store: Store) -> bool:
        """Whether the run is played elsewhere, to replace the one that is there."""
        return store.path == directory.staging(self.final(store))

    def finish(self, store: Store) -> None:
        """Put a complete run where it is to be."""
        if self.is_staged(store):
            directory.replace(self.final(store))


def play(
    store: Store, simulator: Simulator, done: set[int], threads: int, progress: Progress,
    report: Callable[[Progress], None] = lambda progress: None,
    plugged: Mapping[str, Strategy] | None = None,
) -> float:  # fmt: skip
    """Play all shards but those that are ``done``, as `execute` does, and log begin and end. Returns the seconds.

    The log tells the command, with the user's words for the ``plugged`` strategies.

    Raises
    ------
    SisepaiError
        A shard or the log cannot be written.
    StrategyFault
        A strategy raised, or chose what it was not offered.
    """
    progress.kept = len(done)
    command = command_of(store.manifest, plugged=plugged)
    log.append(store.path, {"event": "begin", **log.surroundings(), "threads": threads, "command": command})
    begun, seconds, how = time.monotonic(), 0.0, "failed"
    missing = (shard for shard in range(store.manifest.plan.shards) if shard not in done)
    try:
        execute(store, simulator, missing, threads, progress, report)
        how = "complete"
    except KeyboardInterrupt:
        how = "stopped"
        raise
    finally:
        seconds = round(time.monotonic() - begun, 3)
        _log_end(store, how, progress, seconds)
    return seconds


def _log_end(store: Store, how: str, progress: Progress, seconds: float) -> None:
    entry = {"event": how, "shards": progress.shards, "deals": progress.deals, "seconds": seconds}
    try:
        log.append(store.path, entry)
    except SisepaiError:
        if how == "complete":  # otherwise what went wrong is on its way already
            raise


def speed(simulator: Simulator, manifest: Manifest) -> float:
    """Deals a second, by the clock, of a short sample of the run."""
    count, seconds, _ = _sample(manifest, lambda count: simulator.play(0, count), time.monotonic)
    return count / max(seconds, 1e-9)


def estimate(simulator: Simulator, manifest: Manifest, threads: int) -> dict[str, Any]:
    """What the run would cost, from a short sample of its own deals."""
    plan = manifest.plan
    count, seconds, sizes = _sample(
        manifest, lambda count: _sizes(simulator, manifest, count), time.process_time
    )
    # What every file costs, however few its deals, is counted once a shard.
    empty = sum(len(encode(schema, [])) for schema in _schemas(manifest))
    return {
        "run_id": manifest.run_id,
        "deals": plan.deals,
        "decks": plan.deals // plan.block,
        "shards": plan.shards,
        "bytes": round((sum(sizes) - empty) / count * plan.deals + empty * plan.shards),
        "seconds": round(seconds / count * plan.deals / threads, 1),
        "threads": threads,
    }


def _sample(
    manifest: Manifest, work: Callable[[int], Sampled], clock: Callable[[], float]
) -> tuple[int, float, Sampled]:
    """Do some ``work`` on ever more deals until it takes long enough; that number, the seconds, and what it gave."""
    most = min(manifest.deals, manifest.shard_deals)
    count = 1
    while True:
        begun = clock()
        result = work(count)
        seconds = clock() - begun
        if seconds > SAMPLE_SECONDS or count >= most:
            return count, seconds, result
        count = min(4 * count, most)


def _schemas(manifest: Manifest) -> list[Any]:
    return [deal_schema(manifest), *([event_schema(manifest)] if manifest.events else [])]


def _sizes(simulator: Simulator, manifest: Manifest, count: int) -> list[int]:
    """Bytes of the files that the first deals make."""
    chunk = simulator.play(0, count, manifest.events)
    tables = [deal_table(manifest, chunk.rows, 0)]
    if chunk.events is not None and chunk.event_counts is not None:
        tables.append(event_table(manifest, chunk.events, chunk.event_counts, 0))
    return [len(encode(schema, [table])) for schema, table in zip(_schemas(manifest), tables, strict=True)]
