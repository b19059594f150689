"""The exceptions a user may see.

Each carries one sentence: what is wrong, where, and how to mend it. The command line prints that sentence and ends
with the exception's ``exit_code``; a caller in Python catches ``SisepaiError``.
"""

from collections.abc import Iterable


class SisepaiError(Exception):
    """Something went wrong that is nobody's typing mistake: a full disk, a damaged shard."""

    exit_code = 1
    go_on = ""  # the command that goes on from here, where there is one
    show = ""  # the command that shows what went wrong, where there is one


class InputError(SisepaiError):
    """What was asked for cannot be done as asked: an unknown name, a bad number, a malformed file."""

    exit_code = 2


class Interrupted(SisepaiError):
    """Stopped by the user."""

    exit_code = 130


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that ``name`` was probably meant to be."""
    # Only a mistake needs difflib, so only a mistake pays for its import.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name.lower(), known, n=1, cutoff=0.5)), None)


def unknown_name(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not among the ``known`` ones, with the nearest of them and the whole list.

    >>> str(unknown_name("rule set", "clasic", ["cardavia", "classic"]))
    "unknown rule set 'clasic'; did you mean 'classic'? (known: cardavia, classic)"
    """
    names = sorted(known)
    near = nearest(name, names)
    listed = f"known: {', '.join(names)}"
    return InputError(
        f"unknown {what} {name!r}; " + (f"did you mean {near!r}? ({listed})" if near else listed)
    )
