"""`random`: takes every win, else chooses uniformly (docs/rules.md, section 7)."""

from sisepai.cards import N_TYPES
from sisepai.engine.randomness import below
from sisepai.engine.records import PASS, WIN
from sisepai.jit import inner
from sisepai.rules.hand import discardable
from sisepai.strategies.base import Strategy


@inner
def answer(view):
    """Win if offered; else uniform over the offered melds and, unless forced, pass."""
    offers = view.offers
    if offers.win:
        return WIN
    if offers.forced:
        return below(view.rng, offers.n)
    choice = below(view.rng, offers.n + 1)
    return choice if choice < offers.n else PASS


@inner
def discard(view):
    """Uniform over the discardable cards, copies counted."""
    hand = view.hand
    legal = discardable(hand)
    total = 0
    for card in range(N_TYPES):
        if legal >> card & 1:
            total += hand.count[card]
    left = below(view.rng, total)
    for card in range(N_TYPES):
        if legal >> card & 1:
            left -= hand.count[card]
            if left < 0:
                return card
    return -1


STRATEGY = Strategy(
    "random",
    "takes every win, else chooses uniformly among its legal melds and pass, and among its cards",
    answer,
    discard,
    source="docs/rules.md, section 7",
)
