"""The conformance kit: every strategy that comes along passes, and each way to break a promise is noticed."""

import json
import random
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from conftest import one_line_error

from sisepai.cards import N_TYPES
from sisepai.engine.plain import Plain
from sisepai.engine.randomness import below
from sisepai.engine.records import PASS, WIN
from sisepai.jit import inner
from sisepai.rules import load
from sisepai.rules.hand import discardable
from sisepai.strategies import STRATEGIES, Entry, Strategy, conformance, greedy
from sisepai.strategies.conformance import CHECKS, RULES, examine

SEED = 7


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """No time for the speed."""
    monkeypatch.setattr(conformance, "SPEED_SECONDS", 1e-3)


def examined(strategy, rules="cardavia", deals=40):
    """What is found out about a strategy, or about an entry."""
    return examine(strategy if isinstance(strategy, Entry) else Entry(strategy), load(rules), SEED, deals)


# ------------------------------------------------------------------------------------ those that come along


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_keep_their_promises(name, rules):
    quick = Entry(STRATEGIES[name], {"rollouts": 10} if name == "search" else {})
    found = examined(quick, rules, 8)
    assert found.failures == {}
    assert all(found.seen(check) for check in CHECKS)
    assert found.leaks == STRATEGIES[name].cheats
    assert found.speed > 0


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_keep_their_promises_often(name, rules):
    found = examine(Entry(STRATEGIES[name]), load(rules), SEED + 1, seconds=20)
    assert found.failures == {}


# ------------------------------------------------------------------------------------------- wrong ones


@inner
def not_offered(view):
    """Takes every win, and else a meld beyond those offered."""
    return WIN if view.offers.win else view.offers.n


@inner
def wins_always(view):
    return WIN


@inner
def passes_always(view):
    """Passes where it must take, too."""
    return PASS


@inner
def discards_general(view):
    """The lowest card it holds, which may be a General."""
    for card in range(N_TYPES):
        if view.hand.one >> card & 1:
            return card
    return -1


@inner
def discards_what_it_lacks(view):
    for card in range(N_TYPES - 2, -1, -1):
        if not view.hand.one >> card & 1:
            return card
    return -1


@inner
def discards_at_random(view):
    """One of two by a stream of no seed."""
    return greedy.discard(view) if np.random.random() < 0.5 else last(discardable(view.hand))


@inner
def last(mask):
    card = N_TYPES
    while not mask >> card & 1:
        card -= 1
    return card


@inner
def discards_by_memory(view):
    """What it left behind last time decides."""
    odd = view.scratch.hand.dead & 1
    view.scratch.hand.dead += 1
    return last(discardable(view.hand)) if odd else greedy.discard(view)


@inner
def answers_by_what_is_not_offered(view):
    """Looks beyond the offers, where those of another seat may lie."""
    offers = view.offers
    if offers.win:
        return WIN
    return 0 if offers.n > 0 and (offers.forced or offers.partners[offers.n, 0] % 3 == 1) else PASS


@inner
def discards_by_trial(view):
    return last(discardable(view.hand)) if view.trial.estimates.n % 3 == 1 else greedy.discard(view)


@inner
def changes_its_hand(view):
    view.hand.wins |= 1
    return greedy.discard(view)


@inner
def takes_a_card_out(view):
    view.hand.count[6] += 1
    return greedy.discard(view)


@inner
def discards_by_others(view):
    """By the hand of the next seat, as one that is shown the whole deal can."""
    others = view.trial.start.hands[(view.seat + 1) % view.table.players]
    return last(discardable(view.hand)) if others.count[0] > 0 else greedy.discard(view)


def wrong(answer=greedy.answer, discard=greedy.discard, **more) -> Strategy:
    return Strategy("wrong", "breaks a promise", answer, discard, **more)


@pytest.mark.parametrize(
    ("strategy", "check", "told"),
    [
        (wrong(answer=not_offered), "legal", "not offered"),
        (wrong(answer=wins_always), "legal", "not offered"),
        (wrong(answer=passes_always), "legal", "not offered"),
        (wrong(discard=discards_general), "legal", "not offered"),
        (wrong(discard=discards_what_it_lacks), "legal", "not offered"),
        (wrong(discard=changes_its_hand), "legal", "changes the deal"),
        (wrong(discard=takes_a_card_out), "legal", ""),
        (wrong(discard=discards_at_random), "same again", ""),
        (wrong(discard=discards_by_memory), "same again", ""),
        (wrong(discard=discards_by_trial), "same again", "asked again"),
        (wrong(answer=answers_by_what_is_not_offered), "same again", "asked again"),
    ],
    ids=lambda value: value.discard.__name__ + value.answer.__name__ if isinstance(value, Strategy) else "",
)
def test_a_broken_promise_is_noticed(strategy, check, told):
    found = examined(strategy)
    assert check in found.failures
    assert told in found.failures[check].what


@inner
def not_offered_late(view):
    """Answers as `greedy`, but late in a long deal a meld beyond those offered."""
    return greedy.answer(view) if view.table.draws < 33 else view.offers.n


def test_what_stops_the_deals_that_are_timed_is_noticed(monkeypatch):
    monkeypatch.setattr(conformance, "SPEED_SECONDS", 1.0)
    found = examined(wrong(answer=not_offered_late), deals=1)
    assert "not offered" in found.failures["legal"].what
    assert found.speed is None


# In plain Python


