"""Plays the shards of a run with threads on this machine.

The deals of a shard are cut into chunks that all threads share. The thread that is free when a shard's last chunk is
in encodes and writes it while the others already play the next shard, so nobody waits. Only the calling thread keeps
count; the workers hold no state.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sisepai.runs.manifest import Manifest
from sisepai.runs.plan import Shard
from sisepai.runs.schema import deal_schema, deal_table, encode, event_schema, event_table
from sisepai.runs.store import Store

if TYPE_CHECKING:
    from sisepai.engine.simulator import Chunk, Simulator

CHUNKS_PER_SHARD = 12  # small enough to stop soon and to share evenly, large enough to cost nothing
GROUP_DEALS = 10_000  # deals in a row group of the event files, at least; whole chunks
GRACE = 1.5  # seconds that work in hand has to end when the run is stopped


@dataclass
class Progress:
    """How far a run is, counted by the thread that called `execute`."""

    played: int = 0  # deals, written or not
    shards: int = 0  # written
    deals: int = 0  # in the written shards
    kept: int | None = None  # shards that were finished before; None before they are counted
    busy: bool = False  # work that would not end in time is still running

    @property
    def finished(self) -> int | None:
        """Shards that are there now; None while those that were there before are not counted."""
        return None if self.kept is None else self.kept + self.shards


def execute(
    store: Store,
    simulator: "Simulator",
    shards: Iterable[int],
    threads: int,
    progress: Progress,
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Play and write the given shards of a run; what is written stays written, whatever happens.

    A KeyboardInterrupt ends it within two seconds: work in hand may finish, nothing new begins.

    Parameters
    ----------
    store
        The run; its folder and manifest exist.
    shards
        Shard numbers; may be lazy.
    threads
        Worker threads, at least 1.
    progress
        Counted up while playing, so that it is there after an exception too.
    report
        Called from this thread after every chunk and every shard; when it raises, the run stops.

    Raises
    ------
    SisepaiError
        A shard cannot be written; the message names the path.
    """
    plan = store.manifest.plan
    pieces = (piece for number in shards for piece in _cut(plan.shard(number), plan.match))
    shelf = _Shelf()
    running: dict[Future[Any], _Piece | None] = {}
    pool = ThreadPoolExecutor(threads, thread_name_prefix="sisepai")
    try:
        while True:
            # Two jobs a thread keep every thread busy and the memory bounded.
            while len(running) < 2 * threads and (piece := next(pieces, None)) is not None:
                running[pool.submit(simulator.play, piece.first, piece.count, store.manifest.events)] = piece
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                piece = running.pop(future)
                if piece is None:
                    _count(progress, future.result())
                else:
                    progress.played += piece.count
                    if chunks := shelf.put(piece, future.result()):
                        running[pool.submit(_write, store, piece.shard, chunks)] = None
                        del chunks  # the writer frees them one by one
                report(progress)
            del future
    finally:
        progress.busy = True  # unless the wait for it comes to an end
        pool.shutdown(wait=False, cancel_futures=True)
        begun = [future for future in running if not future.cancelled()]
        ended, busy = wait(begun, timeout=GRACE)
        progress.busy = bool(busy)
        for future in ended:
            if running[future] is None and future.exception() is None:
                _count(progress, future.result())


@dataclass(frozen=True)
class _Piece:
    """A chunk of a shard that is to be played: the ``place``-th of ``of``."""

    shard: Shard
    place: int
    of: int
    first: int
    count: int


def _cut(shard: Shard, match: int) -> Iterator[_Piece]:
    """The chunks of a shard, of whole matches. They depend on the plan alone, so that files do not on anything else."""
    unit = match or 1
    size = -(-shard.count // CHUNKS_PER_SHARD // unit) * unit
    firsts = range(0, shard.count, size)
    for place, first in enumerate(firsts):
        yield _Piece(shard, place, len(firsts), shard.first + first, min(size, shard.count - first))


class _Shelf:
    """Played chunks that wait for the rest of their shard."""

    def __init__(self) -> None:
        self._chunks: dict[int, dict[int, Chunk]] = {}

    def put(self, piece: _Piece, chunk: "Chunk") -> list["Chunk"]:
        """Keep a chunk; when it was the last of its shard, return them all in order and forget them."""
        chunks = self._chunks.setdefault(piece.shard.number, {})
        chunks[piece.place] = chunk
        if len(chunks) < piece.of:
            return []
        del self._chunks[piece.shard.number]
        return [chunks[place] for place in range(piece.of)]


def _write(store: Store, shard: Shard, chunks: list["Chunk"]) -> int:
    """Encode and store a shard; empties ``chunks``. Returns the number of its deals."""
    manifest = store.manifest
    rows = np.concatenate([chunk.rows for chunk in chunks])
    if manifest.events:
        total = sum(len(chunk.events) for chunk in chunks if chunk.events is not None)
        tables = _event_tables(manifest, shard, chunks)
        store.write("events", shard.number, encode(event_schema(manifest), tables), total)
    table = deal_table(manifest, rows, shard.first)
    store.write("deals", shard.number, encode(deal_schema(manifest), [table]), len(rows))
    return len(rows)


def _event_tables(manifest: Manifest, shard: Shard, chunks: list["Chunk"]) -> Iterator[pa.Table]:
    """The events of a shard in groups of whole chunks, which are taken off the list and freed as they are used."""
    first = shard.first
    together = max(1, -(-GROUP_DEALS // len(chunks[0].rows)))
    group = []
    while chunks:
        chunk = chunks.pop(0)
        if chunk.events is None or chunk.event_counts is None:
            raise TypeError("the simulator was asked for events and returned none")
        group.append(event_table(manifest, chunk.events, chunk.event_counts, first))
        first += len(chunk.rows)
        if len(group) == together or not chunks:
            yield pa.concat_tables(group)
            group = []


def _count(progress: Progress, deals: int) -> None:
    progress.shards += 1
    progress.deals += deals
