"""Options that several commands have, each said once."""

from collections.abc import Callable
from typing import Any

import click

from sisepai.cli.params import MATCH, SEED, Choice
from sisepai.runs import SEATINGS

Decorator = Callable[[Any], Any]

# What is played where nothing is asked for.
DEFAULTS = {"seed": 7, "strategies": "greedy", "rules": "cardavia", "seating": "fixed", "match": 0}

_HELP = {
    "seed": "Decides every deck, 0 to 2^64-1.",
    "strategies": "One for all seats, or one a seat, with commas.",
    "rules": "A rule set that `sisepai rules` lists, one with changes as name:key=value, or FILE.toml.",
    "seating": "Play each deck as given, under all rotations of the seats, or under all seatings.",
    "match": "N deals in a row are a match, in which the winner deals the next; 0: none.",
}
_KINDS: dict[str, dict[str, Any]] = {
    "seed": {"type": SEED},
    "strategies": {},
    "rules": {},
    "seating": {"type": Choice(SEATINGS)},
    "match": {"type": MATCH, "metavar": "N"},
}


def playing(name: str) -> Decorator:
    """The option ``name`` that says what to play, with its default."""
    default = str(DEFAULTS[name])
    return click.option(f"--{name}", default=default, show_default=True, help=_HELP[name], **_KINDS[name])


def playing_or_run(name: str) -> Decorator:
    """The same option of a command that may be told a run instead; without a value it is None."""
    note = f"{_HELP[name]} Without RUN only.  [default: {DEFAULTS[name]}]"
    return click.option(f"--{name}", help=note, **_KINDS[name])


def as_json(note: str = "Print one JSON object.") -> Decorator:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help=note)


plugin = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    help="Load the strategies of this file, or an installed plug-in, by name.",
)
allow_cheating = click.option(
    "--allow-cheating", is_flag=True, help="Let strategies play that are shown all cards."
)
quiet = click.option("--quiet", is_flag=True, help="No progress on stderr.")
