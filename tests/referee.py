"""A quick referee: follows the events of very many deals card by card, and tells the first breach of each.

It knows who holds what and what is due, but not what a seat might have wanted; `naive_deal.check_events` knows
that too, at a thousandth of the speed. Redealt deals are left to it.
"""

import numba
import numpy as np
from engine_tools import rules_of
from hand_tools import END
from naive import FLOWER

from sisepai.cards import MELDS, N_TYPES, NONE
from sisepai.engine.simulator import tables_array
from sisepai.rules.hand import HAND, add_card, deadwood, fill_hand
from sisepai.rules.ruleset import PLACES

SHOW, REDEAL, DRAW, TAKE, DISCARD, WIN, EXHAUSTED, DEAD_HAND = range(8)
DUE_FIRST, DUE_WINDOW, DUE_DISCARD, DONE = range(4)
BREACHES = (
    "", "an unknown event", "a show of cards not held", "a draw out of turn", "a card that is not next in the stock",
    "a draw from an exhausted stock", "a discard that was not due", "a discard of a card not held",
    "a discard of a General, a flower or a locked card", "a take without a card to take", "a take by the discarder",
    "a take that its place does not allow", "a take with cards not held", "a take that is no such meld",
    "a win that was not due", "a win with cards left over", "exhausted with stock left", "a dead hand with a discard",
    "events after the end", "no end", "counts that differ from the row", "a result that differs from the row",
)  # fmt: skip


@numba.njit(cache=True)
def is_meld(kind, card, partners):
    """Whether a card and its partners (255-padded) are a meld of this kind by MELDS, whatever the rule set."""
    size = 1
    for partner in partners:
        size += partner != END
    if kind <= 3:  # single, pair, triple, quad
        for partner in partners[: size - 1]:
            if partner != card:
                return False
        return size == kind + 1 and (size > 1 or card == FLOWER or card % 7 == 0)
    if card == FLOWER:
        return False
    ranks, colours = 1 << card % 7, 1 << card // 7
    for partner in partners[: size - 1]:
        if partner == FLOWER:
            return False
        ranks |= 1 << partner % 7
        colours |= 1 << partner // 7
    n_colours = (colours & 1) + (colours >> 1 & 1) + (colours >> 2 & 1) + (colours >> 3 & 1)
    if kind == 4 or kind == 5:  # command, field
        return size == 3 and n_colours == 1 and ranks == (0b111 if kind == 4 else 0b111000)
    if size != n_colours or size != (3 if kind % 2 == 0 else 4):
        return False
    return ranks == 1 << 6 if kind <= 7 else ranks in (2, 4, 8, 16, 32)


@numba.njit(cache=True)
def honour(card):
    """A General or a flower."""
    return card == FLOWER or card % 7 == 0


