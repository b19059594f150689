"""`sisepai tune`: finds what is better, says so when it does not, and goes on where it was stopped."""

import errno
import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import one_line_error

from sisepai.engine.randomness import below
from sisepai.jit import inner
from sisepai.strategies import STRATEGIES, Entry, Parameter, Strategy, greedy, parse_entries, random
from sisepai.strategies.tuning import Axis, axes_of

SMALL = ("--trials", "20", "--decks", "10", "--quiet")


@inner
def astray(view):
    """Whether it forgets itself: the further `aim` is from 3 and `share` from 0.4, the more often."""
    value = view.parameters.value
    return below(view.rng, 1000) < 1000 * (abs(value[0] - 3) / 10 + abs(value[1] - 0.4))


@inner
def answer(view):
    return random_answer(view) if astray(view) else greedy_answer(view)


@inner
def discard(view):
    return random_discard(view) if astray(view) else greedy_discard(view)


random_answer, random_discard = random.answer, random.discard
greedy_answer, greedy_discard = greedy.answer, greedy.discard

AIM = Parameter("aim", 7, "best at 3", 0, 10, whole=True)
SHARE = Parameter("share", 0.1, "best at 0.4", 0, 1)
MOOD = Parameter("mood", "calm", "of no account", choices=("calm", "wild"))
WOBBLY = Strategy("wobbly", "as greedy when its parameters are right", answer, discard, (AIM, SHARE, MOOD))

