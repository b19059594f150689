"""One writer a run: an advisory lock of the system on `.lock` in its folder. It ends with the process that holds it."""

import fcntl
import os
import platform
from contextlib import suppress
from pathlib import Path

from sisepai.errors import InputError, SisepaiError
from sisepai.files import read_small

FILE = ".lock"
_MOST_BYTES = 200


class Lock:
    """The lock of the folder ``folder``, held from now on until `release`; it goes along when the folder is renamed.

    Raises
    ------
    InputError
        Another process holds it; the message says which.
    SisepaiError
        There can be no lock.
    """

    _folder = _file = -1

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        try:
            while not self._take(path):
                pass
            self._folder = os.open(folder, os.O_RDONLY)
            os.ftruncate(self._file, 0)
            os.write(self._file, f"process {os.getpid()} on {platform.node()}\n".encode())
        except BlockingIOError:
            raise InputError(
                f"{folder} is being written by {_holder(path)}; wait for it to end, or stop it"
            ) from None
        except OSError as error:
            raise SisepaiError(f"{path}: cannot be locked: {error.strerror or error}") from error

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Let others write; nothing of the lock is left."""
        if self._folder >= 0:
            with suppress(OSError):  # it went with the folder
                os.unlink(FILE, dir_fd=self._folder)  # wherever the folder is by now
            os.close(self._folder)
        if self._file >= 0:
            os.close(self._file)
        self._folder = self._file = -1

    def _take(self, path: Path) -> bool:
        """Lock the file; False when whoever had it removed it at that very moment."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(self._file), os.stat(path)):
                return True
        except FileNotFoundError:
            pass
        except BaseException:
            self._drop()
            raise
        self._drop()
        return False

    def _drop(self) -> None:
        os.close(self._file)
        self._file = -1


def _holder(path: Path) -> str:
    try:
        text = read_small(path, _MOST_BYTES).decode(errors="replace").strip()
    except (OSError, InputError):
        text = ""
    return text if text.isprintable() and text else "another process"
