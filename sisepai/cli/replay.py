"""``sisepai replay``: one deal turn by turn, or given decks."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.compiling import announce_compiling
from sisepai.cli.lines import bounded_lines
from sisepai.cli.options import DEFAULTS
from sisepai.cli.params import INDEX
from sisepai.errors import InputError, SisepaiError

if TYPE_CHECKING:
    import pyarrow as pa

    from sisepai.rules import RuleSet
    from sisepai.runs.deal import Deal
    from sisepai.runs.deckfile import GivenDeck
    from sisepai.runs.replay import Replayer
    from sisepai.runs.store import Store


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--deal", type=INDEX, help="The number of the deal, from 0; with --deck, of the deck in the file."
)
@click.option(
    "--deck", metavar="FILE", help="Play the decks in this file of JSON lines; - is standard input."
)
@shared.playing_or_run("seed")
@shared.playing_or_run("strategies")
@shared.playing_or_run("rules")
@shared.playing_or_run("seating")
@shared.playing_or_run("match")
@shared.plugin
@shared.allow_cheating
@shared.as_json("Print one JSON object a deal, one a line.")
def replay(
    run: Path | None, deal: int | None, deck: str | None, plugins: tuple[str, ...], allow_cheating: bool,
    as_json: bool, **options: int | str | None,
) -> None:  # fmt: skip
    """Show one deal turn by turn: of a RUN, of a seed, or of decks in a file.

    A deal of a RUN is compared with the row that is stored; if they differ, it is shown all the same and the command
    ends with exit code 1. What a strategy expected of its choices stands where it decided, if it
    tells.

    A line of --deck FILE has the keys rules, players, options, dealer, hands and stock, as --json prints them; if it
    says what happened, it is told whether that is so, and if not, the exit code is 1.

    \b
    Examples:
      sisepai replay runs/0001 --deal 12
      sisepai replay --seed 7 --deal 0 --strategies greedy,random,random,random
      sisepai replay --deck decks.jsonl --strategies random --json
      sisepai replay runs/0002 --deal 5 --plugin ./mine.py
    """
    given = [f"--{name}" for name, value in options.items() if value is not None]
    wish = {name: default if options[name] is None else options[name] for name, default in DEFAULTS.items()}
    wish |= {"plugins": plugins, "allow_cheating": allow_cheating}
    if deck is not None:
        _refuse(
            ["RUN"] * (run is not None) + [o for o in given if o in ("--rules", "--seating", "--match")],
            "--deck FILE",
        )
        _replay_decks(deck, deal, wish, as_json)
    elif deal is None:
        raise InputError("which deal? give its number with --deal, from 0, or decks with --deck FILE")
    elif run is not None:
        _refuse(given, "a RUN, whose manifest says it")
        _replay_run(run, deal, wish, as_json)
    else:
        _replay_seed(deal, wish, as_json)


def _refuse(given: list[str], beside: str) -> None:
    if given:
        raise InputError(f"{given[0]} does not go with {beside}")


def _replay_run(run: Path, number: int, wish: dict[str, Any], as_json: bool) -> None:
    from sisepai.runs.manifest import read_manifest

    manifest = read_manifest(run)
    if number >= manifest.deals:
        raise InputError(f"{run} has {manifest.deals:,} deals; the last is number {manifest.deals - 1}")
    from sisepai.runs.replay import Replayer, check_rows, entries_of
    from sisepai.runs.store import Store
    from sisepai.strategies.registry import check_cheating, load_plugins

    plugged = load_plugins(wish["plugins"])
    entries = entries_of(manifest, plugged)
    check_cheating(entries, wish["allow_cheating"])
    announce_compiling(entries, explained=any(entry.strategy.explains for entry in entries))
    store, replayer = Store(run, manifest), Replayer.of(manifest, plugged)
    stored, dealer, damage = _stored(store, number)
    # What was played is shown first: it is the same whatever has become of the file.
    deal = _numbered(replayer, number, str(run), as_json, dealer)
    if damage is not None:
        raise damage
    if stored is not None:
        check_rows(store, deal.row, stored, number)
    if not as_json:
        click.echo("\nthe stored row is the same" if stored else "\nnot stored yet: nothing to compare with")


def _stored(store: "Store", number: int) -> tuple["pa.Table | None", int | None, SisepaiError | None]:
    """The stored row of a deal, who deals it where only the row tells, and why it cannot be read."""
    from sisepai.runs.reader import read_dealers, stored_row

    try:
        row = stored_row(store, number)
        dealers = None if row is None else read_dealers(store, row)
    except SisepaiError as error:
        return None, None, error
    return row, None if dealers is None else int(dealers[0]), None


def _replay_seed(number: int, wish: dict[str, Any], as_json: bool) -> None:
    _numbered(_replayer(wish["rules"], wish), number, f"seed {wish['seed']}", as_json)


def _replayer(rules: Any, wish: dict[str, Any]) -> "Replayer":
    """What plays deals as wished; ``rules`` is a name or a rule set."""
    from sisepai.rules import load

    rule_set = load(rules) if isinstance(rules, str) else rules
    from sisepai.runs.plan import SHARD_MULTIPLE, Plan, shard_size
    from sisepai.runs.replay import Replayer
    from sisepai.strategies.registry import check_cheating, load_plugins, parse_entries

    entries, seats = parse_entries(wish["strategies"], rule_set.players, load_plugins(wish["plugins"]))
    check_cheating(entries, wish["allow_cheating"])
    announce_compiling(entries, explained=any(entry.strategy.explains for entry in entries))
    match = wish["match"]
    shard_deals = shard_size([SHARD_MULTIPLE], False, match)
    plan = Plan.rounded(tuple(seats), wish["seating"], 1, shard_deals, match)
    return Replayer(rule_set, entries, plan.seatings, wish["seed"], match)


def _show(deal: "Deal", labels: tuple[str, ...], title: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(deal.to_dict()))
        return
    from sisepai.cli.console import console
    from sisepai.cli.deal_view import print_deal

    print_deal(console(), deal, labels, f"{title}, rules {deal.rules.name}")


def _numbered(
    replayer: "Replayer", number: int, source: str, as_json: bool, dealer: int | None = None
) -> "Deal":
    """Play deal ``number`` and show it."""
    from sisepai.engine.faults import StrategyFault

    try:
        deal = replayer.deal(number, dealer)
    except StrategyFault as fault:
        if not as_json:
            title = f"deal {fault.deal} of {source}: {_where(replayer, fault.deal)}"
            _show(replayer.so_far(fault), replayer.labels(fault.deal), title, as_json)
        raise
    _show(deal, replayer.labels(number), f"deal {number} of {source}: {_where(replayer, number)}", as_json)
    return deal


def _where(replayer: "Replayer", number: int) -> str:
    """Where a deal stands among the others."""
    if replayer.match:
        match, place = divmod(number, replayer.match)
        return f"match {match}, round {place}"
    deck, seating = divmod(number, len(replayer.seatings))
    return f"deck {deck}, seating {seating}"


def _replay_decks(file: str, number: int | None, wish: dict[str, Any], as_json: bool) -> None:
    from sisepai.runs.deckfile import disagreement, read_decks

    name = "standard input" if file == "-" else file
    decks = read_decks(bounded_lines(file), name)
    if number is not None and number >= len(decks):
        raise InputError(f"{name} has {len(decks)} decks; the last is number {len(decks) - 1}")
    told: list[str | None] = []
    for place, (deck, deal, labels) in enumerate(_played(decks, wish)):
        if number is not None and place != number:
            continue
        _show(deal, labels, f"deck {place}, line {deck.line} of {name}", as_json)
        if deck.said:
            told.append(disagreement(deck, deal))
            line = f"line {deck.line}: {told[-1]}" if told[-1] else "as the line says"
            if told[-1] or not as_json:
                click.echo(line, err=as_json)
    if len(told) > 1:
        click.echo(f"{told.count(None)} of {len(told)} deals are as their lines say", err=True)
    if any(told):
        click.get_current_context().exit(1)


def _played(
    decks: list["GivenDeck"], wish: dict[str, Any]
) -> Iterator[tuple["GivenDeck", "Deal", tuple[str, ...]]]:
    """The deals of the decks, in order; their numbers are their places in the file."""
    import numpy as np

    players: dict[RuleSet, Replayer] = {}  # one a rule set, however they alternate
    first = 0
    for rules, group in groupby(decks, lambda deck: deck.rules):
        same = list(group)
        if rules not in players:
            players[rules] = _replayer(rules, wish)
        replayer = players[rules]
        dealers = np.array([deck.dealer for deck in same], np.uint8)
        cards = np.array([deck.cards for deck in same], np.uint8)
        for deck, deal in zip(same, replayer.given(dealers, cards, first), strict=True):
            yield deck, deal, replayer.labels(0)
        first += len(same)
