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


def _records(**fields: np.dtype) -> np.dtype:
    """A record of records, of which NumPy itself makes np.record."""
    return np.dtype([(name, np.dtype((np.record, dtype))) for name, dtype in fields.items()], align=True)


# What a view shows is new each time, so that it may be kept and changed; the rest belongs to the seat for the deal.
SHOWN = _records(table=TABLE, history=HISTORY, hand=HAND, offers=OFFERS)
OWN = _records(tables=TABLES, rng=RNG, parameters=PARAMETERS, scratch=SCRATCH, trial=TRIAL)


class Plain(NamedTuple):
    """A strategy as plain Python: `make()` returns an object with `answer(view)` and `discard(view)`."""

    make: Callable[[], Any]
    values: Sequence[float]
    sees_all: bool = False
    files: tuple[str, ...] = ()  # where it is written


class Player:
    """A plain strategy on one seat of one deal. What it does to a view changes nothing but its own random stream.

    Parameters
    ----------
    plain : Plain
    seat : its number
    work : WORK[1], the deal and its memory as the machine has them
    tables, parameters : TABLES[1] and PARAMETERS[1]
    """

    def __init__(
        self, plain: Plain, seat: int, work: np.ndarray, tables: np.ndarray, parameters: np.ndarray
    ) -> None:
        self._plain = plain
        self._seat = seat
        plain_work = work.view(np.ndarray)  # what a recarray gives takes ten times as long
        self._game, self._rng = plain_work["game"], plain_work["rng"][:, seat]
        self._own = np.zeros(1, OWN)
        self._own["tables"], self._own["parameters"] = tables, parameters
        self._player: Any = None  # made when it is first asked, where what it raises is its own fault

    def ask(self, answers: bool) -> int:
        """The choice of the seat, an answer or a discard; its stream moves on.

        Raises
        ------
        TypeError
            The choice is no whole number.
        Exception
            Whatever the strategy raises.
        """
        self._own["rng"] = self._rng
        if self._plain.sees_all:
            self._own["trial"]["start"] = self._game
        view = self._view(answers)
        if self._player is None:
            self._player = self._plain.make()
        choice = self._player.answer(view) if answers else self._player.discard(view)
        self._rng[:] = self._own["rng"]
        try:
            return operator.index(choice)
        except TypeError:
            what = "answer" if answers else "discard"
            raise TypeError(f"{what} returned {choice!r}, which is no whole number") from None

    @property
    def estimates(self) -> np.ndarray:
        """ESTIMATES[1]: what it thought of its choices, where it tells."""
        return self._own["trial"]["estimates"]

    def _view(self, answers: bool) -> View:
        """What the seat sees, in copies."""
        game, own, shown = self._game, self._own, np.zeros(1, SHOWN)
        shown["table"], shown["hand"] = game["table"], game["hands"][:, self._seat]
        # No more than is in use: what lies beyond may be left from another seat or deal.
        events = game["table"]["events"][0]
        shown["history"]["event"][:, :events] = game["history"]["event"][:, :events]
        if answers:
            offers, n = shown["offers"], game["offers"]["n"][0]
            offers[:] = game["offers"]
            offers["kind"][:, n:], offers["partners"][:, n:] = 0, 0
        table, history, hand, offered = (shown[name][0] for name in SHOWN.fields or ())
        tables, rng, parameters, scratch, trial = (own[name][0] for name in OWN.fields or ())
        return View(
            tables, table, history, hand, offered, self._seat, rng, parameters, scratch, trial
        )  # fmt: skip
