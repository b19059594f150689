"""The columns of a run: DEAL and EVENT rows in, Arrow tables and Parquet bytes out. See docs/schema.md.

Words are Arrow dictionaries whose order is the order of the numbers (card codes by card number, and so on), so that a
column holds words for people and numbers for machines at once. The same rows give the same bytes.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sisepai.cards import CODES, EVENTS, MELDS, NONE, OUTCOMES, WIN_BY
from sisepai.runs.manifest import Manifest
from sisepai.runs.plan import Plan

MAX_SEATS = 4
RUN_ID, SCHEMA, RULES = b"sisepai.run_id", b"sisepai.schema", b"sisepai.rules_digest"

_U8, _U16, _U64 = pa.uint8(), pa.uint16(), pa.uint64()
_WORD = pa.dictionary(pa.int8(), pa.string())  # signed, as pandas wants it
_WORD_IN_LIST = pa.dictionary(_U8, pa.string())  # unsigned, as Polars wants it there

# How the columns are stored, found by experiment on a million deals: counters as differences, a counter that starts
# again with each deal byte by byte, everything else as numbers into a dictionary, which zstd then shortens.
_ENCODINGS = {"deal": "DELTA_BINARY_PACKED", "deck": "DELTA_BINARY_PACKED", "step": "BYTE_STREAM_SPLIT"}
_LEVEL = 3


def deal_schema(manifest: Manifest) -> pa.Schema:
    """Names, types and metadata of the `deals` files of a run."""
    fields = [
        _number("deal", _U64),
        _number("deck", _U64),
        _number("seating"),
        _number("match", _U64, nullable=True),
        _number("round", _U16, nullable=True),
        _number("dealer"),
        _number("redeals", _U16),
        _word("outcome", OUTCOMES),
        _number("winner", nullable=True),
        _word("winner_strategy", manifest.labels, nullable=True),
        _word("win_by", WIN_BY, nullable=True),
        _number("from_seat", nullable=True),
        _word("win_card", CODES, nullable=True),
        *(_number(name) for name in ("score", "draws", "takes", "discards")),
        *(_number(f"melds_{kind}") for kind in MELDS),
        *(_number(f"dealt_deadwood_{seat}", nullable=True) for seat in range(MAX_SEATS)),
        *(_number(f"end_deadwood_{seat}", nullable=True) for seat in range(MAX_SEATS)),
    ]
    return pa.schema(fields, metadata=_metadata(manifest))


def event_schema(manifest: Manifest) -> pa.Schema:
    """Names, types and metadata of the `events` files of a run."""
    fields = [
        _number("deal", _U64),
        _number("step", _U16),
        _word("event", EVENTS),
        _number("seat", nullable=True),
        _word("card", CODES, nullable=True),
        _word("meld", MELDS, nullable=True),
        pa.field("with", _CARD_LIST, nullable=False),
        _number("score", nullable=True),
    ]
    return pa.schema(fields, metadata=_metadata(manifest))


def deal_table(manifest: Manifest, rows: NDArray[np.void], first: int) -> pa.Table:
    """The deals from number ``first`` on as a table of `deal_schema`.

    Parameters
    ----------
    rows
        DEAL[count], in the order of the deals.
    """
    count = len(rows)
    plan = manifest.plan
    deal, deck, seating = plan.numbers(first, count)
    columns = [
        _numbers(deal),
        _numbers(deck),
        _numbers(seating),
        *_rounds(deal, plan.match),
        *(_numbers(rows[name]) for name in ("dealer", "redeals")),
        _words(rows["outcome"], OUTCOMES),
        _numbers(rows["winner"], nullable=True),
        _words(winning_entries(plan, rows["winner"], first), manifest.labels, nullable=True),
        _words(rows["win_by"], WIN_BY, nullable=True),
        _numbers(rows["from_seat"], nullable=True),
        _words(rows["win_card"], CODES, nullable=True),
        *(_numbers(rows[name]) for name in ("score", "draws", "takes", "discards")),
        *(_numbers(rows["melds"][:, kind]) for kind in range(len(MELDS))),
        *(_numbers(rows["dealt_deadwood"][:, seat], nullable=True) for seat in range(MAX_SEATS)),
        *(_numbers(rows["end_deadwood"][:, seat], nullable=True) for seat in range(MAX_SEATS)),
    ]
    return pa.Table.from_arrays(columns, schema=deal_schema(manifest))


def _rounds(deal: NDArray[np.uint64], match: int) -> tuple[pa.Array, pa.Array]:
    """Match and round of these deals; null where there are no matches."""
    if not match:
        return pa.nulls(len(deal), _U64), pa.nulls(len(deal), _U16)
    number, place = np.divmod(deal, np.uint64(match))
    return _numbers(number), _numbers(place.astype(np.uint16))


def winning_entries(plan: Plan, winner: NDArray[np.uint8], first: int) -> NDArray[np.uint8]:
    """Entry numbers of the winners of the deals from ``first`` on, uint8[count]; 255 for drawn deals.

    Parameters
    ----------
    winner
        uint8[count]: the winner's seat or 255.
    """
    won = np.flatnonzero(winner != NONE)
    entries = np.full(len(winner), NONE, np.uint8)
    entries[won] = plan.seatings[(first + won) % plan.block, winner[won]]
    return entries


def event_table(
    manifest: Manifest, events: NDArray[np.void], counts: NDArray[np.uint16], first: int
) -> pa.Table:
    """The events of the deals from number ``first`` on as a table of `event_schema`.

    Parameters
    ----------
    events
        EVENT[total], deal after deal.
    counts
        uint16[count]: how many of them each deal has.
    """
    deals = np.arange(first, first + len(counts), dtype=np.uint64)
    # In 16 bits the places wrap around, and their differences still come out right.
    begins = (np.cumsum(counts, dtype=np.uint32) - counts).astype(np.uint16)
    step = np.arange(len(events), dtype=np.uint32).astype(np.uint16) - np.repeat(begins, counts)
    columns = [
        _numbers(np.repeat(deals, counts)),
        _numbers(step),
        _words(events["event"], EVENTS),
        _numbers(events["seat"], nullable=True),
        _words(events["card"], CODES, nullable=True),
        _words(events["meld"], MELDS, nullable=True),
        _card_lists(events["with"]),
        _numbers(events["score"], nullable=True),
    ]
    return pa.Table.from_arrays(columns, schema=event_schema(manifest))


def encode(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Buffer:
    """A Parquet file of these tables, one row group each. Releases the GIL for nearly all of its time."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[name for name in _leaves(schema) if name not in _ENCODINGS],
        column_encoding={name: how for name, how in _ENCODINGS.items() if name in schema.names},
        # Readers may compare words by spelling or by number, so only true numbers carry least and greatest values.
        write_statistics=[name for name in ("deal", "deck") if name in schema.names],
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(1, len(table)))
    return sink.getvalue()


