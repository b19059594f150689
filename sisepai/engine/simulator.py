"""`Simulator`: numbered deals of one rule set, one set of strategies and one seed."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from sisepai.cards import N_TYPES
from sisepai.engine import chunk
from sisepai.engine.chunk import STRATEGY_SIGNATURE, WORK, one
from sisepai.engine.randomness import RNG
from sisepai.engine.records import ALL_PARAMETERS, DEAL, ENTRIES, EVENT, MOST_EVENTS
from sisepai.errors import InputError, SisepaiError
from sisepai.jit import kernel
from sisepai.rules.ruleset import RuleSet
from sisepai.rules.tables import TABLES, build_tables

EVENTS_A_DEAL = 64  # first guess for the room events need; more is made when it does not do
NO_SEATS, NO_DECKS = np.zeros(0, np.uint8), np.zeros((0, 0), np.uint8)
NO_EVENTS, NO_COUNTS = np.zeros(0, np.uint64), np.zeros(0, np.uint16)


class Compiled(NamedTuple):
    """A strategy as the kernels call it: two first-class functions and its parameters."""

    answer: Callable
    discard: Callable
    values: Sequence[float]
    sees_all: bool = False


class Entry(Protocol):
    """What `Simulator` asks of an entry (strategies.base.Entry)."""

    def compiled(self) -> Compiled:
        """The kernel form of the strategy, with its parameters."""


class Chunk(NamedTuple):
    """Deals in order of their numbers.

    `rows` is DEAL[count]; `events` EVENT[total] and `event_counts` uint16[count], or both None.
    """

    rows: np.ndarray
    events: np.ndarray | None
    event_counts: np.ndarray | None


def compile_function(function: Callable) -> Callable:
    """The kernel form of an `answer` or `discard` function over a View."""
    return kernel(STRATEGY_SIGNATURE)(function)


@cache
def _play_chunk() -> Callable:
    return kernel(chunk.PLAY_CHUNK)(chunk.play_chunk)


@cache
def _ask_strategy() -> Callable:
    return kernel(chunk.ASK_STRATEGY)(chunk.ask_strategy)


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
        Matches under more than one seating.

    Safe to call from any number of threads; kernels run without the GIL.
    """

    def __init__(
        self, rules: RuleSet, entries: Sequence[Entry], seatings: np.ndarray, seed: int, match: int = 0
    ) -> None:
        if match and len(seatings) > 1:
            raise InputError("a match is played under one seating; use --seating fixed")
        strategies = [entry.compiled() for entry in entries]
        padded = [*strategies, *[strategies[0]] * (ENTRIES - len(strategies))]
        self.tables = tables_array(rules)
        self._answers = tuple(strategy.answer for strategy in padded)
        self._discards = tuple(strategy.discard for strategy in padded)
        self.parameters = one(ALL_PARAMETERS)
        for i, strategy in enumerate(strategies):
            self.parameters["entry"]["value"][0, i, : len(strategy.values)] = strategy.values
            self.parameters["entry"]["sees_all"][0, i] = strategy.sees_all
        self._seatings = np.ascontiguousarray(seatings, dtype=np.uint8)
        self._seed = np.uint64(seed)
        self._match = match
        self._kernel = _play_chunk()  # compiled here, so that playing is all playing

    def play(self, first: int, count: int, events: bool = False, dealers: np.ndarray | None = None) -> Chunk:
        """Play the deals `first` .. `first + count - 1`; `dealers` uint8[count] deal instead of those of the plan.

        In a run of matches a chunk begins with a match, unless the dealers are given.

        Raises
        ------
        SisepaiError
            A strategy answered something that was not offered; the message names the deal.
        """
        given = self.checked(count, NO_SEATS if dealers is None else dealers, NO_DECKS, first)
        return self._play(first, count, events, *given)

    def play_decks(
        self, dealers: np.ndarray, cards: np.ndarray, events: bool = False, first: int = 0
    ) -> Chunk:
        """Play given decks (`dealers` uint8[count], `cards` uint8[count, pack] as `decks` returns them).

        They take the numbers from `first` on for seatings and random streams. Raises as `play`.
        """
        given = self.checked(len(cards), dealers, cards, first)
        return self._play(first, len(dealers), events, *given)

    def checked(
        self, count: int, dealers: np.ndarray, decks: np.ndarray, first: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The dealers and decks of `count` deals, either of which may be empty; kernels check no bounds.

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
        if (len(dealers) or len(decks)) and (dealers.shape != (count,) or dealers.max(initial=0) >= players):
            raise ValueError(f"dealers: must be {count} seats below {players}")
        return np.ascontiguousarray(dealers, np.uint8), np.ascontiguousarray(decks, np.uint8)

    def entry(self, number: int, seat: int) -> int:
        """Which entry sits on `seat` in deal `number`."""
        return int(self._seatings[number % len(self._seatings), seat])

    def run(
        self, first: int, rows: np.ndarray, work: np.recarray, *, done: int = 0,
        dealers: np.ndarray = NO_SEATS, decks: np.ndarray = NO_DECKS, room: np.ndarray = NO_EVENTS,
        counts: np.ndarray = NO_COUNTS, pause: int = 0,
    ) -> int:  # fmt: skip
        """One call of the kernel (`chunk.play_chunk`), whose arguments these are."""
        return self._kernel(
            self.tables, self._answers, self._discards, self.parameters, self._seatings, self._match, self._seed,
            np.uint64(first), dealers, decks, done, rows, room, counts, work, pause,
        )  # fmt: skip

    def ask(self, number: int, work: np.recarray) -> int:
        """The choice of the strategy whose seat is due in the paused deal `number`."""
        seating = self._seatings[number % len(self._seatings)]
        return _ask_strategy()(self.tables, self._answers, self._discards, self.parameters, seating, work)

    def _play(self, first: int, count: int, events: bool, dealers: np.ndarray, decks: np.ndarray) -> Chunk:
        rows = np.zeros(count, DEAL).view(np.recarray)
        counts = np.zeros(count if events else 0, np.uint16)
        pieces = [NO_EVENTS]
        done = 0
        while done < count:
            room = np.empty((count - done) * EVENTS_A_DEAL + MOST_EVENTS if events else 0, np.uint64)
            work = one(WORK)
            played = self.run(
                first, rows, work, done=done, dealers=dealers, decks=decks, room=room, counts=counts
            )
            if played < count and (not events or played == done):
                raise SisepaiError(f"deal {first + played}: {_fault(work[0].game)}")
            pieces.append(room[: int(counts[done:played].sum())])
            done = played
        if not events:
            return Chunk(rows, None, None)
        words = pieces[1] if len(pieces) == 2 else np.concatenate(pieces)
        return Chunk(rows, words.view(EVENT), counts)


def _fault(game: np.record) -> str:
    """Why the kernel stopped in the middle of a deal."""
    if game.table.events > MOST_EVENTS:
        return f"more than {MOST_EVENTS} events; the rules redeal too often"
    return f"the strategy of seat {game.hidden.due} chose what was not offered"


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
