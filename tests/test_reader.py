"""Reading a run: frames over the finished shards, and nothing else."""

import polars as pl
import pytest
from fakes import FakeSimulator, manifest

from sisepai import read_run
from sisepai.errors import InputError, SisepaiError
from sisepai.runs.directory import create
from sisepai.runs.execute import Progress, execute
from sisepai.runs.reader import read_deals, stored_row


def played(folder, shards, **changes):
    store = create(folder, manifest(**changes))
    execute(store, FakeSimulator(), shards, 2, Progress())
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


def copied(store, kind, shard, onto, other=None):
    """Put a shard's file and receipt over another's."""
    for name in ("file", "receipt"):
        source = getattr(other or store, name)(kind, shard)
        getattr(store, name)(kind, onto).write_bytes(source.read_bytes())


@pytest.fixture
def store(tmp_path):
    return played(tmp_path / "run", range(5))


WRONG = {
    "a neighbour": "it holds the deals 240 to 479, which are those of another shard",
    "a neighbour's file": "it holds the deals 240 to 479, which are those of another shard",
    "a shorter one": "it has 40 deals instead of 240",
    "another run's": "it belongs to another run",
    "a cut one": "cannot be read",
}


def spoil(store, kind, how, folder):
    match how:
        case "a neighbour":
            copied(store, kind, 1, 2)
        case "a neighbour's file":
            store.file(kind, 2).write_bytes(store.file(kind, 1).read_bytes())
        case "a shorter one":
            store.file(kind, 2).write_bytes(store.file(kind, 4).read_bytes())
        case "another run's":
            copied(store, kind, 2, 2, played(folder, [2], seed=8))
        case "a cut one":
            store.file(kind, 2).write_bytes(store.file(kind, 2).read_bytes()[:-5])


@pytest.mark.parametrize("how", WRONG)
def test_a_shard_that_is_not_what_its_name_says_is_refused_and_mended(store, tmp_path, how):
    before = store.file("deals", 2).read_bytes()
    spoil(store, "deals", how, tmp_path / "other")
    for read in (lambda: read_run(store.path), lambda: read_deals(store, 2), lambda: stored_row(store, 500)):
        with pytest.raises(SisepaiError) as caught:
            read()
        message = str(caught.value)
        assert message.startswith(str(store.file("deals", 2)))
        assert WRONG[how] in message
        assert "--resume` plays it again" in message
        assert caught.value.exit_code == 1
    assert store.matching() == {0, 1, 3, 4}
    execute(store, FakeSimulator(), [2], 1, Progress())
    assert store.file("deals", 2).read_bytes() == before
    assert read_run(store.path).complete


@pytest.mark.parametrize("how", [how for how in WRONG if how != "a shorter one"])
def test_events_too(store, tmp_path, how):
    spoil(store, "events", how, tmp_path / "other")
    with pytest.raises(SisepaiError, match=r"events/000000/part-000000002\.parquet"):
        read_run(store.path)
    assert store.matching() == {0, 1, 3, 4}
