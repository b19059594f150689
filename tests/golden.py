"""Golden digests: what 20,000 deals of each rule set hold, column by column, kept in `data/golden.json`.

A digest changes only when the deals do: another shuffle, another rule, another choice of a strategy. When it is meant,
write the file anew and say in the commit message why the deals changed:

    .venv/bin/python tests/golden.py --write
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from engine_tools import PRESET_NAMES, rules_of, simulator

from sisepai.engine.records import DEAL, EVENT
from sisepai.engine.simulator import decks

FILE = Path(__file__).parents[1] / "data" / "golden.json"
STRATEGIES = ("greedy", "random")
DEALS, SEED = 20_000, 7


def digest(values):
    """A short digest of an array's values, whatever integer type holds them."""
    return hashlib.sha256(np.ascontiguousarray(values, "<i8").tobytes()).hexdigest()[:16]


def digests_of(name, strategy):
    """By column of rows and events: the digest of its values."""
    rules = rules_of(name, {})
    chunk = simulator(rules, strategy, SEED).play(0, DEALS, events=True)
    columns = {f"deals.{column}": digest(chunk.rows[column]) for column in DEAL.names}
    columns |= {f"events.{column}": digest(chunk.events[column]) for column in EVENT.names}
    return columns | {"events.counts": digest(chunk.event_counts)}


def all_digests():
    """What `data/golden.json` holds."""
    golden = {name: {"decks": digest(decks(rules_of(name, {}), SEED, 0, DEALS)[1])} for name in PRESET_NAMES}
    for name in PRESET_NAMES:
        golden[name] |= {strategy: digests_of(name, strategy) for strategy in STRATEGIES}
    return {"seed": SEED, "deals": DEALS, "rules": golden}


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/golden.py --write")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(all_digests(), indent=1) + "\n", encoding="utf-8")
