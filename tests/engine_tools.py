"""Ways to play deals in a test: pairs of rule data, deals as people write them, and the events as dictionaries.

A *variant* is a rule set's name with options; `rules_of` gives it as the package's `RuleSet`, `naive_rules_of` as the
data of the naive reference.
"""

import random
from typing import NamedTuple

import naive
import numpy as np
from naive_deal import Deal, Seat, step

from sisepai.cards import CODES, EVENTS, MELDS, NONE, OUTCOMES, WIN_BY, parse_cards
from sisepai.engine.records import DISCARD, PASS, WIN
from sisepai.engine.simulator import Compiled, Simulator, compile_function, decks
from sisepai.engine.stepper import Stepper
from sisepai.rules import preset
from sisepai.rules.ruleset import PLACES
from sisepai.strategies import parse_entries

VARIANTS = [
    ("cardavia", {}), ("cardavia", {"players": 2}), ("cardavia", {"players": 3}),
    ("classic", {}), ("classic", {"flowers": 5}), ("classic", {"players": 3}),
    ("classic", {"players": 2, "flowers": 1}),
    ("classic", {"lock_dealt_triples": True}), ("classic", {"colour_groups": "soldiers"}),
    ("classic", {"claim_general_quad": False}), ("classic", {"redeal": "always"}),
    ("classic", {"redeal": "always", "players": 2, "lock_dealt_triples": True, "flowers": 3}),
    ("ten-hu", {}), ("ten-hu", {"flowers": 3}), ("ten-hu", {"lock_dealt_triples": True}),
    ("ten-hu", {"players": 2, "claim_general_quad": False}), ("ten-hu", {"redeal": "always", "players": 3}),
    ("own", {}), ("own", {"players": 3, "lock_dealt_triples": True, "colour_groups": "soldiers", "min_points": 0}),
]  # fmt: skip
VARIANT_IDS = [
    "-".join([name, *(f"{key}={value}" for key, value in options.items())]) for name, options in VARIANTS
]
PRESET_NAMES = ("cardavia", "classic", "ten-hu")


# Rules of one's own: `classic` with other points, a minimum, and the takes of `cardavia`.
OWN_POINTS = {
    "general": (2, 1), "flower": (0, 4), "pair": (1, 0), "triple": (5, 2), "quad": (7, 9), "general_quad": (3, 12),
    "command": (0, 3), "field": (2, 2), "soldiers3": (4, 1), "soldiers4": (0, 6), "colours3": (3, 5),
    "colours4": (1, 2),
}  # fmt: skip
OWN_KEYS = {"name": "own", "flowers": 2, "min_points": 14, "undrawn": 1, "soldier_pairs": False}
naive.RULE_SETS["own"] = naive.CLASSIC | {
    "name": "own", "flowers": 2, "min_points": 14, "reserve": 1, "soldier_pairs": False,
    "points": OWN_POINTS | {"single": OWN_POINTS["general"]},
    "drawer_pair": False, "next_in_draw_window": True, "next_pair": False,
}  # fmt: skip

# What the reference calls some keys of a rule set.
NAIVE_KEYS = {"undrawn": "reserve", "show_dealt_quads": "show_quads"}


def rules_of(name, options):
    """The package's rule set."""
    if name == "own":
        takes = {place: tuple(k for k in MELDS if not place.endswith("others") or k in ("triple", "quad"))
                 for place in PLACES}  # fmt: skip
        takes = {place: tuple(kind for kind in kinds if kind != "pair") for place, kinds in takes.items()}
        own = preset("classic").with_options(points=OWN_POINTS, takes=takes, **OWN_KEYS)
        return own.with_options(**options)
    return preset(name).with_options(**options)


def naive_rules_of(name, options):
    """The naive reference's rule data."""
    return naive.rule_set(name, **{NAIVE_KEYS.get(key, key): value for key, value in options.items()})


# --------------------------------------------------------------------------------------------- simulators


def simulator(rules, strategies="greedy", seed=7, match=0):
    """A simulator with the strategies of a text, in fixed seats."""
    entries, seats = parse_entries(strategies, rules.players)
    return Simulator(rules, entries, np.array([seats], np.uint8), seed, match)


def play_one(rules, dealer, cards, entries):
    """One given deck with an entry for each seat: (row, events as dictionaries)."""
    seats = np.arange(rules.players, dtype=np.uint8)[None]
    chunk = Simulator(rules, entries, seats, 7).play_decks(
        np.array([dealer], np.uint8), np.array([cards], np.uint8), events=True
    )
    return chunk.rows[0], event_dicts(chunk.events)


