"""``sisepai analyze``: what a hand is worth."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from sisepai.cards import CODES, MELDS, check_copies, format_cards, parse_cards
from sisepai.errors import InputError, unknown_name

if TYPE_CHECKING:
    from rich.console import Console

    from sisepai.rules import RuleSet
    from sisepai.rules.partition import Analysis

    Exposed = list[tuple[str, list[int]]]


@click.command()
@click.argument("hand", nargs=-1, required=True)
@click.option(
    "--rules", default="cardavia", show_default=True, help="The rule set; `sisepai rules` lists them."
)
@click.option(
    "--exposed",
    multiple=True,
    metavar="'KIND: CARDS'",
    help="A meld that lies on the table already; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a hand, one a line.")
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
    from sisepai.rules import load

    rule_set = load(rules)
    melds = [_exposed_meld(text) for text in exposed]
    # Every hand is read before the first is printed: a mistake in the last line prints nothing but itself.
    hands = _from_stdin(rule_set, melds) if hand == ("-",) else [_hand(" ".join(hand), rule_set, melds)]
    from sisepai.rules.partition import analyze as worth

    results = [(cards, worth(rule_set, cards, melds)) for cards in hands]
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


def _from_stdin(rules: "RuleSet", exposed: "Exposed") -> list[list[int]]:
    hands = []
    for number, line in enumerate(sys.stdin, 1):
        if line.strip():
            try:
                hands.append(_hand(line, rules, exposed))
            except InputError as error:
                raise InputError(f"standard input, line {number}: {error}") from None
    if not hands:
        raise InputError("standard input holds no hand; write one a line, as in: Kr Ar Er PrPyPw F")
    return hands


def _hand(text: str, rules: "RuleSet", exposed: "Exposed") -> list[int]:
    cards = parse_cards(text)
    if not cards:
        raise InputError("the hand is empty; write its cards, as in: Kr Ar Er PrPyPw F")
    held = cards + [card for _, meld in exposed for card in meld]
    most = rules.hand_size + 1
    if len(held) > most:
        raise InputError(f"{len(held)} cards, exposed ones included; a hand holds at most {most}")
    check_copies(held, rules.flowers)
    return cards


def _exposed_meld(text: str) -> tuple[str, list[int]]:
    kind, colon, cards = text.partition(":")
    kind = kind.strip()
    if not colon:
        raise InputError(f"--exposed {text!r}: write the kind, a colon and the cards, as in 'triple: EgEgEg'")
    if kind not in MELDS:
        raise unknown_name("meld", kind, MELDS)
    return kind, parse_cards(cards)


def _document(cards: list[int], result: "Analysis") -> dict[str, Any]:
    return {
        "hand": format_cards(cards),
        "deadwood": result.deadwood,
        "points": result.points,
        "melds": [
            {"kind": kind, "cards": [CODES[card] for card in meld], "points": points}
            for kind, meld, points in result.melds
        ],
        "wins_on": [{"card": CODES[card], "unseen": unseen} for card, unseen in result.wins_on],
    }


def _print(out: "Console", cards: list[int], result: "Analysis") -> None:
    from rich.text import Text

    from sisepai.cli.console import card_text, plain_table

    out.print(Text("hand  ").append_text(card_text(cards)), f"({len(cards)} cards)")
    if result.melds:
        table = plain_table("meld", "cards", "points")
        for kind, meld, points in result.melds:
            table.add_row(kind, card_text(meld), str(points))
        out.print(table)
    complete = "the hand is not complete" if result.points is None else str(result.points)
    out.print(f"deadwood {result.deadwood}", f"points   {complete}", sep="\n")
    if result.wins_on:
        won = [
            card_text([card]).append(f" ({unseen} unseen)", style="default")
            for card, unseen in result.wins_on
        ]
        out.print(Text("wins on  ").append_text(Text(", ").join(won)))
