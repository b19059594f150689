"""The error boundary: whatever ends a command becomes at most one line on stderr and an exit code.

0 done; 1 it went wrong on the way (full disk, closed pipe); 2 it was asked for wrongly; 130 stopped by Ctrl-C.
An exception nobody foresaw keeps its traceback, because it is a bug. ``SISEPAI_DEBUG=1`` shows every traceback.
"""

import errno
import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import click

from sisepai.errors import SisepaiError

# Failures of a path that was asked for; any other OSError (disk full, I/O error) is nobody's wrong input.
_BAD_PATH = {
    errno.EACCES,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
_FAILED_WRITE = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC}

MOST_NAME = 80  # characters of a name, or of one folder in a path, that a message repeats
MOST_LINE = 2000
_LONG_NAME = re.compile(rf"[^\s/]{{{MOST_NAME + 1},}}")


def guard(command: Callable[[], Any]) -> int:
    """Run a click command that was told not to exit by itself, and return its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Text that a terminal cannot show, or bytes that are no text, must never end the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.stdout is None:
        sys.stdout = _closed()
    try:
        code = command()
        sys.stdout.flush()  # here, where a failure still gets its line and its exit code
    except BrokenPipeError:
        _discard(sys.stdout)
        return 1
    except (click.Abort, KeyboardInterrupt):
        return _fail("sisepai: stopped", 130)
    except click.ClickException as error:
        return _fail(_usage_line(error), error.exit_code)
    except SisepaiError as error:
        return _fail(f"sisepai: {error}", error.exit_code, error.go_on, error.show)
    except OSError as error:
        return _fail(f"sisepai: {_os_line(error)}", 2 if error.errno in _BAD_PATH else 1)
    return code if isinstance(code, int) else 0


def printable(text: str) -> str:
    """Text from anywhere for one line of a terminal: control characters escaped, endless names cut."""
    text = _LONG_NAME.sub(lambda name: name[0][: MOST_NAME - 3] + "...", " ".join(text.split("\n")))
    text = text if len(text) <= MOST_LINE else text[: MOST_LINE - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _closed() -> TextIO:
    """A standard output to which nothing can be written, in place of one that is not there: what was asked for has
    nowhere to go, and that is not success."""
    return open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _fail(line: str, code: int, go_on: str = "", show: str = "") -> int:
    if os.environ.get("SISEPAI_DEBUG"):
        import traceback

        traceback.print_exc()
    try:
        # The commands are ours and must be whole.
        line = printable(line) + (f". To see it: {show}" if show else "")
        click.echo(line + (f". To go on: {go_on}" if go_on else ""), err=True)
    except OSError:
        _discard(sys.stderr)
    return code


def _usage_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "sisepai"
    return f"{command}: {' '.join(error.format_message().split())}"


def _os_line(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason}"
    if error.errno in _FAILED_WRITE:
        # Whoever opens a file names it in its errors; a write without a name went to stdout.
        _discard(sys.stdout)
        return f"standard output: {reason}"
    return reason


def _discard(stream: TextIO) -> None:
    """Send what is left in the stream nowhere, or the interpreter complains about it when it ends."""
    with suppress(OSError, ValueError):  # no file behind it: nothing will be flushed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
