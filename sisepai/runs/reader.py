"""Reading a run, trusting none of its files: as Polars LazyFrames over the finished shards, or piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sisepai.errors import SisepaiError
from sisepai.runs.command import command_of
from sisepai.runs.manifest import Manifest, read_manifest
from sisepai.runs.schema import deal_schema, event_schema, footer_fault, reason_of
from sisepai.runs.store import Store


@dataclass(frozen=True)
class Run:
    """A run directory as frames; columns that hold words are Enums in the order of their numbers.

    ``deals`` has one row a deal, ``events`` one row an event, or is None when the run stores none (docs/schema.md).
    Both hold the finished shards alone, in order; ``complete`` tells whether these are all.
    """

    path: Path
    manifest: Manifest
    deals: pl.LazyFrame
    events: pl.LazyFrame | None
    complete: bool


def read_run(path: str | PathLike[str]) -> Run:
    """Open the run in the folder ``path``; of its shards only receipts and footers are read yet.

    Raises
    ------
    InputError
        The folder holds no run.
    SisepaiError
        A shard is not what its name says; the message names it.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    store = Store(folder, manifest)
    shards = sorted(store.done())
    for kind in store.kinds:
        for shard in shards:
            check(store, kind, shard)
    return Run(
        path=folder,
        manifest=manifest,
        deals=_scan(store, "deals", shards, deal_schema(manifest)),
        events=_scan(store, "events", shards, event_schema(manifest)) if manifest.events else None,
        complete=len(shards) == manifest.plan.shards,
    )


def stored_row(store: Store, number: int) -> pa.Table | None:
    """The row of a deal as the run has it, or None while its shard is not finished.

    Raises
    ------
    SisepaiError
        Its file cannot be read; the message names it.
    """
    plan = store.manifest.plan
    shard = plan.shard(number // plan.shard_deals)
    if store.received("deals", shard.number) is None:
        return None
    return read_deals(store, shard.number).slice(number - shard.first, 1)


def read_deals(store: Store, shard: int) -> pa.Table:
    """All deals of a finished shard.

    Raises
    ------
    SisepaiError
        The file cannot be read or is not what it should be; the message names it.
    """
    return pa.concat_tables(read_groups(store, "deals", shard))


def read_dealers(store: Store, deals: pa.Table) -> NDArray[np.uint8] | None:
    """Who deals these stored deals, uint8[count], in a run of matches; None where the seed says it.

    Raises
    ------
    SisepaiError
        A dealer is no seat of the run.
    """
    if not store.manifest.match:
        return None
    dealers = deals["dealer"].to_numpy().astype(np.uint8)  # a copy: kernels take nothing read-only
    wrong = np.flatnonzero(dealers >= store.manifest.rules.players)
    if len(wrong):
        place = int(wrong[0])
        number, dealer = deals["deal"][place].as_py(), int(dealers[place])
        raise SisepaiError(f"{store.path}: deal {number} is damaged: there is no seat {dealer} to deal it")
    return dealers


def read_groups(store: Store, kind: str, shard: int) -> Iterator[pa.Table]:
    """The row groups of a finished shard's file.

    Raises
    ------
    SisepaiError
        It cannot be read or is not what it should be; the message names it.
    """
    check(store, kind, shard)
    path = store.file(kind, shard)
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                table.validate(full=True)
                yield table
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(store, path, f"cannot be read: {reason_of(error)}") from error


def check(store: Store, kind: str, shard: int) -> None:
    """Refuse a file that is not the finished shard its name says; only its footer and its receipt are read.

    Raises
    ------
    SisepaiError
        The message names the file and what mends it.
    """
    path, receipt = store.file(kind, shard), store.received(kind, shard)
    if receipt is None:
        raise damaged(store, path, "is damaged: it has no receipt that fits")
    if fault := footer_fault(path, store.manifest, kind, shard, receipt.rows):
        raise damaged(store, path, fault)


def damaged(store: Store, path: Path, fault: str) -> SisepaiError:
    """The error for a shard's file of which ``fault`` is true, with the command that mends it."""
    mend = command_of(store.manifest, "--out", str(store.path), "--resume")
    return SisepaiError(f"{path} {fault}; `{mend}` plays it again")


def _scan(store: Store, kind: str, shards: list[int], schema: pa.Schema) -> pl.LazyFrame:
    """The files of these shards as one frame."""
    if not shards:
        return pl.LazyFrame(schema=pl.DataFrame(schema.empty_table()).schema)
    # Names are taken as they are: a folder may have brackets or an equals sign in its name.
    files = [store.file(kind, shard) for shard in shards]
    return pl.scan_parquet(files, glob=False, hive_partitioning=False)
