"""``sisepai strategies``: the strategies there are, or all about one: parameters, source, strength, speed."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from sisepai.strategies import Entry, Strategy
    from sisepai.strategies.measured import Strength

WIDE = 90  # narrower terminals get fewer columns


@click.command()
@click.argument("name", required=False, metavar="[NAME | FILE.py[:NAME]]")
@shared.as_json("Print JSON: parameters and every measured figure.")
def strategies(name: str | None, as_json: bool) -> None:
    """List the strategies, or tell all about the one called NAME.

    FILE.py is a file of strategies of your own; its code is run to see what is in it, as that of an installed plug-in
    is when it is named.

    What was measured is one seat of the strategy against three of greedy, every deck under all rotations of the
    seats. A strategy that sees all cards is a yardstick, marked with * and played with --allow-cheating only.

    \b
    Examples:
      sisepai strategies
      sisepai strategies greedy
      sisepai strategies ./mine.py:bold
      sisepai strategies --json
    """
    from sisepai.strategies import STRATEGIES
    from sisepai.strategies.plugins import installed

    chosen = list(STRATEGIES.values()) if name is None else _named(name)
    packages = (
        {} if name else {point.name: point.dist.name if point.dist else "?" for point in installed().values()}
    )
    if as_json:
        documents = [_document(one) for one in chosen]
        documents += [{"name": one, "package": package} for one, package in packages.items()]
        click.echo(json.dumps(documents if len(documents) > 1 else documents[0], indent=2))
    elif len(chosen) > 1:
        _print_list(chosen, packages)
    else:
        _print_one(chosen[0])


def _named(text: str) -> "list[Strategy]":
    """The strategy that is named; of a file alone, all that are in it."""
    from sisepai.strategies.plugins import is_file
    from sisepai.strategies.registry import load_plugins

    return list(load_plugins([text]).values()) if is_file(text) else [only_entry(text).strategy]


def only_entry(text: str) -> "Entry":
    """The entry that is named where one is looked at.

    Raises
    ------
    InputError
        As `parse_entries`, or there are several.
    """
    from sisepai.strategies import parse_entries

    if "," in text:
        raise InputError(f"'{text}': one strategy at a time, so no comma")
    return parse_entries(text, 1)[0][0]


def _document(one: "Strategy") -> dict[str, Any]:
    from dataclasses import asdict

    from sisepai.strategies.measured import measured

    keys = ("name", "default", "range", "help")
    return {
        "name": one.name,
        "summary": one.summary,
        "source": one.source,
        "cheats": one.cheats,
        "parameters": [{key: getattr(parameter, key) for key in keys} for parameter in one.parameters],
        "digest": one.digest(),
        "measured": [asdict(strength) for strength in measured(one.name)],
    }


def _print_list(chosen: "Iterable[Strategy]", packages: dict[str, str]) -> None:
    from rich.text import Text

    from sisepai.cli.console import console, plain_table
    from sisepai.strategies.measured import RULES, measured

    out, words = console(), plain_table("strategy", "what it does")
    more = out.width >= WIDE
    figures = _figures(more)
    for one in chosen:
        marked = one.name + " *" * one.cheats
        words.add_row(Text(marked), Text(one.summary))
        found = [s for s in measured(one.name) if s.entry == one.name and s.rules == RULES]
        figures.add_row(marked, *(_cells(found[0], more)[1:] if found else (RULES, "not measured")))
    for name, package in packages.items():
        words.add_row(Text(name), Text(f"a plug-in, installed with {package}"))
    out.print(words, "", "One seat against three greedy (deals/s: of one thread):", figures, sep="\n")
    if any(one.cheats for one in chosen):
        out.print("\n* sees all cards: a yardstick, played with --allow-cheating only")
    out.print("\nsisepai strategies NAME tells all about one.")


def _print_one(one: "Strategy") -> None:
    from sisepai.cli.console import console
    from sisepai.strategies.measured import measured

    out, strengths = console(), measured(one.name)
    out.print(one.name, style="bold", markup=False)
    out.print(one.summary, markup=False)
    if one.player:
        out.print("Plain Python: hundreds of times slower than a compiled strategy.")
    if one.cheats:
        out.print("Sees all cards: a yardstick, played with --allow-cheating only.")
    if one.source:
        out.print(f"The idea: {one.source}.", markup=False)
    out.print()
    out.print(_parameters(one) if one.parameters else "It has no parameters.")
    out.print()
    if not strengths:
        out.print("How strong and how fast it is: not measured.")
        return
    more = out.width >= WIDE
    figures = _figures(more)
    for strength in strengths:
        figures.add_row(*_cells(strength, more))
    out.print("One seat against three greedy; the interval is over decks, deals/s are of one thread:")
    out.print(figures)
    if any(strength.digest != one.digest() for strength in strengths):
        out.print("Some of it was measured before its code was changed.", style="yellow")
    click.echo("\nMeasured with")
    for strength in strengths:
        click.echo(f"  {strength.command}")


def _parameters(one: "Strategy") -> "Table":
    from rich.text import Text

    from sisepai.cli.console import plain_table

    table = plain_table("parameter", "default", "range", "meaning")
    for parameter in one.parameters:
        words = (parameter.name, f"{parameter.default}", parameter.range, parameter.help)
        table.add_row(*(Text(word) for word in words))
    return table


def _figures(more: bool) -> "Table":
    """The head of a table of figures; ``more`` columns where there is room."""
    from sisepai.cli.console import plain_table

    heads = ("wins", "95% interval", "deals/s", *(("decks", "points a deal", "std. error") if more else ()))
    table = plain_table("strategy", "rules", *heads)
    table.columns[0].overflow = "fold"
    for column in table.columns[2:]:
        column.justify, column.no_wrap = "right", True
    return table


def _cells(strength: "Strength", more: bool) -> list[str]:
    cells = [
        strength.entry,
        strength.rules,
        f"{strength.wins:.2%}",
        strength.interval,
        strength.pace,
    ]
    if more:
        cells += [f"{strength.decks:,}", f"{strength.points:.3f}", f"{strength.points_se:.4f}"]
    return cells
