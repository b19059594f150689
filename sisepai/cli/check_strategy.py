"""``sisepai check-strategy``: whether a strategy keeps what every strategy promises, under every rule set."""

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.params import COUNT
from sisepai.cli.strategies import only_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisepai.strategies import Entry
    from sisepai.strategies.conformance import Failure, Findings

WIDE = 80  # narrower terminals get fewer columns


@click.command("check-strategy")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--deals", type=COUNT, help="Of each table, however long it takes.  [default: about 10 s a rule set]"
)
@shared.playing("seed")
@shared.quiet
@shared.as_json()
@click.pass_context
def check_strategy(
    ctx: click.Context, name: str, deals: int | None, seed: int, quiet: bool, as_json: bool
) -> None:
    """Check that a strategy plays by the rules, the same each time, and by what its seat may see.

    It plays under every rule set that comes along, at one seat against random, against greedy, and at all seats.
    legal: every choice was offered, and asking changes nothing in the deal. same again: the same deals when they are
    played again in another order, and the same choices when they are asked for again later and with other things left
    in the memory it may write to. no leak: the same choices when the cards it cannot see are others. Exit code 1 when
    one of these fails; each failure comes with the command that shows the deal.

    \b
    Examples:
      sisepai check-strategy greedy
      sisepai check-strategy ./mine.py:bold:risk=0.2
      sisepai check-strategy ./mine.py:bold --deals 200 --json
    """
    from sisepai.rules import load
    from sisepai.strategies import STRATEGIES, Entry
    from sisepai.strategies.conformance import OPPONENTS, RULES, examine

    entry = only_entry(name)
    announce_compiling([entry, *(Entry(STRATEGIES[name]) for name in OPPONENTS)], quiet, explained=True)
    found = []
    for rules in RULES:
        if not quiet:
            click.echo(f"checking {entry.label} under {rules}", err=True)
        found.append(examine(entry, load(rules), seed, deals))
    if as_json:
        click.echo(json.dumps(_document(entry, seed, found), indent=1))
    else:
        _print(entry, seed, found)
    if any(findings.failures for findings in found):
        ctx.exit(1)


def _document(entry: "Entry", seed: int, found: "list[Findings]") -> dict[str, Any]:
    from sisepai.rules import spelled

    rule_sets = [
        {
            "rules": spelled(findings.rules),
            "deals": findings.deals,
            "decisions": findings.decisions,
            "deals_per_second": findings.speed,
            "checks": dict(_verdicts(entry, findings)),
            "failures": {
                check: {"what": failure.what, "command": _command(entry, seed, findings, failure)}
                for check, failure in findings.failures.items()
            },
        }
        for findings in found
    ]
    passed = not any(findings.failures for findings in found)
    return {"strategy": entry.label, "seed": seed, "passed": passed, "rule_sets": rule_sets}


def _verdicts(entry: "Entry", findings: "Findings") -> "Iterator[tuple[str, str]]":
    """Each check with what came of it."""
    from sisepai.strategies.conformance import CHECKS

    for check in CHECKS:
        if check in findings.failures:
            yield check, "failed"
        elif check == "no leak" and entry.strategy.cheats:
            yield check, "sees all" if findings.leaks else "not seen to cheat"
        else:
            yield check, "passed" if findings.seen(check) else "not told"


def _command(entry: "Entry", seed: int, findings: "Findings", failure: "Failure") -> str:
    """The command that shows the deal of a failure."""
    from sisepai.rules import spelled

    words = ["sisepai", "replay", "--seed", str(seed), "--deal", str(failure.deal)]
    words += ["--strategies", failure.strategies, "--rules", spelled(findings.rules)]
    return shlex.join([*words, *(["--allow-cheating"] if entry.strategy.cheats else [])])


def _print(entry: "Entry", seed: int, found: "list[Findings]") -> None:
    from rich.text import Text

    from sisepai.cli.console import console, plain_table
    from sisepai.rules import spelled
    from sisepai.strategies.conformance import CHECKS

    out = console()
    more = out.width >= WIDE
    table = plain_table("rules", *CHECKS, "deals/s", *(("deals", "decisions") if more else ()))
    for column in table.columns[1 + len(CHECKS) :]:
        column.justify, column.no_wrap = "right", True
    for findings in found:
        verdicts = [
            Text(verdict, style="bold red" if verdict == "failed" else "green" if verdict == "passed" else "")
            for _, verdict in _verdicts(entry, findings)
        ]
        counts = (f"{findings.deals:,}", f"{findings.decisions:,}") if more else ()
        table.add_row(spelled(findings.rules), *verdicts, _pace(findings.speed), *counts)
    out.print(table)
    for findings in found:
        for check, failure in findings.failures.items():
            out.print(f"\n{check}, {spelled(findings.rules)}: {failure.what}", markup=False)
            click.echo(_command(entry, seed, findings, failure))


def _pace(speed: float | None) -> str:
    if speed is None:
        return "-"
    return f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
