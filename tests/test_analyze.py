"""``sisepai analyze`` and ``sisepai rules`` say what they promise, for people and for machines."""

import json

import pytest

from sisepai.cards import parse_cards
from sisepai.rules import PRESETS

TWENTY = "KrArEr KyAyEy KwAwEw RrHrCr RyHyCy PrPyPwPg F"


def analyzed(invoke, *arguments, stdin=None):
    result = invoke("analyze", *arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", PRESETS)
def test_the_example_hands(invoke, cases, name):
    hands = [one for one in json.loads((cases / "hands.json").read_text()) if one["rules"] == name]
    results = analyzed(invoke, "-", "--rules", name, stdin="\n".join(one["hand"] for one in hands))
    for one, result in zip(hands, results, strict=True):
        expected = {key: one[key] for key in ("hand", "deadwood", "points")}
        assert {key: result[key] for key in expected} == expected


def test_the_melds_are_a_partition(invoke, cases):
    hands = [
        one["hand"] for one in json.loads((cases / "hands.json").read_text()) if one["rules"] == "cardavia"
    ]
    for result in analyzed(invoke, "-", stdin="\n".join(hands)):
        melded = [card for meld in result["melds"] for card in parse_cards(" ".join(meld["cards"]))]
        hand = parse_cards(result["hand"])
        assert len(melded) == len(hand) - result["deadwood"]
        assert all(melded.count(card) <= hand.count(card) for card in melded)
        if result["points"] is not None:
            assert sum(meld["points"] for meld in result["melds"]) == result["points"]


def test_twenty_cards_list_what_wins(invoke):
    (result,) = analyzed(invoke, TWENTY)
    assert result["hand"] == "Kr Ar Er Ky Ay Ey Kw Aw Ew Rr Hr Cr Ry Hy Cy Pr Py Pw Pg F"
    assert (result["deadwood"], result["points"]) == (0, 10)
    wins = {won["card"]: won["unseen"] for won in result["wins_on"]}
    assert wins["F"] == 4  # a fifth group that stands alone
    assert wins["Kg"] == 4
    assert wins["Kr"] == 3
    assert "Ag" not in wins
    assert analyzed(invoke, TWENTY[:-2])[0]["wins_on"] == []


def test_exposed_melds_count(invoke):
    (result,) = analyzed(invoke, "KrArEr KyAyEy KwAwEw RrHrCr RyHyCy F", "--exposed", "soldiers4: PrPyPwPg")
    assert {won["card"] for won in result["wins_on"]} >= {"F", "Kg"}
    assert {"kind": "soldiers4", "cards": ["Pr", "Py", "Pw", "Pg"], "points": 2} in result["melds"]
    assert result["points"] == 10


def test_a_hand_may_be_written_in_several_words(invoke):
    assert analyzed(invoke, "Kr", "Ar", "Er") == analyzed(invoke, "KrArEr") == analyzed(invoke, "kr,ar,er")


def test_for_people(invoke):
    text = invoke("analyze", TWENTY).stdout
    for part in (
        "20 cards",
        "command",
        "soldiers4",
        "deadwood  0",
        "points    10",
        "wins on",
        "(copies unseen)",
    ):
        assert part in text
    assert "not complete" in invoke("analyze", "RrHr").stdout
    assert invoke("analyze", "-", stdin="Kr\nRr\n").stdout.count("deadwood") == 2
    assert "1 card " in invoke("analyze", "Kr").stdout


def test_rules_are_listed_and_printed(invoke):
    listed = json.loads(invoke("rules", "--json").stdout)
    assert [one["rules"]["name"] for one in listed] == list(PRESETS)
    for one in listed:
        name = one["rules"]["name"]
        assert json.loads(invoke("rules", name, "--json").stdout) == one
        assert one == {"digest": PRESETS[name].digest(), "rules": PRESETS[name].to_dict()}
        assert name in invoke("rules").stdout
        text = invoke("rules", name).stdout
        for key in set(one["rules"]) - {"takes", "points"}:
            assert key in text
        for key in one["rules"]["points"]:
            assert key.replace("_", " ") in text
        assert one["digest"] in text