def footer_fault(path: Path, manifest: Manifest, kind: str, shard: int, rows: int) -> str | None:
    """What the footer of a file says against its being ``shard`` of ``kind`` with so many rows; None: nothing.

    A footer names the run and the columns, counts the rows, and knows the first and the last deal.
    """
    schema = {"deals": deal_schema, "events": event_schema}[kind](manifest)
    piece = manifest.plan.shard(shard)
    try:
        with pq.ParquetFile(path) as file:
            columns, footer = file.schema_arrow, file.metadata
            deals = [_deals_of(footer.row_group(group)) for group in range(footer.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"cannot be read: {reason_of(error)}"
    if (columns.metadata or {}).get(RUN_ID) != manifest.run_id.encode():
        return "is damaged: it belongs to another run"
    if not columns.equals(schema):
        return "is damaged: it holds other columns than the run"
    if kind == "deals" and footer.num_rows != piece.count:
        return f"is damaged: it has {footer.num_rows} deals instead of {piece.count}"
    if footer.num_rows != rows:
        return f"is damaged: it has {footer.num_rows} rows and its receipt says {rows}"
    first, last = min(deals)[0], max(deals)[1]
    if (first, last) != (piece.first, piece.first + piece.count - 1):
        return f"is damaged: it holds the deals {first} to {last}, which are those of another shard"
    return None


def reason_of(error: Exception) -> str:
    """The first line of what Arrow says, as part of a sentence."""
    return str(error).split("\n", 1)[0].rstrip(".")


def _deals_of(group: Any) -> tuple[int, int]:
    """The first and last deal of a row group."""
    statistics = group.column(0).statistics
    if statistics is None or not statistics.has_min_max:
        raise ValueError("its footer does not tell which deals it holds")
    return statistics.min, statistics.max


def _leaves(schema: pa.Schema) -> list[str]:
    """Column names as Parquet sees them: a list's values have a path."""
    return [f"{f.name}.list.element" if pa.types.is_list(f.type) else f.name for f in schema]


def _metadata(manifest: Manifest) -> dict[bytes, bytes]:
    return {
        RUN_ID: manifest.run_id.encode(),
        SCHEMA: str(manifest.schema).encode(),
        RULES: manifest.rules_digest.encode(),
    }


def _number(name: str, kind: pa.DataType = _U8, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


def _word(name: str, words: Sequence[str], nullable: bool = False, kind: pa.DataType = _WORD) -> pa.Field:
    # Under this key Polars keeps the categories of an Enum; it makes the column one, in our order.
    categories = "".join(f"{len(word.encode())};{word}" for word in words)
    return pa.field(name, kind, nullable=nullable, metadata={"_PL_ENUM_VALUES2": categories})


_CARD_LIST = pa.list_(_word("element", CODES, kind=_WORD_IN_LIST))


def _numbers(values: NDArray[Any], nullable: bool = False) -> pa.Array:
    """The values as they lie in memory, NONE as null. (`pa.array` would load pandas where there is one: 0.4 s.)"""
    values = np.ascontiguousarray(values)
    present = pa.py_buffer(np.packbits(values != NONE, bitorder="little")) if nullable else None
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [present, pa.py_buffer(values)])


def _texts(words: Sequence[str]) -> pa.Array:
    """Texts one after another, and where each begins."""
    texts = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    )


def _words(numbers: NDArray[np.uint8], words: Sequence[str], nullable: bool = False) -> pa.Array:
    numbers = np.ascontiguousarray(numbers)
    present = pa.py_buffer(np.packbits(numbers != NONE, bitorder="little")) if nullable else None
    # NONE is no place: what lies under a null must still be one.
    places = np.where(numbers == NONE, np.uint8(0), numbers) if nullable else numbers
    indices = pa.Array.from_buffers(pa.int8(), len(places), [present, pa.py_buffer(places)])
    return pa.DictionaryArray.from_arrays(indices, _texts(words))


def _card_lists(cards: NDArray[np.uint8]) -> pa.Array:
    """Lists of card codes from uint8[n, 3], filled up with 255."""
    filled = np.flatnonzero(cards[:, 0] != NONE)  # one event in five: worth finding them first
    some = cards[filled]
    real = some != NONE
    offsets = np.zeros(len(cards) + 1, np.int32)
    offsets[filled + 1] = real.sum(axis=1)
    np.cumsum(offsets, out=offsets)
    codes = pa.DictionaryArray.from_arrays(_numbers(some[real]), _texts(CODES))
    return pa.ListArray.from_arrays(_numbers(offsets), codes, type=_CARD_LIST)
