"""The run directory: what counts as finished, and that nothing half-done is ever left under a final name."""

import errno
import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from fakes import FakeSimulator, manifest

from sisepai.errors import SisepaiError
from sisepai.runs.directory import create
from sisepai.runs.execute import Progress, execute
from sisepai.runs.store import Store


@pytest.fixture
def store(tmp_path) -> Store:
    return create(tmp_path / "run", manifest())


def fill(store: Store, shards=range(5)) -> None:
    execute(store, FakeSimulator(), shards, 1, Progress())


def names(store: Store) -> list[str]:
    """All files but the lock, which is there as long as the store is open."""
    files = [path for path in store.path.rglob("*") if path.is_file() and path.name != ".lock"]
    return sorted(str(path.relative_to(store.path)) for path in files)


def test_where_files_lie(store):
    assert store.file("deals", 0) == store.path / "deals/000000/part-000000000.parquet"
    assert store.file("events", 12_345) == store.path / "events/000012/part-000012345.parquet"
    assert store.file("deals", 9_999_999) == store.path / "deals/009999/part-009999999.parquet"


def test_a_written_shard_is_done(store):
    assert store.done() == store.matching() == set()
    fill(store, [1, 3])
    assert store.done() == store.matching() == {1, 3}
    sizes = {kind: [store.file(kind, shard).stat().st_size for shard in (1, 3)] for kind in store.kinds}
    assert store.bytes() == {kind: sum(of_kind) for kind, of_kind in sizes.items()}
    assert names(store) == [
        "deals/000000/_part-000000001.json",
        "deals/000000/_part-000000003.json",
        "deals/000000/part-000000001.parquet",
        "deals/000000/part-000000003.parquet",
        "events/000000/_part-000000001.json",
        "events/000000/_part-000000003.json",
        "events/000000/part-000000001.parquet",
        "events/000000/part-000000003.parquet",
        "manifest.json",
    ]
    receipt = json.loads(store.receipt("deals", 1).read_text())
    assert receipt == {"rows": 240, "sha256": hashlib.sha256(store.file("deals", 1).read_bytes()).hexdigest()}


def test_a_shard_needs_all_its_tables(store):
    store.write("deals", 0, b"deals", 240)
    assert store.done() == set()
    store.write("events", 0, b"events", 9)
    assert store.done() == {0}


def damage(path: Path, how: str) -> None:
    receipt = path.with_name(f"_{path.stem}.json")
    match how:
        case "file flipped":
            path.write_bytes(b"D" + path.read_bytes()[1:])
        case "file cut":
            path.write_bytes(path.read_bytes()[:-1])
        case "file gone":
            path.unlink()
        case "file a folder":
            path.unlink()
            path.mkdir()
        case "receipt gone":
            receipt.unlink()
        case "receipt empty":
            receipt.write_text("")
        case "receipt of another":
            receipt.write_bytes(path.with_name("_part-000000004.json").read_bytes())
        case "receipt without a key":
            receipt.write_text('{"rows": 240}')
        case "receipt with another key":
            receipt.write_text(receipt.read_text().replace("}", ', "more": 1}'))
        case "receipt of other rows":
            receipt.write_text(receipt.read_text().replace("240", "239"))
        case "receipt a folder":
            receipt.unlink()
            receipt.mkdir()
        case "receipt a pipe":
            receipt.unlink()
            os.mkfifo(receipt)
        case "both of another":
            for name in ("part-000000004.parquet", "_part-000000004.json"):
                own = path.with_name(name.replace("4", "2"))
                own.write_bytes(path.with_name(name.replace("4", "1")).read_bytes())
        case "receipt no object":
            receipt.write_text("[1, 2]")
        case "receipt endless":
            receipt.write_text("[" * 100_000)


HOW = [
    "file flipped", "file cut", "file gone", "file a folder", "receipt gone", "receipt empty", "receipt of another",
    "receipt without a key", "receipt with another key", "receipt of other rows", "receipt no object",
    "receipt endless", "receipt a folder", "receipt a pipe", "both of another",
]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_shard_does_not_match(store, how):
    fill(store)
    damage(store.file("deals", 2), how)
    assert store.matching() == {0, 1, 3, 4}
    if not how.startswith(("file flipped", "file cut", "receipt of another", "both of")):
        assert store.done() == {0, 1, 3, 4}


def test_files_that_are_none_of_the_run_are_not_counted(store):
    fill(store)
    extra = store.file("deals", 4).with_name("part-000000005.parquet")  # the plan has five shards
    for name in ("part-000000005", "part-5", "other"):
        extra.with_name(f"{name}.parquet").write_bytes(store.file("deals", 4).read_bytes())
        extra.with_name(f"_{name}.json").write_bytes(store.receipt("deals", 4).read_bytes())
    wrong = store.path / "deals/000001"
    wrong.mkdir()
    for path in (store.file("deals", 1), store.receipt("deals", 1)):
        (wrong / path.name).write_bytes(path.read_bytes())
    assert store.done() == store.matching() == set(range(5))
    assert [shard for shard, _ in store.receipts("deals")] == list(range(5))


def test_leftovers_of_dead_writers_are_removed_and_nothing_else(store):
    fill(store, [0])
    before = names(store)
    for name in ("deals/000000/.part-000000001.parquet.0123abcd.tmp", ".manifest.json.89abcdef.tmp"):
        (store.path / name).write_text("half")
    (store.path / "notes.tmp").write_text("somebody's own")
    store.clean()
    assert names(store) == sorted([*before, "notes.tmp"])


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_no_file_and_names_the_path(store, monkeypatch, call):
    fill(store, [0])
    before = names(store)

    def full(*_args, **_keywords):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if call == "fsync" else Path, call, full)
    with pytest.raises(SisepaiError) as caught:
        store.write("deals", 1, b"deals", 240)
    assert str(caught.value) == f"{store.file('deals', 1)}: cannot be written: No space left on device"
    assert caught.value.exit_code == 1
    monkeypatch.undo()
    assert names(store) == before
    store.write("deals", 1, b"deals", 240)


def test_a_run_that_has_vanished_does_not_come_up_again(store):
    store.path.rename(store.path.with_name("moved"))
    with pytest.raises(SisepaiError, match="No such file or directory"):
        store.write("deals", 0, b"deals", 240)
    assert not store.path.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_no_permission(store):
    store.path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(SisepaiError, match="Permission denied"):
            store.write("deals", 0, b"deals", 240)
    finally:
        store.path.chmod(stat.S_IRWXU)


def test_something_in_the_way_of_a_folder(store):
    (store.path / "deals").write_text("a file")
    with pytest.raises(
        SisepaiError, match=r"deals cannot be written, since there is no folder .* remove it first"
    ):
        store.write("deals", 0, b"deals", 240)


@pytest.mark.parametrize("what", ["file", "receipt"])
def test_a_folder_in_the_way_of_a_file(store, what):
    getattr(store, what)("deals", 0).mkdir(parents=True)
    with pytest.raises(SisepaiError, match="there is a folder of that name: remove it first"):
        fill(store, [0])
