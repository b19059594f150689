"""`ukeire` chooses as its slow twin does, whatever its weights, and its parameters do what they say."""

import json
from dataclasses import replace

import numpy as np
import pytest
from engine_tools import (
    events_by_deal,
    later_deck,
    naive_rules_of,
    rules_of,
    seeded_decks,
    simulator,
)
from naive_deal import Greedy, play_deal
from naive_ukeire import Ukeire

from sisepai.strategies import STRATEGIES
from sisepai.strategies.ukeire import FEATURES, FILE, ROWS

SEED = 31
FOUND = json.loads(FILE.read_text(encoding="utf-8"))
TABLES = [
    ("cardavia", {}),
    ("classic", {}),
    ("ten-hu", {}),
    ("cardavia", {"players": 2}),
    ("classic", {"lock_dealt_triples": True, "flowers": 5, "players": 3}),
    ("ten-hu", {"lock_dealt_triples": True}),
    ("own", {}),
]
IDS = ["-".join([name, *map(str, options.values())]) for name, options in TABLES]


def twin(objective="win", **times):
    """The slow form, with the weights that come along."""
    weights = {
        what: [dict(zip(FEATURES, row, strict=True)) for row in FOUND[objective][what]]
        for what in ("answers", "discards")
    }
    return Ukeire(weights, times)


def same_deals(name, options, text, slow, first, count):
    """Kernels and twin play the same deals, with `ukeire` at every second seat; how many decisions those had."""
    rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
    seats = ",".join([text, "greedy", text, "greedy"][: rules.players])
    chunk = simulator(rules, seats, SEED).play(first, count, events=True)
    players = [Counted(slow), Greedy(), Counted(slow), Greedy()][: rules.players]
    table = zip(events_by_deal(chunk), seeded_decks(rules, SEED, first, count), strict=True)
    for number, (events, (dealer, hands, stock)) in enumerate(table, first):

        def next_deck(attempt, number=number, dealer=dealer):
            return later_deck(rules, SEED, number, dealer, attempt)

        assert play_deal(slow_rules, dealer, hands, stock, players, next_deck).events == events, (
            f"deal {number}"
        )
    return sum(player.asked for player in players[::2])


class Counted:
    """Counts what a strategy is asked that leaves it a choice."""

    def __init__(self, strategy):
        self.strategy, self.asked = strategy, 0

    def answer(self, view, offers):
        self.asked += len(offers) > 1
        return self.strategy.answer(view, offers)

    def discard(self, view):
        self.asked += 1
        return self.strategy.discard(view)


@pytest.mark.parametrize(("name", "options"), TABLES, ids=IDS)
def test_it_chooses_as_its_twin(name, options):
    assert same_deals(name, options, "ukeire", twin(), 0, 25) > 200


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), TABLES, ids=IDS)
def test_it_chooses_as_its_twin_often(name, options):
    same_deals(name, options, "ukeire", twin(), 10_000, 500)


@pytest.mark.parametrize("objective", ["win", "score"])
def test_parameters_multiply_what_they_say(objective):
    times = {"take": 0.5, "win": 2.0, "any": 4.0, "near": 0.25, "lone": 3.0}
    text = ":".join(["ukeire", f"objective={objective}", *(f"{key}={value}" for key, value in times.items())])
    same_deals("cardavia", {}, text, twin(objective, **times), 500, 20)


@pytest.mark.parametrize("name", ["cardavia", "classic", "ten-hu"])
def test_any_weights_are_read_at_their_places(name, monkeypatch):
    """Weights of pure chance, which let every feature speak."""
    chance = np.random.default_rng(5)
    rows = chance.normal(size=(2, 2, ROWS, len(FEATURES)))
    drawn = replace(STRATEGIES["ukeire"], weights=tuple(rows.reshape(-1).tolist()))
    monkeypatch.setitem(STRATEGIES, "ukeire", drawn)
    for place, objective in enumerate(("win", "score")):
        weights = {
            what: [dict(zip(FEATURES, row, strict=True)) for row in rows[place, part].tolist()]
            for part, what in enumerate(("answers", "discards"))
        }
        same_deals(name, {}, f"ukeire:objective={objective}", Ukeire(weights), 900, 15)


def test_the_weights_that_come_along_are_whole():
    assert FOUND["how"]
    assert tuple(FOUND["features"]) == FEATURES
    for objective in ("win", "score"):
        for what in ("answers", "discards"):
            assert np.shape(FOUND[objective][what]) == (ROWS, len(FEATURES))
            assert np.isfinite(FOUND[objective][what]).all()


def test_it_is_stronger_than_greedy():
    rules = rules_of("cardavia", {})
    tables = ("greedy", "ukeire,greedy,greedy,greedy")
    greedy, own = (
        (simulator(rules, seats, SEED).play(0, 8_000).rows["winner"] == 0).mean() for seats in tables
    )
    assert own > greedy + 0.02
