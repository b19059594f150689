"""Deals played out on copies, by the deal machine that plays every deal; kernels.

`trial.start` holds a deal in which a choice of the view's seat is due, all hands and the stock known. `play_choice`
plays it to its end in `trial.game`. Nothing is allocated.
"""

import numpy as np

from sisepai.cards import N_TYPES
from sisepai.engine.machine import go_on, submit
from sisepai.engine.records import ANSWER_DUE, MOST_EVENTS, NO_WINDOW, OVER, PASS, WIN, View
from sisepai.jit import inner
from sisepai.rules.hand import discardable
from sisepai.rules.tables import POINTS_SHIFT
from sisepai.strategies import greedy, ukeire

GREEDY, UKEIRE = range(2)  # who plays the own seat on


@inner
def list_choices(view):
    """Fill `trial.estimates` with all that the seat may choose, nothing known of it yet."""
    offers, estimates = view.offers, view.trial.estimates
    answers = view.table.window != NO_WINDOW
    legal = discardable(view.hand)
    n = 0
    for choice in range(WIN, offers.n if answers else N_TYPES):
        if choice == WIN:
            may = answers and offers.win == 1
        elif choice == PASS:
            may = answers and offers.forced == 0
        else:
            may = answers or legal >> choice & 1 == 1
        if may:
            estimates.choice[n] = choice
            estimates.samples[n] = 0
            estimates["mean"][n] = 0.0  # to plain Python `.mean` is a method
            estimates.error[n] = 0.0
            n += 1
    estimates.n = n


@inner
def play_choice(view, choice, own):
    """Play `choice` in a copy of `trial.start` and then the deal out: the own seat as `own`, the others as `greedy`.

    `ukeire` plays with `trial.parameters`.
    """
    tables, trial = view.tables, view.trial
    game = trial.game
    hidden = game.hidden
    game.table = trial.start.table
    game.table.events = MOST_EVENTS  # so that no history is kept: nobody reads it
    game.hidden = trial.start.hidden
    game.offers = trial.start.offers
    for seat in range(tables.players):
        game.hands[seat] = trial.start.hands[seat]
    while True:
        submit(tables, game, choice)
        go_on(tables, game)
        if hidden.phase >= OVER:
            return
        choice = policy_choice(view, game, own)


@inner
def policy_choice(view, game, own):
    """What the seat that is due in a deal of the trial chooses: the view's seat as `own`, the others as `greedy`."""
    trial, seat = view.trial, game.hidden.due
    asked = View(
        view.tables, game.table, game.history, game.hands[seat], game.offers, seat, trial.rng[seat], trial.parameters,
        trial.scratch, trial,
    )  # fmt: skip
    answers = game.hidden.phase == ANSWER_DUE
    if own == UKEIRE and seat == view.seat:
        return ukeire.answer(asked) if answers else ukeire.discard(asked)
    return greedy.answer(asked) if answers else greedy.discard(asked)


@inner
def result(view, by_score):
    """What the deal that was played out brought the seat: 1 for a win, or its score."""
    hidden = view.trial.game.hidden
    if hidden.winner != view.seat:
        return 0.0
    return np.float64(hidden.worth >> POINTS_SHIFT) if by_score else 1.0
