"""``sisepai replay`` of strategies that explain themselves: what they expected of their choices, where they decided."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from sisepai.cards import CODES
from sisepai.rules import load
from sisepai.runs.replay import Replayer
from sisepai.strategies import parse_entries

# All but `wrong` choose as greedy. `told` says of each choice 0.5 less a hundredth of its place, on one sample more
# than its place; `odd` tells nonsense of its discards and nothing of its answers.
THINKERS = """
import numpy as np
from sisepai.cards import N_TYPES
from sisepai.engine.records import PASS, WIN
from sisepai.jit import inner
from sisepai.rules.hand import discardable
from sisepai.strategies import Parameter, Strategy
from sisepai.strategies.greedy import answer as greedy_answer, discard as greedy_discard

@inner
def note(view, choice):
    told = view.trial.estimates
    told.choice[told.n] = choice
    told.samples[told.n] = told.n + 1
    told["mean"][told.n] = 0.5 - 0.01 * told.n
    told["error"][told.n] = 0.01
    told.n += 1

@inner
def answer(view):
    if view.offers.win:
        return WIN
    view.trial.estimates.n = 0
    for i in range(view.offers.n):
        note(view, i)
    if not view.offers.forced:
        note(view, PASS)
    return greedy_answer(view)

@inner
def discard(view):
    view.trial.estimates.n = 0
    legal = discardable(view.hand)
    for card in range(N_TYPES):
        if legal >> card & 1:
            note(view, card)
    return greedy_discard(view)

@inner
def quiet(view):
    return greedy_answer(view)

@inner
def odd(view):
    told = view.trial.estimates
    told.n = 1 << 40
    for i in range(32):
        told.choice[i], told.samples[i], told["mean"][i], told["error"][i] = i, 1, 0.25, 0.5
    told.samples[5] = 0
    told["mean"][12] = np.nan
    told["error"][18] = np.inf
    return greedy_discard(view)

@inner
def wrong(view):
    return 0

class Plain:
    explains = True
    def answer(self, view):
        return answer(view)
    def discard(self, view):
        return discard(view)

class Unmade(Plain):
    parameters = (Parameter("n", 1, "", low=0, whole=True),)
    def __init__(self, n):
        1 // n

