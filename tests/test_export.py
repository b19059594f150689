"""``sisepai export``: the same rows in every format, stored or played again, and files that are whole or not there."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import one_line_error

from sisepai.cards import CODES
from sisepai.cli.main import cli
from sisepai.rules import load
from sisepai.runs.deal import read_events
from sisepai.runs.export import deck_schema, tables, write_jsonl
from sisepai.runs.manifest import read_manifest
from sisepai.runs.reader import read_run
from sisepai.runs.replay import Replayer
from sisepai.runs.schema import deal_schema, deal_table, encode, event_schema
from sisepai.runs.store import Store

PLAN = (
    "--deals",
    "120",
    "--strategies",
    "greedy,random,random,greedy",
    "--seating",
    "rotate",
    "--rules",
    "classic",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs of one plan but for the events, which only ``events`` stores: 30 decks under four seatings."""
    base = tmp_path_factory.mktemp("export")
    for name, flags in (("bare", ()), ("events", ("--events",))):
        arguments = ["simulate", "--quiet", "--out", str(base / name), *PLAN, *flags]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.stderr
    return base


@pytest.fixture
def own(made, tmp_path):
    """A copy of the run without events that a test may change."""
    return shutil.copytree(made / "bare", tmp_path / "run")


def exported(invoke, run, what, path):
    result = invoke("export", str(run), "--what", what, "--out", str(path))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(f"{path}\n")
    return path


def test_deals_as_parquet_are_those_of_the_run(invoke, made, tmp_path):
    path = exported(invoke, made / "bare", "deals", tmp_path / "deals.parquet")
    manifest = read_manifest(made / "bare")
    assert pq.read_schema(path).equals(deal_schema(manifest))
    assert pq.read_schema(path).metadata[b"sisepai.run_id"] == manifest.run_id.encode()
    assert pl.read_parquet(path).equals(read_run(made / "bare").deals.collect())


def test_events_are_the_same_stored_or_played_again(invoke, made, tmp_path):
    stored = read_run(made / "events").events.collect()
    for name in ("bare", "events"):
        path = exported(invoke, made / name, "events", tmp_path / f"{name}.parquet")
        assert pq.read_schema(path).equals(event_schema(read_manifest(made / name)))
        assert pl.read_parquet(path).equals(stored)
    for ending in ("csv", "jsonl"):
        both = [
            exported(invoke, made / name, "events", tmp_path / f"{name}.{ending}")
            for name in ("bare", "events")
        ]
        assert both[0].read_bytes() == both[1].read_bytes()


def test_deals_as_csv_and_json_lines(invoke, made, tmp_path):
    rows = read_run(made / "bare").deals.collect().to_dicts()
    lines = exported(invoke, made / "bare", "deals", tmp_path / "deals.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows
    with exported(invoke, made / "bare", "deals", tmp_path / "deals.csv").open(newline="") as file:
        fields = list(csv.DictReader(file))
    assert fields == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in rows
    ]


def test_events_as_json_lines_are_those_of_a_replay(invoke, made, tmp_path):
    path = exported(invoke, made / "bare", "events", tmp_path / "events.jsonl")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    chunk = Replayer.of(read_manifest(made / "bare")).simulator.play(0, 120, events=True)
    played, expected = iter(read_events(chunk.events)), []
    for deal, count in enumerate(chunk.event_counts.tolist()):
        expected += [{"deal": deal, "step": step, **next(played).to_dict()} for step in range(count)]
    assert events == expected
    with exported(invoke, made / "bare", "events", tmp_path / "events.csv").open(newline="") as file:
        fields = list(csv.DictReader(file))
    assert [row["with"].split() for row in fields] == [event.get("with", []) for event in events]
    for key in ("deal", "step", "event", "seat", "card", "meld", "score"):
        values = [event.get(key) for event in events]
        assert [row[key] for row in fields] == ["" if value is None else str(value) for value in values]


