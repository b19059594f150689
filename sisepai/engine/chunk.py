"""A chunk of deals in one kernel call: shuffle, drive the machine with the strategies, fill the rows.

Cost, one core at about 3 GHz: see benchmarks/. The strategies are entries of a table of first-class functions
(about 10 ns a call); tried and dropped: strategies as compile-time closures (never cached by Numba).
Numba takes half a millisecond to hand such a table to a kernel, so that a deal in steps has a kernel without one.
"""

import numba
import numpy as np

from sisepai.cards import NONE
from sisepai.engine.dealing import deal
from sisepai.engine.machine import go_on, submit
from sisepai.engine.randomness import DECK_STREAM, RNG, below, open_stream, shuffle
from sisepai.engine.records import (
    ALL_PARAMETERS,
    ANSWER_DUE,
    DEAL,
    ENTRIES,
    GAME,
    HISTORY,
    ILLEGAL,
    MOST_EVENTS,
    O_WIN,
    OVER,
    PARAMETERS,
    SCRATCH,
    SEATS,
    TABLE,
    TRIAL,
    View,
)
from sisepai.jit import inner, small
from sisepai.rules.hand import HAND
from sisepai.rules.offers import OFFERS
from sisepai.rules.tables import KIND_BITS, KIND_MASK, N_MELDS, POINTS_SHIFT, TABLES

DECK_RNG = SEATS  # place of the deck's generator after the seats'


def _record(dtype: np.dtype) -> numba.types.Record:
    return numba.from_dtype(dtype)


VIEW = numba.types.NamedTuple(
    [_record(TABLES), _record(TABLE), _record(HISTORY), _record(HAND), _record(OFFERS), numba.int64, _record(RNG),
     _record(PARAMETERS), _record(SCRATCH), _record(TRIAL)],
    View,
)  # fmt: skip
STRATEGY_SIGNATURE = numba.int64(VIEW)
_STRATEGY = numba.types.FunctionType(STRATEGY_SIGNATURE)
_STRATEGIES = numba.types.UniTuple(_STRATEGY, ENTRIES)


# Everything a thread writes while it plays a deal; `choice` is the last one, or in a deal in steps the next.
WORK = np.dtype(
    [("game", GAME), ("rng", RNG, SEATS + 1), ("scratch", SCRATCH, SEATS), ("trial", TRIAL, SEATS),
     ("redeals", "i8"), ("choice", "i8")],
    align=True,
)  # fmt: skip


def one(dtype: np.dtype) -> np.recarray:
    """An array of one empty record."""
    return np.zeros(1, dtype).view(np.recarray)


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
def start_deal(tables, work, seed, deck, dealer, given, row):
    """Deal deck number `deck`, again after each redeal, and note the dealt deadwood in the row.

    `dealer` may be NONE: then the deck tells. With `given` the first deck is in `hidden.deck` already.
    """
    game = work.game
    game.table.events = 0
    attempt = 0
    if not given:
        drawn = shuffle_deck(tables, work.rng[DECK_RNG], seed, deck, attempt, game.hidden.deck)
        dealer = drawn if dealer == NONE else dealer
    while deal(tables, game, dealer):
        attempt += 1
        shuffle_deck(tables, work.rng[DECK_RNG], seed, deck, attempt, game.hidden.deck)
    for seat in range(tables.players):
        open_stream(work.rng[seat], seed, deck, attempt, seat + 1)
    work.redeals = attempt
    for seat in range(SEATS):
        row.dealt_deadwood[seat] = game.hands[seat].dead if seat < tables.players else NONE


@inner
def ask(tables, work, answers, discards, parameters, seating):
    """The choice of the strategy whose seat is due; the deal stays as it is."""
    game = work.game
    seat = game.hidden.due
    entry = seating[seat]
    if parameters.entry[entry].sees_all:
        work.trial[seat].start = game
    view = View(
        tables, game.table, game.history, game.hands[seat], game.offers, seat, work.rng[seat],
        parameters.entry[entry], work.scratch[seat], work.trial[seat],
    )  # fmt: skip
    return answers[entry](view) if game.hidden.phase == ANSWER_DUE else discards[entry](view)


@small
def play_out(tables, work, answers, discards, parameters, seating):
    """Ask the strategies until the deal is over."""
    game = work.game
    while True:
        go_on(tables, game)
        if game.hidden.phase >= OVER:
            return
        work.choice = ask(tables, work, answers, discards, parameters, seating)
        submit(tables, game, work.choice)