class Shares:
    """Seats tell each other what they hold."""

    hands: ClassVar[dict[int, np.ndarray]] = {}

    def answer(self, view):
        self.hands[view.seat] = view.hand.count.copy()
        return WIN if view.offers.win else 0 if view.offers.forced else PASS

    def discard(self, view):
        self.hands[view.seat] = view.hand.count.copy()
        legal = [card for card in range(N_TYPES) if discardable(view.hand) >> card & 1]
        others = [hand for seat, hand in self.hands.items() if seat != view.seat]
        return max(legal, key=lambda card: sum(int(hand[card]) for hand in others))


class Unseeded(Shares):
    """Throws a die that nobody has seeded."""

    def discard(self, view):
        return random.choice([card for card in range(N_TYPES) if discardable(view.hand) >> card & 1])


class Raises(Shares):
    """Does not reckon with Soldiers."""

    def discard(self, view):
        raise ValueError("a Soldier")


class Forgets(Shares):
    """Raises when it is asked a thing twice."""

    known: ClassVar[set[bytes]] = set()

    def discard(self, view):
        asked = view.hand.tobytes() + view.table.tobytes()
        if asked in self.known:
            raise ValueError("as I said")
        self.known.add(asked)
        return Fair.discard(self, view)


class Fair(Shares):
    """Plain, and as it should be."""

    def discard(self, view):
        legal = [card for card in range(N_TYPES) if discardable(view.hand) >> card & 1]
        return legal[below(view.rng, len(legal))]


class PlainEntry(Entry):
    """An entry of plain Python."""

    make: ClassVar[type]

    def compiled(self):
        return Plain(self.make, [])


def plain(made) -> Entry:
    return type(made.__name__, (PlainEntry,), {"make": made})(wrong())


@pytest.mark.parametrize(
    ("made", "check", "told"),
    [
        (Shares, "same again", ""),
        (Unseeded, "same again", ""),
        (Raises, "legal", "raised ValueError: a Soldier"),
        (Forgets, "same again", "as I said"),
    ],
)
def test_a_broken_promise_in_plain_python_is_noticed(made, check, told):
    found = examined(plain(made))
    assert check in found.failures
    assert told in found.failures[check].what


def test_plain_python_may_pass():
    found = examined(plain(Fair))
    assert found.failures == {}
    assert found.decisions > 10


class SeesAll(Entry):
    """An entry that is shown the whole deal, whatever it says of itself."""

    def compiled(self):
        return super().compiled()._replace(sees_all=True)


def test_a_leak_is_noticed():
    found = examined(SeesAll(wrong(discard=discards_by_others)))
    assert set(found.failures) == {"no leak"}
    assert "with other hidden cards" in found.failures["no leak"].what


def test_a_yardstick_may_see_all():
    found = examined(wrong(discard=discards_by_others, cheats=True))
    assert found.failures == {}
    assert found.leaks


# ------------------------------------------------------------------------------------------- the command


def test_the_command_passes(invoke):
    result = invoke("check-strategy", "greedy", "--deals", "2", "--quiet")
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(RULES)
    assert result.stdout.count("passed") == len(RULES) * len(CHECKS)


def test_the_command_tells_json(invoke):
    told = json.loads(invoke("check-strategy", "random", "--deals", "2", "--json", "--quiet").stdout)
    assert told["passed"]
    assert [one["rules"] for one in told["rule_sets"]] == list(RULES)
    assert told["rule_sets"][0]["checks"] == dict.fromkeys(CHECKS, "passed")


def test_a_failure_comes_with_the_command_that_shows_it(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setitem(STRATEGIES, "wrong", wrong(discard=discards_by_memory))
    result = invoke("check-strategy", "wrong", "--deals", "8", "--quiet")
    assert result.exit_code == 1
    assert "failed" in result.stdout
    commands = [line for line in result.stdout.splitlines() if line.startswith("sisepai replay ")]
    assert len(commands) == len(RULES)
    assert invoke(*commands[0].split()[1:]).exit_code == 0


WRONG_FILE = """
from sisepai.cards import N_TYPES
from sisepai.strategies import Parameter

class Cautious:
    "Throws away what it may not"
    parameters = (Parameter("risk", 0.5, "none", 0, 1),)

    def __init__(self, risk):
        pass

    def answer(self, view):
        return -2 if view.offers.win else 0 if view.offers.forced else -1

    def discard(self, view):
        return next(card for card in range(N_TYPES) if not view.hand.one >> card & 1)

STRATEGY = Cautious
"""


def test_a_file_of_ones_own_is_checked_and_the_command_finds_it(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(WRONG_FILE, encoding="utf-8")
    result = invoke("check-strategy", "./mine.py:cautious:risk=0.2", "--deals", "1", "--quiet", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)["rule_sets"][0]
    assert told["checks"] == {"legal": "failed", "same again": "not told", "no leak": "not told"}
    assert "which was not offered" in told["failures"]["legal"]["what"]
    assert "./mine.py:cautious:risk=0.2" in told["failures"]["legal"]["command"]


def test_two_strategies_are_too_many(invoke):
    assert "no comma" in one_line_error(invoke("check-strategy", "greedy,random"))


def test_an_unknown_strategy_is_one_line(invoke):
    assert "gredy" in one_line_error(invoke("check-strategy", "gredy"))


def test_a_cheating_strategy_is_replayed_with_leave(invoke, monkeypatch):
    monkeypatch.setitem(STRATEGIES, "wrong", replace(wrong(discard=discards_at_random), cheats=True))
    result = invoke("check-strategy", "wrong", "--deals", "8", "--json", "--quiet")
    failures = json.loads(result.stdout)["rule_sets"][0]["failures"]
    assert failures["same again"]["command"].endswith("--allow-cheating")
