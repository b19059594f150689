"""Runs with made-up results: rows as the engine would hand them over, drawn from a seeded generator."""

from pathlib import Path

import numpy as np
import polars as pl

from sisepai.cards import NONE, OUTCOMES, WIN_BY
from sisepai.engine.records import DEAL
from sisepai.rules import RuleSet
from sisepai.runs import schema
from sisepai.runs.manifest import Manifest, PlannedEntry
from sisepai.runs.plan import Plan
from sisepai.runs.store import Store


def manifest(
    deals=240,
    seats=(0, 0, 0, 0),
    seating="fixed",
    seed=7,
    labels=("greedy", "random"),
    shard=24,
    match=0,
    **rules,
):
    """A manifest of at least so many deals."""
    strategies = tuple(PlannedEntry(label, label, {}, "0" * 16) for label in labels[: max(seats) + 1])
    rule_set = RuleSet(players=len(seats), **rules)
    whole = Plan.rounded(seats, seating, deals, shard, match).deals
    return Manifest(rule_set, strategies, seats, seating, seed, whole, False, shard, match)


def rows(plan, drawn=0.1, seed=1, together=0.5):
    """DEAL[deals]; in a deck or match results hang together: with chance ``together`` a deal repeats its first one."""
    rng = np.random.default_rng(seed)
    count, players = plan.deals, len(plan.seats)
    deals = np.zeros(count, DEAL)
    deals["dealer"] = rng.integers(players, size=count)
    won = rng.random(count) >= drawn
    deals["outcome"] = np.where(won, OUTCOMES.index("win"), OUTCOMES.index("exhausted"))
    deals["outcome"][~won & (rng.random(count) < 0.2)] = OUTCOMES.index("dead_hand")
    deals["winner"] = rng.choice(players, count, p=np.arange(players, 0, -1) / sum(range(players + 1)))
    deals["win_by"] = rng.integers(len(WIN_BY), size=count)
    deals["from_seat"] = deals["win_card"] = 0
    deals["score"] = 1 + 2 * rng.binomial(15, 0.3, count)
    for name, mean in (("draws", 20), ("takes", 12), ("discards", 22)):
        deals[name] = rng.poisson(mean, count)
    deals["melds"] = rng.binomial(6, 0.2, (count, deals["melds"].shape[1]))
    for name in ("winner", "win_by", "from_seat", "win_card"):
        deals[name][~won] = NONE
    deals["score"][~won] = 0
    deals["melds"][~won] = 0
    first = np.arange(count) // plan.unit * plan.unit
    again = rng.random(count) < together
    deals[again] = deals[first[again]]
    deals["dealer"] = deals["dealer"][first]  # the deck says who deals
    return deals


def frame(made, deals):
    """The rows as a run's frame."""
    return pl.DataFrame(pl.from_arrow(schema.deal_table(made, deals, 0)))


def write_run(path: Path, made, deals, shards=None):
    """Write a run directory; only the given shards where some are given."""
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(made.to_json())
    store = Store(path, made)
    for number in range(made.plan.shards) if shards is None else shards:
        piece = made.plan.shard(number)
        table = schema.deal_table(made, deals[piece.first : piece.first + piece.count], piece.first)
        store.write("deals", number, schema.encode(table.schema, [table]), piece.count)
    return path
