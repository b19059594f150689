"""A stand-in for the engine: plausible rows, fast, a function of the deal number alone."""

from functools import cache

import numpy as np

from sisepai.cards import EVENTS, FLOWER, MELDS, NONE
from sisepai.engine.records import DEAL, EVENT
from sisepai.engine.simulator import Chunk
from sisepai.rules import RuleSet
from sisepai.runs.manifest import Manifest, PlannedEntry

GREEDY = PlannedEntry("greedy", "greedy", {}, "ab" * 16)
SLOW = PlannedEntry("slow:n=2", "slow", {"n": 2.0}, "cd" * 16)
TAKE, WIN = EVENTS.index("take"), EVENTS.index("win")


def manifest(**changes) -> Manifest:
    """A small plan; keywords change it."""
    keys = {
        "rules": RuleSet(),
        "strategies": (GREEDY, SLOW),
        "seats": (0, 1, 1, 1),
        "seating": "rotate",
        "seed": 7,
        "deals": 1000,
        "events": True,
        "shard_deals": 240,
    }  # fmt: skip
    return Manifest(**{**keys, **changes})


class FakeSimulator:
    """Plays what nobody has dealt."""

    def play(self, first: int, count: int, events: bool = False) -> Chunk:
        rows = np.concatenate([np.zeros(0, DEAL), *(deal_row(first + i) for i in range(count))])
        if not events:
            return Chunk(rows, None, None)
        each = [deal_events(first + i) for i in range(count)]
        return Chunk(rows, np.concatenate(each), np.array([len(e) for e in each], np.uint16))


@cache
def deal_row(deal: int) -> np.ndarray:
    """DEAL[1]."""
    rng = np.random.default_rng(deal)
    row = np.zeros(1, DEAL)
    won = rng.random() < 0.9
    row["dealer"] = rng.integers(4)
    row["redeals"] = rng.choice([0, 1, 300])
    row["outcome"] = 0 if won else rng.integers(1, 3)
    row["draws"], row["takes"], row["discards"] = rng.integers(0, 40, 3)
    row["dealt_deadwood"] = rng.integers(0, 21, 4)
    row["end_deadwood"] = rng.integers(0, 21, 4)
    for name, high in (("winner", 4), ("win_by", 4), ("from_seat", 4), ("win_card", FLOWER + 1)):
        row[name] = rng.integers(high) if won else NONE
    if won:
        row["score"] = rng.integers(1, 32)
        row["melds"] = rng.integers(0, 8, len(MELDS))
        row["win_card"] = NONE if row["win_by"] == 3 else row["win_card"]
    return row


@cache
def deal_events(deal: int) -> np.ndarray:
    """EVENT[n], n from 1 to 300."""
    rng = np.random.default_rng(deal + 10**9)
    events = np.zeros(rng.choice([1, 20, 60, 300]), EVENT)
    events["event"] = rng.integers(0, WIN, len(events))
    events["seat"] = rng.integers(0, 4, len(events))
    events["card"] = rng.integers(0, FLOWER + 1, len(events))
    events["meld"] = events["score"] = NONE
    events["with"] = NONE
    for place in np.flatnonzero(events["event"] == TAKE):
        partners = rng.integers(0, 4)
        events["meld"][place] = rng.integers(len(MELDS))
        events["with"][place, :partners] = np.sort(rng.integers(0, FLOWER, partners))
    events["event"][-1], events["score"][-1] = WIN, 9
    events["meld"][-1], events["with"][-1] = NONE, NONE
    return events
