"""`Simulator`: numbered deals of one rule set, one set of strategies and one seed."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from sisepai.cards import N_TYPES, NONE
from sisepai.engine import chunk
from sisepai.engine.chunk import STRATEGY_SIGNATURE, WORK, one
from sisepai.engine.faults import TOO_LONG, StrategyFault, not_offered, raised
from sisepai.engine.plain import Plain
from sisepai.engine.randomness import RNG
from sisepai.engine.records import ALL_PARAMETERS, DEAL, ENTRIES, EVENT, MOST_EVENTS
from sisepai.engine.stepper import Stepper, step_deal
from sisepai.errors import InputError, SisepaiError
from sisepai.jit import kernel
from sisepai.rules.ruleset import RuleSet
from sisepai.rules.tables import TABLES, build_tables

EVENTS_A_DEAL = 64  # first guess for the room events need; more is made when it does not do
NO_SEATS, NO_DECKS = np.zeros(0, np.uint8), np.zeros((0, 0), np.uint8)


class Compiled(NamedTuple):
    """A strategy as the kernels call it: two first-class functions and its parameters."""

    answer: Callable
    discard: Callable
    values: Sequence[float]
    sees_all: bool = False
    files: tuple[str, ...] = ()  # where it is written


class Entry(Protocol):
    """What `Simulator` asks of an entry (strategies.base.Entry)."""

    @property
    def label(self) -> str:
        """What messages call it."""

    def compiled(self) -> Compiled | Plain:
        """The strategy with its parameters, compiled where it is not plain Python."""


class Chunk(NamedTuple):
    """Deals in order of their numbers.

    `rows` is DEAL[count]; `events` EVENT[total] and `event_counts` uint16[count], or both None.
    """

    rows: np.ndarray
    events: np.ndarray | None
    event_counts: np.ndarray | None


def compile_function(function: Callable, keep: bool = True) -> Callable:
    """The kernel form of an `answer` or `discard` function over a View; `keep` as in `jit.kernel`."""
    return kernel(STRATEGY_SIGNATURE, keep)(function)


@cache
def _play_chunk() -> Callable:
    return kernel(chunk.PLAY_CHUNK)(chunk.play_chunk)


@cache
def _deck_rows() -> Callable:
    return kernel(chunk.DECK_ROWS)(chunk.deck_rows)


@cache
def tables_array(rules: RuleSet) -> np.recarray:
    """The tables of a rule set as the array of one record that kernels take; shared by all, who only read it."""
    tables = one(TABLES)
    tables[0] = build_tables(rules)
    return tables


class Simulator:
    """Plays any chunk of the numbered deals of a plan; the same numbers always give the same deals.

    Parameters
    ----------
    rules : RuleSet
    entries : up to four different ones, each with `compiled()`; `seatings` tells which sits where
    seatings : uint8[S, players], numbers of entries by seat. Deal i plays deck i // S under seating i % S.
    seed : 0 .. 2**64 - 1
    match : deals of a match, in which the winner of a deal deals the next; 0 when each deal is by itself

    Raises
    ------
    InputError
        Matches under more than one seating, or a strategy that cannot be compiled.

    Attributes
    ----------
    tables, parameters : what kernels take; seed : uint64
    in_steps : bool
        Whether a strategy is plain Python. Then deals are played decision by decision, hundreds of times slower.

    Safe to call from any number of threads; kernels run without the GIL.
    """

    def __init__(
        self, rules: RuleSet, entries: Sequence[Entry], seatings: np.ndarray, seed: int, match: int = 0
    ) -> None:
        if match and len(seatings) > 1:
            raise InputError("a match is played under one seating; use --seating fixed")
        self._labels = [entry.label for entry in entries]
        self._strategies = [entry.compiled() for entry in entries]
        self.tables = tables_array(rules)
        self.parameters = one(ALL_PARAMETERS)
        for i, strategy in enumerate(self._strategies):
            self.parameters["entry"]["value"][0, i, : len(strategy.values)] = strategy.values
            self.parameters["entry"]["sees_all"][0, i] = strategy.sees_all
        self._seatings = np.ascontiguousarray(seatings, dtype=np.uint8)
        self.seed = np.uint64(seed)
        self._match = match
        compiled = [strategy for strategy in self._strategies if isinstance(strategy, Compiled)]
        self.in_steps = len(compiled) < len(self._strategies)
        if not self.in_steps:
            padded = [*compiled, *[compiled[0]] * (ENTRIES - len(compiled))]
            self._answers = tuple(strategy.answer for strategy in padded)
            self._discards = tuple(strategy.discard for strategy in padded)
        # Compiled here, so that playing is all playing.
        self._kernel = step_deal() if self.in_steps else _play_chunk()

    @property
    def seatings(self) -> int:
        """Number of seatings, S."""
        return len(self._seatings)

    def entry(self, number: int, seat: int) -> int:
        """Which entry sits on `seat` in deal `number`."""
        return int(self._seatings[number % len(self._seatings), seat])

    def strategy(self, number: int, seat: int) -> Compiled | Plain:
        """What plays `seat` in deal `number`."""
        return self._strategies[self.entry(number, seat)]

    def label(self, number: int, seat: int) -> str:
        """The label of what plays `seat` in deal `number`."""
        return self._labels[self.entry(number, seat)]

    def play(self, first: int, count: int, events: bool = False, dealers: np.ndarray | None = None) -> Chunk:
        """Play the deals `first` .. `first + count - 1`; `dealers` uint8[count] deal instead of those of the plan.

        In a run of matches a chunk begins with a match, unless the dealers are given.

        Raises
        ------
        StrategyFault
            A strategy raised, or chose what it was not offered; the message names the deal.
        SisepaiError
            A deal would not end.
        """
        return self._play(first, count, events, NO_SEATS if dealers is None else dealers, NO_DECKS)

    def play_decks(
        self, dealers: np.ndarray, cards: np.ndarray, events: bool = False, first: int = 0
    ) -> Chunk:
        """Play given decks (`dealers` uint8[count], `cards` uint8[count, pack] as `decks` returns them).

        They take the numbers from `first` on for seatings and random streams. Raises as `play`.
        """
        return self._play(first, len(cards), events, dealers, cards)

    def check(self, count: int, dealers: np.ndarray, decks: np.ndarray, first: int) -> None:
        """Refuse dealers and decks that `count` deals cannot have; either may be empty. Kernels check no bounds.

        Raises
        ------
        ValueError
            They do not fit the rules or one another, or the dealer of a deal inside a match is not given.
        """
        players, pack = self.tables[0].players, self.tables[0].pack
        if self._match and first % self._match and not len(dealers):
            raise ValueError(f"deal {first} is not the first of its match of {self._match}; give its dealer")
        if len(decks) and (decks.shape != (count, pack) or decks.max(initial=0) >= N_TYPES):
            raise ValueError(f"cards: must be {count} packs of {pack} card types")
        given = len(dealers) or len(decks)
        if given and (dealers.shape != (count,) or dealers.max(initial=0) >= players):
            raise ValueError(f"dealers: must be {count} seats below {players}")

    def _play(self, first: int, count: int, events: bool, dealers: np.ndarray, decks: np.ndarray) -> Chunk:
        self.check(count, dealers, decks, first)
        rows = np.zeros(count, DEAL).view(np.recarray)
        rows["outcome"] = NONE  # of a deal that is not played to its end
        counts = np.zeros(count if events else 0, np.uint16)
        play = self._in_steps if self.in_steps else self._at_once
        words = play(
            first,
            rows,
            counts,
            np.ascontiguousarray(dealers, np.uint8),
            np.ascontiguousarray(decks, np.uint8),
        )
        return Chunk(rows, words.view(EVENT), counts) if events else Chunk(rows, None, None)

    def _at_once(
        self, first: int, rows: np.ndarray, counts: np.ndarray, dealers: np.ndarray, decks: np.ndarray
    ) -> np.ndarray:
        """Fill rows and counts of events, where those are wanted, with the kernel; returns the events."""
        pieces = [np.zeros(0, np.uint64)]
        done, events = 0, len(counts) > 0
        while done < len(rows):
            room = np.empty((len(rows) - done) * EVENTS_A_DEAL + MOST_EVENTS if events else 0, np.uint64)
            work = one(WORK)
            try:
                played = self._kernel(
                    self.tables, self._answers, self._discards, self.parameters, self._seatings, self._match, self.seed,
                    np.uint64(first), dealers, decks, done, rows, room, counts, work,
                )  # fmt: skip
            except Exception as error:
                number = first + int(np.argmax(rows["outcome"] == NONE))
                files = self.strategy(number, int(work[0].game.hidden.due)).files
                raise self._fault(number, work[0], raised(error, files)) from error
            if played < len(rows) and (not events or played == done):
                raise self._stopped(first + played, work[0])
            pieces.append(room[: int(counts[done:played].sum())])
            done = played
        return pieces[1] if len(pieces) == 2 else np.concatenate(pieces)

    def _in_steps(
        self, first: int, rows: np.ndarray, counts: np.ndarray, dealers: np.ndarray, decks: np.ndarray
    ) -> np.ndarray:
        """As `_at_once`, decision by decision."""
        stepper = Stepper(self)
        pieces = [np.zeros(0, EVENT)]
        for i in range(len(rows)):
            dealer = None
            if len(dealers):
                dealer = int(dealers[i])
            elif self._match and (first + i) % self._match:
                before = rows[i - 1]
                dealer = int(before.dealer if before.winner == NONE else before.winner)
            stepper.play(first + i, dealer, decks[i] if len(decks) else None)
            rows[i] = stepper.row[0]
            if len(counts):
                pieces.append(stepper.events)
                counts[i] = len(pieces[-1])
        return np.concatenate(pieces)

    def _stopped(self, number: int, work: np.record) -> SisepaiError:
        """Why the kernel stopped in the middle of a deal."""
        game = work.game
        if game.table.events > MOST_EVENTS:
            return SisepaiError(f"deal {number}: {TOO_LONG}")
        return self._fault(number, work, not_offered(game, int(work.choice)))

    def _fault(self, number: int, work: np.record, reason: str) -> StrategyFault:
        return StrategyFault(number, self.label(number, int(work.game.hidden.due)), work, reason)


def decks(
    rules: RuleSet, seed: int, first: int, count: int, attempt: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The decks `first` .. `first + count - 1`, after `attempt` redeals.

    Returns
    -------
    dealers : uint8[count]
    cards : uint8[count, pack]: hands in seat order, a dealer's extra card last in its hand, then the stock
    """
    dealers = np.zeros(count, np.uint8)
    cards = np.zeros((count, rules.pack_size), np.uint8)
    _deck_rows()(tables_array(rules), np.uint64(seed), np.uint64(first), attempt, dealers, cards, one(RNG))
    return dealers, cards
