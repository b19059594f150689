"""Slow: runs that are killed at any moment, that are large, that start where nothing may be written."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sisepai import read_run
from sisepai.runs.store import Store

pytestmark = pytest.mark.slow

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def start(*words: str, **more) -> subprocess.Popen:
    command = [sys.executable, "-m", "sisepai", "simulate", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def finish(*words: str) -> None:
    process = start(*words)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err


def kill_while_playing(rng: random.Random, *words: str) -> None:
    """Start, and send a signal at some moment after the playing has begun."""
    process = start(*words)
    said = ""
    while "playing" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    time.sleep(rng.random() * 0.5)
    how = rng.choice(SIGNALS)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGKILL, 130), said + err
    assert "Traceback" not in err


def content(folder: Path) -> dict[str, bytes]:
    """All of a run but the log, which tells when."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "log.jsonl"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize(("flag", "kills"), [("--resume", 20), ("--overwrite", 8)])
def test_kills_change_no_byte(tmp_path, flag, kills):
    rng = random.Random(kills)
    plan = ("--deals", "300000", "--events", "--seed", "5", "--strategies", "greedy,random,greedy,random")
    finish(*plan, "--out", str(tmp_path / "whole"))
    place = tmp_path / "killed" / "run"
    for _ in range(kills):
        kill_while_playing(rng, *plan, "--out", str(place), flag)
        if not place.exists():
            continue  # between the two moves of --overwrite
        run = read_run(place)
        if flag == "--resume" and run.complete:  # something to do for the next one
            for shard in rng.sample(range(run.manifest.plan.shards), 4):
                Store(place, run.manifest).file("deals", shard).unlink()
    finish(*plan, "--out", str(place), flag)
    assert content(place) == content(tmp_path / "whole")
    assert os.listdir(place.parent) == ["run"]


def test_two_at_once_on_one_run(tmp_path):
    """Whoever comes second is refused and spoils nothing."""
    plan = ("--deals", "600000", "--events", "--out", str(tmp_path / "run"))
    for flag in ("--resume", "--overwrite"):
        first = start(*plan, flag)
        while "playing" not in first.stderr.readline():
            assert first.poll() is None
        second = start(*plan, "--quiet", flag)
        _, err = second.communicate(timeout=60)
        assert second.returncode == 2
        assert f"is being written by process {first.pid} on " in err
        assert len(err.splitlines()) == 1
        first.communicate(timeout=600)
        assert first.returncode == 0
        run = read_run(tmp_path / "run")
        assert len(Store(run.path, run.manifest).matching()) == run.manifest.plan.shards


# A process is said to need at least what the one that started it had: so a small one starts what is measured.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def peak_memory(deals: str, folder: Path) -> int:
    """MB that the run needed at most."""
    words = ["-m", "sisepai", "simulate", "--deals", deals, "--quiet", "--out", str(folder)]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, sys.executable, *words], capture_output=True, text=True, check=True
    )
    shutil.rmtree(folder)
    return int(measured.stdout) // (1024 if sys.platform == "linux" else 1024**2)


def test_memory_does_not_grow_with_the_run(tmp_path):
    million, ten = peak_memory("1e6", tmp_path / "a"), peak_memory("1e7", tmp_path / "b")
    assert max(million, ten) <= 400
    assert ten <= 1.1 * million


def test_where_nothing_but_the_run_may_be_written(tmp_path):
    """A user with a home and a site-packages of which nothing can be written: the kernels are not kept."""
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    home = Path(tempfile.mkdtemp())  # the folders of pytest are open to its own user alone
    try:
        (home / "out").mkdir()
        (home / "out").chmod(0o777)
        home.chmod(0o555)
        kept = {
            key: value
            for key, value in os.environ.items()
            if key not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
        }
        more = {**nobody, "cwd": home / "out", "env": {**kept, "HOME": str(home)}}
        try:
            able = subprocess.run(
                [sys.executable, "-c", "import sisepai"], check=False, capture_output=True, **more
            )
        except OSError:
            pytest.skip("another user cannot even start this Python")
        if able.returncode:
            pytest.skip("another user cannot read this Python or this checkout")
        process = start("--deals", "1000", "--out", "run", **more)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        finish("--deals", "1000", "--out", str(tmp_path / "run"))
        assert content(home / "out" / "run") == content(tmp_path / "run")
        assert os.listdir(home) == ["out"]
    finally:
        home.chmod(0o755)
        shutil.rmtree(home)


def test_eight_first_starts_at_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    starts = [start("--deals", "1000", "--out", str(tmp_path / str(n)), env=environment) for n in range(8)]
    for process in starts:
        _, err = process.communicate(timeout=900)
        assert process.returncode == 0, err
    runs = [content(tmp_path / str(n)) for n in range(8)]
    assert all(run == runs[0] for run in runs)
