"""The file in which a tuning keeps what it has played: one JSON object a line, plain numbers and names alone.

The first line is the question: all that decides what the numbers are. Then comes a line for each candidate, and for
each part of the confirmation. A line that a kill has cut off is dropped; every other one must be whole.
"""

import fcntl
import json
import os
import stat
from pathlib import Path
from typing import Any

from sisepai.errors import InputError, SisepaiError
from sisepai.files import read_small, write_failed

MAX_BYTES = 256_000_000
_HEAD = b'{"sisepai tune": '


class TuneFile:
    """The file `path`, made where it is not there, open for this process alone until `close`.

    Parameters
    ----------
    path : Path
    question : what is asked, ready for JSON; a file of another question is refused

    Attributes
    ----------
    lines : the objects that are kept, without the question, oldest first

    Raises
    ------
    InputError
        It is something else, of another question, damaged, or in use; nothing is changed then.
    SisepaiError
        It cannot be written.
    """

    def __init__(self, path: Path, question: dict[str, Any]) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self._file = self._open()
        try:
            content = read_small(path, MAX_BYTES)
            whole = content[: content.rfind(b"\n") + 1]
            if not whole and not _HEAD.startswith(content[: len(_HEAD)]):
                raise InputError(f"{path}: not the file of a tuning; name another with --out")
            self._read(whole, json.loads(json.dumps(question)))
            os.ftruncate(self._file, len(whole))
            if not whole:
                self.add({"sisepai tune": question})
        except OSError as error:
            self.close()
            raise write_failed(path, error) from error
        except BaseException:
            self.close()
            raise

    def add(self, line: dict[str, Any]) -> None:
        """Keep an object.

        Raises
        ------
        SisepaiError
            It cannot be written.
        """
        text = json.dumps(line, allow_nan=False).encode() + b"\n"
        try:
            while text:  # one write, unless the disk is full
                text = text[os.write(self._file, text) :]
        except OSError as error:
            raise write_failed(self.path, error) from error

    def close(self) -> None:
        """Let others write."""
        os.close(self._file)

    def __enter__(self) -> "TuneFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> int:
        try:
            if os.path.lexists(self.path) and not stat.S_ISREG(os.stat(self.path).st_mode):
                raise InputError(f"{self.path}: not a regular file; name another with --out")
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            raise InputError(
                f"{self.path} is being written by another process; wait for it to end"
            ) from error
        return file

    def _read(self, content: bytes, question: dict[str, Any]) -> None:
        for number, text in enumerate(content.splitlines(), 1):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            if number == 1:
                _compare(self.path, line, question)
            elif isinstance(line, dict):
                self.lines.append(line)
            else:
                raise InputError(f"{self.path}: line {number} is damaged; name another file with --out")


def _compare(path: Path, line: Any, question: dict[str, Any]) -> None:
    there = line.get("sisepai tune") if isinstance(line, dict) else None
    if not isinstance(there, dict):
        raise InputError(f"{path}: not the file of a tuning; name another with --out")
    keys = [key for key in question if there.get(key) != question[key]]
    if keys or there.keys() != question.keys():
        what = ", ".join(keys) or "its version"
        raise InputError(f"{path}: holds a tuning with another {what}; name another file with --out")


__all__ = ["SisepaiError", "TuneFile"]
