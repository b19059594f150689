"""How the hidden cards may lie, in the light of what the others took, let pass and discarded; kernels.

A *world* is one way: the other hands and the order of the stock. Cards only leave a concealed hand. So a seat that let
a card pass hardly holds a pair of it now, nor two loose cards that make a command or field with it, nor what it would
have won with; a card that it discarded it hardly holds again; and with each meld it has laid down the fewer are its
loose cards. Hands are drawn with odds that say so, by exchanging single cards (Metropolis and others, "Equation of
state calculations by fast computing machines", 1953).

Tried and dropped: all deeds of a seat played again as `greedy` for each hand thought of, which is exact against
`greedy`; ten times as slow, and its worlds were no better to choose by.
"""

import numpy as np

from sisepai.cards import N_TYPES, NONE
from sisepai.engine.machine import DISCARD_NEXT, DISCARD_OTHERS, DRAW_OTHERS, L_NOBODY, interested
from sisepai.engine.randomness import below, next_word, shuffle
from sisepai.engine.records import (
    ANSWER_DUE,
    DISCARD_DUE,
    E_DISCARD,
    E_DRAW,
    E_REDEAL,
    E_SHOW,
    E_TAKE,
    NO_WINDOW,
    SEATS,
)
from sisepai.jit import bits, inner, small
from sisepai.rules.hand import add_card, fill_hand, held, loose_cards, remove_card
from sisepai.rules.offers import FIRST, SECOND, THIRD, find_wins, refresh
from sisepai.rules.tables import K_QUAD, RUN, SOLDIERS

# Logarithms of odds. Fitted (benchmarks/fit_belief.py) to tell true hands from such with one card exchanged, in 20,000
# deals of `ukeire` against three `greedy`; the third and fourth never happen to `greedy` and are cut.
PASSED_PAIR, DISCARDED, PASSED_RUN, PASSED_WIN = -1.47, -2.37, -8.0, -8.0
LONE, LOOSE_SOLDIER, DEADWOOD = -0.40, -0.23, -0.14  # times the exposed melds of the seat

FIRST_STEPS, STEPS = 500, 60  # exchanges that are tried before the first world, and between two
UINT32 = 4294967296.0


@inner
def set_up(view):
    """Fill `trial.start` with what the seat sees and `trial.belief` with what it knows; no world is in it yet."""
    start, belief = view.trial.start, view.trial.belief
    start.table = view.table
    start.offers = view.offers
    start.hands[view.seat] = view.hand
    hidden = start.hidden
    hidden.phase = DISCARD_DUE if view.table.window == NO_WINDOW else ANSWER_DUE
    hidden.due = view.seat
    hidden.pending = 0
    hidden.level = L_NOBODY
    hidden.outcome = NONE
    hidden.winner = NONE
    hidden.worth = 0
    n = 0
    for card in range(N_TYPES):
        for _ in range(view.tables.copies[card] - view.table.seen[card] - held(view.hand, card)):
            hidden.deck[n] = card
            n += 1
    belief.hidden = n
    belief.in_hands = n - view.table.stock
    belief.settled = 0
    for seat in range(view.tables.players):
        if seat != view.seat:
            start.hands[seat].fixed = _laid_open(view, seat)
    _read_history(view)


@inner
def _laid_open(view, seat):
    """Worth of a seat's exposed melds and of the dealt quads it has shown."""
    table, tables = view.table, view.tables
    worth, shown = np.int64(0), np.int64(0)
    for i in range(table.melds[seat]):
        worth += tables.exposed[table.meld_kind[seat, i], table.meld_card[seat, i]]
    if tables.show_dealt_quads:
        for i in range(table.events):
            event, who, card = _event(view.history, i)
            if event == E_REDEAL:
                shown = np.int64(0)
            elif event == E_SHOW and who == seat:
                shown += tables.concealed[K_QUAD, card]
    return worth + shown


@small
def _event(history, i):
    word = np.int64(history.event[i] & np.uint64(0xFFFFFF))
    return word & 255, word >> 8 & 255, word >> 16


@inner
def _read_history(view):
    """Fill the masks of `trial.belief` from the events of the deal, but for the open window."""
    history, belief = view.history, view.trial.belief
    _forget(belief)
    drawn = False
    for i in range(view.table.events - 1):
        event, seat, card = _event(history, i)
        if event == E_REDEAL:
            _forget(belief)
        elif event == E_DRAW or event == E_DISCARD:
            if event == E_DISCARD and not drawn:
                belief.discarded[seat] |= 1 << card
                belief.since[seat] = 0
            after, who, _ = _event(history, i + 1)
            taker = who if after == E_TAKE else -1
            _note_passes(view, event, seat, card, taker)
            if taker >= 0:
                belief.since[taker] = 0
        drawn = event == E_DRAW


@small
def _forget(belief):
    for seat in range(SEATS):
        belief.passed[seat] = 0
        belief.in_turn[seat] = 0
        belief.discarded[seat] = 0
        belief.since[seat] = 0


