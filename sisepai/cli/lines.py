"""Lines of a file or of standard input, of which nothing is believed: one without an end must not fill the memory."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from sisepai.errors import InputError

MOST_BYTES = 1_000_000  # of a line; a deal of all its events has a hundredth
MOST_LINES = 10_000_000


def bounded_lines(file: str) -> Iterator[bytes]:
    """The lines of ``file``; `-` is standard input.

    Raises
    ------
    InputError
        A line is too long, or there are too many.
    OSError
        The file cannot be read.
    """
    name = "standard input" if file == "-" else file
    if file == "-" and sys.stdin is None:
        return
    with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
        number = 0
        while line := stream.readline(MOST_BYTES + 1):
            number += 1
            if len(line) > MOST_BYTES:
                raise InputError(f"{name}, line {number}: longer than {MOST_BYTES:,} bytes")
            if number > MOST_LINES:
                raise InputError(f"{name} has more than {MOST_LINES:,} lines")
            yield line
