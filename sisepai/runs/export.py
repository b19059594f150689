"""A run's deals, events or decks as one file: Parquet, CSV or JSON lines, written piece by piece.

Events that are not stored are played again and the deals compared with the stored ones; decks are made from the seed.
Only finished shards are exported.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sisepai.errors import InputError
from sisepai.files import whole_file
from sisepai.runs.deal import hand_sizes
from sisepai.runs.manifest import Manifest
from sisepai.runs.plan import Shard
from sisepai.runs.reader import read_dealers, read_deals, read_groups
from sisepai.runs.schema import deal_schema, event_schema, event_table
from sisepai.runs.store import Store

if TYPE_CHECKING:
    from sisepai.runs.replay import Replayer
    from sisepai.strategies import Strategy

CHUNK_DEALS = 2_000  # deals played at a time for their events
DECK_BATCH = 20_000  # decks made at a time
TEXT_ROWS = 20_000  # rows turned into text at a time

_CARDS = pa.list_(pa.field("element", pa.uint8(), nullable=False))


def schema_of(manifest: Manifest, what: str) -> pa.Schema:
    """Names and types of an export: those of the run for ``deals`` and ``events``; ``decks`` as `deck_schema`."""
    return {"deals": deal_schema, "events": event_schema, "decks": deck_schema}[what](manifest)


def deck_schema(manifest: Manifest) -> pa.Schema:
    """One row a deck: its number, the dealer, the cards dealt to each seat, and the whole pack as card numbers.

    The pack holds the hands in seat order, a dealer's extra card last in its hand, then the stock from its top. After
    redeals it is the pack that was played.
    """
    fields = [
        pa.field("deck", pa.uint64(), nullable=False),
        pa.field("dealer", pa.uint8(), nullable=False),
        pa.field("hand_sizes", _CARDS, nullable=False),
        pa.field("cards", _CARDS, nullable=False),
    ]
    return pa.schema(fields, metadata=deal_schema(manifest).metadata)


def tables(
    store: Store, what: str, shards: Iterable[int], plugged: "Mapping[str, Strategy] | None" = None
) -> Iterator[tuple[int, pa.Table]]:
    """What is in the given finished shards, piece by piece, each with the number of deals it adds.

    Parameters
    ----------
    what
        ``deals``, ``events`` or ``decks``.
    plugged
        The plug-ins that play events again which are not stored, by name.

    Raises
    ------
    InputError
        A strategy that is to play again is not known, or not the code that made the run.
    SisepaiError
        A shard is damaged, or its deals played again are not those that are stored.
    """
    manifest = store.manifest
    stored = what == "deals" or (what == "events" and manifest.events)
    replayer = None
    if what == "events" and not stored:
        # The engine is loaded where it plays: most exports do without.
        from sisepai.runs.replay import Replayer

        replayer = Replayer.of(manifest, plugged)
    for number in shards:
        shard = manifest.plan.shard(number)
        if stored:
            yield from _stored(store, what, shard)
        elif replayer:
            yield from _played(store, shard, replayer)
        else:
            yield from _dealt(store, shard)


def write_parquet(file: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    """Write tables of one schema as a Parquet file with zstd pages."""
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=3) as writer:
        for table in pieces:
            if len(table):
                writer.write_table(table, row_group_size=len(table))


def write_csv(file: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    """Write tables as CSV under one head; none is an empty field, and a list its items with spaces between."""
    file.write(",".join(schema.names).encode() + b"\n")
    for frame in _frames(pieces):
        names = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
        lists = [pl.col(name).cast(pl.List(pl.String)).list.join(" ").replace("", None) for name in names]
        file.write(frame.with_columns(lists).write_csv(include_header=False).encode())


def write_jsonl(file: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    """Write tables as JSON lines; an event has ``deal``, ``step`` and the keys of its kind (docs/rules.md)."""
    for frame in _frames(pieces):
        if "event" in schema.names:
            file.write(frame.select(_event_lines().str.join("\n")).item().encode() + b"\n")
        else:
            file.write(frame.write_ndjson().encode())


WRITERS: dict[str, Callable[[BinaryIO, pa.Schema, Iterable[pa.Table]], None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "jsonl": write_jsonl,
}


@contextmanager
def new_file(path: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """A file to write to that appears under its name when all is written, and not at all when anything fails.

    Raises
    ------
    InputError
        There is something already and ``overwrite`` is not set, or it is no file, or its folder is missing.
    SisepaiError
        It cannot be written (disk full); the message names the path.
    """
    path = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already; choose another name or add --overwrite")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write there")
    with whole_file(path) as file:
        yield file


def _stored(store: Store, what: str, shard: Shard) -> Iterator[tuple[int, pa.Table]]:
    deals = shard.count
    for table in read_groups(store, what, shard.number):
        yield deals, table
        deals = 0  # counted with the first piece


def _played(store: Store, shard: Shard, replayer: "Replayer") -> Iterator[tuple[int, pa.Table]]:
    """The events of a shard, played again."""
    from sisepai.runs.replay import check_rows

    deals = read_deals(store, shard.number)
    for at in range(0, shard.count, CHUNK_DEALS):
        count = min(CHUNK_DEALS, shard.count - at)
        stored = deals.slice(at, count)
        dealers = read_dealers(store, stored)
        chunk = replayer.simulator.play(shard.first + at, count, events=True, dealers=dealers)
        check_rows(store, chunk.rows, stored, shard.first + at)
        assert chunk.events is not None
        assert chunk.event_counts is not None
        yield count, event_table(store.manifest, chunk.events, chunk.event_counts, shard.first + at)


def _dealt(store: Store, shard: Shard) -> Iterator[tuple[int, pa.Table]]:
    """The decks of a shard, which holds whole blocks."""
    rules, block = store.manifest.rules, store.manifest.plan.block
    begin, total = shard.first // block, shard.count // block
    redeals, dealers = np.zeros(total, np.uint16), None
    # What the seed does not tell is in the rows.
    if rules.redeal != "never" or store.manifest.match:
        deals = read_deals(store, shard.number)
        redeals, dealers = deals["redeals"].to_numpy()[::block], read_dealers(store, deals)
    for at in range(0, total, DECK_BATCH):
        some = slice(at, min(at + DECK_BATCH, total))
        given = None if dealers is None else dealers[some]
        table = _deck_table(store.manifest, begin + at, redeals[some], given)
        yield len(table) * block, table


def _deck_table(
    manifest: Manifest, first: int, redeals: NDArray[np.uint16], given: NDArray[np.uint8] | None
) -> pa.Table:
    """The decks from number ``first`` on, each after so many redeals: uint16[count]; ``given`` who deals in matches."""
    from sisepai.engine.simulator import decks

    rules, count = manifest.rules, len(redeals)
    drawn, cards = decks(rules, manifest.seed, first, count)
    dealers = drawn if given is None else given
    for attempt in range(1, int(redeals.max(initial=0)) + 1):
        _, dealt = decks(rules, manifest.seed, first, count, attempt)
        cards[redeals == attempt] = dealt[redeals == attempt]
    sizes = np.array([hand_sizes(rules, dealer) for dealer in range(rules.players)], np.uint8)
    columns = [
        pa.array(np.arange(first, first + count, dtype=np.uint64)),
        pa.array(dealers),
        _lists(sizes[dealers]),
        _lists(cards),
    ]
    return pa.Table.from_arrays(columns, schema=deck_schema(manifest))


def _lists(values: NDArray[np.uint8]) -> pa.Array:
    """uint8[count, n] as a column of lists."""
    count, length = values.shape
    offsets = np.arange(0, count * length + 1, length, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.reshape(-1)), type=_CARDS)


def _frames(pieces: Iterable[pa.Table]) -> Iterator[pl.DataFrame]:
    """Tables as frames of few enough rows that their text is small."""
    for table in pieces:
        for at in range(0, len(table), TEXT_ROWS):
            frame = pl.from_arrow(table.slice(at, TEXT_ROWS))
            assert isinstance(frame, pl.DataFrame)
            yield frame


def _event_lines() -> pl.Expr:
    """Each event as JSON text. Words and codes hold nothing that JSON would escape."""
    kind, card, partners = pl.col("event"), pl.col("card"), pl.col("with").cast(pl.List(pl.String))
    listed = pl.concat_str(pl.lit('"'), partners.list.join('","'), pl.lit('"')).replace('""', "")
    return pl.concat_str(
        pl.lit('{"deal":'), pl.col("deal"), pl.lit(',"step":'), pl.col("step"),
        pl.lit(',"event":"'), kind, pl.lit('"'),
        _part(',"seat":', pl.col("seat"), ""),
        _part(',"card":"', card, '"'),
        pl.when((kind == "win") & card.is_null()).then(pl.lit(',"card":null')).otherwise(pl.lit("")),
        _part(',"meld":"', pl.col("meld"), '"'),
        _part(',"with":[', pl.when(kind == "take").then(listed), "]"),
        _part(',"score":', pl.col("score"), ""),
        pl.lit("}"),
    )  # fmt: skip


def _part(before: str, value: pl.Expr, after: str) -> pl.Expr:
    """The value between two texts; nothing where there is no value."""
    return pl.concat_str(pl.lit(before), value, pl.lit(after)).fill_null("")