# The command line as a process of its own that knows the strategy.
PROGRAM = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_tune import WOBBLY
from sisepai.strategies import STRATEGIES
STRATEGIES["wobbly"] = WOBBLY
from sisepai.cli.main import cli
cli()
"""


@pytest.fixture(autouse=True)
def _somewhere_with_wobbly(monkeypatch, tmp_path):
    peeping = replace(WOBBLY, name="peeping", cheats=True)
    stumbling = replace(WOBBLY, name="stumbling", plugin="it.py", discard=lambda view: view.nothing)
    for one in (WOBBLY, peeping, stumbling):
        monkeypatch.setitem(STRATEGIES, one.name, one)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tune(invoke):
    def call(*words: str) -> str:
        result = invoke("tune", *words)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return call


@pytest.mark.parametrize("objective", ["win", "score"])
def test_finds_what_is_best(tune, objective):
    found = json.loads(
        tune("wobbly", "--objective", objective, "--trials", "180", "--decks", "100", "--quiet", "--json")
    )
    assert found["better"]
    assert found["use"] == found["tuned"] != "wobbly"
    values = dict(part.split("=") for part in found["tuned"].split(":")[1:])
    assert abs(float(values["aim"]) - 3) <= 1
    assert abs(float(values["share"]) - 0.4) < 0.1
    assert found["trials"] == 180
    for key in ("win", "score"):
        start, tuned, difference = (found[key][who]["value"] for who in ("start", "tuned", "difference"))
        assert difference == pytest.approx(tuned - start)
        assert found[key]["difference"]["low"] > 0


def test_simulate_confirms_the_confirmation(tune, invoke):
    """Whoever plays what was found with the same seed plays the very deals of the confirmation."""
    found = json.loads(tune("wobbly", *SMALL, "--seed", "11", "--json"))
    for who in ("start", "tuned"):
        entries = f"{found[who]},greedy,greedy,greedy"
        invoke(
            "simulate", "--strategies", entries, "--seating", "rotate", "--deals", str(found["deals"]),
            "--seed", "11", "--out", who, "--quiet",
        )  # fmt: skip
        run = json.loads(invoke("report", who, "--json").stdout)["runs"][0]
        wins = run["strategies"][0]["per_seat_deal"]
        assert found["win"][who]["value"] == wins["rate"]
        assert found["win"][who]["se"] == pytest.approx(wins["se"])


def test_says_plainly_when_nothing_better_is_found(tune):
    best = "wobbly:aim=3:share=0.4"
    shown = tune(best, "--only", "share", *SMALL)
    assert re.search(r"the tuned one is (WORSE|NOT shown to be better), on 400 fresh decks", shown)
    assert shown.splitlines()[-1] == best
    shown = tune("wobbly:share=0.4", "--only", "aim", *SMALL, "--out", "other")
    assert "the tuned one is better" in shown
    assert shown.splitlines()[-1] == shown.splitlines()[1].removeprefix("tuned: ")


def test_what_is_given_stays(tune):
    """Even where it is the default."""
    tune("wobbly:share=0.1", *SMALL)
    lines = [json.loads(line) for line in Path("wobbly.tune.jsonl").read_text().splitlines()]
    assert {tuple(line["parameters"]) for line in lines if "parameters" in line} == {("aim",)}


def test_a_plug_in(tune, monkeypatch, tmp_path):
    """What is printed can be typed as it stands, from the folder where the command was given."""
    monkeypatch.chdir(Path(__file__).parents[1])
    words = (
        "docs/examples/mine.py:bold",
        "--trials",
        "8",
        "--decks",
        "6",
        "--quiet",
        "--out",
        str(tmp_path / "file"),
    )
    shown = tune(*words).splitlines()
    assert shown[0] == "start: docs/examples/mine.py:bold"
    assert re.fullmatch(r"tuned: docs/examples/mine\.py:bold:risk=0\.\d+", shown[1])
    (entry,), _ = parse_entries(shown[1].removeprefix("tuned: "), 1)
    assert 0 < entry.params["risk"] < 1


def test_plain_python(tune):
    file = Path(__file__).parents[1] / "docs/examples/mine.py"
    shown = tune(f"{file}:calm", "--trials", "4", "--decks", "2", "--quiet").splitlines()
    assert shown[-1].startswith(f"{file}:calm")
    assert Path("calm.tune.jsonl").exists()


def test_threads_change_nothing(tune):
    shown = tune("wobbly", *SMALL, "--threads", "1", "--out", "one")
    assert shown == tune("wobbly", *SMALL, "--threads", "5", "--out", "five")
    assert Path("one").read_bytes() == Path("five").read_bytes()


def test_killed_anywhere_it_ends_the_same(tune):
    file = Path("wobbly.tune.jsonl")
    shown, whole = tune("wobbly", *SMALL), file.read_bytes()
    lines = [place.end() for place in re.finditer(rb"\n", whole)]
    for size in (0, 5, lines[0] - 1, lines[0], lines[4] + 3, lines[11], len(whole) - 1, len(whole)):
        file.write_bytes(whole[:size])
        assert tune("wobbly", *SMALL) == shown
        assert file.read_bytes() == whole


def test_what_is_kept_is_not_played_again(tune, monkeypatch):
    shown = tune("wobbly", *SMALL)
    monkeypatch.setattr("sisepai.engine.simulator.Simulator.play", None)
    assert tune("wobbly", *SMALL) == shown


def test_more_trials_look_further(tune):
    tune("wobbly", *SMALL)
    more = ("--trials", "40", *SMALL[2:])
    assert tune("wobbly", *more) == tune("wobbly", *more, "--out", "at-once")


def test_progress_where_there_is_no_terminal(invoke, monkeypatch):
    monkeypatch.setattr("sisepai.cli.progress.PLAIN_SECONDS", 0.0)
    stderr = invoke("tune", "wobbly", *SMALL[:4]).stderr
    lines = [line for line in stderr.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 24 + 2 * 40
    assert re.fullmatch(r"generation 1; 40 of 4,160 deals \(1%\), [\d,]+ deals/s, .* left", lines[0])
    assert re.match(r"generation 3: mean \d+\.\d%, best \d+\.\d%; 760 of 4,160 deals", lines[18])
    assert lines[-1].startswith("confirming; 4,160 of 4,160 deals (100%)")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["wobly"], "did you mean 'wobbly'"),
        (["greedy"], "greedy has no parameter with a range of numbers that does more than cost time"),
        (["search"], "search has no parameter with a range of numbers that does more than cost time"),
        (["wobbly:aim=3:share=1"], "wobbly has no other parameter with a range of numbers"),
        (["wobbly:aim=3.5"], "aim = 3.5: must be a whole number from 0 to 10"),
        (["wobbly,greedy"], "one strategy is tuned; name the others with --against"),
        (["wobbly", "--against", "greedy,random"], "2 entries for 3 seats; give one for all or 3"),
        (["wobbly", "--against", "gredy"], "did you mean 'greedy'"),
        (
            ["wobbly", "--only", "aim,mood"],
            "no parameter 'mood' that can be tuned (those that can: aim, share)",
        ),
        (["peeping"], "peeping sees all cards"),
        (["wobbly", "--against", "wobbly,peeping,greedy"], "peeping sees all cards"),
        (["stumbling"], "'stumbling' cannot be compiled"),
        (["wobbly", "--only", ""], "no parameter ''"),
        (["wobbly", "--objective", "wins"], "did you mean 'win'?"),
        (["wobbly", "--trials", "0"], "0 is too small; the least is 1"),
        (["wobbly", "--rules", "cardavai"], "did you mean 'cardavia'"),
        (["wobbly", "--out", "nowhere/file"], "nowhere/file: No such file or directory"),
        (["wobbly", "--out", "."], ".: not a regular file"),
    ],
)
def test_wrong_words(invoke, tmp_path, words, says):
    assert says in one_line_error(invoke("tune", *words))
    assert not list(tmp_path.iterdir())


def test_without_the_optimiser(invoke, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    assert "pip install 'sisepai[tune]'" in one_line_error(invoke("tune", "wobbly"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"my thesis", "not the file of a tuning"),
        (b"my thesis\n", "not the file of a tuning"),
        (b"\xff\n\n", "not the file of a tuning"),
        (
            b'{"sisepai tune": {"seed": 7}}\n',
            "the tuning there differs in version, kernels, strategy, tuned, objective, ",
        ),
        (b"[" * 100_000 + b"\n", "not the file of a tuning"),
    ],
)
def test_another_file_is_left_alone(invoke, content, says):
    Path("file").write_bytes(content)
    assert f"file: {says}" in one_line_error(invoke("tune", "wobbly", *SMALL, "--out", "file"))
    assert Path("file").read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        ["--decks", "11"],
        ["--seed", "8"],
        ["--rules", "classic"],
        ["--against", "random"],
        ["--objective", "score"],
    ],
)
def test_another_question_is_told(tune, invoke, change):
    tune("wobbly", *SMALL)
    before = Path("wobbly.tune.jsonl").read_bytes()
    key = change[0].removeprefix("--")
    assert f"differs in {key}" in one_line_error(invoke("tune", "wobbly", *SMALL, *change))
    assert Path("wobbly.tune.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("number", "old", "new", "says"),
    [
        (3, '"sum"', '"some"', "line 3 is damaged"),
        (3, '"sum": ', '"sum": -1', "line 3 is damaged"),
        (3, '"aim": ', '"aim": 1', "is not the one that this search asks for"),
        (-1, '"products": [[', '"products": [["a", ', "is damaged"),
        (-1, '"products": [', '"products": [7, ', "is damaged"),
        (-1, '"products": [[', '"products": [[9', "the confirmation that is kept is damaged"),
        (-1, '"sums": [', '"sums": [9', "the confirmation that is kept is damaged"),
        (-1, "]]}", ", 0]]}", "is damaged"),
    ],
)
def test_a_changed_file(tune, invoke, number, old, new, says):
    file = Path("wobbly.tune.jsonl")
    tune("wobbly", *SMALL)
    lines = file.read_text().splitlines(keepends=True)
    place = number - 1 if number > 0 else number
    lines[place] = lines[place].replace(old, new, 1)
    file.write_text("".join(lines))
    assert says in one_line_error(invoke("tune", "wobbly", *SMALL))


def test_one_writer(invoke):
    with Path("file").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "is being written by another process" in one_line_error(
            invoke("tune", "wobbly", *SMALL, "--out", "file")
        )


def test_a_full_disk(tune, invoke, monkeypatch):
    """Half a line may be written; what is there before it stays, and the command goes on from there."""
    whole = tune("wobbly", *SMALL, "--out", "whole")
    write = os.write

    def full(file: int, text: bytes) -> int:
        if text.startswith(b'{"confirmed"'):
            return write(file, text[:20])
        if not text.startswith(b"{"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, text)

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        result = invoke("tune", "wobbly", *SMALL)
    assert result.exit_code == 1
    said, command = result.stderr.rstrip().split(" To go on: ")
    assert said == "sisepai: wobbly.tune.jsonl: cannot be written: No space left on device."
    assert tune(*shlex.split(command)[2:], "--quiet") == whole


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_it_goes_on(tune, tmp_path, how):
    words = ["tune", "wobbly", "--trials", "400", "--decks", "100", "--threads", "2"]
    whole = tune(*words[1:], "--quiet", "--out", "whole")
    file = tmp_path / "stopped"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words, "--out", str(file)],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not file.exists() or file.read_bytes().count(b"\n") < 50:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(how)
    out, err = process.communicate(timeout=10)
    assert out == ""
    command = ["sisepai", *words, "--out", str(file)]
    if how != signal.SIGKILL:
        assert process.returncode == 130
        said, command = err.splitlines()[-1].split(" To go on: ")
        assert re.fullmatch(r"sisepai: stopped; \d+ candidates are kept\.", said)
        command = shlex.split(command)
        assert command[:3] == ["sisepai", "tune", "wobbly"]
    assert tune(*command[2:], "--quiet") == whole
    assert file.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    ("low", "high", "start"),
    [(0, 1, 0.5), (0, 1, 0.1), (0, 1, 0.9), (0, 100, 9.8), (-5, 5, 0.3), (-40, -20, -21), (0, 1e6, 1.5)],
)
def test_an_axis_has_its_start_in_the_middle(low, high, start):
    axis = Axis(Parameter("p", start, "", low, high), start)
    assert axis.value(axis.place) == start
    assert 0.02 < axis.place < 0.98
    if 0.07 * (high - low) < start - low < 0.93 * (high - low):
        assert axis.place == pytest.approx(0.5)
    values = [axis.value(place / 50) for place in range(51)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (low, high)


def test_an_axis_moves_a_weight_by_its_own_size():
    axis = Axis(Parameter("p", 9.8, "", 0, 100), 9.8)
    assert [axis.value(place) for place in (0.35, 0.65)] == [2.97, 23.6]
    assert Axis(Parameter("p", 0.0, "", 0, 100), 0.0).place == 0
    assert Axis(Parameter("p", 100.0, "", 0, 100), 100.0).place == 1


def test_whole_values_have_no_fraction():
    axis = Axis(AIM, 7.0)
    assert {axis.value(place / 100) for place in range(101)} == set(range(11))
    assert all(isinstance(axis.value(place / 10), int) for place in range(11))


def test_what_is_tuned():
    boundless = Parameter("boundless", 1, "")
    entry = Entry(Strategy("s", "", answer, discard, (AIM, SHARE, MOOD, boundless)), {"share": 0.7})
    assert [(axis.parameter.name, axis.start) for axis in axes_of(entry, ["aim"])] == [("share", 0.7)]
    assert [axis.start for axis in axes_of(entry, ["share"], ["share"])] == [0.7]
    assert [axis.parameter for axis in axes_of(entry, [])] == [AIM, SHARE]
