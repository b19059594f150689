"""``sisepai analyze``: what a hand is worth."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sisepai.cards import CODES, MELDS, format_cards, parse_cards
from sisepai.cli import options as shared
from sisepai.cli.lines import bounded_lines
from sisepai.errors import InputError, unknown_name

if TYPE_CHECKING:
    from rich.console import Console

    from sisepai.rules.partition import Analysis

T = TypeVar("T")


@click.command()
@click.argument("hand", nargs=-1, required=True)
@shared.playing("rules")
@click.option(
    "--exposed",
    multiple=True,
    metavar="'KIND: CARDS'",
    help="A meld that lies on the table already; repeatable.",
)
@shared.as_json("Print one JSON object a hand, one a line.")
def analyze(hand: tuple[str, ...], rules: str, exposed: tuple[str, ...], as_json: bool) -> None:
    """Show the melds of a HAND's best partition, its deadwood and its points.

    HAND is the concealed cards; spaces, commas and quotes are optional. With `-`, hands are read from standard input,
    one a line. For 20 cards, exposed ones included, the cards that win are listed with the copies not in sight.

    \b
    Examples:
      sisepai analyze "Kr Ar Er PrPyPw F"
      sisepai analyze KrArEr PrPyPw --exposed "triple: EgEgEg" --rules classic
      sisepai analyze - --json < hands.txt
    """
    if "-" in hand and len(hand) > 1:
        raise InputError("'-' reads hands from standard input and goes with no other HAND")
    from sisepai.rules import load
    from sisepai.rules.partition import analyze as worth

    rule_set = load(rules)
    melds = [_exposed_meld(text) for text in exposed]

    def look(text: str) -> tuple[list[int], "Analysis"]:
        cards = parse_cards(text)
        return cards, worth(rule_set, cards, melds)

    # Every hand is looked at before the first is printed: a mistake in the last line prints nothing but itself.
    results = _from_stdin(look) if hand == ("-",) else [look(" ".join(hand))]
    if as_json:
        for cards, result in results:
            click.echo(json.dumps(_document(cards, result)))
        return
    from sisepai.cli.console import console

    out = console()
    for number, (cards, result) in enumerate(results):
        if number:
            out.print()
        _print(out, cards, result)


def _from_stdin(look: Callable[[str], T]) -> list[T]:
    results = []
    for number, line in enumerate(bounded_lines("-"), 1):
        if line.strip():
            try:
                results.append(look(line.decode(errors="replace")))
            except InputError as error:
                raise InputError(f"standard input, line {number}: {error}") from None
    if not results:
        raise InputError("standard input holds no hand; write one a line, as in: Kr Ar Er PrPyPw F")
    return results


def _exposed_meld(text: str) -> tuple[str, list[int]]:
    kind, colon, cards = text.partition(":")
    kind = kind.strip()
    if not colon:
        raise InputError(f"--exposed {text!r}: write the kind, a colon and the cards, as in 'triple: EgEgEg'")
    if kind not in MELDS:
        raise unknown_name("meld", kind, MELDS)
    try:
        return kind, parse_cards(cards)
    except InputError as error:
        raise InputError(f"--exposed {text!r}: {error}") from error


def _document(cards: list[int], result: "Analysis") -> dict[str, Any]:
    return {
        "hand": format_cards(cards),
        "deadwood": result.deadwood,
        "points": result.points,
        "melds": [
            {"kind": meld.kind, "cards": [CODES[card] for card in meld.cards], "points": meld.points}
            for meld in result.melds
        ],
        "wins_on": [{"card": CODES[card], "unseen": unseen} for card, unseen in result.wins_on],
    }


def _print(out: "Console", cards: list[int], result: "Analysis") -> None:
    from rich.table import Table
    from rich.text import Text

    from sisepai.cli.console import card_text, plain_table

    melds = plain_table("meld", "cards", "points")
    for meld in result.melds:
        melds.add_row(meld.kind, card_text(meld.cards), str(meld.points))
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row(f"{len(cards)} card{'s' * (len(cards) != 1)}", card_text(cards))
    facts.add_row("melds", melds if result.melds else "none")
    facts.add_row("deadwood", str(result.deadwood))
    facts.add_row("points", "none, the hand is not complete" if result.points is None else str(result.points))
    if result.wins_on:
        won = [card_text([card]).append(f" {unseen}", "default") for card, unseen in result.wins_on]
        facts.add_row("wins on", Text(", ").join(won).append(" (copies unseen)"))
    out.print(facts)
