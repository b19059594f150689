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
from sisepai.errors import SisepaiError

FILE = "log.jsonl"
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
    try:
        # One write of one line: two processes that log at once do not mix their lines.
        with path.open("ab", buffering=0) as file:
            file.write(json.dumps({"time": now, **entry}).encode() + b"\n")
    except OSError as error:
        raise SisepaiError(f"{path}: cannot be written: {error.strerror or error}") from error


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of the log, oldest first; lines that a crash has cut off are left out."""
    try:
        lines = (folder / FILE).read_bytes().splitlines()
    except OSError:
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


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