@inner
def fill_row(tables, work, row):
    """One DEAL row from a deal that is over."""
    game = work.game
    table, hidden = game.table, game.hidden
    row.dealer = table.dealer
    row.redeals = work.redeals
    row.outcome = hidden.outcome
    row.winner = hidden.winner
    row.win_by = hidden.win_by
    row.from_seat = hidden.from_seat
    row.win_card = hidden.win_card
    row.score = hidden.worth >> POINTS_SHIFT
    row.draws = table.draws
    row.takes = table.takes
    row.discards = table.discards
    for kind in range(N_MELDS):
        row.melds[kind] = hidden.worth >> KIND_BITS * kind & KIND_MASK
    for seat in range(SEATS):
        if seat >= tables.players:
            row.end_deadwood[seat] = NONE
        elif hidden.outcome == O_WIN and seat == hidden.winner:
            row.end_deadwood[seat] = 0
        else:
            row.end_deadwood[seat] = game.hands[seat].dead


PLAY_CHUNK = numba.int64(
    numba.typeof(one(TABLES)), _STRATEGIES, _STRATEGIES, numba.typeof(one(ALL_PARAMETERS)), numba.uint8[:, ::1],
    numba.int64, numba.uint64, numba.uint64, numba.uint8[::1], numba.uint8[:, ::1], numba.int64,
    numba.typeof(one(DEAL)), numba.uint64[::1], numba.uint16[::1], numba.typeof(one(WORK)),
)  # fmt: skip


def play_chunk(
    tables, answers, discards, parameters, seatings, match, seed, first, dealers, decks, done, rows, events,
    event_counts, work,
):  # fmt: skip
    """Play the deals from number `first` on into `rows`; returns how many are there at the end.

    Deal i plays deck i // S under seating i % S. `dealers` and `decks` may hold those of each deal; where empty, both
    come from the seed. In matches of `match` deals (0: none) the winner of a deal deals the next one, after a drawn
    deal the dealer again; without `dealers` a chunk must begin with a match. The `done` deals played before are left
    alone. Stops early when fewer than MOST_EVENTS places are left in `events` (unless that is empty: then no events
    are kept), when a strategy chose what it may not, or when a deal has more than MOST_EVENTS events: `work` tells.
    """
    game = work[0].game
    n_seatings = np.uint64(len(seatings))
    filled = 0
    for i in range(done, len(rows)):
        if len(events) > 0 and filled + MOST_EVENTS > len(events):
            return i
        number = first + np.uint64(i)
        dealer = np.int64(NONE)
        if len(dealers) > 0:
            dealer = np.int64(dealers[i])
        elif match > 0 and number % np.uint64(match) > 0:
            dealer = np.int64(rows[i - 1].dealer if rows[i - 1].winner == NONE else rows[i - 1].winner)
        for j in range(decks.shape[1]):
            game.hidden.deck[j] = decks[i, j]
        start_deal(tables[0], work[0], seed, number // n_seatings, dealer, decks.shape[1] > 0, rows[i])
        seating = seatings[np.int64(number % n_seatings)]
        play_out(tables[0], work[0], answers, discards, parameters[0], seating)
        if game.hidden.phase == ILLEGAL or game.table.events > MOST_EVENTS:
            return i
        fill_row(tables[0], work[0], rows[i])
        if len(events) > 0:
            event_counts[i] = game.table.events
            for j in range(game.table.events):
                events[filled + j] = game.history.event[j]
            filled += game.table.events
    return len(rows)


STEP_DEAL = numba.void(
    numba.typeof(one(TABLES)), numba.typeof(one(WORK)), numba.boolean, numba.uint64, numba.uint64, numba.int64,
    numba.uint8[::1], numba.typeof(one(DEAL)),
)  # fmt: skip


def step_deal(tables, work, start, seed, deck, dealer, cards, row):
    """Begin a deal (`start`), or take the choice in `work`; play to the next choice or the end, and fill the row.

    `dealer` and `cards` as `start_deal` and `play_chunk` take them.
    """
    game = work[0].game
    if start:
        for j in range(len(cards)):
            game.hidden.deck[j] = cards[j]
        start_deal(tables[0], work[0], seed, deck, dealer, len(cards) > 0, row[0])
    else:
        submit(tables[0], game, work[0].choice)
    go_on(tables[0], game)
    if game.hidden.phase == OVER:
        fill_row(tables[0], work[0], row[0])


DECK_ROWS = numba.void(
    numba.typeof(one(TABLES)), numba.uint64, numba.uint64, numba.int64, numba.uint8[::1], numba.uint8[:, ::1],
    numba.typeof(one(RNG)),
)  # fmt: skip


def deck_rows(tables, seed, first, attempt, dealers, cards, rng):
    """Fill `dealers` and the rows of `cards` with the decks from number `first` on."""
    for i in range(len(dealers)):
        dealers[i] = shuffle_deck(tables[0], rng[0], seed, first + np.uint64(i), attempt, cards[i])
