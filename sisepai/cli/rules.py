"""``sisepai rules``: the rule sets there are, one in full, or where two differ."""

import json
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from sisepai.rules import RuleSet


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME | diff A B]")
@click.option("--toml", "as_toml", is_flag=True, help="Print NAME as a file to change, every key explained.")
@shared.as_json("Print JSON: the digest and every key of the rules.")
@click.pass_context
def rules(ctx: click.Context, words: tuple[str, ...], as_toml: bool, as_json: bool) -> None:
    """List the rule sets, print the one called NAME, or show where A and B differ.

    A rule set is data: every key is one rule, and the digest names their whole, so that two runs with the same digest
    were played by the same rules. NAME, A and B may be a preset, a preset with options, or a file of one's own.

    \b
    Examples:
      sisepai rules
      sisepai rules classic
      sisepai rules classic:flowers=5:players=3
      sisepai rules classic --toml > my-rules.toml
      sisepai rules diff classic my-rules.toml
    """
    if as_toml and as_json:
        raise InputError("--toml and --json exclude each other")
    if words[:1] == ("diff",):
        if as_toml:
            raise InputError("--toml does not go with diff")
        _diff(words[1:], as_json)
    elif len(words) > 1:
        raise click.UsageError(f"Got unexpected extra argument ({words[1]})", ctx)
    elif as_toml:
        _print_file(words)
    elif as_json:
        _print_json(words)
    elif words:
        _print_one(words[0])
    else:
        _print_overview()


def _print_file(words: tuple[str, ...]) -> None:
    from sisepai.rules import load
    from sisepai.rules.rulefile import to_toml

    if not words:
        raise InputError("--toml needs the rule set to start from, as in: sisepai rules classic --toml")
    click.echo(to_toml(load(words[0])), nl=False)


def _print_json(words: tuple[str, ...]) -> None:
    from sisepai.rules import PRESETS, load

    document = _document(load(words[0])) if words else [_document(one) for one in PRESETS.values()]
    click.echo(json.dumps(document, indent=2))


def _document(one: "RuleSet") -> dict[str, Any]:
    return {"digest": one.digest(), "rules": one.to_dict()}


def _print_overview() -> None:
    from sisepai.cli.console import console, plain_table
    from sisepai.rules import PRESETS

    table = plain_table("rules", "players", "pack", "stock", "colour groups", "points to win", "digest")
    for one in PRESETS.values():
        numbers = (one.players, one.pack_size, one.stock_size)
        table.add_row(
            one.name, *map(str, numbers), one.colour_groups, str(one.min_points or "any"), one.digest()[:12]
        )
    console().print(table)
    click.echo("\nsisepai rules NAME prints one in full.")


def _print_one(text: str) -> None:
    from rich.text import Text

    from sisepai.cli.console import console
    from sisepai.rules import load, spelled

    one = load(text)
    out = console()
    out.print(Text(f"{spelled(one)}\n{one.digest()}"))
    for table in _tables(one):
        out.print("", table, sep="\n")


def _tables(one: "RuleSet") -> tuple["Table", "Table", "Table"]:
    """The rule set as three tables: plain keys, who may take what, points."""
    from sisepai.cli.console import plain_table
    from sisepai.rules.rulefile import value_text
    from sisepai.rules.ruleset import KEYS, POINTS, TABLES

    values = one.to_dict()
    keys = plain_table("rule", "value", "meaning")
    for name, key in KEYS.items():
        if name not in TABLES:
            keys.add_row(name, value_text(name, values[name]), key.meaning)

    takes = plain_table("without winning may take", "melds")
    for place, kinds in one.takes.items():
        takes.add_row(place.replace("_", " window, ", 1), " ".join(kinds) or "nothing")

    points = plain_table("points of a meld", "concealed", "exposed", "meaning")
    for meld, (concealed, exposed) in one.points.items():
        points.add_row(meld.replace("_", " "), str(concealed), str(exposed), POINTS[meld].meaning)
    return keys, takes, points


def _diff(names: tuple[str, ...], as_json: bool) -> None:
    from sisepai.rules import differences, load

    if len(names) != 2:
        raise InputError("diff needs two rule sets, as in: sisepai rules diff classic ten-hu")
    pair = [load(name) for name in names]
    found = differences(*pair)
    if as_json:
        documents = [{"rules": name, "digest": one.digest()} for name, one in zip(names, pair, strict=True)]
        click.echo(json.dumps({"compared": documents, "differences": found}, indent=2))
    elif found:
        _print_differences(names, found)
    else:
        click.echo(f"the same rules, digest {pair[0].digest()[:12]}")


def _print_differences(names: tuple[str, ...], found: dict[str, tuple[Any, Any]]) -> None:
    from rich.text import Text

    from sisepai.cli.console import console, plain_table
    from sisepai.rules.rulefile import value_text

    table = plain_table("rule", "", "")
    for column, name in zip(table.columns[1:], names, strict=True):
        column.header = Text(name)
    for key, values in found.items():
        table.add_row(key, *(value_text(key, value, ", ") or "nothing" for value in values))
    console().print(table)
