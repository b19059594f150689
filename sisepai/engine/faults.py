"""A strategy that cannot go on: where in the deal that was, and why, in one sentence."""

import traceback

import numpy as np

from sisepai.cards import CODES, N_TYPES, NONE
from sisepai.engine.records import DEAL, DISCARD, DRAW, EVENT, MOST_EVENTS, NO_WINDOW, PASS, WIN
from sisepai.errors import SisepaiError
from sisepai.rules.hand import discardable

TOO_LONG = f"more than {MOST_EVENTS} events; the rules redeal too often"
LONGEST = 300  # characters of what a strategy said when it raised
_WINDOWS = {DRAW: "draw window", DISCARD: "discard window"}
_WORDS = {WIN: "win", PASS: "pass"}


class StrategyFault(SisepaiError):
    """A strategy raised, or chose what it was not offered. Its deal has no end and counts for nothing.

    Attributes
    ----------
    deal : number of the deal
    row : DEAL[1], with the dealer and the redeals alone
    events : EVENT[n], what had happened so far
    """

    def __init__(self, number: int, label: str, work: np.record, reason: str) -> None:
        game = work.game
        super().__init__(f"deal {number}, seat {game.hidden.due}, {_where(game.table)}: '{label}' {reason}")
        self.deal = number
        self.row = np.zeros(1, DEAL)
        self.row["outcome"] = NONE
        self.row["dealer"], self.row["redeals"] = game.table.dealer, work.redeals
        self.events = events_of(game)


def events_of(game: np.record) -> np.ndarray:
    """EVENT[n], a copy: what has happened in a deal so far."""
    return game.history.event[: min(game.table.events, MOST_EVENTS)].copy().view(EVENT)


def is_answer(game: np.record) -> bool:
    """Whether an answer to a window is due in a deal (or was, when it could not be taken); otherwise a discard."""
    return bool(game.table.window != NO_WINDOW)


def choices_of(game: np.record) -> list[int]:
    """All that the seat which is due may choose: WIN, the numbers of the offered melds and PASS, or card types."""
    if is_answer(game):
        offers = game.offers
        return [WIN] * bool(offers.win) + list(range(offers.n)) + [PASS] * (not offers.forced)
    legal = int(discardable(game.hands[game.hidden.due]))
    return [card for card in range(N_TYPES) if legal >> card & 1]


def not_offered(game: np.record, choice: int) -> str:
    """What a strategy did whose choice the deal could not take."""
    choices = choices_of(game)
    if is_answer(game):
        words = ", ".join(_WORDS.get(one, str(one)) for one in choices)
        return f"answered {_WORDS.get(choice, choice)}, which was not offered (offered: {words})"
    card = CODES[choice] if 0 <= choice < N_TYPES else str(choice)
    return f"discarded {card}, which was not offered (it may: {' '.join(CODES[one] for one in choices)})"


def raised(error: BaseException, files: tuple[str, ...] = ()) -> str:
    """What a strategy did that raised; `files`: where it is written, of which the line is told."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    text = " ".join(str(error).split())
    text = f": {text}" if text else ""
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return f"raised {type(error).__name__}{text}{f' (line {lines[-1]})' if lines else ''}"


def _where(table: np.record) -> str:
    """The open window and its card; without one, a discard is due."""
    return f"{_WINDOWS[table.window]} of {CODES[table.card]}" if table.window in _WINDOWS else "discard"