@small
def _note_passes(view, event, actor, card, taker):
    """A window has closed: who let its card pass."""
    belief, players = view.trial.belief, view.tables.players
    for seat in range(players):
        if seat == taker or (event == E_DISCARD and seat == actor):
            continue
        belief.passed[seat] |= 1 << card
        belief.since[seat] |= 1 << card
        distance = (seat - actor) % players
        if event == E_DRAW:
            place = min(distance, DRAW_OTHERS)
        else:
            place = DISCARD_NEXT if distance == 1 else DISCARD_OTHERS
        # Where another seat has taken it, a command or field may have had to give way.
        if taker < 0:
            belief.in_turn[seat] |= view.tables.may[place, RUN] & (1 << card)


@inner
def sample_world(view, likely):
    """Put the next world into `trial.start`: all alike, or with `likely` such as fit what the others did."""
    tables, start, belief = view.tables, view.trial.start, view.trial.belief
    hidden = start.hidden
    first = belief.settled == 0
    if first or not likely:
        _deal_hidden(view)
        belief.settled = 1
    if likely:
        _exchange(view, FIRST_STEPS if first else STEPS)
        _shuffle_stock(view)
    for seat in range(tables.players):
        if seat != view.seat:
            refresh(tables, start.hands[seat], start.melds)
    hidden.next = belief.in_hands
    if hidden.phase == ANSWER_DUE:
        hidden.pending = interested(tables, start) & ~(1 << view.seat)


@inner
def _deal_hidden(view):
    """Deal the hidden cards to the other hands and the stock, all ways alike."""
    tables, start, belief = view.tables, view.trial.start, view.trial.belief
    shuffle(view.rng, start.hidden.deck, belief.hidden)
    at = np.int64(0)
    for seat in range(tables.players):
        if seat != view.seat:
            hand, size = start.hands[seat], view.table.cards[seat]
            fixed = hand.fixed
            fill_hand(tables, hand, start.hidden.deck, at, size)
            hand.fixed = fixed
            for i in range(at, at + size):
                belief.owner[i] = seat
            belief.likelihood[seat] = _likelihood(view, seat, hand)
            at += size


@inner
def _shuffle_stock(view):
    deck, end = view.trial.start.hidden.deck, view.trial.belief.hidden
    for i in range(view.trial.belief.in_hands, end - 1):
        _exchange_cards(deck, i, i + below(view.rng, end - i))


@small
def _exchange_cards(deck, i, j):
    card = deck[i]
    deck[i] = deck[j]
    deck[j] = card


@inner
def _likelihood(view, seat, hand):
    """Logarithm of how likely it is that the seat holds this hand, up to a constant."""
    pairs, discarded, runs, wins, lone, soldiers, dead = terms(view, seat, hand)
    unlike_itself = PASSED_PAIR * pairs + DISCARDED * discarded + PASSED_RUN * runs + PASSED_WIN * wins
    untidy = LONE * lone + LOOSE_SOLDIER * soldiers + DEADWOOD * dead
    return unlike_itself + view.table.melds[seat] * untidy


@small
def terms(view, seat, hand):
    """What speaks against a hand of the seat, in the order of the constants above."""
    belief = view.trial.belief
    find_wins(view.tables, hand, view.trial.start.melds)
    loose, one = loose_cards(view.tables, hand), hand.one
    run = loose >> 1 & loose >> 2 & FIRST | loose << 1 & loose >> 1 & SECOND | loose << 1 & loose << 2 & THIRD
    paired = (one >> 1 | one >> 2) & FIRST | (one << 1 | one >> 1) & SECOND | (one << 1 | one << 2) & THIRD
    return (
        bits(belief.passed[seat] & hand.two),
        bits(belief.discarded[seat] & one),
        bits(belief.in_turn[seat] & run),
        np.int64(belief.since[seat] & hand.wins != 0),
        bits(loose & ~paired & ~SOLDIERS),
        bits(loose & SOLDIERS),
        hand.dead,
    )


@inner
def _exchange(view, steps):
    """Try to exchange a card of a hand for one of the stock or of another hand, `steps` times."""
    start, belief = view.trial.start, view.trial.belief
    deck = start.hidden.deck
    for _ in range(steps):
        i, j = below(view.rng, belief.in_hands), below(view.rng, belief.hidden)
        one, two = np.int64(deck[i]), np.int64(deck[j])
        seat, other = belief.owner[i], belief.owner[j] if j < belief.in_hands else np.int64(-1)
        if one == two or seat == other:
            continue
        mine = _with_other_card(view, seat, one, two)
        others = _with_other_card(view, other, two, one) if other >= 0 else 0.0
        gain = mine - belief.likelihood[seat]
        if other >= 0:
            gain += others - belief.likelihood[other]
        if gain >= 0 or next_word(view.rng) < np.exp(gain) * UINT32:
            _exchange_cards(deck, i, j)
            belief.likelihood[seat] = mine
            if other >= 0:
                belief.likelihood[other] = others
        else:
            _replace(view, seat, two, one)
            if other >= 0:
                _replace(view, other, one, two)


@inner
def _with_other_card(view, seat, old, new):
    """The likelihood of a hand after a card of it is replaced, which it is."""
    _replace(view, seat, old, new)
    return _likelihood(view, seat, view.trial.start.hands[seat])


@small
def _replace(view, seat, old, new):
    hand = view.trial.start.hands[seat]
    remove_card(view.tables, hand, old)
    add_card(view.tables, hand, new)
