"""Reading a run: frames over the finished shards, and nothing else."""

import polars as pl
import pytest
from fakes import FakeSimulator, manifest

from sisepai import read_run
from sisepai.errors import InputError
from sisepai.runs.directory import create
from sisepai.runs.execute import Tally, execute


def played(folder, shards, **changes):
    store = create(folder, manifest(**changes))
    execute(store, FakeSimulator(), shards, 2, Tally())
    return store


# A folder may have any name: no part of it is a pattern.
@pytest.mark.parametrize("name", ["run", "a b", "run=1", "[x]*?", "四色牌"])
def test_a_whole_run(tmp_path, name):
    run = read_run(played(tmp_path / name, range(5)).path)
    assert run.complete
    assert run.manifest == manifest()
    assert run.deals.collect()["deal"].to_list() == list(range(1000))
    assert run.events is not None
    assert run.events.select(pl.col("deal").n_unique()).collect().item() == 1000
    assert run.deals.collect_schema()["winner_strategy"] == pl.Enum(["greedy", "slow:n=2"])


def test_a_run_in_parts(tmp_path):
    store = played(tmp_path / "run", [3, 1])
    store.file("deals", 0).write_bytes(b"a shard without a receipt")
    run = read_run(str(store.path))
    assert not run.complete
    assert run.deals.collect()["deal"].to_list() == [*range(240, 480), *range(720, 960)]


def test_a_run_of_which_nothing_is_played(tmp_path):
    empty = read_run(played(tmp_path / "empty", []).path)
    whole = read_run(played(tmp_path / "whole", range(5)).path)
    assert empty.deals.collect_schema() == whole.deals.collect_schema()
    assert empty.deals.collect().height == 0
    assert empty.events.collect_schema() == whole.events.collect_schema()


def test_a_run_without_events(tmp_path):
    assert read_run(played(tmp_path / "run", [0], events=False).path).events is None


def test_what_is_no_run(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="is not a run"):
            read_run(path)
