"""A chunk of deals in one kernel call: shuffle, drive the machine with the strategies, fill the rows.

Cost, one core at about 3 GHz: see benchmarks/. The strategies are entries of a table of first-class functions
(about 10 ns a call); tried and dropped: strategies as compile-time closures (never cached by Numba).
"""

import numba
import numpy as np

from sisepai.cards import MELDS, NONE
from sisepai.engine.machine import deal, submit_answer, submit_discard
from sisepai.engine.randomness import DECK_STREAM, RNG, below, open_stream, shuffle
from sisepai.engine.records import (
    ANSWER_DUE,
    DEAL,
    HIDDEN,
    HISTORY,
    ILLEGAL,
    MOST_EVENTS,
    O_WIN,
    OFFERS,
    OVER,
    PARAMETERS,
    SEATS,
    TABLE,
    Game,
    View,
)
from sisepai.jit import inner, kernel
from sisepai.rules.hand import HAND, MELD_LIST
from sisepai.rules.tables import TABLES

ENTRIES = 4  # different strategies in one chunk
DECK_RNG = SEATS  # place of the deck's generator after the seats'


def _record(dtype: np.dtype) -> numba.types.Record:
    return numba.from_dtype(dtype)


VIEW = numba.types.NamedTuple(
    [_record(TABLES), _record(TABLE), _record(HISTORY), _record(HAND), _record(OFFERS), numba.int64, _record(RNG),
     _record(PARAMETERS)],
    View,
)  # fmt: skip
STRATEGY_SIGNATURE = numba.int64(VIEW)
_STRATEGY = numba.types.FunctionType(STRATEGY_SIGNATURE)
_STRATEGIES = numba.types.UniTuple(_STRATEGY, ENTRIES)


class Workspace:
    """The records of one deal in progress, for one thread."""

    def __init__(self) -> None:
        self.table = np.zeros(1, TABLE).view(np.recarray)
        self.history = np.zeros(1, HISTORY).view(np.recarray)
        self.hands = np.zeros(SEATS, HAND).view(np.recarray)
        self.offers = np.zeros(1, OFFERS).view(np.recarray)
        self.hidden = np.zeros(1, HIDDEN).view(np.recarray)
        self.melds = np.zeros(1, MELD_LIST).view(np.recarray)
        self.rngs = np.zeros(SEATS + 1, RNG).view(np.recarray)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The records in the order of the kernel's arguments."""
        return self.table, self.history, self.hands, self.offers, self.hidden, self.melds, self.rngs


@inner
def shuffle_deck(tables, rng, seed, deck, attempt, cards):
    """The deck of (seed, deck, attempt) into `cards`; returns the dealer, who is drawn first."""
    open_stream(rng, seed, deck, attempt, DECK_STREAM)
    dealer = below(rng, tables.players)
    for i in range(len(cards)):
        cards[i] = tables.cards[i]
    shuffle(rng, cards, tables.pack)
    return dealer


@inner
def start_deal(game, rngs, seed, deck, dealer):
    """Deal deck number `deck`, again after each redeal; returns how many redeals there were.

    With a `dealer` the first deck is already in `hidden.deck`; with NONE it comes from the seed.
    """
    game.table.events = 0
    attempt = 0
    if dealer == NONE:
        dealer = shuffle_deck(game.tables, rngs[DECK_RNG], seed, deck, attempt, game.hidden.deck)
    while deal(game, dealer):
        attempt += 1
        shuffle_deck(game.tables, rngs[DECK_RNG], seed, deck, attempt, game.hidden.deck)
    for seat in range(game.tables.players):
        open_stream(rngs[seat], seed, deck, attempt, seat + 1)
    return attempt


@inner
def play_out(game, rngs, answers, discards, parameters, seating):
    """Ask the strategies until the deal is over."""
    hidden = game.hidden
    while hidden.phase < OVER:
        seat = hidden.due
        entry = seating[seat]
        view = View(
            game.tables, game.table, game.history, game.hands[seat], game.offers, seat, rngs[seat], parameters[entry]
        )
        if hidden.phase == ANSWER_DUE:
            submit_answer(game, answers[entry](view))
        else:
            submit_discard(game, discards[entry](view))


