"""The records a deal is made of: what all seats see, what nobody sees, and the rows that come out.

Records are passed to kernels by reference and copied as a whole, so a copied state is one assignment each.
"""

from typing import Any, NamedTuple

import numpy as np

from sisepai.cards import MELDS, N_TYPES
from sisepai.engine.randomness import RNG
from sisepai.rules.hand import HAND
from sisepai.rules.offers import OFFERS
from sisepai.rules.tables import MOST_CARDS

SEATS = 4
MOST_EXPOSED = 21  # every take costs a card of the hand, but the last of a dead hand
MOST_EVENTS = 512  # a deal has fewer than 300; the rest is for redeals

EVENT = np.dtype(
    [("event", "u1"), ("seat", "u1"), ("card", "u1"), ("meld", "u1"), ("with", "u1", 3), ("score", "u1")]
)

DEAL = np.dtype(
    [("dealer", "u1"), ("redeals", "u2"), ("outcome", "u1"), ("winner", "u1"), ("win_by", "u1"), ("from_seat", "u1"),
     ("win_card", "u1"), ("score", "u1"), ("draws", "u1"), ("takes", "u1"), ("discards", "u1"),
     ("melds", "u1", len(MELDS)), ("dealt_deadwood", "u1", SEATS), ("end_deadwood", "u1", SEATS)]
)  # fmt: skip

# What all seats see.
TABLE = np.dtype(
    [
        ("players", "i8"), ("dealer", "i8"),
        ("stock", "i8"),  # cards left in the stock
        ("window", "i8"), ("actor", "i8"), ("card", "i8"),  # the open window: kind, drawer or discarder, card
        ("draws", "i8"), ("takes", "i8"), ("discards", "i8"),
        ("seen", "i8", N_TYPES),  # cards seen by all: drawn, discarded, exposed or shown; each card once
        ("cards", "i8", SEATS),  # concealed cards of each seat
        ("melds", "i8", SEATS),  # exposed melds of each seat, and what they are
        ("meld_kind", "u1", (SEATS, MOST_EXPOSED)),
        ("meld_partners", "u1", (SEATS, MOST_EXPOSED, 3)),  # concealed cards laid with `meld_card`, NONE-padded
        ("meld_card", "u1", (SEATS, MOST_EXPOSED)),
        ("discarded", "u1", (SEATS, N_TYPES)),  # who discarded what (a drawn card nobody took included)
        ("events", "i8"),  # events so far, in HISTORY
    ],
    align=True,
)  # fmt: skip

# All events of the deal so far, eight bytes each in the layout of EVENT.
HISTORY = np.dtype([("event", "u8", MOST_EVENTS)])

# What the machine alone knows.
HIDDEN = np.dtype(
    [
        ("deck", "u1", MOST_CARDS),  # hands in seat order, a dealer's extra card last in its hand, then the stock
        ("next", "i8"),  # place in the deck of the next card to draw
        ("phase", "i8"), ("due", "i8"),  # what is due, and from which seat
        ("pending", "i8"),  # mask of seats that are still to answer the open window
        ("level", "i8"), ("taker", "i8"), ("kind", "i8"), ("partner", "i8", 3),  # the best answer so far
        ("outcome", "i8"), ("winner", "i8"), ("worth", "i8"), ("win_by", "i8"), ("from_seat", "i8"),
        ("win_card", "i8"),
    ],
    align=True,
)  # fmt: skip

MOST_PARAMETERS = 896  # of a strategy, its weights among them
PARAMETERS = np.dtype(
    [("value", "f8", MOST_PARAMETERS), ("sees_all", "i8")]  # sees_all: a yardstick that is shown the whole deal
)
ENTRIES = 4  # different strategies at one table
ALL_PARAMETERS = np.dtype([("entry", PARAMETERS, ENTRIES)])

# Windows and phases.
NO_WINDOW, DRAW, DISCARD, LAID = range(4)  # laid: a discard whose window is not open yet
RUNNING, ANSWER_DUE, DISCARD_DUE, OVER, ILLEGAL = range(5)