def same_chunks(one, other):
    """Whether two chunks hold the same rows and (where both have them) the same events."""
    if one.rows.tobytes() != other.rows.tobytes():
        return False
    if one.events is None or other.events is None:
        return True
    return one.events.tobytes() == other.events.tobytes() and list(one.event_counts) == list(
        other.event_counts
    )


# ------------------------------------------------------------------------------------------------- events


def event_dict(word):
    """One EVENT row as the rules' section 6 writes it."""
    event = {"event": EVENTS[word["event"]]}
    if word["seat"] != NONE:
        event["seat"] = int(word["seat"])
    if event["event"] == "show":
        event["meld"] = MELDS[word["meld"]]
    if word["card"] != NONE or event["event"] == "win":
        event["card"] = None if word["card"] == NONE else CODES[word["card"]]
    if event["event"] == "take":
        event["meld"] = MELDS[word["meld"]]
        event["with"] = [CODES[card] for card in word["with"] if card != NONE]
    if word["score"] != NONE:
        event["score"] = int(word["score"])
    return event


def event_dicts(words):
    """EVENT rows as dictionaries."""
    return [event_dict(word) for word in words]


def events_by_deal(chunk):
    """The events of each deal of a chunk, as dictionaries."""
    ends = np.cumsum(chunk.event_counts, dtype=np.int64)
    return [event_dicts(words) for words in np.split(chunk.events, ends[:-1])]


def result_of(row):
    """Winner, score, win_by and outcome of a DEAL row, None where there is none."""
    won = row["winner"] != NONE
    return {
        "winner": int(row["winner"]) if won else None,
        "score": int(row["score"]),
        "win_by": WIN_BY[row["win_by"]] if won else None,
        "outcome": OUTCOMES[row["outcome"]],
    }


# -------------------------------------------------------------------------------------------------- decks


def split_deck(rules, dealer, cards):
    """A deck as (hands, stock)."""
    cards, hands = [int(card) for card in cards], []
    for seat in range(rules.players):
        size = rules.hand_size + (rules.dealer_leads and seat == dealer)
        hands.append(cards[:size])
        cards = cards[size:]
    return hands, cards


def seeded_decks(rules, seed, first, count):
    """The decks of some deals, each as (dealer, hands, stock)."""
    dealers, cards = decks(rules, seed, first, count)
    return [
        (int(dealer), *split_deck(rules, dealer, deck)) for dealer, deck in zip(dealers, cards, strict=True)
    ]


def later_deck(rules, seed, number, dealer, attempt):
    """(hands, stock) of a deck after so many redeals; the dealer stays."""
    return split_deck(rules, dealer, decks(rules, seed, number, 1, attempt)[1][0])


# ------------------------------------------------------------------------------------ deals written by hand

# What a wish is to the kernels: the number of a meld kind, a win, or a card to discard.
WISH_WIN, WISH_LATE, WISH_NONSENSE, WISH_PASS, WISH_DISCARD, NO_WISH = 50, 51, 52, 53, 100, -1
OTHER_WISHES = {"win": WISH_WIN, "late": WISH_LATE, "nonsense": WISH_NONSENSE, "refuse": WISH_PASS}
MOST_WISHES = 32


def wish_answer(view):
    """The first offered meld (or the win) that the seat wishes for, in order of its wishes; else pass."""
    offers, wishes = view.offers, view.parameters.value
    for w in range(MOST_WISHES):
        if wishes[w] == WISH_LATE and view.table.window != DISCARD:
            break
        if wishes[w] == WISH_WIN and offers.win:
            return WIN
        if wishes[w] == WISH_NONSENSE:
            return offers.n
        if wishes[w] == WISH_PASS:
            return PASS
        for i in range(offers.n):
            if offers.kind[i] == wishes[w]:
                return i
    if not offers.forced:
        return PASS
    return 0 if offers.n > 0 else WIN


def wish_discard(view):
    """The first wished-for discard that is in hand; else the lowest card that may go."""
    hand, wishes = view.hand, view.parameters.value
    for w in range(MOST_WISHES):
        card = int(wishes[w]) - WISH_DISCARD
        if card >= 0 and hand.count[card] > 0:
            return card
    for card in range(28):
        if card % 7 != 0 and hand.count[card] > 0:
            return card
    return -1