def test_every_kind_of_event_as_json():
    """A dealt win keeps its card, which is null; a take without partners its empty list."""
    fields = {"deal": 3, "step": 0, "seat": 2, "card": None, "meld": None, "with": [], "score": None}
    rows = [
        fields | {"event": "show", "card": "Cw", "meld": "quad"},
        fields | {"event": "redeal"},
        fields | {"event": "draw", "card": "F"},
        fields | {"event": "take", "card": "Kr", "meld": "single"},
        fields | {"event": "take", "card": "Pg", "meld": "soldiers4", "with": ["Pr", "Py", "Pw"]},
        fields | {"event": "discard", "card": "Ar"},
        fields | {"event": "win", "score": 9},
        fields | {"event": "exhausted", "seat": None},
        fields | {"event": "dead_hand"},
    ]
    file = io.BytesIO()
    table = pl.DataFrame(rows, schema_overrides={"with": pl.List(pl.String)}).to_arrow()
    write_jsonl(file, table.schema, [table])
    begin = {"deal": 3, "step": 0}
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [
        begin | {"event": "show", "seat": 2, "card": "Cw", "meld": "quad"},
        begin | {"event": "redeal", "seat": 2},
        begin | {"event": "draw", "seat": 2, "card": "F"},
        begin | {"event": "take", "seat": 2, "card": "Kr", "meld": "single", "with": []},
        begin | {"event": "take", "seat": 2, "card": "Pg", "meld": "soldiers4", "with": ["Pr", "Py", "Pw"]},
        begin | {"event": "discard", "seat": 2, "card": "Ar"},
        begin | {"event": "win", "seat": 2, "card": None, "score": 9},
        begin | {"event": "exhausted"},
        begin | {"event": "dead_hand", "seat": 2},
    ]


def as_dealt(row):
    """Hands and stock of a row of `decks`, as codes."""
    codes, hands = [CODES[card] for card in row["cards"]], []
    for size in row["hand_sizes"]:
        hands.append(" ".join(codes[:size]))
        codes = codes[size:]
    return hands, " ".join(codes)


def test_decks_are_the_hands_and_the_stock(invoke, made, tmp_path):
    path = exported(invoke, made / "bare", "decks", tmp_path / "decks.parquet")
    assert pq.read_schema(path).equals(deck_schema(read_manifest(made / "bare")))
    rows = pl.read_parquet(path).to_dicts()
    player = Replayer.of(read_manifest(made / "bare"))
    assert [row["deck"] for row in rows] == list(range(30))
    for row in rows:
        deal = player.deal(4 * row["deck"]).to_dict()
        assert row["dealer"] == deal["dealer"]
        assert as_dealt(row) == (deal["hands"], deal["stock"])
    lines = exported(invoke, made / "bare", "decks", tmp_path / "decks.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows
    with exported(invoke, made / "bare", "decks", tmp_path / "decks.csv").open(newline="") as file:
        fields = list(csv.DictReader(file))
    assert [list(map(int, row["cards"].split())) for row in fields] == [row["cards"] for row in rows]


def test_redealt_decks_are_those_that_were_played(tmp_path, made):
    """A run under a rule set of one's own, written by hand."""
    from dataclasses import replace

    bare = read_manifest(made / "bare")
    rules = load("ten-hu").with_options(redeal="always")
    manifest = replace(bare, rules=rules, deals=240, shard_deals=96)
    player, store = Replayer.of(manifest), Store(tmp_path, manifest)
    for number in range(3):
        shard = manifest.plan.shard(number)
        table = deal_table(manifest, player.simulator.play(shard.first, shard.count).rows, shard.first)
        store.write("deals", number, encode(deal_schema(manifest), [table]), shard.count)
    rows = [row for _, table in tables(store, "decks", range(3)) for row in table.to_pylist()]
    deals = [player.deal(4 * deck) for deck in range(60)]
    assert any(len(deal.decks) > 1 for deal in deals)
    assert [row["deck"] for row in rows] == list(range(60))
    for row, deal in zip(rows, deals, strict=True):
        line = deal.to_dict()
        assert (row["dealer"], *as_dealt(row)) == (line["dealer"], line["hands"], line["stock"])


def test_standard_output_has_the_bytes_of_a_file(run, invoke, made, tmp_path):
    for ending in ("csv", "jsonl"):
        path = exported(invoke, made / "bare", "events", tmp_path / f"e.{ending}")
        done = run("export", str(made / "bare"), "--what", "events", "--format", ending, "--out", "-")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == path.read_text()


def test_a_closed_pipe_ends_silently(made):
    command = (
        f'"{sys.executable}" -m sisepai export "{made / "bare"}" --what events --format csv --out - | head -2'
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith("deal,step,event,seat,card,meld,with,score\n0,0,")


def test_what_is_there_of_a_run_is_exported(invoke, own, tmp_path):
    store = Store(own, read_manifest(own))
    store.receipt("deals", 0).unlink()
    said = "the run is not complete: 0 of 1 shards are there, with 0 of 120 deals\n"
    for what in ("deals", "events", "decks"):
        for ending in ("parquet", "csv", "jsonl"):
            path = tmp_path / f"{what}.{ending}"
            result = invoke("export", str(own), "--what", what, "--out", str(path))
            assert (result.exit_code, result.stderr) == (0, said)
            assert result.stdout == f"0 {what} of 0 deals, {path.stat().st_size / 1e3:,.0f} kB\n{path}\n"
    assert pl.read_parquet(tmp_path / "decks.parquet").is_empty()
    assert (tmp_path / "deals.csv").read_text().count("\n") == 1
    assert (tmp_path / "events.jsonl").read_text() == ""


def test_an_existing_file_is_replaced_only_when_asked(invoke, made, tmp_path):
    path = tmp_path / "deals.csv"
    path.write_text("mine")
    arguments = ("export", str(made / "bare"), "--out", str(path))
    assert f"{path} exists already; choose another name or add --overwrite" in one_line_error(
        invoke(*arguments)
    )
    assert path.read_text() == "mine"
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    assert invoke("export", str(made / "bare"), "--out", str(link), "--overwrite").exit_code == 0
    assert path.read_text().startswith("deal,deck,")
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["deals.csv", "link.csv"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["RUN"], "Missing option '--out'"),
        (["RUN", "--out", "x"], "no ending that tells the format"),
        (["RUN", "--out", "x.xlsx"], "no ending that tells the format"),
        (["RUN", "--out", "-"], "no ending that tells the format"),
        (["RUN", "--out", "-", "--format", "parquet"], "Parquet does not go to standard output"),
        (["RUN", "--out", "x.csv", "--format", "jason"], "'jason' is not one of parquet, csv, jsonl"),
        (["RUN", "--out", "x.csv", "--what", "deal"], "did you mean 'deals'?"),
        (["RUN", "--out", "nowhere/x.csv"], "there is no folder"),
        (["RUN", "--out", ".", "--format", "csv", "--overwrite"], "is not a file"),
        (["RUN", "--out", "/dev/null", "--format", "csv", "--overwrite"], "/dev/null is not a file"),
        (["nowhere", "--out", "x.csv"], "nowhere is not a run"),
    ],
)
def test_wrong_words(invoke, made, monkeypatch, tmp_path, arguments, part):
    monkeypatch.chdir(tmp_path)
    words = [str(made / "bare") if word == "RUN" else word for word in arguments]
    assert part in one_line_error(invoke("export", *words))
    assert os.listdir(tmp_path) == []


