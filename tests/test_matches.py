"""Runs of matches: the winner deals next, shards hold whole matches, and every deal can be played again by itself."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import one_line_error

from sisepai import read_run
from sisepai.engine.simulator import Simulator, decks
from sisepai.rules import load
from sisepai.runs.execute import Progress, execute
from sisepai.runs.manifest import Manifest, PlannedEntry, read_manifest
from sisepai.runs.plan import Plan
from sisepai.runs.reader import read_deals
from sisepai.runs.schema import deal_schema, encode
from sisepai.runs.store import Store
from sisepai.strategies import parse_entries


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Every test works in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulated(invoke, out, *arguments):
    result = invoke("simulate", "--quiet", "--out", out, *arguments)
    assert result.exit_code == 0, result.stderr
    return read_run(out)


def play(out, rules, match, deals, shard_deals, strategies="greedy"):
    """A run with small shards, which the command line does not make."""
    entries, seats = parse_entries(strategies, rules.players)
    plan = Plan.rounded(tuple(seats), "fixed", deals, shard_deals, match)
    named = tuple(PlannedEntry(e.label, e.name, dict(e.params), e.digest) for e in entries)
    manifest = Manifest(rules, named, plan.seats, "fixed", 7, plan.deals, False, shard_deals, match)
    Path(out).mkdir()
    (Path(out) / "manifest.json").write_text(manifest.to_json())
    store = Store(Path(out), manifest)
    simulator = Simulator(rules, entries, plan.seatings, 7, match)
    execute(store, simulator, range(plan.shards), 2, Progress())
    return store, simulator


def files(out):
    return {path.name: path.read_bytes() for path in sorted(Path(out).rglob("*part-*"))}


@pytest.mark.parametrize(
    ("strategies", "rules"), [("greedy", "classic"), ("random", "cardavia"), ("greedy", "ten-hu")]
)
def test_the_winner_deals_next_and_the_dealer_stays_after_a_drawn_deal(invoke, strategies, rules):
    run = simulated(
        invoke, "run", "--deals", "700", "--match", "20", "--strategies", strategies, "--rules", rules
    )
    deals = run.deals.collect()
    assert deals["match"].to_list() == [deal // 20 for deal in range(700)]
    assert deals["round"].to_list() == [deal % 20 for deal in range(700)]
    assert deals["deck"].to_list() == list(range(700))
    assert deals["seating"].to_list() == [0] * 700
    drawn_first, _ = decks(load(rules), 7, 0, 700)
    next_dealer = None
    for row in deals.iter_rows(named=True):
        expected = drawn_first[row["deal"]] if row["round"] == 0 else next_dealer
        assert row["dealer"] == expected
        next_dealer = row["dealer"] if row["winner"] is None else row["winner"]


def test_a_match_is_no_matter_of_cards(invoke):
    """Round 0 of every match is the deal of that number in a run without matches."""
    match, plain = (simulated(invoke, n, "--deals", "480", "--match", n).deals.collect() for n in ("24", "0"))
    assert plain["match"].null_count() == plain["round"].null_count() == 480
    same = [column for column in match.columns if column not in ("match", "round")]
    assert match.filter(round=0).select(same).equals(plain[::24].select(same))
    assert not match.select(same).equals(plain.select(same))


@pytest.mark.parametrize("match", [1, 7, 100, 1000])
def test_deals_are_rounded_up_to_whole_matches(invoke, match):
    run = simulated(invoke, "run", "--deals", "950", "--match", str(match))
    assert run.manifest.match == match
    assert run.manifest.deals == -(-950 // match) * match
    assert run.manifest.shard_deals % match == run.manifest.shard_deals % 24 == 0
    deals = run.deals.collect()
    assert len(deals) == run.manifest.deals
    assert (deals["round"].max(), deals["match"].max()) == (match - 1, run.manifest.deals // match - 1)


def test_a_match_goes_on_over_the_chunks_of_a_shard_and_none_over_shards():
    """Small shards, of several chunks each, hold what one long chunk would."""
    store, simulator = play("run", load("classic"), 10, 2400, 240)
    assert store.manifest.plan.shards == 10
    rows = simulator.play(0, 2400).rows
    deals = read_run("run").deals.collect()
    assert deals["dealer"].to_list() == rows["dealer"].tolist()
    assert deals["score"].to_list() == rows["score"].tolist()


def test_bytes_do_not_depend_on_threads_nor_on_stops(invoke):
    plan = ("--deals", "60000", "--match", "1000", "--events", "--rules", "classic")
    for threads in ("1", "2", "7"):
        simulated(invoke, threads, *plan, "--threads", threads)
    assert files("1") == files("2") == files("7")
    store = Store(Path("7"), read_manifest(Path("7")))
    assert store.manifest.plan.shards == 3
    store.file("deals", 1).unlink()
    store.file("events", 2).write_bytes(b"damaged")
    simulated(invoke, "7", *plan, "--resume")
    assert files("7") == files("1")
    line = one_line_error(invoke("simulate", "--quiet", "--out", "7", *plan, "--match", "500", "--resume"))
    assert "match: 1000 / 500" in line


RANDOM = ("--strategies", "random,greedy,random,greedy")


@pytest.mark.parametrize("rules", ["classic", "cardavia"])
def test_a_deal_in_the_middle_is_played_again_from_its_row(invoke, rules):
    store, _ = play("run", load(rules), 40, 400, 120, "random,greedy,random,greedy")
    for number in (0, 39, 40, 67, 399):
        result = invoke("replay", "run", "--deal", str(number))
        assert result.stdout.endswith("\nthe stored row is the same\n")
        assert f"deal {number} of run: match {number // 40}, round {number % 40}, rules" in result.stdout
    stored = {n: invoke("replay", "run", "--deal", str(n), "--json").stdout for n in (67, 399)}
    dealers = read_run("run").deals.collect()["dealer"]
    for number, line in stored.items():
        assert json.loads(line)["dealer"] == dealers[number]
        words = ("replay", "--deal", str(number), *RANDOM, "--rules", rules, "--match", "40", "--json")
        assert invoke(*words).stdout == line
    store.receipt("deals", 3).unlink()
    result = invoke("replay", "run", "--deal", "399")
    assert result.stdout.endswith("\nnot stored yet: nothing to compare with\n")
    assert invoke("replay", "run", "--deal", "399", "--json").stdout == stored[399]


@pytest.mark.parametrize(("dealer", "said"), [(1, "is not as stored"), (9, "there is no seat 9 to deal it")])
def test_a_wrong_dealer_in_a_row_is_found(invoke, dealer, said):
    store, _ = play("run", load("classic"), 24, 240, 120)
    table = read_deals(store, 0)
    place = next(p for p, own in enumerate(table["dealer"].to_pylist()) if p > 24 and own != dealer)
    rows = pl.DataFrame(pl.from_arrow(table)).with_columns(
        pl.when(pl.col("deal") == place).then(dealer).otherwise("dealer").cast(pl.UInt8).alias("dealer")
    )
    wrong = table.set_column(5, table.schema.field("dealer"), [rows["dealer"].to_arrow()])
    store.write("deals", 0, encode(deal_schema(store.manifest), [wrong]), 120)
    for words in (
        ("replay", "run", "--deal", str(place)),
        ("export", "run", "--what", "events", "--out", "e.csv"),
    ):
        result = invoke(*words)
        assert result.exit_code == 1
        assert f"deal {place} " in result.stderr
        assert said in result.stderr


def test_a_damaged_shard_is_told_after_the_deal(invoke):
    store, _ = play("run", load("classic"), 24, 240, 120)
    whole = invoke("replay", "run", "--deal", "30", "--json").stdout
    path = store.file("deals", 0)
    path.write_bytes(path.read_bytes()[:-9])
    result = invoke("replay", "run", "--deal", "30", "--json")
    assert (result.exit_code, result.stdout) == (1, whole)
    assert f"{path} cannot be read: " in result.stderr


def test_exports_are_of_the_deals_as_dealt(invoke):
    plan = ("--deals", "240", "--match", "60", "--rules", "classic")
    stored = simulated(invoke, "with", *plan, "--events").events.collect()
    simulated(invoke, "run", *plan)
    for what in ("events", "decks"):
        assert invoke("export", "run", "--what", what, "--out", f"{what}.parquet").exit_code == 0
    assert pl.read_parquet("events.parquet").equals(stored)
    exported = pl.read_parquet("decks.parquet")
    deals = read_run("run").deals.collect()
    assert exported["dealer"].to_list() == deals["dealer"].to_list()
    assert exported["hand_sizes"].list.arg_max().to_list() == deals["dealer"].to_list()
    entries, seats = parse_entries("greedy", 4)
    simulator = Simulator(load("classic"), entries, np.array([seats], np.uint8), 7)
    dealers = exported["dealer"].to_numpy().copy()
    rows = simulator.play_decks(dealers, np.array(exported["cards"].to_list(), np.uint8)).rows
    assert rows["score"].tolist() == deals["score"].to_list()


def test_redeals_keep_the_dealer(invoke):
    rules = load("classic").with_options(redeal="always")
    play("run", rules, 60, 240, 120)
    deals = read_run("run").deals.collect()
    again = deals.filter((pl.col("redeals") > 0) & (pl.col("round") > 0))["deal"].to_list()
    assert again
    for number in again[:3]:
        result = invoke("replay", "run", "--deal", str(number))
        assert result.stdout.endswith("\nthe stored row is the same\n")
        assert "dealt again" in result.stdout
    assert invoke("export", "run", "--what", "decks", "--out", "decks.parquet").exit_code == 0
    assert pl.read_parquet("decks.parquet")["dealer"].to_list() == deals["dealer"].to_list()


def test_what_is_said_of_matches(invoke):
    simulated(invoke, "run", "--deals", "90", "--match", "24")
    lines = {line[:8].strip(): line[9:] for line in invoke("info", "run").stdout.splitlines()}
    assert lines["matches"] == "4 of 24 deals, the winner deals the next"
    assert lines["made by"].endswith("--match 24 --deals 96 --seed 7 --out run")
    assert json.loads(invoke("info", "run", "--json").stdout)["manifest"]["match"] == 24
    assert "96 deals, 4 matches of 24, the winner deals next" in invoke("report", "run").stdout
    simulated(invoke, "plain", "--deals", "90")
    assert "match" not in invoke("info", "plain").stdout


BAD = {
    ("--match", "-1"): "too small",
    ("--match", "24001"): "the most is 24000",
    ("--match", "x"): "not a number",
    ("--match", "8", "--seating", "rotate", *RANDOM): "match = 8: does not go with seating rotate",
    ("--match", "8", "--seating", "all", *RANDOM): "each deck is played 6 times",
    ("bad.toml",): "bad.toml: match: 1.5 is not a whole number",
}


@pytest.mark.parametrize(("words", "hint"), BAD.items())
def test_bad_matches_are_refused(invoke, folder, words, hint):
    (folder / "bad.toml").write_text("match = 1.5")
    assert hint in one_line_error(invoke("simulate", *words, "--deals", "10", "--quiet"))
    if words[0] != "bad.toml":
        assert hint in one_line_error(invoke("replay", *words, "--deal", "1"))
    assert [path.name for path in folder.iterdir()] == ["bad.toml"]


def test_matches_in_an_experiment_file(invoke, folder):
    (folder / "e.toml").write_text("match = 12\ndeals = 100\n")
    assert simulated(invoke, "a", "e.toml").manifest.deals == 108
    assert simulated(invoke, "b", "e.toml", "--match", "0").manifest.match == 0
