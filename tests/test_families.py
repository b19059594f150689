"""Every command under every family of rules, on runs with what only some have: dead hands, dealt wins, redeals."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from conftest import one_line_error

from sisepai import read_run
from sisepai.cards import CODES
from sisepai.cli.main import cli
from sisepai.engine.simulator import Simulator
from sisepai.rules import load
from sisepai.rules.ruleset import RuleSet
from sisepai.runs.directory import create
from sisepai.runs.execute import Progress, execute
from sisepai.runs.manifest import Manifest, PlannedEntry
from sisepai.runs.plan import Plan
from sisepai.strategies import parse_entries

FAMILIES: dict[str, RuleSet] = {
    "classic": load("classic"),
    "ten-hu": load("ten-hu"),
    "redealt": load("classic").with_options(redeal="always", lock_dealt_triples=True, flowers=2),
    "three": load("ten-hu").with_options(players=3, redeal="always"),
    "two": load("classic").with_options(players=2),
}
DEALS = 24_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of each family."""
    base = tmp_path_factory.mktemp("families")
    for name, rules in FAMILIES.items():
        entries, seats = parse_entries("greedy", rules.players)
        plan = Plan(tuple(seats), "fixed", DEALS, DEALS)
        named = tuple(PlannedEntry(e.label, e.name, dict(e.params), e.digest) for e in entries)
        store = create(base / name, Manifest(rules, named, plan.seats, "fixed", 7, DEALS, False, DEALS))
        execute(store, Simulator(rules, entries, plan.seatings, 7), [0], 2, Progress())
    return base


def found(runs: Path, name: str, **wanted) -> list[dict]:
    """The first few deals of a run with these values, at least one."""
    rows = read_run(runs / name).deals.filter(**wanted).head(3).collect().to_dicts()
    assert rows
    return rows


@pytest.mark.parametrize("name", FAMILIES)
def test_report_and_info(invoke, runs, name):
    rules, path = FAMILIES[name], str(runs / name)
    deals = read_run(path).deals.collect()
    said = json.loads(invoke("report", path, "--payoff", "--json").stdout)["runs"][0]
    assert said["run"]["rules_digest"] == rules.digest()
    assert said["ends"]["dead_hand"]["count"] == (deals["outcome"] == "dead_hand").sum()
    assert said["ends"]["dealt"]["count"] == (deals["win_by"] == "dealt").sum()
    assert sum(end["count"] for end in said["ends"].values()) == DEALS
    assert len(said["places"]) == len(said["payoff"]["seats"]) == rules.players
    text = invoke("report", path).stdout
    assert ("a dead hand" in text) == (said["ends"]["dead_hand"]["count"] > 0)
    assert ("won: as dealt" in text) == (said["ends"]["dealt"]["count"] > 0)
    assert "0.00 to 0.00" not in text
    assert f"rules    {rules.name} (digest {rules.digest()[:12]})" in invoke("info", path).stdout


@pytest.mark.parametrize(
    ("name", "wanted", "words"),
    [
        ("ten-hu", {"outcome": "dead_hand"}, ("no card may be discarded", "drawn: a dead hand")),
        ("ten-hu", {"outcome": "exhausted"}, ("nothing left to draw", "before the stock ran out")),
        ("ten-hu", {"win_by": "dealt"}, ("wins with the cards it was dealt",)),
        ("classic", {"win_by": "dealt"}, ("wins with the cards it was dealt",)),
        ("classic", {"melds_quad": 2}, ("quad",)),
        ("redealt", {"redeals": 1}, ("dealt again",)),
        ("redealt", {"win_by": "dealt"}, ("wins with the cards it was dealt",)),
        ("three", {"redeals": 2}, ("dealt again",)),
        ("two", {"win_by": "other_draw"}, ("wins with a card that seat",)),
    ],
)
def test_replay_of_what_is_rare(invoke, runs, name, wanted, words):
    for row in found(runs, name, **wanted):
        text = invoke("replay", str(runs / name), "--deal", str(row["deal"])).stdout
        assert text.endswith("\nthe stored row is the same\n")
        assert all(word in text for word in words)
        assert text.count("strategy") == 1 + row["redeals"]
        line = invoke("replay", str(runs / name), "--deal", str(row["deal"]), "--json").stdout
        again = invoke("replay", "--deck", "-", "--json", stdin=line)
        assert again.stderr == ""
        assert json.loads(again.stdout)["outcome"] == row["outcome"]


