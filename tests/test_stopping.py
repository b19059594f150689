"""Ctrl-C and a polite kill at any moment: one line, exit code 130, within two seconds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECONDS = 4  # two on a quiet machine
STOPS = [signal.SIGINT, signal.SIGTERM]
COMMANDS = [
    ["simulate", "--deals", "1e9", "--out", "run"],
    ["replay", "--deal", "0"],
]


def started(words: list[str], **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sisepai", *words]
    env = {**os.environ, **environment}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def stopped(process: subprocess.Popen[str], stop: signal.Signals) -> list[str]:
    """Stop it, see that it ends in time and with the right code, and return the lines on stderr."""
    begun = time.monotonic()
    process.send_signal(stop)
    out, err = process.communicate(timeout=120)
    assert time.monotonic() - begun < SECONDS
    assert (process.returncode, out) == (130, "")
    return err.splitlines()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("later", [0.1, 3.0])
def test_while_kernels_are_compiled(folder, words, stop, later):
    process = started(words, NUMBA_CACHE_DIR=str(folder / "cache"))
    assert process.stderr is not None
    assert process.stderr.readline() == "compiling the kernels, once; later starts skip this\n"
    time.sleep(later)
    assert stopped(process, stop) == ["sisepai: stopped"]
    assert not Path("run").exists()


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("later", [0.3, 0.5, 0.7, 0.9])
def test_while_it_starts(stop, later):
    """Modules are loaded, or the first deals are played already: it may not be swallowed, and never is it silent."""
    process = started([*COMMANDS[0], "--quiet"])
    time.sleep(later)
    lines = stopped(process, stop)
    assert len(lines) == 1
    assert lines[0].startswith("sisepai: stopped")


@pytest.mark.parametrize("stop", STOPS)
def test_too_late_to_stop(stop):
    """The command is done and only the interpreter's end is left: its exit code stands."""
    late = f"import atexit, os; atexit.register(os.kill, os.getpid(), {stop:d})"
    script = f"{late}; from sisepai.cli.main import cli; cli()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--version"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_who_wants_it_ignored_is_heard():
    script = f"trap '' INT; exec '{sys.executable}' -m sisepai simulate --deals 1e5 --quiet --out run"
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0].splitlines()[-1] == "run"
    assert process.returncode == 0


def test_an_export_that_is_stopped_leaves_nothing(folder):
    made = started(["simulate", "--deals", "4e5", "--quiet", "--out", "run"])
    assert made.wait(timeout=120) == 0
    process = started(["export", "run", "--what", "events", "--out", "events.csv", "--quiet"])
    while not list(folder.glob(".*.tmp")):
        assert process.poll() is None
        time.sleep(0.01)
    assert stopped(process, signal.SIGTERM) == ["sisepai: stopped"]
    assert [path.name for path in folder.iterdir()] == ["run"]


def test_where_nothing_can_be_kept_it_plays_all_the_same(tmp_path):
    nowhere = str(tmp_path / "a file" / "below")
    (tmp_path / "a file").write_text("")
    process = started(["simulate", "--deals", "24", "--out", str(tmp_path / "run")], NUMBA_CACHE_DIR=nowhere)
    said = process.communicate(timeout=180)[1]
    assert process.returncode == 0
    assert said.startswith("compiling the kernels: no folder to keep them in; NUMBA_CACHE_DIR can name one\n")
