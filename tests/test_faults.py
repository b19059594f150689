"""A strategy that fails ends the run with one line and the command that shows the deal; one that cheats needs leave."""

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import one_line_error

from sisepai.runs.manifest import read_manifest
from sisepai.runs.replay import Replayer
from sisepai.strategies.registry import load_plugins

# A plain and a compiled strategy for each way to fail; all play as greedy for a while.
BAD = """
from sisepai.jit import inner
from sisepai.strategies import Strategy
from sisepai.strategies.greedy import answer, discard

class Fine:
    def answer(self, view):
        return answer(view)
    def discard(self, view):
        return discard(view)

class Raises(Fine):
    def discard(self, view):
        if view.table.discards > 12:
            raise ValueError("lost my\\ncards")
        return discard(view)

class Answers(Fine):
    name = "answers"
    def answer(self, view):
        return 7 if view.table.draws > 9 else answer(view)

class Discards(Fine):
    def discard(self, view):
        return 0 if view.table.draws > 9 else discard(view)

class Nothing(Fine):
    def answer(self, view):
        return None if view.table.draws > 9 else answer(view)

class Huge(Fine):
    def answer(self, view):
        return 10**30

class Leaves(Fine):
    def discard(self, view):
        raise SystemExit(0)

@inner
def raises(view):
    if view.table.discards > 12:
        raise ValueError("lost my cards")
    return discard(view)

@inner
def answers(view):
    return 7 if view.table.draws > 9 else answer(view)

@inner
def discards(view):
    return -1 if view.table.draws > 9 else discard(view)

STRATEGIES = (
    Raises, Answers, Discards, Nothing, Huge, Leaves,
    Strategy("c-raises", "", answer, raises),
    Strategy("c-answers", "", answers, discard),
    Strategy("c-discards", "", answer, discards),
)
"""

