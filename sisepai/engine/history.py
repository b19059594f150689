"""The events of a deal as they are kept: eight bytes each, in the layout of records.EVENT."""

import numpy as np

from sisepai.cards import NONE
from sisepai.engine.records import E_WIN, MOST_EVENTS
from sisepai.jit import small

# The upper bytes of an event without meld, partners and score.
PLAIN = np.uint64(0xFFFFFFFFFF000000)
SCORE_SHIFT = np.uint64(56)


@small
def _log(game, word):
    # Counted even where there is no room, so that a deal too long is noticed.
    if game.table.events < MOST_EVENTS:
        game.history.event[game.table.events] = word
    game.table.events += 1


@small
def log_plain(game, event, seat, card):
    """Append an event that has no meld."""
    _log(game, np.uint64(event | seat << 8 | card << 16) | PLAIN)


@small
def log_meld(game, event, seat, card, meld, first, second, third):
    """Append an event with a meld and the concealed cards it used."""
    low = event | seat << 8 | card << 16 | meld << 24 | first << 32 | second << 40 | third << 48
    _log(game, np.uint64(low) | np.uint64(NONE) << SCORE_SHIFT)


@small
def log_win(game, seat, card, score):
    """Append a win; `card` is NONE for a dealt one."""
    low = E_WIN | seat << 8 | card << 16
    _log(game, np.uint64(low) | PLAIN & np.uint64(0x00FFFFFFFF000000) | np.uint64(score) << SCORE_SHIFT)
