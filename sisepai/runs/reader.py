"""Reading a run: its manifest, and its tables as Polars LazyFrames over the finished shards."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl
import pyarrow as pa

from sisepai.runs.manifest import Manifest, read_manifest
from sisepai.runs.schema import deal_schema, event_schema
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
    """Open the run in the folder ``path``; nothing but its manifest and the list of its shards is read yet.

    Raises
    ------
    InputError
        The folder holds no run.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    store = Store(folder, manifest)
    shards = sorted(store.done())
    return Run(
        path=folder,
        manifest=manifest,
        deals=_scan(store, "deals", shards, deal_schema(manifest)),
        events=_scan(store, "events", shards, event_schema(manifest)) if manifest.events else None,
        complete=len(shards) == manifest.plan.shards,
    )


def _scan(store: Store, kind: str, shards: list[int], schema: pa.Schema) -> pl.LazyFrame:
    """The files of these shards as one frame."""
    if not shards:
        return pl.LazyFrame(schema=pl.DataFrame(schema.empty_table()).schema)
    # Names are taken as they are: a folder may have brackets or an equals sign in its name.
    files = [store.file(kind, shard) for shard in shards]
    return pl.scan_parquet(files, glob=False, hive_partitioning=False)
