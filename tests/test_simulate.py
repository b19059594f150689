"""`sisepai simulate` and `sisepai info` from end to end, with the real engine on small runs."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import one_line_error

from sisepai import read_run
from sisepai.errors import SisepaiError
from sisepai.runs.store import Store

SIMS = Path(__file__).parents[1] / "sims"
MIXED = ("--strategies", "greedy,random,random,random", "--seating", "rotate")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Every test works in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(run: str) -> dict[str, bytes]:
    """All files of a run but the log, which tells when."""
    root = Path(run)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "log.jsonl"
    }


def simulated(invoke, *args: str) -> dict:
    result = invoke("simulate", "--quiet", "--json", *args)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_a_run_and_what_is_said_of_it(invoke):
    result = invoke("simulate", "--deals", "1_000", "--seed", "11")
    assert result.exit_code == 0
    played, command, path = result.stdout.splitlines()
    assert re.fullmatch(r"1,000 deals of cardavia in [\d.]+ s \([\d,]+ deals/s\), \d+ kB", played)
    assert (command, path) == ("next: sisepai report runs/0001", "runs/0001")
    assert "playing 1,000 deals into runs/0001" in result.stderr
    assert "1,000 of 1,000 deals (100%)" in result.stderr
    run = read_run("runs/0001")
    assert run.complete
    assert run.manifest.seed == 11
    assert len(run.deals.collect()) == 1000


def test_json_says_the_same(invoke):
    said = simulated(invoke, "--deals", "402", *MIXED, "--out", "here")
    run = read_run("here")
    deals = run.deals.collect()
    assert said["run"] == "here"
    assert said["run_id"] == run.manifest.run_id
    assert said["deals"] == said["played"] == len(deals) == 404  # whole blocks
    assert (said["shards"], said["complete"]) == (1, True)
    assert said["command"] == "sisepai report here"
    assert said["bytes"] == sum(path.stat().st_size for path in Path("here").rglob("*.parquet"))


def test_a_block_is_one_deck_under_all_seatings(invoke):
    simulated(invoke, "--deals", "400", *MIXED, "--out", "here", "--events")
    deals = read_run("here").deals.collect()
    blocks = deals.group_by("deck").agg(pl.col("seating").sort(), pl.col("dealer").n_unique())
    assert blocks["seating"].to_list() == [[0, 1, 2, 3]] * 100
    assert blocks["dealer"].max() == 1
    events = read_run("here").events.collect()
    counted = events.group_by("deal").agg((pl.col("event") == "draw").sum().alias("draws")).sort("deal")
    assert counted["draws"].to_list() == deals["draws"].to_list()


def test_numbered_folders(invoke, folder):
    for number in ("0001", "0002"):
        assert simulated(invoke, "--deals", "10")["run"] == f"runs/{number}"
    (folder / "runs/0010").mkdir()
    (folder / "runs/notes").mkdir()
    assert simulated(invoke, "--deals", "10")["run"] == "runs/0011"


def test_many_starts_at_once_get_a_folder_each(invoke, folder):
    command = [sys.executable, "-m", "sisepai", "simulate", "--deals", "10", "--quiet"]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    runs = {start.communicate(timeout=300)[0].splitlines()[-1] for start in starts}
    assert runs == {f"runs/000{number}" for number in range(1, 5)}
    assert all(read_run(run).complete for run in runs)


@pytest.mark.parametrize("events", [(), ("--events",)])
def test_bytes_do_not_depend_on_threads(invoke, events):
    for threads in ("1", "2", "7"):
        simulated(invoke, "--deals", "30000", "--threads", threads, "--out", threads, *events)
    assert files("1") == files("2") == files("7")
    assert len(files("1")) == (9 if events else 3)


BAD = {
    ("--deals", "0.5"): "whole number", ("--deals", "-5"): "-5", ("--deals", "nan"): "nan", ("--deals", "1e30"): "1e30",
    ("--deals", "0"): "too small", ("--deals", "9223372036854775807", "--seating", "rotate", *MIXED[:2]): "too many",
    ("--seed", "-1"): "-1", ("--seed", "x"): "x", ("--seed", "2**64"): "2**64", ("--seed", str(2**64)): "too large",
    ("--strategies", "gredy"): "'greedy'", ("--strategies", "greedy,greedy,greedy"): "3 entries for 4 seats",
    ("--strategies", ""): "strategy", ("--strategies", "greedy:depth=2"): "depth",
    ("--rules", "cardvia"): "'cardavia'", ("--seating", "rotat"): "'rotate'", ("--threads", "0"): "too small",
    ("--resume",): "--out DIR", ("--overwrite",): "--out DIR", ("--out", ""): "folder",
    ("--out", "x", "--resume", "--overwrite"): "exclude", ("--dealz", "5"): "--deal", ("none.toml",): "none.toml",
    ("--out", "/dev/null/x"): "/dev/null is no folder", ("--out", "/proc/x"): "/proc",
}  # fmt: skip


@pytest.mark.parametrize(
    ("args", "hint"), BAD.items(), ids=lambda value: "" if isinstance(value, str) else " ".join(value)[:30]
)
def test_bad_input_is_one_line_and_nothing_is_written(invoke, folder, args, hint):
    line = one_line_error(invoke("simulate", "--quiet", "--deals", "10", *args))
    assert hint in line
    assert list(folder.iterdir()) == []


TOML = {
    "deals = ": "bad.toml, line 1: Invalid value",
    'seed = 7\nrules = "cardavia': "bad.toml, line 2: ",
    "seed = 7\n\nseed = 8": "bad.toml, line 3: Cannot overwrite a value",
    "deal = 5": "bad.toml: unknown key 'deal'; did you mean 'deals'?",
    "resume = true": "bad.toml: unknown key 'resume'",
    "[deals]\nx = 1": "bad.toml: deals: must be a number",
    "deals = " + "9" * 5000: "bad.toml: ",
    "seed = 0x" + "f" * 5000: "bad.toml: seed: ",
    "a = '" + "x" * 200_000 + "'": "bad.toml: ",
    "seating = 4": "bad.toml: seating: must be a text in quotes",
    'rules = ["a"]': "bad.toml: rules: must be a text in quotes",
    "out = 5": "bad.toml: out: must be a text in quotes",
    'out = ""': "bad.toml: out: --out needs the name of a folder",
    'out = "/dev/null/x"': "bad.toml: out: /dev/null is no folder",
    'rules = "clasic"': "bad.toml: rules: unknown rule set 'clasic'",
    'match = 4\nseating = "all"\nstrategies = "greedy,random,random,random"': "bad.toml: seating, match: ",
    "deals = 0.5": "bad.toml: deals: 0.5 is not a whole number",
    "deals = nan": "bad.toml: deals: 'nan' is not a number",
    "deals = true": "bad.toml: deals: must be",
    "deals = -5": "bad.toml: deals: -5 is too small",
    "seed = 18446744073709551616": "bad.toml: seed: 18446744073709551616 is too large",
    'events = "yes"': "bad.toml: events: must be true or false",
    'seating = "round"': "bad.toml: seating: 'round' is not one of",
    "strategies = [1, 2]": "bad.toml: strategies: must be",
    'strategies = "gredy"': "bad.toml: strategies: unknown strategy 'gredy'; did you mean 'greedy'",
    'out = "a\\u0000b"': "bad.toml: out: must be",
    "a = " + "[" * 5000: "bad.toml",
}  # fmt: skip


@pytest.mark.parametrize(("text", "hint"), TOML.items(), ids=lambda value: value[:20])
def test_a_bad_experiment_file(invoke, folder, text, hint):
    (folder / "bad.toml").write_text(text)
    assert hint in one_line_error(invoke("simulate", "bad.toml", "--quiet"))
    assert [path.name for path in folder.iterdir()] == ["bad.toml"]


def test_a_file_that_is_no_text(invoke, folder):
    (folder / "bad.toml").write_bytes(b"# fine\nrules = '\xff'\n")
    assert "bad.toml, line 2: not UTF-8" in one_line_error(invoke("simulate", "bad.toml", "--quiet"))
    assert "Is a directory" in one_line_error(invoke("simulate", ".", "--quiet"))


def test_an_experiment_file_and_flags_that_win(invoke, folder):
    (folder / "e.toml").write_text(
        'deals = 1e2\nseed = 18446744073709551615\nstrategies = ["greedy", "random", "greedy", "random"]\n'
        'seating = "rotate"\nrules = "cardavia"\nout = "from file"\nthreads = 1\nevents = true\n'
    )
    assert simulated(invoke, "e.toml")["run"] == "from file"
    manifest = read_run("from file").manifest
    assert (manifest.deals, manifest.seed, manifest.seating, manifest.events) == (
        100,
        2**64 - 1,
        "rotate",
        True,
    )
    assert manifest.seats == (0, 1, 0, 1)
    simulated(invoke, "e.toml", "--deals", "8", "--out", "from flags", "--seed", "3")
    manifest = read_run("from flags").manifest
    assert (manifest.deals, manifest.seed, manifest.seats) == (8, 3, (0, 1, 0, 1))


@pytest.mark.parametrize("path", sorted(SIMS.glob("*.toml")), ids=lambda path: path.name)
def test_our_own_experiment_files(invoke, path):
    simulated(invoke, str(path), "--deals", "24", "--out", "run")


def test_existing_output_is_refused(invoke, folder):
    simulated(invoke, "--deals", "10", "--out", "run")
    assert "--resume" in one_line_error(invoke("simulate", "--deals", "10", "--out", "run"))
    (folder / "mine").mkdir()
    (folder / "mine/thesis.txt").write_text("years of work")
    for flags in ((), ("--resume",), ("--overwrite",)):
        one_line_error(invoke("simulate", "--deals", "10", "--out", "mine", "--quiet", *flags))
    (folder / "file").write_text("x")
    for flags in ((), ("--resume",), ("--overwrite",)):
        assert "file" in one_line_error(
            invoke("simulate", "--deals", "10", "--out", "file", "--quiet", *flags)
        )
    assert (folder / "mine/thesis.txt").read_text() == "years of work"
    (folder / "empty").mkdir()
    assert simulated(invoke, "--deals", "10", "--out", "empty")["played"] == 10


def test_resume_plays_what_is_missing_or_damaged(invoke, folder):
    plan = ("--deals", "100000", "--events", "--seed", "5", "--out", "run")
    simulated(invoke, *plan)
    whole = files("run")
    run = Store(Path("run"), read_run("run").manifest)
    run.file("deals", 1).unlink()
    run.file("events", 2).write_bytes(b"damaged")
    run.receipt("deals", 3).write_text("{}")
    run.file("deals", 3).with_name(".part-000000003.parquet.01234567.tmp").write_text("half")
    said = simulated(invoke, *plan, "--resume")
    assert said["played"] == 3 * 24_000
    assert files("run") == whole
    result = invoke("simulate", "--quiet", *plan, "--resume")
    assert (
        result.stdout == "nothing left to play: all 100,000 deals are there\nnext: sisepai report run\nrun\n"
    )


def test_resume_of_nothing_starts(invoke):
    assert simulated(invoke, "--deals", "10", "--out", "new", "--resume")["played"] == 10


def test_resume_of_another_plan_names_the_keys(invoke):
    simulated(invoke, "--deals", "10", "--out", "run")
    before = files("run")
    line = one_line_error(
        invoke("simulate", "--quiet", "--deals", "20", "--seed", "8", "--out", "run", "--resume")
    )
    assert "seed: 7 / 8" in line
    assert "deals: 10 / 20" in line
    assert "rules" not in line.replace("--rules", "")
    assert files("run") == before


def test_overwrite_replaces_a_run_when_the_new_one_is_complete(invoke, folder, monkeypatch):
    simulated(invoke, "--deals", "10", "--out", "run")
    before = files("run")
    write = Store.write

    def full(self, kind, shard, content, rows):
        if shard == 1:
            raise SisepaiError("disk full") from OSError(28, "No space left on device")
        write(self, kind, shard, content, rows)

    plan = ("--quiet", "--deals", "60000", "--events", "--out", "run", "--threads", "1", "--overwrite")
    monkeypatch.setattr(Store, "write", full)
    failed = invoke("simulate", *plan)
    assert failed.exit_code == 1
    assert "disk full. To go on: sisepai simulate" in failed.stderr
    assert failed.stderr.rstrip().endswith("--out run --overwrite")
    assert files("run") == before
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert simulated(invoke, *plan[1:])["played"] < 60_000  # the first shard was there already
    assert read_run("run").manifest.deals == 60_000
    assert read_run("run").complete
    assert [path.name for path in folder.iterdir()] == ["run"]


def test_a_full_disk_names_the_path_and_how_to_go_on(invoke, monkeypatch, folder):
    real = os.fsync
    count = 0

    def full(handle):
        nonlocal count
        count += 1
        if count > 6:
            raise OSError(28, "No space left on device")
        real(handle)

    plan = ("--quiet", "--deals", "100000", "--events", "--out", "a run")
    monkeypatch.setattr(os, "fsync", full)
    result = invoke("simulate", *plan)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "a run/" in result.stderr
    assert "No space left on device. To go on: sisepai simulate" in result.stderr
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    command = shlex.split(result.stderr.partition("To go on: sisepai ")[2])
    assert invoke(*command).exit_code == 0
    assert not list(Path("a run").rglob("*.tmp"))
    simulated(invoke, *plan[1:-1], "whole")
    assert files("a run") == files("whole")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_shards_and_prints_the_command_that_goes_on(invoke, stop):
    command = ["simulate", "--deals", "2e6", "--events", "--threads", "1", "--out", "long run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sisepai", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not Path("long run/deals/000000/_part-000000001.json").exists():
        assert process.poll() is None
        time.sleep(0.02)
    begun = time.monotonic()
    process.send_signal(stop)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < 4  # two seconds on a quiet machine
    assert process.returncode == 130
    assert out == ""
    line = err.splitlines()[-1]
    assert line.startswith("sisepai: stopped; ")
    run = read_run("long run")
    kept = len(Store(run.path, run.manifest).matching())
    assert 2 <= kept < run.manifest.plan.shards
    assert f"{kept} of 84 shards are finished" in line
    going_on = shlex.split(line.partition("To go on: ")[2])
    assert going_on[:2] == ["sisepai", "simulate"]
    assert going_on[-3:] == ["--out", "long run", "--resume"]
    said = json.loads(invoke("info", "long run", "--json").stdout)
    assert shlex.split(said["next"]) == [word for word in going_on if word not in ("--threads", "1")]
    assert said["shards_done"] == kept
    again = invoke(*going_on[1:], "--dry-run", "--json")  # the very plan: --resume takes it
    assert json.loads(again.stdout)["run_id"] == run.manifest.run_id


def test_dry_run_tells_and_writes_nothing(invoke, folder):
    result = invoke("simulate", "--dry-run", "--deals", "1e12", *MIXED)
    assert result.exit_code == 0
    assert "1,000,000,000,000 deals of 250,000,000,000 decks" in result.stdout
    assert "nothing is written" in result.stdout
    said = json.loads(invoke("simulate", "--dry-run", "--deals", "1000", "--json", "--events").stdout)
    assert list(folder.iterdir()) == []
    real = simulated(invoke, "--deals", "1000", "--events")
    assert said["shards"] == real["shards"] == 1
    assert said["run_id"] == real["run_id"]
    assert 0.8 < said["bytes"] / real["bytes"] < 1.25


def test_quiet_is_quiet(invoke):
    assert invoke("simulate", "--deals", "10", "--quiet").stderr == ""


def test_the_log_says_when_where_and_with_what(invoke):
    simulated(invoke, "--deals", "10", "--out", "run", "--threads", "2")
    begin, end = (json.loads(line) for line in Path("run/log.jsonl").read_text().splitlines())
    assert begin["event"] == "begin"
    assert begin["threads"] == 2
    assert set(begin["versions"]) == {"python", "sisepai", "numpy", "numba", "pyarrow", "kernels"}
    assert begin["command"].startswith("sisepai simulate ")
    assert end["event"] == "complete"
    assert (end["shards"], end["deals"]) == (1, 10)


def test_info(invoke):
    simulated(invoke, "--deals", "100000", "--events", *MIXED, "--out", "a run")
    result = invoke("info", "a run")
    assert result.exit_code == 0
    lines = {line[:8].strip(): line[9:] for line in result.stdout.splitlines()}
    assert lines["seats"] == "greedy, random, random, random"
    assert lines["seating"] == "rotate, 4 deals a deck"
    assert lines["deals"] == "100,000 of 25,000 decks, 100,000 done"
    assert lines["shards"] == "5 of 24,000 deals, 5 done"
    assert lines["missing"] == "none"
    assert lines["next"] == "sisepai report 'a run'"
    Path("a run/deals/000000/_part-000000003.json").unlink()
    lines = {line[:8].strip(): line[9:] for line in invoke("info", "a run").stdout.splitlines()}
    assert lines["missing"] == "1 (3)"
    assert lines["next"].endswith("--out 'a run' --resume")
    assert invoke(*shlex.split(lines["next"])[1:], "--quiet").exit_code == 0
    assert json.loads(invoke("info", "a run", "--json").stdout)["first_missing"] == []


def test_info_on_what_is_no_run(invoke, folder):
    assert "is not a run" in one_line_error(invoke("info", "none"))
    assert "is not a run" in one_line_error(invoke("info", str(folder)))


def test_info_makes_the_command_from_the_plan_not_from_the_log(invoke):
    simulated(invoke, "--deals", "10", "--out", "run")
    right = json.loads(invoke("info", "run", "--json").stdout)["command"]
    log = Path("run/log.jsonl")
    for text in ("rm -rf /", "sisepai simulate; rm -rf /", 7):
        log.write_text(json.dumps({"event": "begin", "command": text}) + "\nnot json\n[1]\n")
        assert json.loads(invoke("info", "run", "--json").stdout)["command"] == right
    log.unlink()
    assert json.loads(invoke("info", "run", "--json").stdout)["command"] == right


def test_report_names_a_damaged_shard(invoke):
    simulated(invoke, "--deals", "1000", "--out", "run")
    path = Path("run/deals/000000/part-000000000.parquet")
    content = bytearray(path.read_bytes())
    content[200:2000] = b"\xff" * 1800
    path.write_bytes(content)
    result = invoke("report", "run")
    assert (result.exit_code, result.stdout) == (1, "")
    line, _, command = result.stderr.partition(". To go on: ")
    assert line == f"sisepai: {path} is damaged"
    assert invoke(*shlex.split(command)[1:], "--quiet").exit_code == 0
    assert invoke("report", "run").exit_code == 0


PLANS = {
    "seating": ("--deals", "8", *MIXED, "--events", "--seed", str(2**64 - 1)),
    "options": ("--deals", "5", "--rules", "classic:players=3:points.triple=3/2", "--strategies", "random"),
    "match": ("--deals", "12", "--match", "6", "--rules", "ten-hu:redeal=always"),
    "own rules": ("--deals", "5", "--rules", "my rules.toml"),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_command_of_a_run_asks_for_that_very_run(invoke, folder, plan):
    (folder / "my rules.toml").write_text('base = "ten-hu"\nflowers = 5\n[takes]\ndraw_next = []\n')
    said = simulated(invoke, *plan, "--out", "it's here")
    (folder / "my rules.toml").unlink()  # the command does without
    command = json.loads(invoke("info", "it's here", "--json").stdout)["command"]
    again = invoke(*shlex.split(command)[1:], "--resume", "--json", "--quiet")
    assert json.loads(again.stdout)["run_id"] == said["run_id"]


def test_no_command_where_it_would_fail_again(invoke, folder):
    simulated(invoke, "--deals", "10", "--out", "run")
    Path("run/deals/000000/_part-000000000.json").unlink()
    Path("run/deals/000000/part-000000000.parquet").unlink()
    Path("run/deals/000000/part-000000000.parquet").mkdir()
    result = invoke("simulate", "--quiet", "--deals", "10", "--out", "run", "--resume")
    assert result.exit_code == 1
    assert "part-000000000.parquet" in result.stderr
    assert "To go on" not in result.stderr
