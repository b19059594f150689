"""Reads the files of a run piece by piece, trusting none of them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sisepai.errors import SisepaiError
from sisepai.runs.schema import deal_schema
from sisepai.runs.store import Store


def stored_row(store: Store, number: int) -> pa.Table | None:
    """The row of a deal as the run has it, or None while its shard is not finished.

    Raises
    ------
    SisepaiError
        Its file cannot be read; the message names it.
    """
    plan = store.manifest.plan
    shard = plan.shard(number // plan.shard_deals)
    # The receipt is written last: without it there is no shard.
    if not store.file("deals", shard.number).is_file() or not store.receipt("deals", shard.number).is_file():
        return None
    return read_deals(store, shard.number).slice(number - shard.first, 1)


def read_deals(store: Store, shard: int) -> pa.Table:
    """All deals of a finished shard.

    Raises
    ------
    SisepaiError
        The file cannot be read or holds other columns or deals; the message names it.
    """
    path = store.file("deals", shard)
    table = pa.concat_tables(read_groups(path, deal_schema(store.manifest)))
    count = store.manifest.plan.shard(shard).count
    if len(table) != count:
        raise SisepaiError(f"{path} is damaged: it has {len(table)} deals instead of {count}")
    return table


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


def read_groups(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """The row groups of a Parquet file of a run; at least one table, if an empty one.

    Raises
    ------
    SisepaiError
        It cannot be read, or holds other columns than ``schema``; the message names it.
    """
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema):
                raise SisepaiError(f"{path} is damaged: it holds other columns than the run")
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                table.validate(full=True)
                yield table
            if not file.num_row_groups:
                yield schema.empty_table()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n", 1)[0].rstrip(".")
        raise SisepaiError(f"{path} cannot be read: {reason}") from error