class Wishes:
    """A seat that wants what a text says: meld kinds, `win`, and cards to discard, dearest first.

    What stands after `late` it wants in discard windows alone; `nonsense` answers what is not offered, and `refuse`
    passes even a forced take, both of which the machine must catch. Plays in a `Simulator` (as an entry) and in the
    naive reference (as a strategy).
    """

    def __init__(self, text=""):
        self.words = text.split()
        self.kinds = [word for word in self.words if word in (*OTHER_WISHES, *MELDS)]
        self.cards = [parse_cards(word)[0] for word in self.words if word not in self.kinds]

    @property
    def label(self):
        """What messages call it."""
        return " ".join(self.words) or "patience"

    def compiled(self):
        """The kernel form."""
        numbers = OTHER_WISHES | {kind: number for number, kind in enumerate(MELDS)}
        wishes = [WISH_DISCARD + card for card in self.cards] + [numbers[word] for word in self.kinds]
        padded = wishes + [NO_WISH] * (MOST_WISHES - len(wishes))
        return Compiled(_compiled(wish_answer), _compiled(wish_discard), padded)

    def answer(self, view, offers):
        """The naive form of `wish_answer`; the reference lists offers in the same order within a kind."""
        for word in self.kinds:
            if word == "late" and view.window != "discard":
                break
            for offer in offers:
                if offer[0] == word:
                    return offer
        return min(offers, key=lambda offer: ORDER_OF_OFFERS.index(offer[0]))

    def discard(self, view):
        """The naive form of `wish_discard`."""
        legal = view.own.discardable()
        return next((card for card in self.cards if card in legal), min(legal))


ORDER_OF_OFFERS = (
    "pass", "single", "quad", "triple", "command", "field", "soldiers4", "colours4", "soldiers3", "colours3", "pair",
    "win",
)  # fmt: skip
_KERNELS = {}


def _compiled(function):
    if function not in _KERNELS:
        _KERNELS[function] = compile_function(function)
    return _KERNELS[function]


class Written(NamedTuple):
    """A deal written by hand, played: its row, its events as dictionaries and as lines, and the naive deal."""

    row: np.record
    events: list
    lines: list
    naive: Deal


def written(name, hands, stock, wishes=None, dealer=0, **options):
    """Play a deal of small hands (all of one size; the dealer's one card more where the rules say so).

    The cards left over follow the written stock in a fixed order. The naive reference must play the same events.
    """
    hands = [parse_cards(hand) for hand in hands]
    size = len(hands[(dealer + 1) % len(hands)])
    rules = rules_of(name, {"players": len(hands), "hand_size": size, **options})
    stock = parse_cards(stock)
    rest = naive.pack({"flowers": rules.flowers})
    for card in [card for hand in hands for card in hand] + stock:
        rest.remove(card)
    # The padding is mixed, so that it does not come as pairs and triples.
    random.Random(1).shuffle(rest)
    stock += rest
    wishes = [Wishes((wishes or {}).get(seat, "")) for seat in range(rules.players)]
    row, events = play_one(rules, dealer, [card for hand in hands for card in hand] + stock, wishes)
    slow = _slowly(rules, name, options, dealer, hands, stock, wishes)
    assert events == slow.events
    assert result_of(row) == {"winner": slow.winner, "score": slow.score, "win_by": slow.win_by,
                              "outcome": slow.outcome}  # fmt: skip
    return Written(row, events, [line_of(event) for event in events], slow)


def _slowly(rules, name, options, dealer, hands, stock, wishes):
    """The naive reference's deal; a redeal goes on with the deck that the kernels take (seed 7, deck 0)."""
    slow_rules, before, attempt = naive_rules_of(name, {"players": rules.players, **options}), [], 0
    while True:
        deal = Deal(slow_rules, dealer, [Seat(tuple(sorted(hand))) for hand in hands], list(stock))
        deal.begin()
        if deal.outcome != "redeal":
            break
        before, attempt = before + deal.events, attempt + 1
        hands, stock = later_deck(rules, 7, 0, dealer, attempt)
    while deal.phase != "over":
        step(deal, wishes)
    deal.events = before + deal.events
    return deal


def line_of(event):
    """An event as a line: ``1 take Hy triple: Hy Hy``."""
    words = [str(event["seat"])] if "seat" in event else []
    words.append(event["event"])
    if event.get("card"):
        words.append(event["card"])
    if event["event"] == "take":
        words[-1] += f" {event['meld']}: {' '.join(event['with'])}"
    if "score" in event:
        words.append(str(event["score"]))
    return " ".join(words).rstrip(": ")


def decisions(name, options, own, deals):
    """Each decision of the first seat, `own`, in some deals against `greedy`, with the stepper that stands at it."""
    rules = rules_of(name, options)
    stepper = Stepper(simulator(rules, ",".join([own, *["greedy"] * (rules.players - 1)])))
    for number in range(deals):
        due = stepper.start(number, pause=1)
        while due:
            yield stepper
            due = stepper.submit(stepper.ask())