@pytest.mark.parametrize("name", ["ten-hu", "redealt"])
def test_exports(invoke, runs, name, tmp_path):
    deals = read_run(runs / name).deals.collect()
    for what in ("deals", "events", "decks"):
        path = tmp_path / f"{what}.parquet"
        assert invoke("export", str(runs / name), "--what", what, "--out", str(path)).exit_code == 0
    assert pl.read_parquet(tmp_path / "deals.parquet").equals(deals)
    events = pl.read_parquet(tmp_path / "events.parquet")
    last = events.group_by("deal", maintain_order=True).last()["event"].cast(pl.String)
    assert last.to_list() == deals["outcome"].cast(pl.String).to_list()
    redeals = events.group_by("deal", maintain_order=True).agg((pl.col("event") == "redeal").sum())
    assert (redeals["event"] >= deals["redeals"]).all()
    dealt = events.filter((pl.col("event") == "win") & pl.col("card").is_null())["deal"]
    assert dealt.to_list() == deals.filter(win_by="dealt")["deal"].to_list()
    number = found(runs, name, win_by="dealt")[0]["deal"]
    deck = pl.read_parquet(tmp_path / "decks.parquet").row(number, named=True)
    line = json.loads(invoke("replay", str(runs / name), "--deal", str(number), "--json").stdout)
    dealt_cards = " ".join([*line["hands"], line["stock"]]).split()
    assert dealt_cards == [CODES[card] for card in deck["cards"]]
    assert [len(hand.split()) for hand in line["hands"]] == deck["hand_sizes"]


@pytest.mark.parametrize("name", ["classic", "ten-hu"])
def test_a_hand_that_won_as_dealt_is_worth_its_score(invoke, runs, name):
    for row in found(runs, name, win_by="dealt", melds_quad=0):
        line = json.loads(invoke("replay", str(runs / name), "--deal", str(row["deal"]), "--json").stdout)
        hand = line["hands"][row["winner"]]
        worth = json.loads(invoke("analyze", hand, "--rules", name, "--json").stdout)
        assert (worth["deadwood"], worth["points"]) == (0, row["score"])
        assert f"points    {row['score']}" in invoke("analyze", hand, "--rules", name).stdout


def test_a_hand_that_would_be_short_wins_on_nothing(invoke):
    """Six exposed triples are six points, and ten-hu asks for ten."""
    melds = [f"triple: {code * 3}" for code in ("Ar", "Er", "Rr", "Hr", "Cr", "Ay")]
    words = [word for meld in melds for word in ("--exposed", meld)]
    for rules, wins in (("ten-hu", []), ("classic", ["Kr", "Ky", "Ey", "Kw", "Kg"])):
        worth = json.loads(invoke("analyze", "EyEy", *words, "--rules", rules, "--json").stdout)
        assert [one["card"] for one in worth["wins_on"]] == wins


def test_comparing_families(invoke, runs):
    paths = [str(runs / name) for name in ("classic", "ten-hu", "redealt", "two")]
    document = json.loads(invoke("report", *paths, "--json").stdout)
    ten_hu, redealt, two = document["comparisons"]
    assert (ten_hu["paired"], ten_hu["decks"]) == (True, DEALS)
    assert (redealt["paired"], redealt["unlike"]) == (False, ["pack"])
    assert (two["paired"], two["unlike"]) == (False, ["number of seats"])
    assert ten_hu["rules"]["min_points"] == [0, 10]
    assert two["rules"] == {"players": [4, 2]}
    assert {"drawn", "points a win", "place 0", "dealer's edge", "draws"} <= {
        one["what"] for one in two["differences"]
    }
    text = invoke("report", *paths[:2]).stdout
    assert "B minus A, paired over 24,000 decks" in text
    assert "rules that differ (A / B): colour_groups any / soldiers; " in text
    text = invoke("report", paths[0], paths[3]).stdout
    assert "B minus A, not paired (other number of seats)\nrules that differ (A / B): players 4 / 2\n" in text


def test_a_family_that_is_not_known(invoke):
    assert "did you mean 'ten-hu'?" in one_line_error(invoke("analyze", "Kr", "--rules", "tenhu"))
    assert CliRunner().invoke(cli, ["report"]).exit_code == 2
