"""The run directory: where shards lie, how they are written so that nothing half-done is ever taken for done.

A shard goes to a temporary name in its own folder, is flushed to the disk and renamed; its receipt (rows, SHA-256)
follows in the same way, last. What has no matching receipt does not exist.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisepai.errors import InputError
from sisepai.files import read_small, write_failed, write_whole
from sisepai.runs.lock import Lock
from sisepai.runs.manifest import Manifest

SHARDS_PER_FOLDER = 1_000
# Readers of whole folders (pyarrow, Spark) pass over names that begin with an underscore or a dot.
_RECEIPT = re.compile(r"_part-(\d{9,15})\.json")
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")
_RECEIPT_BYTES = 1_000


@dataclass(frozen=True)
class Receipt:
    """What is known of a finished file."""

    rows: int
    sha256: str


class Store:
    """The files of one run in the folder ``path``; what is in it is described by ``manifest``.

    Who writes gets one from ``directory``, with the ``locks`` that keep others out; they are given back by `release`,
    at the end of a ``with`` block, or with the process.
    """

    def __init__(self, path: Path, manifest: Manifest, *locks: Lock) -> None:
        self.path = path
        self.manifest = manifest
        self.locks = list(locks)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others write."""
        for lock in self.locks:
            lock.release()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The tables of the run. `deals` is written last, so that a shard with its deals is whole."""
        return ("events", "deals") if self.manifest.events else ("deals",)

    def file(self, kind: str, shard: int) -> Path:
        """Where the Parquet file of a shard lies."""
        return self.path / kind / f"{shard // SHARDS_PER_FOLDER:06d}" / f"part-{shard:09d}.parquet"

    def receipt(self, kind: str, shard: int) -> Path:
        """Where the receipt of that file lies: beside it."""
        return self.file(kind, shard).with_name(f"_part-{shard:09d}.json")

    def write(self, kind: str, shard: int, content: Any, rows: int) -> None:
        """Store the Parquet file of a shard (anything with a buffer) and its receipt.

        Raises
        ------
        SisepaiError
            It cannot be written (disk full, no permission, folder gone); the message names the path, and neither a
            half-written file nor a receipt is left.
        """
        path = self.file(kind, shard)
        # Only below the run: a run whose folder has vanished must not come up again elsewhere.
        for folder in (path.parent.parent, path.parent):
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise write_failed(folder, error) from error
        receipt = {"rows": rows, "sha256": hashlib.sha256(content).hexdigest()}
        write_whole(path, content)
        write_whole(self.receipt(kind, shard), json.dumps(receipt).encode() + b"\n")

    def done(self) -> set[int]:
        """The shards with a readable receipt beside every one of their files, of the size the plan says."""
        found = [{shard for shard, _ in self.receipts(kind)} for kind in self.kinds]
        return set.intersection(*found)

    def receipts(self, kind: str) -> Iterator[tuple[int, Receipt]]:
        """The shards of a kind that have a file and a receipt, in order; whether they match is not checked."""
        for path in self._walk(kind):
            match = _RECEIPT.fullmatch(path.name)
            if match is None or (shard := int(match[1])) >= self.manifest.plan.shards:
                continue
            if path == self.receipt(kind, shard) and (receipt := self.received(kind, shard)):
                yield shard, receipt

    def received(self, kind: str, shard: int) -> Receipt | None:
        """The receipt of a file that is there; None when either is missing, or it cannot be a receipt of that file."""
        receipt = _read_receipt(self.receipt(kind, shard))
        if receipt is None or not self.file(kind, shard).is_file():
            return None
        right = kind != "deals" or receipt.rows == self.manifest.plan.shard(shard).count
        return receipt if right else None

    def matches(self, kind: str, shard: int) -> bool:
        """Whether a shard's file is finished: it is the one its receipt tells of, and of this run and number.

        Reads every byte.
        """
        receipt = self.received(kind, shard)
        if receipt is None or _hash(self.file(kind, shard)) != receipt.sha256:
            return False
        from sisepai.runs.schema import footer_fault  # loads Arrow, which a list of shards does without

        return footer_fault(self.file(kind, shard), self.manifest, kind, shard, receipt.rows) is None

    def matching(self) -> set[int]:
        """The shards whose files all match."""
        return {shard for shard in self.done() if all(self.matches(kind, shard) for kind in self.kinds)}

    def bytes(self) -> dict[str, int]:
        """Bytes on disk of the finished files, by kind."""
        return {
            kind: sum(self.file(kind, shard).stat().st_size for shard, _ in self.receipts(kind))
            for kind in self.kinds
        }

    def clean(self) -> None:
        """Remove what writers that died have left: files under a temporary name. No writer may be at work.

        Raises
        ------
        SisepaiError
            One cannot be removed.
        """
        for path in [*_entries(self.path), *(path for kind in self.kinds for path in self._walk(kind))]:
            if TEMPORARY.fullmatch(path.name):
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise write_failed(path, error) from error

    def _walk(self, kind: str) -> Iterator[Path]:
        for folder in _entries(self.path / kind):
            yield from _entries(folder)


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; nothing when there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read_receipt(path: Path) -> Receipt | None:
    """The receipt in a file, or None when that is no receipt: empty, cut off, edited."""
    try:
        receipt = Receipt(**json.loads(read_small(path, _RECEIPT_BYTES)))
    except (InputError, OSError, ValueError, TypeError, RecursionError):
        return None
    whole = isinstance(receipt.rows, int) and not isinstance(receipt.rows, bool) and receipt.rows >= 0
    return receipt if whole and isinstance(receipt.sha256, str) else None


def _hash(path: Path) -> str:
    """SHA-256 (hex) of a file; of one that cannot be read, nothing that any receipt holds."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
