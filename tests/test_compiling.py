"""Whoever must wait for kernels is told so, whichever they are."""

import pytest

from sisepai import jit
from sisepai.strategies import STRATEGIES, Entry

SAID = "compiling the kernels, once; later starts skip this\n"
GAME = ("--strategies", "clairvoyant,greedy,greedy,greedy", "--allow-cheating")


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_is_compiled_is_found(name):
    Entry(STRATEGIES[name]).compiled()
    assert STRATEGIES[name].kernels
    assert all(map(jit.is_compiled, STRATEGIES[name].kernels))


@pytest.mark.parametrize(
    "command", [("simulate", "--deals", "24", "--dry-run"), ("replay", "--seed", "7", "--deal", "3")]
)
def test_a_strategy_that_is_new_is_announced(invoke, monkeypatch, command):
    known = jit.is_compiled
    assert SAID not in invoke(*command, *GAME).stderr
    monkeypatch.setattr(jit, "is_compiled", lambda name: name != "clairvoyant.choose" and known(name))
    assert SAID in invoke(*command, *GAME).stderr
    assert SAID not in invoke(*command).stderr
