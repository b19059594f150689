"""Ctrl-C and a polite kill, which mean the same: one line and exit code 130.

Until a command has something to tidy up, the process ends at once. An exception would not do then: one that is raised
while LLVM compiles is swallowed on its way through C, and for seconds none is raised at all. So a thread waits for the
signal's number, which the interpreter's C handler writes into a pipe whatever the main thread is at.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from sisepai.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Either signal ends the process, whatever it is doing; afterwards none does.

    What is left then is the interpreter's own end: the command is done, and its exit code stands.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=_wait_for_signal, args=(reader,), daemon=True).start()
    with _handled_by(lambda *_: None, then=signal.SIG_IGN):
        before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            os.close(writer)  # the thread reads the end and is done


@contextmanager
def tidying_up() -> Iterator[None]:
    """Either signal raises KeyboardInterrupt in the main thread: there is something to put in order.

    Raises
    ------
    Interrupted
        When that is done.
    """
    with _handled_by(_interrupt):
        # In this order: between two steps a signal rather counts twice than not at all.
        before = signal.set_wakeup_fd(-1)
        try:
            yield
        except KeyboardInterrupt:
            raise Interrupted("stopped") from None
        finally:
            signal.set_wakeup_fd(before)


def leave_now(line: str) -> NoReturn:
    """End the process although threads still work."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:  # past its buffer, which another thread may hold
            os.write(sys.stderr.fileno(), line.encode(errors="replace") + b"\n")
    os._exit(Interrupted.exit_code)


def _wait_for_signal(reader: int) -> None:
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while number := pipe.read(1):
            if number[0] in SIGNALS:
                leave_now("sisepai: stopped")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[..., Any], then: signal.Handlers | None = None) -> Iterator[None]:
    """Handle the signals so, and ``then`` (or as before) afterwards.

    Those that whoever started the process wants ignored stay so.
    """
    wanted = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = [signal.signal(number, handler) for number in wanted]
    try:
        yield
    finally:
        for number, old in zip(wanted, before, strict=True):
            signal.signal(number, old if then is None else then)