STRATEGIES = (
    Strategy("told", "", answer, discard, explains=True), Plain, Unmade,
    Strategy("odd", "", quiet, odd, explains=True), Strategy("wrong", "", answer, wrong, explains=True),
)
"""
NUMBER = 5


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("explained") / "thinkers.py"
    path.write_text(THINKERS)
    return path


def replayer(file, name, others="random", rules="cardavia"):
    """Seat 0 and its opponents, each deck in every rotation."""
    rule_set = load(rules)
    entries, seats = parse_entries(",".join([f"{file}:{name}", *[others] * 3]), 4)
    return Replayer(rule_set, entries, np.array([np.roll(seats, i) for i in range(4)], np.uint8), 7)


def as_greedy(rules="cardavia"):
    entries, seats = parse_entries("greedy,random,random,random", 4)
    return Replayer(load(rules), entries, np.array([np.roll(seats, i) for i in range(4)], np.uint8), 7)


@pytest.mark.parametrize("name", ["told", "plain", "odd"])
@pytest.mark.parametrize("rules", ["cardavia", "classic", "ten-hu"])
def test_explaining_changes_no_deal(file, rules, name):
    explained, plain = replayer(file, name, rules=rules), as_greedy(rules)
    for number in range(8):
        deal, expected = explained.deal(number), plain.deal(number)
        assert deal.decisions
        assert {one.seat for one in deal.decisions} == {number % 4}
        assert (deal.events, deal.decks) == (expected.events, expected.decks)
        assert deal.row.tobytes() == expected.row.tobytes()
        assert deal.to_dict() == {**expected.to_dict(), "decisions": deal.to_dict()["decisions"]}


@pytest.mark.parametrize("name", ["told", "plain"])
def test_what_was_thought_stands_where_it_was_decided(file, name):
    player = replayer(file, name)
    acts = set()
    for number in range(30):
        deal = player.deal(number)
        for one in deal.decisions:
            assert [e.mean for e in one.estimates] == [
                0.5 - 0.01 * place for place in range(len(one.estimates))
            ]
            assert [e.samples for e in one.estimates] == list(range(1, len(one.estimates) + 1))
            assert one.chosen in [e.choice for e in one.estimates]
            acts.add(one.chosen.act)
            event = deal.events[one.step]
            if one.chosen.act == "discard":
                assert (event.event, event.seat, (event.card,)) == ("discard", one.seat, one.chosen.cards)
            elif event.event == "take" and event.seat == one.seat:
                assert (event.meld, event.partners) == (one.chosen.meld, one.chosen.cards)
            else:
                assert deal.events[one.step - 1].event in ("draw", "discard")
        discards = [
            e for before, e in zip(deal.events, deal.events[1:], strict=False) if is_choice(before, e)
        ]
        own = [e for e in discards if e.seat == number % 4]
        assert len(own) == sum(one.chosen.act == "discard" for one in deal.decisions)
    assert acts == {"discard", "take", "pass"}


def is_choice(before, event) -> bool:
    """Whether the event is a discard that somebody chose: not that of a drawn card which nobody took."""
    return event.event == "discard" and (before.event, before.seat) != ("draw", event.seat)


def test_what_makes_no_sense_is_left_out(file):
    deal = replayer(file, "odd").deal(0)
    assert {one.chosen.act for one in deal.decisions} == {"discard"}, "answers tell nothing, whatever is left"
    shown = {card for one in deal.decisions for e in one.estimates for card in e.choice.cards}
    assert shown
    assert not shown & {5, 12, 18}
    assert shown <= {card for card, code in enumerate(CODES) if code[0] not in "KF"}
    json.loads(json.dumps(deal.to_dict(), allow_nan=False))


def test_given_decks_are_explained_too(file, invoke):
    words = ("--strategies", f"{file}:told,random,random,random")
    line = invoke("replay", "--deal", "0", *words, "--json").stdout
    result = invoke("replay", "--deck", "-", *words, "--json", stdin=line)
    assert (result.exit_code, result.stdout) == (0, line)
    assert result.stderr == ""


def test_the_json(file, invoke):
    words = ("--strategies", f"{file}:told,greedy,greedy,greedy")
    deal = json.loads(invoke("replay", "--deal", str(NUMBER), *words, "--json").stdout)
    first = deal["decisions"][0]
    meld = {"meld": "triple", "with": ["Cy", "Cy"]}
    assert first == {
        "step": 10,
        "seat": 0,
        "choices": [
            {"choice": meld, "estimate": 0.5, "error": 0.01, "samples": 1},
            {"choice": "pass", "estimate": 0.49, "error": 0.01, "samples": 2},
        ],
        "chosen": meld,
    }
    assert deal["decisions"][1]["chosen"] == deal["events"][11]["card"]
    unexplained = json.loads(invoke("replay", "--deal", str(NUMBER), "--json").stdout)
    assert "decisions" not in unexplained
    assert unexplained["events"] == deal["events"]


@pytest.mark.parametrize("width", [60, 80, 110])
def test_on_terminals_of_every_width(file, invoke, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = invoke("replay", "--deal", str(NUMBER), "--strategies", f"{file}:told,greedy,greedy,greedy").stdout
    assert max(cell_len(line) for line in text.splitlines()) <= width
    deal = replayer(file, "told", "greedy").deal(4 * NUMBER)
    assert text.count(" thinks ") == len(deal.decisions)
    assert text.count("±0.010") == sum(len(one.estimates) for one in deal.decisions)
    assert text.count("±0.010*") == len(deal.decisions)


def test_runs_and_faults(file, invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(THINKERS)
    made = invoke(
        "simulate", "--strategies", "./mine.py:told,random,random,random", "--deals", "24", "--out", "run"
    )
    assert made.exit_code == 0, made.stderr
    shown = invoke("replay", "run", "--deal", "3", "--plugin", "./mine.py").stdout
    assert " thinks " in shown
    assert shown.endswith("\nthe stored row is the same\n")
    failed = invoke("replay", "--deal", "3", "--strategies", "./mine.py:wrong,random,random,random")
    assert failed.exit_code == 1
    assert "'wrong' discarded Kr, which was not offered" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "code", "what"),
    [
        ("0", 1, "deal 3, seat 0, discard window of Er: 'unmade:n=0' raised ZeroDivisionError"),
        ("1e999", 2, "n = inf: must be a whole number from 0"),
    ],
)
def test_one_that_cannot_be_made(file, invoke, value, code, what):
    failed = invoke("replay", "--deal", "3", "--strategies", f"{file}:unmade:n={value},random,random,random")
    assert failed.exit_code == code
    assert what in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
