"""The benchmarks work: a rehearsal with few deals fills every row, leaves nothing behind and keeps no record."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sisepai.strategies import belief, ukeire

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def called(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_table_is_filled(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    written = tmp_path / "results.md"
    page = called(str(BENCHMARKS / "run.py"), "--quick", "--write", str(written))
    assert written.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [written]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 25
    for row in rows:
        assert re.match(r"-?[\d,.]+", row[1]), row
    assert "A rehearsal" in page


@pytest.mark.slow
def test_strength_is_recorded(tmp_path):
    record, page = tmp_path / "measured.json", tmp_path / "strength.md"
    options = ("--rules", "cardavia", "--decks", "50", "--record", str(record), "--write", str(page))
    for name in ("greedy", "random", "greedy"):  # one of them anew
        assert called(str(BENCHMARKS / "strength.py"), name, *options) == page.read_text(encoding="utf-8")
    assert [one["entry"] for one in json.loads(record.read_text(encoding="utf-8"))] == ["random", "greedy"]


@pytest.mark.slow
def test_weights_of_ukeire_are_found(tmp_path):
    written = tmp_path / "weights.json"
    options = ("--deals", "60", "--worlds", "5", "--objective", "score", "--write", str(written))
    table = called(str(BENCHMARKS / "fit_ukeire.py"), *options)
    assert re.search(r"^all +\d+ +\d\.\d{4} +\d\.\d{4}$", table, re.MULTILINE)
    found, before = (json.loads(path.read_text(encoding="utf-8")) for path in (written, ukeire.FILE))
    assert found["how"]["score"].endswith(shlex.join(["benchmarks/fit_ukeire.py", *options]))
    assert found["features"] == before["features"]
    assert found["win"] == before["win"]
    assert found["score"] != before["score"]
    assert np.shape(found["score"]["answers"]) == np.shape(before["score"]["answers"])


@pytest.mark.slow
def test_weights_of_the_belief_are_those_in_use():
    table = called(str(BENCHMARKS / "fit_belief.py"), "--deals", "200")
    rows = [line.split() for line in table.splitlines()[3:]]
    assert len(rows) == 7
    for name, used, weight, *rest in rows:
        assert float(used) == getattr(belief, name)
        if weight != "never":
            assert abs(float(weight) - float(used)) < 4 * float(rest[0])


@pytest.mark.slow
def test_the_pieces_run():
    called("-m", "pytest", str(BENCHMARKS), "--benchmark-disable", "-q", "-p", "no:cacheprovider")
