"""Files as they should be touched: small ones read without hanging or end, new ones there whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sisepai.errors import InputError, SisepaiError


def read_small(path: Path, limit: int) -> bytes:
    """All of a regular file of at most ``limit`` bytes; a pipe or a device is not even waited for.

    Raises
    ------
    InputError
        It is no regular file, or larger.
    OSError
        It cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError(f"{path}: not a regular file")
        with open(handle, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(handle)
    if len(content) > limit:
        raise InputError(f"{path}: larger than {limit:,} bytes, so it cannot be what is wanted here")
    return content


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to: under its name there is the whole of it in the end, or what was there before.

    Raises
    ------
    SisepaiError
        It cannot be written (disk full, no permission, folder gone); the message names the path.
    """
    # A short name, whatever the length of the other; readers of whole folders pass over a dot.
    temporary = path.with_name(f".sisepai.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise write_failed(path, error) from error


def write_whole(path: Path, content: Any) -> None:
    """Write a file (anything with a buffer) as `whole_file` does."""
    with whole_file(path) as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk: without it a crash may undo a rename."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_failed(path: Path, error: OSError) -> SisepaiError:
    """The error for a path that could not be written or made."""
    if isinstance(error, (FileExistsError, IsADirectoryError)):
        kind = "a folder" if path.is_dir() else "no folder"
        return SisepaiError(f"{path} cannot be written, since there is {kind} of that name: remove it first")
    return SisepaiError(f"{path}: cannot be written: {error.strerror or error}")
