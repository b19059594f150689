"""Decks that a user gives: JSON lines with rules, dealer, hands and stock, checked before anything is played."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sisepai.cards import CODES, N_TYPES, parse_cards
from sisepai.errors import InputError
from sisepai.rules import RuleSet, preset
from sisepai.runs.deal import Deal, hand_sizes

_NEEDED = ("rules", "dealer", "hands", "stock")
_RESULTS = ("winner", "score", "win_by", "outcome")


@dataclass(frozen=True)
class GivenDeck:
    """A deck from line ``line`` of a file.

    ``cards`` is the whole pack in the order of ``engine.simulator.decks``; ``said`` what the line says happened.
    """

    line: int
    rules: RuleSet
    dealer: int
    cards: tuple[int, ...]
    said: Mapping[str, Any]


def read_decks(lines: Iterable[bytes], name: str) -> list[GivenDeck]:
    """All decks of a file called ``name`` in messages; empty lines are skipped.

    Raises
    ------
    InputError
        A line holds no deck that could be dealt, or there is none; the message has the number of the line.
    """
    decks = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                decks.append(_read_deck(number, line))
            except InputError as error:
                raise InputError(f"{name}, line {number}: {error}") from None
    if not decks:
        raise InputError(f"{name} holds no deck; write one a line, as `sisepai replay --json` prints it")
    return decks


def disagreement(deck: GivenDeck, deal: Deal) -> str | None:
    """Where the deal, played from this deck, parts from what its line says; None when it does not.

    A line that says nothing of what happened is never disagreed with.
    """
    played, said = deal.to_dict(), deck.said
    if "events" in said:
        step = _first_difference(_after_redeals(said["events"]), _after_redeals(played["events"]))
        if step is not None:
            return f"the events differ from those given, at step {step} after the deal"
    for key in _RESULTS:
        if key in said and said[key] != played[key]:
            return f"{key} is {json.dumps(played[key])}; given is {json.dumps(said[key])[:40]}"
    return None


def _first_difference(given: Any, played: list[Any]) -> int | None:
    if given == played:
        return None
    pairs = zip(given, played, strict=False) if isinstance(given, list) else ()
    shared = 0
    for one, other in pairs:
        if one != other:
            break
        shared += 1
    return shared


def _after_redeals(events: Any) -> Any:
    """The events of the deck that was played; a line holds no other deck."""
    if not isinstance(events, list):
        return events
    kinds = [event.get("event") if isinstance(event, dict) else None for event in events]
    redeals = [place for place, kind in enumerate(kinds) if kind == "redeal"]
    return events[redeals[-1] + 1 :] if redeals else events


def _read_deck(number: int, line: bytes) -> GivenDeck:
    try:
        keys = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({' '.join(str(error).split())})") from error
    if not isinstance(keys, dict):
        raise InputError("not a JSON object; a deck is one, with rules, dealer, hands and stock")
    for key in _NEEDED:
        if key not in keys:
            raise InputError(f"the key '{key}' is missing")
    rules = _rules(keys)
    dealer = keys["dealer"]
    if isinstance(dealer, bool) or not isinstance(dealer, int) or not 0 <= dealer < rules.players:
        raise InputError(f"dealer = {_shown(dealer)}: must be a seat from 0 to {rules.players - 1}")
    cards = _pack(rules, dealer, keys["hands"], keys["stock"])
    said = {key: keys[key] for key in ("events", *_RESULTS) if key in keys}
    return GivenDeck(number, rules, dealer, cards, said)


def _rules(keys: Mapping[str, Any]) -> RuleSet:
    name, options = keys["rules"], keys.get("options", {})
    if not isinstance(name, str):
        raise InputError(f"rules = {_shown(name)}: must be the name of a rule set")
    if not isinstance(options, dict):
        raise InputError(f"options = {_shown(options)}: must be an object")
    players = {"players": keys["players"]} if "players" in keys else {}
    try:
        return RuleSet.from_dict({**preset(name).to_dict(), **options, **players})
    except (TypeError, AttributeError, RecursionError) as error:
        raise InputError("options: not values of a rule set") from error


def _pack(rules: RuleSet, dealer: int, hands: Any, stock: Any) -> tuple[int, ...]:
    """The whole pack: hands in seat order, then the stock."""
    if not isinstance(hands, list) or len(hands) != rules.players:
        raise InputError(f"hands: must be a list of {rules.players}, one a seat")
    cards: list[int] = []
    for seat, (hand, size) in enumerate(zip(hands, hand_sizes(rules, dealer), strict=True)):
        held = _cards(f"hands[{seat}]", hand)
        if len(held) != size:
            who = "the dealer" if seat == dealer else f"seat {seat}"
            raise InputError(f"hands[{seat}] has {len(held)} cards; {who} is dealt {size} under {rules.name}")
        cards += held
    left = _cards("stock", stock)
    if len(left) != rules.stock_size:
        raise InputError(
            f"stock has {len(left)} cards; the rest of the {rules.pack_size} of {rules.name} is {rules.stock_size}"
        )
    cards += left
    # All cards together are as many as the pack has, so too many of one type is all that can be wrong.
    for card in range(N_TYPES):
        copies, pack = cards.count(card), rules.flowers if CODES[card] == "F" else 4
        if copies > pack:
            raise InputError(f"too many {CODES[card]}: {copies}, and the pack of {rules.name} has {pack}")
    return tuple(cards)


def _cards(key: str, text: Any) -> list[int]:
    if not isinstance(text, str):
        raise InputError(f"{key} = {_shown(text)}: must be cards in one text, as in 'Kr Ar Er'")
    try:
        return parse_cards(text)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
