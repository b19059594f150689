"""The deals are those of yesterday: golden digests of column values (`tests/golden.py` tells how to renew them)."""

import json

import pytest
from engine_tools import PRESET_NAMES, rules_of
from golden import DEALS, FILE, SEED, STRATEGIES, digest, digests_of

from sisepai.engine.simulator import decks


@pytest.fixture(scope="module")
def golden():
    data = json.loads(FILE.read_text(encoding="utf-8"))
    assert (data["seed"], data["deals"]) == (SEED, DEALS)
    return data["rules"]


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_decks(golden, name):
    assert digest(decks(rules_of(name, {}), SEED, 0, DEALS)[1]) == golden[name]["decks"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", PRESET_NAMES)
def test_columns(golden, name, strategy):
    assert digests_of(name, strategy) == golden[name][strategy]
