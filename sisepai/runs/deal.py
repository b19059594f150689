"""One deal that was played, for people and for machines: what was dealt, what happened, what the winner holds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sisepai.cards import CODES, EVENTS, FLOWER, MELDS, NONE, OUTCOMES, WIN_BY, format_cards
from sisepai.rules import PRESETS, RuleSet
from sisepai.rules.melds import points_of
from sisepai.rules.partition import Meld, best_partition, best_win

# The keys of an event, in the order in which they are written (docs/rules.md).
KEYS = {
    "show": ("seat", "meld", "card"),
    "redeal": ("seat",),
    "draw": ("seat", "card"),
    "take": ("seat", "card", "meld", "with"),
    "discard": ("seat", "card"),
    "win": ("seat", "card", "score"),
    "exhausted": (),
    "dead_hand": ("seat",),
}


@dataclass(frozen=True)
class Deck:
    """A pack as dealt: the hands by seat and the stock in the order of drawing, as card numbers."""

    hands: tuple[tuple[int, ...], ...]
    stock: tuple[int, ...]

    @classmethod
    def split(cls, rules: RuleSet, dealer: int, cards: Iterable[int]) -> "Deck":
        """The hands and the stock of a whole pack: ``cards`` as ``engine.simulator.decks`` returns a row."""
        pack = [int(card) for card in cards]
        hands, at = [], 0
        for size in hand_sizes(rules, dealer):
            hands.append(tuple(pack[at : at + size]))
            at += size
        return cls(tuple(hands), tuple(pack[at:]))


class Event(NamedTuple):
    """An event with words for kinds and numbers for cards; None for what it does not have."""

    event: str
    seat: int | None
    card: int | None
    meld: str | None
    partners: tuple[int, ...]
    score: int | None

    def to_dict(self) -> dict[str, Any]:
        """The object that logs hold: the keys this kind of event has, cards as codes."""
        values = {
            "seat": self.seat,
            "card": None if self.card is None else CODES[self.card],
            "meld": self.meld,
            "with": [CODES[card] for card in self.partners],
            "score": self.score,
        }
        return {"event": self.event} | {key: values[key] for key in KEYS[self.event]}


class Choice(NamedTuple):
    """What may be chosen: to ``win``, to ``pass``, to ``take`` with a meld, or to ``discard`` a card."""

    act: str
    meld: str | None = None
    cards: tuple[int, ...] = ()  # the partners of a take, or the card to discard

    def to_dict(self) -> str | dict[str, Any]:
        """As logs hold it: a card's code, ``win`` or ``pass``, or the keys ``meld`` and ``with`` of a take."""
        if self.act == "discard":
            return CODES[self.cards[0]]
        return {"meld": self.meld, "with": [CODES[card] for card in self.cards]} if self.meld else self.act


class Estimate(NamedTuple):
    """What a strategy expected of a choice: its wins or points a deal, with the standard error over the samples."""

    choice: Choice
    mean: float
    error: float
    samples: int


class Decision(NamedTuple):
    """What a seat thought of its choices before event number ``step``, the best first, and what it chose."""

    step: int
    seat: int
    estimates: tuple[Estimate, ...]
    chosen: Choice

    def to_dict(self) -> dict[str, Any]:
        """The object that ``replay --json`` prints."""
        choices = [
            {"choice": one.choice.to_dict(), "estimate": one.mean, "error": one.error, "samples": one.samples}
            for one in self.estimates
        ]
        return {"step": self.step, "seat": self.seat, "choices": choices, "chosen": self.chosen.to_dict()}


@dataclass(frozen=True)
class Deal:
    """A deal that was played.

    ``decks`` holds what was dealt: annulled by a redeal all but the last. ``row`` is DEAL[1], and ``events`` has all
    events, those of annulled decks too. ``decisions`` are those that strategies explain, in order.
    """

    rules: RuleSet
    decks: tuple[Deck, ...]
    row: NDArray[np.void]
    events: tuple[Event, ...]
    decisions: tuple[Decision, ...] = ()

    @property
    def deck(self) -> Deck:
        """The deck that was played to the end."""
        return self.decks[-1]

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return int(self.row["dealer"][0])

    @property
    def winner(self) -> int | None:
        """The winner's seat; None when the deal was drawn."""
        return _none(self.row["winner"][0])

    @property
    def score(self) -> int:
        """Points of the win, 0 when drawn."""
        return int(self.row["score"][0])

    @property
    def win_by(self) -> str | None:
        """One of ``cards.WIN_BY``; None when drawn."""
        return _word(self.row["win_by"][0], WIN_BY)

    @property
    def outcome(self) -> str:
        """One of ``cards.OUTCOMES``."""
        return OUTCOMES[int(self.row["outcome"][0])]

    def deadwood(self, when: str) -> tuple[int, ...]:
        """Deadwood by seat, ``dealt`` or at the ``end``."""
        return tuple(int(dead) for dead in self.row[f"{when}_deadwood"][0][: self.rules.players])

    def last_round(self) -> tuple[Event, ...]:
        """The events of the deck that was played: those after the last redeal."""
        redeals = [place for place, event in enumerate(self.events) if event.event == "redeal"]
        return self.events[redeals[-1] + 1 :] if redeals else self.events

    def to_dict(self) -> dict[str, Any]:
        """The deal as an object of the form ``replay --deck`` reads, with all that happened.

        ``hands`` and ``stock`` are those played to the end. ``annulled``, the earlier ones, and ``decisions`` are there
        where there are any.
        """
        name, options = options_of(self.rules)
        annulled = [_deck_dict(deck) for deck in self.decks[:-1]]
        return {
            "rules": name,
            "players": self.rules.players,
            "options": options,
            "dealer": self.dealer,
            **_deck_dict(self.deck),
            **({"annulled": annulled} if annulled else {}),
            "events": [event.to_dict() for event in self.events],
            "winner": self.winner,
            "score": self.score,
            "win_by": self.win_by,
            "outcome": self.outcome,
            **({"decisions": [one.to_dict() for one in self.decisions]} if self.decisions else {}),
        }


