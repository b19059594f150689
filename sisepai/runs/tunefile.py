"""The file of a tuning: what was asked and what has been played for it, one JSON object of plain numbers a line.

The first line is the question, all that decides what the numbers are. Then comes a line for each candidate, and for
each part of a confirmation. A line that a kill has cut off is dropped; every other one must be whole.
"""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from sisepai import __version__
from sisepai.errors import InputError
from sisepai.files import read_small, write_failed
from sisepai.jit import kernel_digest

MAX_BYTES = 256_000_000
_HEAD = "sisepai tune"  # the key of the question, and so how such a file begins
_MOST = 2**53  # of a sum


class TuneFile:
    """The file `path`, made where it is not there, written by this process alone until it is closed.

    Parameters
    ----------
    path : Path
    question : ready for JSON; a file of another question is refused

    Attributes
    ----------
    candidates : parameters and sum, by generation and candidate
    parts : sums and products, by label and part of the confirmation

    Raises
    ------
    InputError
        There is something else, another question, a damaged line or another writer; nothing is changed then.
    SisepaiError
        It cannot be written.
    """

    def __init__(self, path: Path, question: dict[str, Any]) -> None:
        self.candidates: dict[tuple[int, int], tuple[dict[str, Any], int]] = {}
        self.parts: dict[tuple[str, int], tuple[list[int], list[list[int]]]] = {}
        self._path = path
        self._file = _open_alone(path)
        try:
            self._begin({"version": __version__, "kernels": kernel_digest(), **question})
        except BaseException:
            self.close()
            raise

    def add_candidate(self, key: tuple[int, int], values: dict[str, Any], total: int) -> None:
        """Keep what a candidate reached.

        Raises
        ------
        SisepaiError
            It cannot be written.
        """
        self._add({"generation": key[0], "candidate": key[1], "parameters": values, "sum": total})
        self.candidates[key] = values, total

    def add_part(self, key: tuple[str, int], sums: list[int], products: list[list[int]]) -> None:
        """Keep a part of the confirmation. Raises as `add_candidate`."""
        self._add({"confirmed": key[0], "part": key[1], "sums": sums, "products": products})
        self.parts[key] = sums, products

    def close(self) -> None:
        """Let others write."""
        os.close(self._file)

    def __enter__(self) -> "TuneFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, question: dict[str, Any]) -> None:
        content = read_small(self._path, MAX_BYTES)
        whole = content[: content.rfind(b"\n") + 1]
        head = json.dumps({_HEAD: question}).encode()
        if not whole and not head.startswith(content):
            raise InputError(f"{self._path}: not the file of a tuning; name another with --out")
        for number, text in enumerate(whole.splitlines(), 1):
            line = _parsed(text)
            if number == 1:
                self._compare(line.get(_HEAD), json.loads(head)[_HEAD])
            elif not self._take(line):
                raise InputError(f"{self._path}: line {number} is damaged; name another file with --out")
        os.ftruncate(self._file, len(whole))
        if not whole:
            self._add({_HEAD: question})

    def _compare(self, there: Any, here: dict[str, Any]) -> None:
        if not isinstance(there, dict):
            raise InputError(f"{self._path}: not the file of a tuning; name another with --out")
        other = [key for key in here if there.get(key) != here[key]]
        if other:
            raise InputError(
                f"{self._path}: the tuning there differs in {', '.join(other)}; name another file with --out"
            )

    def _take(self, line: dict[str, Any]) -> bool:
        """Take what a line holds; False when it is not one of ours."""
        match line:
            case {"generation": int(g), "candidate": int(c), "parameters": dict(values), "sum": int(total)}:
                self.candidates[g, c] = values, total
                return 0 <= total < _MOST
            case {"confirmed": str(label), "part": int(part), "sums": list(sums), "products": list(products)}:
                self.parts[label, part] = sums, products
                rows = [sums, *products]
                return len(rows) == 6 and all(_is_row(row) for row in rows)
        return False

    def _add(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, allow_nan=False).encode() + b"\n"
        try:
            while text:  # one write, unless the disk is full
                text = text[os.write(self._file, text) :]
        except OSError as error:
            raise write_failed(self._path, error) from error


def _open_alone(path: Path) -> int:
    if os.path.lexists(path) and not path.is_file():  # a pipe would be waited for
        raise InputError(f"{path}: not a regular file; name another with --out")
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        raise InputError(f"{path} is being written by another process; wait for it to end") from error
    return file


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return line if isinstance(line, dict) else {}


def _is_row(row: Any) -> bool:
    """Whether it is a list of five sums."""
    return isinstance(row, list) and len(row) == 5 and all(type(n) is int and 0 <= n < _MOST for n in row)
