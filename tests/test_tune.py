"""`sisepai tune`: finds what is better, goes on where it was stopped, says so when nothing is found."""

import json

import pytest

from sisepai.engine.randomness import below
from sisepai.jit import inner
from sisepai.strategies import STRATEGIES, Parameter, Strategy, greedy, random


@inner
def answer(view):
    """As greedy, but the further `aim` is from 3 and `share` from 0.4, the more often as random does."""
    value = view.parameters.value
    miss = abs(value[0] - 3) / 10 + abs(value[1] - 0.4)
    return random_answer(view) if below(view.rng, 1000) < 1000 * miss else greedy_answer(view)


@inner
def discard(view):
    value = view.parameters.value
    miss = abs(value[0] - 3) / 10 + abs(value[1] - 0.4)
    return random_discard(view) if below(view.rng, 1000) < 1000 * miss else greedy_discard(view)


random_answer, random_discard = random.answer, random.discard
greedy_answer, greedy_discard = greedy.answer, greedy.discard

WOBBLY = Strategy(
    "wobbly",
    "as greedy when its parameters are right",
    answer,
    discard,
    (
        Parameter("aim", 7, "best at 3", 0, 10, whole=True),
        Parameter("share", 0.1, "best at 0.4", 0, 1),
        Parameter("mood", "calm", "of no account", choices=("calm", "wild")),
    ),
)


@pytest.fixture(autouse=True)
def _wobbly(monkeypatch, tmp_path):
    monkeypatch.setitem(STRATEGIES, "wobbly", WOBBLY)
    monkeypatch.chdir(tmp_path)


def test_finds_what_is_best(invoke):
    result = invoke("tune", "wobbly", "--decks", "200", "--trials", "120", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    print(json.dumps(found, indent=1))
    assert found["better"]
