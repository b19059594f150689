"""Parameter types: numbers as people write them (``1e6``, ``1_000_000``), exact to the last digit, and choices."""

import re
from typing import Any

import click

from sisepai.errors import InputError, nearest
from sisepai.runs import MAX_MATCH

_NUMBER = re.compile(r"([+-]?)(\d+(?:_\d+)*)(?:\.(\d*))?(?:[eE]([+-]?)(\d+))?", re.ASCII)


def whole_number(text: str, low: int, high: int) -> int:
    """The integer that ``text`` writes, between ``low`` and ``high`` inclusive.

    Never goes through a float, so that every integer up to ``high`` is read exactly.

    Raises
    ------
    InputError
        No number, not a whole one, or out of range; the message is a clause that follows the name of the option.
    """
    match = _NUMBER.fullmatch(text.strip())
    text = text if len(text) <= 40 else text[:40] + "..."
    if match is None:
        raise InputError(f"{text!r} is not a number; write it like 1000000, 1_000_000 or 1e6")
    sign, whole, fraction, below, exponent = match.groups()
    fraction = (fraction or "").rstrip("0")
    shift = _exponent(below, exponent) - len(fraction)
    digits = (whole.replace("_", "") + fraction).lstrip("0")
    if shift < 0:
        digits, cut = digits[:shift], digits[shift:]
        if cut.strip("0"):
            raise InputError(f"{text} is not a whole number")
        shift = 0
    # The length is compared before the number is built: 1e9999 must not fill the memory.
    too_long = len(digits) + shift > len(str(high)) if digits else False
    value = high + 1 if too_long else int(digits or "0") * 10**shift
    value = -value if sign == "-" else value
    if value < low:
        raise InputError(f"{text} is too small; the least is {low}")
    if value > high:
        raise InputError(f"{text} is too large; the most is {high}")
    return value


def _exponent(sign: str | None, digits: str | None) -> int:
    """Its value, or one that is as good: beyond a million all are too large or no whole number."""
    digits = (digits or "").lstrip("0") or "0"
    size = int(digits) if len(digits) < 7 else 10**6
    return -size if sign == "-" else size


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """An integer from ``low`` to ``high``, written as people write it."""

    name = "number"

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return whole_number(str(value), self.low, self.high)
        except InputError as error:
            self.fail(str(error), param, ctx)


class Choice(click.Choice[str]):
    """One of a few words; a wrong one is answered with the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        near = nearest(str(value), self.choices)
        message = f"{value!r} is not one of {', '.join(self.choices)}"
        return f"{message}; did you mean {near!r}?" if near else message


COUNT = WholeNumber(1, 2**63 - 1)
INDEX = WholeNumber(0, 2**63 - 1)
SEED = WholeNumber(0, 2**64 - 1)
MATCH = WholeNumber(0, MAX_MATCH)
