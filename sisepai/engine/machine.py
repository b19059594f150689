"""The deal machine: knows which seat must do what, takes its answer, and goes on until the next answer is due.

`deal` starts a deal from a deck and `go_on` runs to where something is due: the seat `hidden.due` must answer a window
(phase ANSWER_DUE) or choose a discard (DISCARD_DUE). `submit` takes the choice, `go_on` goes on, until the phase is
OVER. Whatever drives a deal, these three are the only way in. Answers stay hidden until all seats of the window have
given theirs. A choice that was not offered stops the machine with phase ILLEGAL.

Cost: big functions have one place that calls them, so that the compiled kernel holds each of them once.
"""

import numpy as np

from sisepai.cards import N_TYPES, NONE
from sisepai.engine.history import log_meld, log_plain, log_win
from sisepai.engine.records import (
    ANSWER_DUE,
    BY_DISCARD,
    BY_OTHER_DRAW,
    BY_OWN_DRAW,
    DISCARD,
    DISCARD_DUE,
    DRAW,
    E_DEAD_HAND,
    E_DISCARD,
    E_DRAW,
    E_EXHAUSTED,
    E_TAKE,
    ILLEGAL,
    LAID,
    NO_WINDOW,
    O_DEAD_HAND,
    O_EXHAUSTED,
    O_WIN,
    OVER,
    PASS,
    RUNNING,
    WIN,
)
from sisepai.jit import inner, small
from sisepai.rules.hand import discardable, remove_card
from sisepai.rules.offers import (
    dead_after,
    is_win,
    lift_partners,
    list_melds,
    meld_worth,
    put_back_partners,
    refresh,
    win_worth,
)
from sisepai.rules.tables import FLOWERS, GENERALS, K_QUAD, K_TRIPLE, POINTS_SHIFT

# Places of a seat toward the card of a window: rows of `tables.may` (rules.ruleset.PLACES).
DRAWER, DRAW_NEXT, DRAW_OTHERS, DISCARD_NEXT, DISCARD_OTHERS = range(5)

# Levels of priority (docs/rules.md); a lower one goes first.
L_DRAWER_WIN, L_WIN, L_TRIPLE_QUAD, L_DRAWER_MELD, L_NEXT_MELD, L_NOBODY = range(1, 7)


@small
def go_on(tables, game):
    """Run until an answer or a discard is due, or the deal is over; nothing to do when one is due already."""
    table, hidden = game.table, game.hidden
    while hidden.phase == RUNNING:
        if hidden.pending and _ask_next(tables, game):
            return
        if hidden.level < L_NOBODY:
            _give_card(tables, game)
        elif table.window == DRAW or table.window == LAID:
            _open_discard(tables, game)  # a drawn card that nobody took becomes the drawer's discard
        elif table.stock > tables.undrawn:
            _open_draw(tables, game)
        else:
            table.window = NO_WINDOW
            hidden.phase = OVER
            hidden.outcome = O_EXHAUSTED
            log_plain(game, E_EXHAUSTED, NONE, NONE)


@small
def _open_draw(tables, game):
    """The seat after the last drawer or discarder draws; open the draw window."""
    table, hidden = game.table, game.hidden
    seat = table.actor + 1
    if seat == table.players:
        seat = 0
    card = np.int64(hidden.deck[hidden.next])
    hidden.next += 1
    table.stock -= 1
    table.draws += 1
    table.seen[card] += 1
    log_plain(game, E_DRAW, seat, card)
    table.window = DRAW
    table.actor = seat
    table.card = card
    hidden.pending = _wanted_by(tables, game, seat, card, DRAWER, DRAW_NEXT, DRAW_OTHERS)


@small
def _open_discard(tables, game):
    """The card of the table becomes the discard of its actor; open the discard window."""
    table, hidden = game.table, game.hidden
    seat, card = table.actor, table.card
    table.window = DISCARD
    table.discards += 1
    table.discarded[seat, card] += 1
    log_plain(game, E_DISCARD, seat, card)
    hidden.pending = _wanted_by(tables, game, seat, card, -1, DISCARD_NEXT, DISCARD_OTHERS)


