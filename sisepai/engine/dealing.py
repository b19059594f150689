"""The start of a deal: hands from a deck, dealt quads shown and triples locked, a dealt win, a redeal."""

from sisepai.cards import N_TYPES, NONE
from sisepai.engine.history import log_meld, log_plain
from sisepai.engine.machine import L_NOBODY, await_discard, finish_win
from sisepai.engine.records import BY_DEALT, E_REDEAL, E_SHOW, NO_WINDOW, RUNNING, SEATS
from sisepai.jit import inner
from sisepai.rules.hand import best_worth, fill_hand, set_aside
from sisepai.rules.offers import LOW_28, is_win, refresh
from sisepai.rules.tables import ANY_MELD, COLOURS4, FLOWERS, GENERALS, K_QUAD, QUAD


@inner
def deal(tables, game, dealer):
    """Start a deal from `hidden.deck`; True when it is annulled and must be dealt again from the next deck.

    The history is continued, not cleared: a redealt deal tells of its earlier attempts.
    """
    table, hidden = game.table, game.hidden
    _clear_table(tables, game, dealer)
    place = 0
    for seat in range(tables.players):
        size = tables.hand_size + (tables.dealer_leads and seat == dealer)
        fill_hand(tables, game.hands[seat], hidden.deck, place, size)
        place += size
    hidden.next = place
    table.stock = tables.pack - place
    for i in range(tables.players):
        _settle_dealt_hand(tables, game, (dealer + i) % tables.players)
    if tables.dealer_leads and _wins_dealt(tables, game, dealer):
        return False
    if tables.redeal and _redeal(tables, game, dealer):
        return True
    hidden.phase = RUNNING
    table.actor = (dealer + tables.players - 1) % tables.players
    if tables.dealer_leads:
        await_discard(game, dealer)
    return False


@inner
def _clear_table(tables, game, dealer):
    table, hidden = game.table, game.hidden
    table.players = tables.players
    table.dealer = dealer
    table.window = NO_WINDOW
    table.actor = dealer
    table.card = NONE
    table.draws = 0
    table.takes = 0
    table.discards = 0
    for card in range(N_TYPES):
        table.seen[card] = 0
    for seat in range(SEATS):
        table.melds[seat] = 0
        table.cards[seat] = 0
        for card in range(N_TYPES):
            table.discarded[seat, card] = 0
    hidden.pending = 0
    hidden.level = L_NOBODY
    hidden.outcome = NONE
    hidden.winner = NONE
    hidden.worth = 0
    hidden.win_by = NONE
    hidden.from_seat = NONE
    hidden.win_card = NONE


@inner
def _settle_dealt_hand(tables, game, seat):
    """Show dealt quads, lock dealt triples, and see what the hand is worth."""
    table = game.table
    hand = game.hands[seat]
    if tables.show_dealt_quads:
        for card in range(N_TYPES):
            if hand.count[card] == 4 and tables.may[ANY_MELD, QUAD] >> card & 1:
                set_aside(tables, hand, card, 4, False)
                table.seen[card] += 4
                log_meld(game, E_SHOW, seat, card, K_QUAD, NONE, NONE, NONE)
    if tables.lock_dealt_triples:
        for card in range(N_TYPES):
            if hand.count[card] == 3 and not (GENERALS | FLOWERS) >> card & 1:
                set_aside(tables, hand, card, 3, True)
    refresh(tables, hand, game.melds)
    table.cards[seat] = hand.cards


@inner
def _wins_dealt(tables, game, dealer):
    """A dealer whose cards are complete as dealt wins at once."""
    hand = game.hands[dealer]
    if hand.dead > 0:
        return False
    worth = best_worth(tables, hand) + hand.fixed
    if not is_win(tables, worth):
        return False
    finish_win(game, dealer, NONE, worth, BY_DEALT, NONE)
    return True


@inner
def _redeal(tables, game, dealer):
    """Log a redeal for each seat entitled to one; True when there is any."""
    any_seat = False
    for i in range(tables.players):
        seat = (dealer + i) % tables.players
        if _may_redeal(tables, game.hands[seat]):
            log_plain(game, E_REDEAL, seat, NONE)
            any_seat = True
    return any_seat


@inner
def _may_redeal(tables, hand):
    """No General, triple, quad or four colours in the dealt hand (quads and locked triples are in `fixed`)."""
    one = hand.one
    four_colours = one & (one >> 7) & (one >> 14) & (one >> 21) & tables.may[ANY_MELD, COLOURS4] & LOW_28
    return one & GENERALS == 0 and hand.three & ~FLOWERS == 0 and hand.fixed == 0 and four_colours == 0
