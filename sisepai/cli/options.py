"""Options that several commands have, each said once."""

import os
from collections.abc import Callable
from typing import Any

import click

from sisepai.cli.params import MATCH, SEED, Choice, WholeNumber
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


def threads_for(wanted: int | None, plain: bool) -> int:
    """How many threads play: as many as `--threads` says, otherwise one a core, or one where a strategy is ``plain``.

    Plain Python plays in one thread at a time, and slower when others wait for it.
    """
    if wanted or plain:
        return wanted or 1
    # The cores this process may use, where the system tells; a container may have fewer than the machine.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


threads = click.option(
    "--threads",
    type=WholeNumber(1, 4096),
    help="How many to play with.  [default: one a core; one for plain Python]",
)
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
