"""Strategies in plain Python: an instance a seat of each deal, which is shown copies of what its seat may see."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sisepai.engine.randomness import RNG
from sisepai.engine.records import HISTORY, PARAMETERS, SCRATCH, TABLE, TRIAL, View
from sisepai.rules.hand import HAND
from sisepai.rules.offers import OFFERS
from sisepai.rules.tables import TABLES

# What a view shows is new each time, so that it may be kept and changed; the rest belongs to the seat for the deal.
SHOWN = np.dtype([("table", TABLE), ("history", HISTORY), ("hand", HAND), ("offers", OFFERS)], align=True)
OWN = np.dtype(
    [("tables", TABLES), ("rng", RNG), ("parameters", PARAMETERS), ("scratch", SCRATCH), ("trial", TRIAL)],
    align=True,
)


class Plain(NamedTuple):
    """A strategy as plain Python: `make()` returns an object with `answer(view)` and `discard(view)`."""

    make: Callable[[], Any]
    values: Sequence[float]
    sees_all: bool = False
    file: str = ""  # where it is written


class Player:
    """A plain strategy on one seat of one deal. What it does to a view changes nothing but its own random stream.

    Parameters
    ----------
    plain : Plain
    view : the machine's own view of the seat, the same records in every call
    """

    def __init__(self, plain: Plain, view: View) -> None:
        self._plain = plain
        self._view = view
        self._own = np.zeros(1, OWN).view(np.recarray)[0]
        self._own.tables, self._own.parameters = view.tables, view.parameters
        self._player = plain.make()

    def ask(self, answers: bool, game: np.record, rng: np.ndarray) -> int:
        """The choice of the seat in a deal; `rng` RNG[1] is its stream.

        Raises
        ------
        TypeError
            The choice is no whole number.
        Exception
            Whatever the strategy raises.
        """
        self._own.rng = rng[0]
        if self._plain.sees_all:
            self._own.trial.start = game
        view = self._copy(answers)
        choice = self._player.answer(view) if answers else self._player.discard(view)
        rng[0] = self._own.rng
        try:
            return operator.index(choice)
        except TypeError:
            what = "answer" if answers else "discard"
            raise TypeError(f"{what} returned {choice!r}, which is no whole number") from None

    def _copy(self, answers: bool) -> View:
        machine, own = self._view, self._own
        shown = np.zeros(1, SHOWN).view(np.recarray)[0]
        shown.table, shown.hand = machine.table, machine.hand
        # No more than is in use: what lies beyond may be left from another seat or deal.
        events = int(machine.table.events)
        shown.history.event[:events] = machine.history.event[:events]
        if answers:
            n = int(machine.offers.n)
            shown.offers = machine.offers
            shown.offers.kind[n:], shown.offers.partners[n:] = 0, 0
        return View(
            own.tables, shown.table, shown.history, shown.hand, shown.offers, machine.seat, own.rng, own.parameters,
            own.scratch, own.trial,
        )  # fmt: skip
