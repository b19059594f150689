"""Terminal output: Rich consoles made when they are needed, and cards in their colours.

Rich itself honours ``NO_COLOR`` and draws with ASCII where the encoding is not a Unicode one; what is left to do here
is the width of output that goes to a file, and characters an encoding lacks.
"""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from sisepai.cards import CODES, FLOWER, glyph

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# A file has no width of its own; this one holds our widest table.
FILE_WIDTH = 110
_STYLES = ("red", "yellow", "bold white", "green", "magenta")


def console(stderr: bool = False) -> "Console":
    """A Rich console on stdout or stderr, without the highlighting of numbers Rich does by itself."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream is not None and stream.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else FILE_WIDTH
    return Console(stderr=stderr, highlight=False, width=width)


def plain_table(*columns: str) -> "Table":
    """A table without lines, under a bold head."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column)
    return table


def can_encode(text: str, stream: TextIO | None = None) -> bool:
    """Whether ``stream`` (stdout when not given) can write ``text`` as it stands."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def shows_glyphs() -> bool:
    """Whether cards get their glyphs on stdout: not where its encoding lacks them, nor under ``NO_COLOR``.

    Red and yellow share their glyphs, and so do white and green: without colours a glyph says less than the code.
    """
    return can_encode("帥") and not os.environ.get("NO_COLOR")


def card_text(cards: Iterable[int]) -> "Text":
    """Cards as code and glyph in the cards' colours, ``Kr帥 F花``; codes alone where there are no glyphs."""
    from rich.text import Text

    glyphs = shows_glyphs()
    parts = [
        (CODES[card] + (glyph(card) if glyphs else ""), _STYLES[4 if card == FLOWER else card // 7])
        for card in cards
    ]
    # Where Rich breaks a line of wide characters it keeps the space, and would cut the last card to make room for it.
    return Text(" ", overflow="fold").join(Text(text, style=style) for text, style in parts)
