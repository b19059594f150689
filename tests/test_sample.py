"""`data/sample`: small, whole, and what its command plays now."""

import hashlib
import json
import re
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from sisepai import read_run

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "sample"
MOST_BYTES = 300_000
COMMAND = re.search(r"^SAMPLE := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)[1]


@pytest.fixture(scope="module")
def sample():
    return read_run(SAMPLE)


@pytest.fixture
def again(invoke, tmp_path):
    """The sample, played now."""
    result = invoke("simulate", *COMMAND.split(), "--out", str(tmp_path / "again"), "--quiet")
    assert result.exit_code == 0, result.stderr
    return read_run(tmp_path / "again")


def parts(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*.parquet"))


def test_it_is_small_and_whole(sample):
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert sample.complete
    assert len(files) == 1 + 2 * len(parts(SAMPLE))  # the manifest; each file has a receipt


def test_the_receipts_fit(sample):
    for part in parts(SAMPLE):
        path = SAMPLE / part
        receipt = json.loads(path.with_name(f"_{path.stem}.json").read_text(encoding="utf-8"))
        assert receipt["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        metadata = pq.read_schema(path).metadata
        assert metadata[b"sisepai.run_id"].decode() == sample.manifest.run_id


def test_its_command_plays_the_same_deals(sample, again):
    assert_frame_equal(sample.deals.collect(), again.deals.collect())
    assert_frame_equal(sample.events.collect(), again.events.collect())


def test_its_plan_is_that_of_its_command(sample, again):
    """All but the digest of the strategies' code, which any edit of their files changes."""
    theirs, ours = sample.manifest.to_dict(), again.manifest.to_dict()
    for plan in (theirs, ours):
        for strategy in plan["strategies"]:
            del strategy["digest"]
    assert theirs == ours, "the plan has other keys now; `make sample` writes the sample anew"


def test_the_same_versions_give_the_same_bytes(sample, again):
    """Where strategies and pyarrow are those that made the sample."""
    first = SAMPLE / parts(SAMPLE)[0]
    if sample.manifest != again.manifest:
        pytest.skip("a strategy's file has changed since")
    if pq.read_metadata(first).created_by != pq.read_metadata(again.path / parts(again.path)[0]).created_by:
        pytest.skip("another version of Arrow made it")
    assert parts(SAMPLE) == parts(again.path)
    for part in parts(SAMPLE):
        assert (SAMPLE / part).read_bytes() == (again.path / part).read_bytes()


def test_it_has_something_to_look_at(sample):
    deals = sample.deals.collect()
    assert set(deals["winner_strategy"].drop_nulls().unique()) == {"greedy", "random"}
    assert deals["outcome"].n_unique() == 2
    kinds = sample.events.filter(pl.col("event") == "take").collect()["meld"]
    assert kinds.n_unique() >= 6
