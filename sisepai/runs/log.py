"""The log of a run: when, where and with what it was played, one JSON object a line. No part of the plan."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sisepai import __version__
from sisepai.errors import InputError, SisepaiError
from sisepai.files import read_small, write_failed

FILE = "log.jsonl"
ANEW = "anew"  # the event that says: none of what was played before is kept
_MOST_BYTES = 16_000_000  # a line for each start and each end
_PACKAGES = ("numpy", "numba", "pyarrow")


def surroundings() -> dict[str, Any]:
    """Where a run is played: the machine and the versions that decide what bytes come out."""
    from sisepai.jit import kernel_digest  # loads Numba, which readers of a log do without

    return {
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
        "versions": {
            "python": platform.python_version(),
            "sisepai": __version__,
            **{name: _version(name) for name in _PACKAGES},
            "kernels": kernel_digest(),
        },
    }


def append(folder: Path, entry: Mapping[str, Any]) -> None:
    """Add a line to the log of the run in ``folder``, with the time (UTC) in front.

    Raises
    ------
    SisepaiError
        It cannot be written; the message names the path.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    path = folder / FILE
    if os.path.lexists(path) and not path.is_file():  # a pipe would be waited for
        raise SisepaiError(f"{path} cannot be written, since it is no regular file: remove it first")
    try:
        # One write of one line: two processes that log at once do not mix their lines.
        with path.open("ab", buffering=0) as file:
            file.write(json.dumps({"time": now, **entry}).encode() + b"\n")
    except OSError as error:
        raise write_failed(path, error) from error


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of the log, oldest first; lines that a crash has cut off are left out."""
    try:
        lines = read_small(folder / FILE, _MOST_BYTES).splitlines()
    except (InputError, OSError):
        return []
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def makers(folder: Path, key: str) -> set[str]:
    """The versions of one thing (``sisepai``, ``pyarrow``, ``kernels``) that shards of the run were made with."""
    found: set[str] = set()
    for entry in read(folder):
        versions = entry.get("versions")
        text = versions.get(key) if isinstance(versions, dict) else None
        if entry.get("event") == ANEW:
            found.clear()
        # Only what looks like a version is repeated on a terminal.
        elif isinstance(text, str) and 0 < len(text) <= 40 and text.isprintable():
            found.add(text)
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