class WinningMeld(NamedTuple):
    """A meld of a winner; ``how`` is ``exposed``, ``concealed``, ``shown`` (a dealt quad) or ``winning``."""

    meld: Meld
    how: str


def hand_sizes(rules: RuleSet, dealer: int) -> list[int]:
    """Cards dealt to each seat."""
    return [rules.hand_size + (rules.dealer_leads and seat == dealer) for seat in range(rules.players)]


def options_of(rules: RuleSet) -> tuple[str, dict[str, Any]]:
    """The preset a rule set comes from, and what differs from it but for the number of players.

    A rule set whose name is no preset's is told from the default one, with its name among the options.
    """
    base = PRESETS.get(rules.name, RuleSet())
    theirs = base.to_dict()
    options = {
        key: value for key, value in rules.to_dict().items() if value != theirs[key] and key != "players"
    }
    return base.name, options


def read_events(events: NDArray[np.void]) -> tuple[Event, ...]:
    """EVENT[n] as `Event` tuples."""
    return tuple(
        Event(
            EVENTS[kind],
            _none(seat),
            _none(card),
            _word(meld, MELDS),
            tuple(int(one) for one in partners if one != NONE),
            _none(score),
        )
        for kind, seat, card, meld, partners, score in events.tolist()
    )


def winning_melds(deal: Deal) -> tuple[WinningMeld, ...]:
    """The winner's melds: shown and exposed ones in the order they came, then the winning one, then the concealed.

    Their points add up to the score. Nothing for a drawn deal.
    """
    if deal.winner is None:
        return ()
    rules, winner, card = deal.rules, deal.winner, _none(deal.row["win_card"][0])
    hand = Counter(deal.deck.hands[winner])
    locked = _locked_triples(rules, hand)
    laid = []
    before = None
    for event in deal.last_round():
        if event.seat == winner and event.card is not None:
            laid += _lay(rules, hand, event, before)
        before = event
    locked = [one for one in locked if hand[one] == 3]
    return (*laid, *_finish(rules, hand, locked, card))


def _lay(rules: RuleSet, hand: Counter[int], event: Event, before: Event | None) -> list[WinningMeld]:
    """Take from the hand what the event takes from it; returns the meld it lays on the table, if any."""
    card = event.card
    assert card is not None
    if event.event == "show":
        hand[card] -= 4
        return [WinningMeld(_meld(rules, "quad", [card] * 4, exposed=False), "shown")]
    if event.event == "take" and event.meld:
        hand.subtract(event.partners)
        return [WinningMeld(_meld(rules, event.meld, [card, *event.partners], exposed=True), "exposed")]
    drawn = before is not None and (before.event, before.seat) == ("draw", event.seat)
    if event.event == "discard" and not drawn:
        hand[card] -= 1
    return []


def _finish(rules: RuleSet, hand: Counter[int], locked: Sequence[int], card: int | None) -> list[WinningMeld]:
    """The best melds of what is in the hand with the winning card; None stands for a hand that won as dealt."""
    free = [one for one in hand.elements() if one not in locked]
    if card is None:
        triples = [_meld(rules, "triple", [one] * 3, exposed=False) for one in locked]
        melds = sorted([*triples, *best_partition(rules, free)[1]], key=lambda meld: meld.cards)
        return [WinningMeld(meld, "concealed") for meld in melds]
    winning, *others = best_win(rules, free, card, locked) or ()
    return [WinningMeld(winning, "winning"), *(WinningMeld(meld, "concealed") for meld in others)]


def _locked_triples(rules: RuleSet, hand: Counter[int]) -> list[int]:
    if not rules.lock_dealt_triples:
        return []
    return [card for card, copies in hand.items() if copies == 3 and card != FLOWER and card % 7]


def _meld(rules: RuleSet, kind: str, cards: Sequence[int], exposed: bool) -> Meld:
    ordered = tuple(sorted(cards))
    return Meld(kind, ordered, points_of(rules, kind, ordered, exposed))


def _deck_dict(deck: Deck) -> dict[str, Any]:
    return {"hands": [format_cards(hand) for hand in deck.hands], "stock": format_cards(deck.stock)}


def _none(value: Any) -> int | None:
    return None if value == NONE else int(value)


def _word(value: Any, words: Sequence[str]) -> str | None:
    return None if value == NONE else words[int(value)]
