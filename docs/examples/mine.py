"""Two strategies of one's own, for `sisepai simulate --strategies docs/examples/mine.py:bold:risk=0.2`.

`bold` is compiled with Numba and as fast as the built-in strategies; `calm` is plain Python. docs/plug-ins.md tells
how both are written.
"""

from sisepai.cards import N_TYPES
from sisepai.engine.randomness import below
from sisepai.engine.records import PASS, WIN
from sisepai.jit import inner
from sisepai.rules.hand import discardable, loose_cards
from sisepai.strategies import Parameter, Strategy
from sisepai.strategies.greedy import answer as greedy_answer

PER_MILLE = 1000


@inner
def answer(view):
    """As greedy; but what greedy lets pass is taken now and then."""
    choice = greedy_answer(view)
    risk = view.parameters.value[0]
    if choice == PASS and below(view.rng, PER_MILLE) < risk * PER_MILLE:
        return view.offers.n - 1
    return choice


@inner
def discard(view):
    """Of the cards that are left over the one of which most copies lie open."""
    cards = loose_cards(view.tables, view.hand)
    if cards == 0:
        cards = discardable(view.hand)
    best, most = -1, -1
    for card in range(N_TYPES):
        if cards >> card & 1 and view.table.seen[card] > most:
            best, most = card, view.table.seen[card]
    return best


class Calm:
    """Waits for big melds, and discards what it holds least of."""

    name = "calm"
    summary = "takes wins, and melds of a chosen size or more"
    parameters = (Parameter("least", 3, "cards of the smallest meld it takes", low=1, high=4, whole=True),)

    def __init__(self, least):
        self.least = least

    def answer(self, view):
        """The win, the first meld that is big enough, or pass."""
        offers = view.offers
        if offers.win:
            return WIN
        for i in range(offers.n):
            if self.size(offers, i) >= self.least:
                return i
        return 0 if offers.forced else PASS

    def size(self, offers, i):
        """Cards of an offered meld: 255 stands for no partner."""
        return 1 + sum(partner < N_TYPES for partner in offers.partners[i])

    def discard(self, view):
        """The card it holds least copies of; the highest number of those."""
        legal = int(discardable(view.hand))
        cards = [card for card in range(N_TYPES) if legal >> card & 1]
        return min(cards, key=lambda card: (view.hand.count[card], -card))


STRATEGIES = (
    Strategy(
        "bold",
        "greedy that also takes, now and then, what does not lower its deadwood",
        answer,
        discard,
        parameters=(Parameter("risk", 0.1, "how often it takes what greedy lets pass", low=0, high=1),),
    ),
    Calm,
)