@inner
def interested(tables, game):
    """Mask of the seats that may answer something but pass in the open window."""
    table = game.table
    if table.window == DRAW:
        return _wanted_by(tables, game, table.actor, table.card, DRAWER, DRAW_NEXT, DRAW_OTHERS)
    return _wanted_by(tables, game, table.actor, table.card, -1, DISCARD_NEXT, DISCARD_OTHERS)


@small
def _wanted_by(tables, game, actor, card, own, after, others):
    """`interested` by the rows of `wants` for each place (own < 0: none)."""
    mask = 0
    for seat in range(tables.players):
        distance = seat - actor
        if distance == 0:
            place = own
        elif distance == 1 or distance == 1 - game.table.players:
            place = after
        else:
            place = others
        if place >= 0:
            mask |= (game.hands[seat].wants[place] >> card & 1) << seat
    return mask


@small
def _place(table, seat):
    """The place of `seat` toward the card of the open window."""
    distance = (seat - table.actor) % table.players
    if table.window == DRAW:
        return min(distance, 2)
    return DISCARD_NEXT if distance == 1 else DISCARD_OTHERS


@small
def _ask_next(tables, game):
    """Make the next pending seat, in order of turn, due with its offers; False when none is left."""
    table, hidden = game.table, game.hidden
    for i in range(table.players):
        seat = (table.actor + i + (table.window == DISCARD)) % table.players
        if hidden.pending >> seat & 1:
            hidden.pending ^= 1 << seat
            _list_offers(tables, game, seat)
            if game.offers.n > 0 or game.offers.win:
                hidden.phase = ANSWER_DUE
                hidden.due = seat
                return True
    return False


@small
def _list_offers(tables, game, seat):
    """What `seat` may answer in the open window."""
    table, offers, hand = game.table, game.offers, game.hands[seat]
    card = table.card
    place = _place(table, seat)
    list_melds(tables, hand, card, place, offers)
    offers.win = hand.wins >> card & 1
    offers.forced = place == DRAWER and (GENERALS | FLOWERS) >> card & 1
    if offers.win:
        _drop_winning(tables, hand, card, offers)
    if tables.min_points > 0:
        _drop_dead(tables, hand, offers)


@inner
def _keep(offers, i, n):
    offers.kind[n] = offers.kind[i]
    for j in range(3):
        offers.partners[n, j] = offers.partners[i, j]
    return n + 1


@inner
def _drop_winning(tables, hand, card, offers):
    """A meld that completes the hand is no offer of its own: taking it so is the win."""
    n = 0
    for i in range(offers.n):
        if not is_win(tables, meld_worth(tables, hand, card, offers, i)):
            n = _keep(offers, i, n)
    offers.n = n


@inner
def _drop_dead(tables, hand, offers):
    """Drop melds that leave nothing to discard, unless a forced drawer would then have no answer at all."""
    n = 0
    locked = hand.locked
    live = 0
    for i in range(offers.n):
        lift_partners(tables, hand, offers, i)
        live |= (discardable(hand) != 0) << i
        put_back_partners(tables, hand, offers, i, locked)
    if offers.forced and not offers.win and live == 0:
        return
    for i in range(offers.n):
        if live >> i & 1:
            n = _keep(offers, i, n)
    offers.n = n


@small
def submit(tables, game, choice):
    """Take the choice that is due: WIN, PASS or the number of an offered meld; or the card to discard."""
    if game.hidden.phase == ANSWER_DUE:
        legal = _record_answer(game, choice)
    elif game.hidden.phase == DISCARD_DUE:
        legal = _lay_discard(tables, game, choice)
    else:
        legal = False
    game.hidden.phase = RUNNING if legal else ILLEGAL