@numba.njit(cache=True)
def breach(tables, takes, dealer, deck, row, events, hands, lock, hand):
    """Number in BREACHES of the first thing wrong with a deal, 0 for none; `hands` and `lock` are scratch."""
    players = tables.players
    place = 0
    for seat in range(players):
        for card in range(N_TYPES):
            hands[seat, card] = 0
            lock[seat, card] = 0
        for _ in range(tables.hand_size + (tables.dealer_leads and seat == dealer)):
            hands[seat, deck[place]] += 1
            place += 1
        if tables.lock_dealt_triples:
            for card in range(N_TYPES):
                lock[seat, card] = hands[seat, card] == 3 and not honour(card)
    due = DUE_DISCARD if tables.dealer_leads else DUE_FIRST
    actor = dealer if tables.dealer_leads else (dealer + players - 1) % players
    drawn, card_open = False, NONE
    draws, takes_made, discards = 0, 0, 0
    for i in range(len(events)):
        event, seat, card = events[i, 0], events[i, 1], events[i, 2]
        if due == DONE:
            return 18
        if event == SHOW:
            if hands[seat, card] != 4 or draws + takes_made + discards > 0:
                return 2
            hands[seat, card] = 0
        elif event == DRAW:
            if due == DUE_DISCARD or drawn or seat != (actor + 1) % players:
                return 3
            if place >= tables.pack - tables.undrawn:
                return 5
            if card != deck[place]:
                return 4
            place += 1
            draws += 1
            due, drawn, actor, card_open = DUE_WINDOW, True, seat, card
        elif event == DISCARD:
            if due == DUE_FIRST or seat != actor or (due == DUE_WINDOW and not (drawn and card == card_open)):
                return 6
            if honour(card) or (due == DUE_DISCARD and lock[seat, card]):
                return 8
            if due == DUE_DISCARD:
                if hands[seat, card] == 0:
                    return 7
                hands[seat, card] -= 1
            discards += 1
            due, drawn, card_open = DUE_WINDOW, False, card
        elif event == TAKE:
            kind, partners = events[i, 3], events[i, 4:7]
            if due != DUE_WINDOW or card != card_open:
                return 9
            distance = (seat - actor) % players
            if not drawn and distance == 0:
                return 10
            spot = min(distance, 2) if drawn else 2 + min(distance, 2)
            if not takes[spot, kind] or (honour(card) and distance > 0 and kind != 3):
                return 11
            if not is_meld(kind, card, partners):
                return 13
            for partner in partners:
                if partner != END:
                    if hands[seat, partner] == 0 or (lock[seat, partner] and kind != 3):
                        return 12
                    hands[seat, partner] -= 1
            if kind == 3:
                lock[seat, card] = 0
            takes_made += 1
            due, actor, card_open = DUE_DISCARD, seat, NONE
        elif event == WIN:
            if card == NONE:
                if draws + takes_made + discards > 0 or due != DUE_DISCARD or seat != dealer:
                    return 14
            elif due != DUE_WINDOW or card != card_open or (not drawn and seat == actor):
                return 14
            fill_hand(tables, hand, deck, 0, 0)
            for held in range(N_TYPES):
                for _ in range(hands[seat, held] + (held == card)):
                    add_card(tables, hand, held)
            if deadwood(tables, hand) > 0:
                return 15
            if row.winner != seat or row.score != events[i, 7] or row.win_card != card:
                return 21
            due = DONE
        elif event == EXHAUSTED:
            if due == DUE_DISCARD or drawn or place < tables.pack - tables.undrawn:
                return 16
            due = DONE
        elif event == DEAD_HAND:
            if due != DUE_DISCARD or seat != actor:
                return 17
            for held in range(N_TYPES):
                if hands[seat, held] > 0 and not honour(held) and not lock[seat, held]:
                    return 17
            due = DONE
        else:
            return 1
    if due != DONE:
        return 19
    return 0 if (draws, takes_made, discards) == (row.draws, row.takes, row.discards) else 20


@numba.njit(cache=True)
def _breaches(all_tables, takes, cards, rows, events, counts, hand, found):
    hands, lock = np.zeros((4, N_TYPES), np.int64), np.zeros((4, N_TYPES), np.int64)
    at = 0
    for i in range(len(rows)):
        row = rows[i]
        if row.redeals == 0:
            dealer, seen = np.int64(row.dealer), events[at : at + counts[i]]
            found[i] = breach(all_tables[0], takes, dealer, cards[i], row, seen, hands, lock, hand[0])
        at += counts[i]


def breaches(name, options, cards, chunk):
    """By deal of a chunk with events: what is wrong with it ("" for nothing)."""
    rules = rules_of(name, options)
    takes = np.zeros((len(PLACES), len(MELDS)), np.bool_)
    for spot, place in enumerate(PLACES):
        takes[spot, [MELDS.index(kind) for kind in rules.takes[place]]] = True
    found = np.zeros(len(chunk.rows), np.int64)
    _breaches(
        tables_array(rules), takes, cards, chunk.rows, chunk.events.view(np.uint8).reshape(-1, 8),
        chunk.event_counts, np.zeros(1, HAND).view(np.recarray), found,
    )  # fmt: skip
    return [BREACHES[number] for number in found]