def failed(invoke, own, what, tmp_path):
    """The line of an export that fails on the way and leaves nothing."""
    folder = tmp_path / "out"
    folder.mkdir(exist_ok=True)
    result = invoke("export", str(own), "--what", what, "--out", str(folder / "x.parquet"))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert os.listdir(folder) == []
    return result.stderr


def test_a_damaged_shard_is_named(invoke, own, tmp_path):
    path = Store(own, read_manifest(own)).file("deals", 0)
    path.write_bytes(path.read_bytes()[:-9])
    for what in ("deals", "events"):
        assert f"{path} cannot be read: " in failed(invoke, own, what, tmp_path)


def test_events_that_belong_to_other_deals_are_not_exported(invoke, own, tmp_path):
    store = Store(own, read_manifest(own))
    rows = Replayer.of(store.manifest).simulator.play(0, 120).rows
    rows["takes"][77] = 99
    store.write("deals", 0, encode(deal_schema(store.manifest), [deal_table(store.manifest, rows, 0)]), 120)
    assert "deal 77 is not as stored (stored / played again): takes 99 / " in failed(
        invoke, own, "events", tmp_path
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are a Unix thing")
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_disk_that_fills_up(made, tmp_path, ending):
    path = tmp_path / f"events.{ending}"
    command = (
        f'ulimit -f 8; "{sys.executable}" -m sisepai export "{made / "bare"}" --what events --out "{path}"'
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == f"sisepai: {path}: cannot be written: File too large\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert os.listdir(tmp_path) == []


def test_the_page_shows_commands_that_work(invoke, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made / "bare", tmp_path / "runs" / "0001")
    page = (Path(__file__).parents[1] / "docs" / "export.md").read_text(encoding="utf-8")
    commands = page.split("```sh\n")[1].split("```")[0].splitlines()
    assert len(commands) == 3
    for command in commands:
        result = invoke(*command.partition(" |")[0].split()[1:])
        assert result.exit_code == 0, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "deals.csv", "events.parquet"}
