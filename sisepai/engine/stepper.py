"""`Stepper`: one numbered deal of a `Simulator`, decision by decision, on the machine that plays whole chunks."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sisepai.cards import NONE
from sisepai.engine import chunk
from sisepai.engine.chunk import WORK, one
from sisepai.engine.faults import (
    TOO_LONG,
    StrategyFault,
    choices_of,
    events_of,
    not_offered,
    raised,
)
from sisepai.engine.plain import Plain, Player
from sisepai.engine.records import ANSWER_DUE, DEAL, DISCARD_DUE, ILLEGAL, MOST_EVENTS, NO_WINDOW, SEATS, View
from sisepai.errors import SisepaiError
from sisepai.jit import kernel

if TYPE_CHECKING:
    from sisepai.engine.simulator import Simulator

ALL_SEATS = (1 << SEATS) - 1
NO_CARDS = np.zeros(0, np.uint8)
_INT64 = range(-(2**63), 2**63)


@cache
def step_deal() -> Callable:
    """The kernel that plays from one choice to the next."""
    return kernel(chunk.STEP_DEAL)(chunk.step_deal)


class Stepper:
    """Plays one deal at a time and stops wherever a seat has something to decide.

    Parameters
    ----------
    simulator : Simulator

    Attributes
    ----------
    work : np.record of WORK
        The deal in progress, `work.game`, and the memory of its seats; changes with every call. What is written into
        it is what the next call finds.

    >>> stepper = Stepper(simulator)
    >>> due = stepper.start(12)
    >>> while due:
    ...     due = stepper.submit(stepper.ask())
    >>> stepper.row["winner"][0]
    """

    def __init__(self, simulator: "Simulator") -> None:
        self._simulator = simulator
        self._kernel = step_deal()
        self._work = one(WORK)
        self._row = np.zeros(1, DEAL).view(np.recarray)
        self._number, self._pause = 0, ALL_SEATS
        self._players: dict[int, Player] = {}  # of this deal, by seat
        self._views: dict[tuple[int, int], View] = {}
        self.work: np.record = self._work[0]
        # A field of a record or a recarray costs microseconds, one of an array a tenth of that.
        game = self._work.view(np.ndarray)["game"]
        self._phase, self._due = game["hidden"]["phase"], game["hidden"]["due"]
        self._window, self._events = game["table"]["window"], game["table"]["events"]

    def start(
        self, number: int, dealer: int | None = None, cards: np.ndarray | None = None, pause: int = ALL_SEATS
    ) -> bool:
        """Begin deal `number` and play to the first choice; False when the deal is over without one.

        Parameters
        ----------
        number : 0 .. 2**63 - 1
        dealer : the seat that deals; None: the deck tells. Needed with `cards`, and inside a match.
        cards : uint8[pack], the deck; None: that of the number
        pause : mask of the seats whose choices are left to the caller; the others play their own strategy

        Raises
        ------
        StrategyFault
            A strategy that plays by itself raised, or chose what it was not offered; so may `submit`.
        """
        dealers = np.array([] if dealer is None else [dealer], np.uint8)
        deck = NO_CARDS if cards is None else np.ascontiguousarray(cards, np.uint8)
        self._simulator.check(1, dealers, NO_CARDS if cards is None else deck[None], number)
        self._number, self._pause, self._players = number, pause, {}
        self._step(True, number // self._simulator.seatings, NONE if dealer is None else dealer, deck)
        return self._to_pause()

    @property
    def paused(self) -> bool:
        """Whether a choice is due."""
        return ANSWER_DUE <= int(self._phase[0]) <= DISCARD_DUE

    @property
    def illegal(self) -> bool:
        """Whether the last choice was not offered; the deal then stands where it was due and cannot go on."""
        return bool(self._phase[0] == ILLEGAL)

    @property
    def seat(self) -> int:
        """The seat that is due."""
        return int(self._due[0])

    @property
    def answers(self) -> bool:
        """Whether an answer to the open window is due; otherwise a discard."""
        return bool(self._window[0] != NO_WINDOW)

    def choices(self) -> list[int]:
        """All that may be chosen: WIN, the numbers of the offered melds and PASS, or the cards to discard."""
        return choices_of(self.work.game)

    def view(self) -> View:
        """What the seat that is due sees: the machine's own records, not copies."""
        return self._view(self.seat)

    def ask(self) -> int:
        """The choice of the strategy whose seat is due, which is not submitted; its random stream moves on.

        Raises
        ------
        StrategyFault
            It raised, or what it returned is no whole number.
        """
        seat, answers = self.seat, self.answers
        strategy = self._simulator.strategy(self._number, seat)
        try:
            if isinstance(strategy, Plain):
                choice = self._player(strategy, seat).ask(answers)
            else:
                if strategy.sees_all:
                    self.work.trial[seat].start = self.work.game
                choice = int((strategy.answer if answers else strategy.discard)(self._view(seat)))
            if choice not in _INT64:
                raise OverflowError(f"{choice} is beyond all choices")
        except (Exception, SystemExit) as error:
            raise self._fault(raised(error, strategy.files)) from error
        return choice

    @property
    def estimates(self) -> np.ndarray:
        """ESTIMATES[1] of the seat that is due, to be read after `ask`: what it thought, where its strategy tells.

        Nothing clears them: whoever reads them sets `n` to 0 before.
        """
        strategy = self._simulator.strategy(self._number, self.seat)
        if isinstance(strategy, Plain):
            return self._player(strategy, self.seat).estimates
        return self._work.view(np.ndarray)["trial"]["estimates"][:, self.seat]

    def submit(self, choice: int) -> bool:
        """Take the choice that is due and play to the next one; False when the deal is over, or `illegal`."""
        self._take(choice)
        return self._to_pause()

    def refused(self, choice: int) -> StrategyFault:
        """The fault of the strategy whose choice was not offered, the last one submitted."""
        return self._fault(not_offered(self.work.game, choice))

    def play(self, number: int, dealer: int | None = None, cards: np.ndarray | None = None) -> None:
        """Play a whole deal with the choices of its strategies.

        Raises
        ------
        StrategyFault
            One raised, or chose what it was not offered.
        """
        self.start(number, dealer, cards, pause=0)

    @property
    def row(self) -> np.ndarray:
        """DEAL[1], a copy: complete when the deal is over."""
        return self._row.copy()

    @property
    def events(self) -> np.ndarray:
        """EVENT[n], a copy: what has happened so far."""
        return events_of(self.work.game)

    def _to_pause(self) -> bool:
        """Let the seats that are not paused play their own strategy."""
        while self.paused and not self._pause >> self.seat & 1:
            choice = self.ask()
            self._take(choice)
            if self.illegal:
                raise self.refused(choice)
        return self.paused

    def _take(self, choice: int) -> None:
        self.work.choice = choice
        self._step(False, 0, NONE, NO_CARDS)

    def _step(self, start: bool, deck: int, dealer: int, cards: np.ndarray) -> None:
        simulator = self._simulator
        tables, seed = simulator.tables, simulator.seed
        self._kernel(tables, self._work, start, seed, np.uint64(deck), dealer, cards, self._row)
        if self._events[0] > MOST_EVENTS:
            raise SisepaiError(f"deal {self._number}: {TOO_LONG}")

    def _view(self, seat: int) -> View:
        entry = self._simulator.entry(self._number, seat)
        if (seat, entry) not in self._views:
            work, game = self.work, self.work.game
            parameters = self._simulator.parameters.entry[0, entry]
            self._views[seat, entry] = View(
                self._simulator.tables[0], game.table, game.history, game.hands[seat], game.offers, seat,
                work.rng[seat], parameters, work.scratch[seat], work.trial[seat],
            )  # fmt: skip
        return self._views[seat, entry]

    def _player(self, strategy: Plain, seat: int) -> Player:
        if seat not in self._players:
            parameters = self._simulator.parameters["entry"][:, self._simulator.entry(self._number, seat)]
            self._players[seat] = Player(strategy, seat, self._work, self._simulator.tables, parameters)
        return self._players[seat]

    def _fault(self, reason: str) -> StrategyFault:
        label = self._simulator.label(self._number, self.seat)
        return StrategyFault(self._number, label, self.work, reason)