@small
def _record_answer(game, choice):
    """Keep the answer if it goes before those given so far; False when it was not offered."""
    table, hidden, offers = game.table, game.hidden, game.offers
    seat = hidden.due
    own = table.window == DRAW and seat == table.actor
    if choice == WIN and offers.win:
        level = L_DRAWER_WIN if own else L_WIN
    elif choice == PASS and not offers.forced:
        return True
    elif 0 <= choice < offers.n:
        kind = offers.kind[choice]
        level = L_TRIPLE_QUAD if kind == K_TRIPLE or kind == K_QUAD else L_DRAWER_MELD if own else L_NEXT_MELD
    else:
        return False
    if level < hidden.level:
        hidden.level = level
        hidden.taker = seat
        if level > L_WIN:
            hidden.kind = offers.kind[choice]
            for j in range(3):
                hidden.partner[j] = offers.partners[choice, j]
    return True


@small
def _lay_discard(tables, game, card):
    """Lay a card of the hand on the table; False when it may not be discarded."""
    table, seat = game.table, game.hidden.due
    hand = game.hands[seat]
    if not (0 <= card < N_TYPES and discardable(hand) >> card & 1):
        return False
    remove_card(tables, hand, card)
    refresh(tables, hand, game.melds)
    table.cards[seat] = hand.cards
    table.seen[card] += 1
    table.window = LAID
    table.card = card
    return True


@small
def _give_card(tables, game):
    """All answers are in and somebody owns the card."""
    table, hidden = game.table, game.hidden
    level = hidden.level
    hidden.level = L_NOBODY
    if level > L_WIN:
        _take(tables, game)
        return
    worth = win_worth(tables, game.hands[hidden.taker], table.card, game.melds)
    by = BY_DISCARD if table.window == DISCARD else BY_OWN_DRAW if level == L_DRAWER_WIN else BY_OTHER_DRAW
    finish_win(game, hidden.taker, table.card, worth, by, table.actor)


@inner
def finish_win(game, seat, card, worth, by, from_seat):
    hidden = game.hidden
    hidden.phase = OVER
    hidden.outcome = O_WIN
    hidden.winner = seat
    hidden.worth = worth
    hidden.win_by = by
    hidden.from_seat = from_seat
    hidden.win_card = card
    log_win(game, seat, card, worth >> POINTS_SHIFT)


@small
def _take(tables, game):
    """Lay the chosen meld face up; then a discard is due from its seat."""
    table, hidden, offers = game.table, game.hidden, game.offers
    seat, kind, card = hidden.taker, hidden.kind, table.card
    hand = game.hands[seat]
    place = table.melds[seat]
    offers.kind[0] = kind
    for j in range(3):
        partner = hidden.partner[j]
        offers.partners[0, j] = partner
        table.meld_partners[seat, place, j] = partner
        if partner != NONE:
            table.seen[partner] += 1
    hand.dead = dead_after(tables, hand, offers, 0)
    lift_partners(tables, hand, offers, 0)
    hand.fixed += tables.exposed[kind, card]
    table.meld_kind[seat, place] = kind
    table.meld_card[seat, place] = card
    table.melds[seat] = place + 1
    table.takes += 1
    log_meld(game, E_TAKE, seat, card, kind, hidden.partner[0], hidden.partner[1], hidden.partner[2])
    await_discard(game, seat)


@inner
def await_discard(game, seat):
    """A discard is due from `seat`; where the rules leave it none, the deal ends with a dead hand."""
    table, hidden, offers, hand = game.table, game.hidden, game.offers, game.hands[seat]
    table.window = NO_WINDOW
    offers.n = 0
    offers.win = 0
    offers.forced = 0
    table.actor = seat
    table.cards[seat] = hand.cards
    hidden.due = seat
    if discardable(hand):
        hidden.phase = DISCARD_DUE
        return
    hidden.phase = OVER
    hidden.outcome = O_DEAD_HAND
    log_plain(game, E_DEAD_HAND, seat, NONE)
