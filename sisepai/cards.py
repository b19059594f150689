"""Cards and the fixed vocabulary of the game: numbers, codes, glyphs, and reading a hand as people write it.

A card type is a number: ``colour * 7 + rank``, the flower 28; ``NONE`` (255) stands for "no card", "no seat" or
"no meld" wherever a byte holds one. The place of a name in ``MELDS``, ``EVENTS``, ``OUTCOMES`` and ``WIN_BY`` is its
number in rows and files, so names may be added at the end and never moved.
"""

from collections.abc import Iterable

from sisepai.errors import InputError

N_TYPES = 29
FLOWER = 28
NONE = 255
COPIES = 4
MAX_FLOWERS = 5

COLOURS = ("r", "y", "w", "g")
RANKS = ("K", "A", "E", "R", "H", "C", "P")
CODES = (*(rank + colour for colour in COLOURS for rank in RANKS), "F")

MELDS = (
    "single",
    "pair",
    "triple",
    "quad",
    "command",
    "field",
    "soldiers3",
    "soldiers4",
    "colours3",
    "colours4",
)
EVENTS = ("show", "redeal", "draw", "take", "discard", "win", "exhausted", "dead_hand")
OUTCOMES = ("win", "exhausted", "dead_hand")
WIN_BY = ("own_draw", "other_draw", "discard", "dealt")

# Red and yellow share one set of characters, white and green the other; the flower stands alone.
GLYPHS = "帥仕相俥傌炮兵" * 2 + "將士象車馬包卒" * 2 + "花"

_NUMBER = {code: number for number, code in enumerate(CODES)}
_SEPARATORS = " \t\r\n,"


def glyph(card: int) -> str:
    """The Chinese character printed on a card of this type."""
    return GLYPHS[card]


def format_cards(cards: Iterable[int]) -> str:
    """Codes separated by spaces, in the order given: ``Kr Ar F``."""
    return " ".join(CODES[card] for card in cards)


def parse_cards(text: str) -> list[int]:
    """The card numbers of a hand as people write it, in the order written.

    Codes stand with or without spaces or commas between them, the rank in either case: ``Kr Ar Er RyRyRy F``.

    Raises
    ------
    InputError
        A part is no card; the message names the part and its position (the first character is 1).
    """
    cards = []
    at = 0
    while at < len(text):
        if text[at] in _SEPARATORS:
            at += 1
            continue
        length = 1 if text[at] in "Ff" else 2
        part = text[at : at + length]
        card = _NUMBER.get(part[0].upper() + part[1:])
        if card is None:
            raise _unknown_card(part, at + 1)
        cards.append(card)
        at += length
    return cards


def check_copies(cards: Iterable[int]) -> None:
    """Raise InputError when a hand holds more of a type than any pack: four, or five flowers."""
    held = [0] * N_TYPES
    for card in cards:
        held[card] += 1
    for card, count in enumerate(held):
        most = MAX_FLOWERS if card == FLOWER else COPIES
        if count > most:
            raise InputError(f"too many {CODES[card]}: {count}, and a pack has {most}")


def _unknown_card(part: str, position: int) -> InputError:
    part = part.rstrip(_SEPARATORS)
    near = part[0].upper() + part[1:].lower()
    hint = (
        f"did you mean {near}?"
        if near in _NUMBER
        else "a card is a rank K A E R H C P and a colour r y w g, as in Kr, or the flower F"
    )
    return InputError(f"unknown card {part!r} at position {position}; {hint}")
