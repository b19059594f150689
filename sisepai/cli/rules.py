"""``sisepai rules``: the rule sets that come with the program."""

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from sisepai.rules import RuleSet


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the digest and every key of the rules.")
def rules(name: str | None, as_json: bool) -> None:
    """List the rule sets, or print the one called NAME.

    A rule set is data: every key below is one rule, and the digest names their whole, so that two runs with the same
    digest were played by the same rules.

    \b
    Examples:
      sisepai rules
      sisepai rules cardavia
      sisepai rules classic --json
    """
    from sisepai.rules import PRESETS, load

    if as_json:
        document = _document(load(name)) if name else [_document(one) for one in PRESETS.values()]
        click.echo(json.dumps(document, indent=2))
        return
    from sisepai.cli.console import console

    out = console()
    if name:
        keys, takes, points = _tables(load(name))
        out.print(keys, "", takes, "", points)
    else:
        out.print(_overview(list(PRESETS.values())), "", "sisepai rules NAME prints one in full.")


def _document(one: "RuleSet") -> dict[str, Any]:
    return {"digest": one.digest(), "rules": one.to_dict()}


def _overview(presets: list["RuleSet"]) -> "Table":
    from sisepai.cli.console import plain_table

    table = plain_table("rules", "players", "pack", "stock", "colour groups", "points to win", "digest")
    for one in presets:
        numbers = (one.players, one.pack_size, one.stock_size)
        table.add_row(
            one.name, *map(str, numbers), one.colour_groups, str(one.min_points or "any"), one.digest()[:12]
        )
    return table


def _tables(one: "RuleSet") -> tuple["Table", "Table", "Table"]:
    """The rule set as three tables: plain keys, who may take what, points."""
    from sisepai.cli.console import plain_table

    keys = plain_table("rule", "value")
    for key, value in one.to_dict().items():
        if key not in ("takes", "points"):
            keys.add_row(key, {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value))
    keys.add_row("digest", one.digest())

    takes = plain_table("without winning may take", "melds")
    for place, kinds in one.takes.items():
        takes.add_row(place.replace("_", " window, ", 1), " ".join(kinds) or "nothing")

    points = plain_table("points of a meld", "concealed", "exposed")
    for meld, (concealed, exposed) in one.points.items():
        points.add_row(meld.replace("_", " "), str(concealed), str(exposed))
    return keys, takes, points