# Answers other than the number of an offered meld.
PASS, WIN = -1, -2

# Events and outcomes by their numbers in cards.py.
E_SHOW, E_REDEAL, E_DRAW, E_TAKE, E_DISCARD, E_WIN, E_EXHAUSTED, E_DEAD_HAND = range(8)
O_WIN, O_EXHAUSTED, O_DEAD_HAND = range(3)
BY_OWN_DRAW, BY_OTHER_DRAW, BY_DISCARD, BY_DEALT = range(4)


# One deal in progress, as the machine holds it; a copy of the record is a copy of the deal.
GAME = np.dtype(
    [("table", TABLE), ("hidden", HIDDEN), ("hands", HAND, SEATS), ("offers", OFFERS),
     ("melds", OFFERS), ("history", HISTORY)],
    align=True,
)  # fmt: skip

# Room for a hand to try things on, and masks of the cards that are live in at least one, two, three, four copies.
SCRATCH = np.dtype([("hand", HAND), ("melds", OFFERS), ("live", "i8", 4), ("open", "i8")], align=True)

MOST_CHOICES = 32  # of one decision: discards, or offered melds and pass

# What a strategy that plays deals out thought of its choices the last time it was asked.
ESTIMATES = np.dtype(
    [("n", "i8"), ("choice", "i8", MOST_CHOICES), ("samples", "i8", MOST_CHOICES),
     ("mean", "f8", MOST_CHOICES), ("error", "f8", MOST_CHOICES)],
    align=True,
)  # fmt: skip

# What a seat knows of the others, as masks by seat, and what follows for the hidden cards (strategies/belief.py).
BELIEF = np.dtype(
    [
        ("passed", "i8", SEATS),  # cards that the seat let pass
        ("in_turn", "i8", SEATS),  # of them those that it might have laid as command or field
        ("discarded", "i8", SEATS),  # cards that it laid down from its hand
        ("since", "i8", SEATS),  # cards that it let pass since its hand last changed
        ("likelihood", "f8", SEATS),  # of the hand it has in `trial.start`: logarithm, up to a constant
        ("owner", "i8", MOST_CARDS),  # seats whose hands the first cards of the deck of `trial.start` are
        ("in_hands", "i8"), ("hidden", "i8"),  # how many cards the others hold, and with the stock
        ("settled", "i8"),  # whether `trial.start` holds a world already
    ],
    align=True,
)  # fmt: skip

# Choices against one another: what each brought in the last world, and sums of the squares by which two differed.
CONTEST = np.dtype(
    [("brought", "f8", MOST_CHOICES), ("apart", "f8", (MOST_CHOICES, MOST_CHOICES)), ("alive", "i8"), ("worlds", "i8")],
    align=True,
)  # fmt: skip

# Room for a seat to play deals out: a deal to start from, one that is played, and what its players need.
TRIAL = np.dtype(
    [("start", GAME), ("game", GAME), ("scratch", SCRATCH), ("parameters", PARAMETERS), ("rng", RNG, SEATS),
     ("estimates", ESTIMATES), ("belief", BELIEF), ("contest", CONTEST)],
    align=True,
)  # fmt: skip


class View(NamedTuple):
    """What a seat sees when it answers a window or chooses a discard.

    Strategies read it; they write to `rng`, `scratch` and `trial` alone, which are the seat's own. What those last two
    hold when a strategy is asked is undefined, but for `trial.start` of a yardstick that is shown the whole deal. So is
    what lies beyond those in use: the first `n` of `offers` (at a discard `n`, `win` and `forced` are 0), the first
    `melds` of each seat in `table`, and the first `table.events` of `history`.
    """

    tables: Any  # rules.tables.TABLES
    table: Any  # TABLE
    history: Any  # HISTORY
    hand: Any  # rules.hand.HAND of the seat
    offers: Any  # OFFERS
    seat: int
    rng: Any  # randomness.RNG, the seat's own stream
    parameters: Any  # PARAMETERS of its strategy
    scratch: Any  # SCRATCH
    trial: Any  # TRIAL