@inner
def fill_row(game, row, redeals):
    """One DEAL row from a deal that is over."""
    table, hidden = game.table, game.hidden
    row.dealer = table.dealer
    row.redeals = redeals
    row.outcome = hidden.outcome
    row.winner = hidden.winner
    row.win_by = hidden.win_by
    row.from_seat = hidden.from_seat
    row.win_card = hidden.win_card
    row.score = hidden.worth >> 5 * len(MELDS)
    row.draws = table.draws
    row.takes = table.takes
    row.discards = table.discards
    for kind in range(len(MELDS)):
        row.melds[kind] = hidden.worth >> 5 * kind & 31
    for seat in range(SEATS):
        if seat >= table.players:
            row.end_deadwood[seat] = NONE
        elif hidden.outcome == O_WIN and seat == hidden.winner:
            row.end_deadwood[seat] = 0
        else:
            row.end_deadwood[seat] = game.hands[seat].dead


@kernel(
    numba.int64(
        numba.typeof(np.zeros(1, TABLES).view(np.recarray)), _STRATEGIES, _STRATEGIES,
        numba.typeof(np.zeros(ENTRIES, PARAMETERS).view(np.recarray)), numba.uint8[:, ::1], numba.uint64, numba.uint64,
        numba.uint8[::1], numba.uint8[:, ::1],
        numba.typeof(np.zeros(1, DEAL).view(np.recarray)), numba.uint64[::1], numba.uint16[::1],
        *[numba.typeof(array) for array in Workspace().arrays()],
    )
)  # fmt: skip
def play_chunk(
    tables, answers, discards, parameters, seatings, seed, first, dealers, decks, rows, events, event_counts,
    table, history, hands, offers, hidden, melds, rngs,
):  # fmt: skip
    """Play `len(rows)` deals from number `first` on; returns how many were played.

    Deal i plays deck i // S under seating i % S. `dealers` and `decks` may hold the deck of each deal; empty, the
    decks come from the seed. Stops early when fewer than MOST_EVENTS places are left in
    `events` (unless that is empty: then no events are kept) or when a strategy chose what it may not.
    """
    game = Game(tables[0], table[0], history[0], hands, offers[0], hidden[0], melds[0])
    n_seatings = np.uint64(len(seatings))
    filled = 0
    for i in range(len(rows)):
        if len(events) > 0 and filled + MOST_EVENTS > len(events):
            return i
        number = first + np.uint64(i)
        dealer = np.int64(NONE)
        if len(dealers) > 0:
            dealer = np.int64(dealers[i])
            for j in range(decks.shape[1]):
                game.hidden.deck[j] = decks[i, j]
        redeals = start_deal(game, rngs, seed, number // n_seatings, dealer)
        for seat in range(SEATS):
            rows[i].dealt_deadwood[seat] = game.hands[seat].dead if seat < game.tables.players else NONE
        play_out(game, rngs, answers, discards, parameters, seatings[np.int64(number % n_seatings)])
        if game.hidden.phase == ILLEGAL:
            return i
        fill_row(game, rows[i], redeals)
        if len(events) > 0:
            event_counts[i] = game.table.events
            for j in range(game.table.events):
                events[filled + j] = game.history.event[j]
            filled += game.table.events
    return len(rows)


@kernel(
    numba.void(
        numba.typeof(np.zeros(1, TABLES).view(np.recarray)), numba.uint64, numba.uint64, numba.int64,
        numba.uint8[::1], numba.uint8[:, ::1], numba.typeof(Workspace().rngs),
    )
)  # fmt: skip
def deck_rows(tables, seed, first, attempt, dealers, cards, rngs):
    """Fill `dealers` and the rows of `cards` with the decks from number `first` on."""
    for i in range(len(dealers)):
        dealers[i] = shuffle_deck(tables[0], rngs[DECK_RNG], seed, first + np.uint64(i), attempt, cards[i])
