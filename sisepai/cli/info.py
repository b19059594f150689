"""``sisepai info``: what a run is, how far it is, and what to do next."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sisepai.cli import options as shared
from sisepai.cli.progress import byte_size

if TYPE_CHECKING:
    from sisepai.runs.store import Store

MOST_NAMED = 5  # missing shards that are listed by number


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@shared.as_json()
def info(run: Path, as_json: bool) -> None:
    """Show the plan of a RUN, which of its shards are there, and the next command.

    \b
    Examples:
      sisepai info runs/0001
      sisepai info runs/0001 --json
    """
    from sisepai.runs.manifest import read_manifest
    from sisepai.runs.store import Store

    document = _document(Store(run, read_manifest(run)))
    click.echo(json.dumps(document) if as_json else _text(document))


def _document(store: "Store") -> dict[str, Any]:
    from sisepai.runs.command import command_of, report_of

    manifest, plan = store.manifest, store.manifest.plan
    done = store.done()
    where = str(store.path)
    made_by = command_of(manifest, "--out", where)
    complete = len(done) == plan.shards
    return {
        "run": where,
        "run_id": manifest.run_id,
        "manifest": manifest.to_dict(),
        "decks": plan.deals // plan.block,
        "deals_done": sum(plan.shard(shard).count for shard in done),
        "shards": plan.shards,
        "shards_done": len(done),
        "first_missing": _first_missing(done, plan.shards),
        "bytes": store.bytes(),
        "command": made_by,
        "next": report_of(where) if complete else f"{made_by} --resume",
    }


def _first_missing(done: set[int], shards: int) -> list[int]:
    missing: list[int] = []
    # As many numbers as are done, and a few, are sure to hold the first few that are not.
    for shard in range(min(shards, len(done) + MOST_NAMED)):
        if shard not in done and len(missing) < MOST_NAMED:
            missing.append(shard)
    return missing


def _text(document: dict[str, Any]) -> str:
    plan = document["manifest"]
    labels = [strategy["label"] for strategy in plan["strategies"]]
    missing = document["shards"] - document["shards_done"]
    first = ", ".join(map(str, document["first_missing"])) + (" ..." if missing > MOST_NAMED else "")
    sizes = ", ".join(f"{kind} {byte_size(size)}" for kind, size in document["bytes"].items())
    rows = {
        "run": document["run"],
        "id": document["run_id"],
        "rules": f"{plan['rules']['name']} (digest {plan['rules_digest'][:12]})",
        "seats": ", ".join(labels[entry] for entry in plan["seats"]),
        "seating": f"{plan['seating']}, {plan['deals'] // document['decks']} deals a deck",
        "seed": str(plan["seed"]),
        "matches": _matches(plan),
        "deals": f"{plan['deals']:,} of {document['decks']:,} decks, {document['deals_done']:,} done",
        "events": "stored" if plan["events"] else "not stored",
        "shards": f"{document['shards']:,} of {plan['shard_deals']:,} deals, {document['shards_done']:,} done",
        "missing": f"{missing:,} ({first})" if missing else "none",
        "bytes": sizes,
        "made by": document["command"],
        "next": document["next"],
    }
    return "\n".join(f"{name:<8} {value}" for name, value in rows.items() if value)


def _matches(plan: dict[str, Any]) -> str:
    """How many, of how many deals; nothing where there are none."""
    match = plan["match"]
    return f"{plan['deals'] // match:,} of {match:,} deals, the winner deals the next" if match else ""