WAYS = [
    ("raises", r"discard: 'raises' raised ValueError: lost my cards \(line 15\)"),
    ("answers", r"(?:draw|discard) window of \w+: 'answers' answered 7, which was not offered \(offered: .*\)"),
    ("discards", r"discard: 'discards' discarded Kr, which was not offered \(it may: .*\)"),
    ("nothing", r"window of \w+: 'nothing' raised TypeError: answer returned None, which is no whole number"),
    ("huge", r"window of \w+: 'huge' raised OverflowError: 10+ is beyond all choices"),
    ("leaves", r"discard: 'leaves' raised SystemExit: 0 \(line \d+\)"),
    ("c-raises", r"discard: 'c-raises' raised ValueError: lost my cards \(line \d+\)"),
    ("c-answers", r"(?:draw|discard) window of \w+: 'c-answers' answered 7, which was not offered \(offered: .*\)"),
    ("c-discards", r"discard: 'c-discards' discarded -1, which was not offered \(it may: .*\)"),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder for all tests, so that its strategies are compiled once."""
    path = tmp_path_factory.mktemp("faults")
    (path / "bad ones.py").write_text(BAD)
    return path


@pytest.fixture
def folder(place, tmp_path, monkeypatch):
    """A working folder from which `../bad ones.py` holds the bad strategies."""
    path = place / tmp_path.name
    path.mkdir()
    monkeypatch.chdir(path)
    return path


class Told(NamedTuple):
    """The one line of a command that failed: what is wrong in which deal, and the command that shows it."""

    what: str
    deal: int
    show: list[str]


def failing(invoke, *command):
    """What a command tells that fails."""
    done = invoke(*command)
    assert done.exit_code == 1, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("compiling")]
    what, _, show = line.partition(". To see it: ")
    found = re.match(r"sisepai: deal (\d+), seat \d, ", what)
    assert found, line
    return Told(what.removeprefix("sisepai: "), int(found[1]), shlex.split(show)[1:])


@pytest.mark.parametrize(("name", "what"), WAYS, ids=[name for name, _ in WAYS])
def test_a_fault_ends_the_run_with_one_line(folder, invoke, name, what):
    strategies = f"../bad ones.py:{name},greedy,greedy,greedy"
    command = (
        "simulate",
        "--strategies",
        strategies,
        "--seating",
        "rotate",
        "--deals",
        "1200",
        "--out",
        "r",
        "--quiet",
    )
    fault = failing(invoke, *command)
    assert re.fullmatch(rf"deal \d+, seat \d, .*{what}", fault.what), fault.what
    log = [json.loads(line) for line in Path("r/log.jsonl").read_text().splitlines()]
    assert log[-1]["event"] == "failed"
    assert fault.show[0] == "replay"
    assert fault.show[-2:] == ["--plugin", "../bad ones.py"]
    of_run = ("replay", "r", "--deal", str(fault.deal), "--plugin", "../bad ones.py")
    for replay in (fault.show, of_run):
        assert failing(invoke, *replay).what == fault.what


def test_an_instance_that_cannot_be_made(folder, invoke):
    once = """
        made = []
        def __init__(self):
            self.made.append(1 / (4 - len(self.made)))
        def answer(self, view):
            return 0 if view.offers.forced else -1
        def discard(self, view):
            return next(card for card in range(28) if card % 7 and view.hand.count[card])
    """
    Path("once.py").write_text(f"class Once:{once}\nSTRATEGY = Once\n")
    fault = failing(invoke, "simulate", "--strategies", "once.py", "--deals", "24", "--out", "r", "--quiet")
    assert "'once' raised ZeroDivisionError: division by zero (line 4)" in fault.what


def test_what_a_user_sees(folder, run):
    """The run's one line; then the deal up to where it failed."""
    long = f"{'x' * 120}.py"
    Path(long).write_text(BAD)
    done = run("simulate", "--strategies", f"{long}:raises", "--deals", "240", "--out", "r", "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("compiling")]
    what, command = line.split(". To see it: ")
    assert command.endswith(f" --plugin {long}"), "whole, however long"
    shown = run(*shlex.split(command)[1:])
    assert shown.returncode == 1
    assert shown.stdout.startswith("deal 0 of seed 7: deck 0, seating 0, rules cardavia\n")
    assert " draw " in shown.stdout
    assert shown.stdout.count(" discard ") == 13
    assert "deadwood" not in shown.stdout, "it has no end"
    assert shown.stderr.splitlines()[-1] == what
    assert run(*shlex.split(command)[1:], "--json").stdout == ""


def test_what_is_finished_stays_and_is_not_counted(folder, invoke):
    """A strategy that fails in few deals: the shards before stay, and --resume stops at the same deal again."""
    Path("rare.py").write_text(BAD.replace("view.table.discards > 12", "view.table.discards > 40"))
    command = ("simulate", "--strategies", "./rare.py:raises,greedy,greedy,greedy", "--deals", "6000",
               "--threads", "1", "--seed", "11", "--out", "r", "--quiet")  # fmt: skip
    fault = failing(invoke, *command)
    finished = {file: file.read_bytes() for file in Path("r").rglob("part-*.parquet")}
    assert 0 < len(finished) <= fault.deal // 240, fault
    assert f"{240 * len(finished):,} done" in invoke("info", "r").stdout
    assert invoke("report", "r").exit_code == 0
    assert failing(invoke, *command, "--resume") == fault
    assert {file: file.read_bytes() for file in Path("r").rglob("part-*.parquet")} == finished


def test_a_fault_in_a_sample_and_in_a_match(folder, invoke):
    wish = ("--strategies", "../bad ones.py:raises", "--match", "4", "--rules", "ten-hu")
    fault = failing(invoke, "simulate", *wish, "--dry-run")
    assert "--match" in fault.show
    assert failing(invoke, *fault.show).what == fault.what


# ---------------------------------------------------------------------------------------------- cheating

CHEAT = """
from sisepai.strategies import Strategy
from sisepai.strategies.greedy import answer, discard
STRATEGY = Strategy("seer", "sees all", answer, discard, cheats=True)
"""


def test_a_cheat_plays_with_leave_alone_and_is_marked(folder, invoke, monkeypatch):
    Path("cheat.py").write_text(CHEAT)
    simulate = (
        "simulate",
        "--strategies",
        "cheat.py:seer,greedy,greedy,greedy",
        "--deals",
        "240",
        "--out",
        "r",
    )
    refusal = "strategy 'seer' is shown all cards; it plays with --allow-cheating only"
    assert refusal in one_line_error(invoke(*simulate))
    assert not Path("r").exists()
    assert invoke(*simulate, "--quiet", "--allow-cheating").exit_code == 0
    assert read_manifest(Path("r")).labels == ("seer (cheats)", "greedy")
    monkeypatch.setenv("COLUMNS", "60")
    assert "seer (cheats)" in invoke("report", "r").stdout
    assert "seer (cheats)" in invoke("info", "r").stdout
    replay = ("replay", "r", "--deal", "0", "--plugin", "cheat.py")
    assert refusal in one_line_error(invoke(*replay))
    shown = invoke(*replay, "--allow-cheating")
    assert shown.exit_code == 0
    assert "(cheats)" in shown.stdout
    command = json.loads(Path("r/log.jsonl").read_text().splitlines()[0])["command"]
    assert command.endswith("--plugin cheat.py --allow-cheating")
    assert invoke(*shlex.split(command)[1:], "--out", "r", "--resume", "--quiet").exit_code == 0
    seed = ("replay", "--seed", "7", "--deal", "0", "--strategies", "cheat.py")
    assert refusal in one_line_error(invoke(*seed))
    assert invoke(*seed, "--allow-cheating").exit_code == 0


def test_a_replayer_shows_the_deal_so_far(folder):
    """The same from Python."""
    from sisepai.engine.faults import StrategyFault
    from sisepai.rules import RuleSet
    from sisepai.strategies import parse_entries

    entries, seats = parse_entries("raises", 4, load_plugins(["../bad ones.py"]))
    replayer = Replayer(RuleSet(), entries, np.array([seats], np.uint8), 7)
    with pytest.raises(StrategyFault) as caught:
        replayer.deal(3)
    deal = replayer.so_far(caught.value)
    assert caught.value.deal == 3
    assert sum(event.event == "discard" for event in deal.events) >= 13
    assert deal.winner is None or deal.row["outcome"][0] == 255
