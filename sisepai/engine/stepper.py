"""`Stepper`: one numbered deal of a `Simulator`, decision by decision, through the kernel that plays whole chunks."""

from typing import TYPE_CHECKING

import numpy as np

from sisepai.cards import N_TYPES
from sisepai.engine.chunk import WORK, one
from sisepai.engine.records import DEAL, EVENT, ILLEGAL, NO_WINDOW, PASS, SEATS, WIN, View
from sisepai.rules.tables import FLOWERS, GENERALS

if TYPE_CHECKING:
    from sisepai.engine.simulator import Simulator

ALL_SEATS = (1 << SEATS) - 1


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
        self._work = one(WORK)
        self._rows = np.zeros(1, DEAL).view(np.recarray)
        self.work: np.record = self._work[0]
        self._number = 0
        self._given: tuple[np.ndarray, np.ndarray] = (np.zeros(0, np.uint8), np.zeros((0, 0), np.uint8))
        self._pause = ALL_SEATS

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
        """
        dealers = np.array([] if dealer is None else [dealer], np.uint8)
        decks = np.zeros((0, 0), np.uint8) if cards is None else np.asarray(cards, np.uint8)[None]
        self._number, self._pause = number, pause
        self._given = self._simulator.checked(1, dealers, decks, number)
        self.work.paused = 0
        return self._go_on()

    @property
    def paused(self) -> bool:
        """Whether a choice is due."""
        return bool(self.work.paused)

    @property
    def illegal(self) -> bool:
        """Whether the last choice was not offered; the deal then stands where it was due and cannot go on."""
        return bool(self.work.game.hidden.phase == ILLEGAL)

    @property
    def seat(self) -> int:
        """The seat that is due."""
        return int(self.work.game.hidden.due)

    @property
    def answers(self) -> bool:
        """Whether an answer to the open window is due; otherwise a discard."""
        return bool(self.work.game.table.window != NO_WINDOW)

    def choices(self) -> list[int]:
        """All that may be chosen: WIN, the numbers of the offered melds and PASS, or the cards to discard."""
        if self.answers:
            offers = self.work.game.offers
            return [WIN] * bool(offers.win) + list(range(offers.n)) + [PASS] * (not offers.forced)
        legal = int(self.work.game.hands[self.seat].one) & ~(GENERALS | FLOWERS)
        return [card for card in range(N_TYPES) if legal >> card & 1]

    def view(self) -> View:
        """What the seat that is due sees: the machine's own records, not copies."""
        work, seat = self.work, self.seat
        simulator, game = self._simulator, work.game
        parameters = simulator.parameters.entry[0, simulator.entry(self._number, seat)]
        return View(
            simulator.tables[0], game.table, game.history, game.hands[seat], game.offers, seat, work.rng[seat],
            parameters, work.scratch, work.trial[seat],
        )  # fmt: skip

    def ask(self) -> int:
        """The choice of the strategy whose seat is due, which is not submitted; its random stream moves on."""
        return self._simulator.ask(self._number, self._work)

    def submit(self, choice: int) -> bool:
        """Take the choice that is due and play to the next one; False when the deal is over, or `illegal`."""
        self.work.choice = choice
        return self._go_on()

    @property
    def row(self) -> np.ndarray:
        """DEAL[1], a copy: complete when the deal is over."""
        return self._rows.copy()

    @property
    def events(self) -> np.ndarray:
        """EVENT[n], a copy: what has happened so far."""
        game = self.work.game
        return game.history.event[: game.table.events].copy().view(EVENT)

    def _go_on(self) -> bool:
        dealers, decks = self._given
        self._simulator.run(
            self._number, self._rows, self._work, dealers=dealers, decks=decks, pause=self._pause
        )
        return self.paused
