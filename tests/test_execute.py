"""Playing a plan with threads: the same bytes whatever happens, finished shards kept, an end within two seconds."""

import threading
import time
from pathlib import Path

import pytest
from fakes import FakeSimulator, manifest

from sisepai.errors import SisepaiError
from sisepai.runs.directory import create
from sisepai.runs.execute import Progress, execute
from sisepai.runs.store import Store


def play(folder: Path, threads: int = 2, simulator=None, shards=None, **changes) -> tuple[Store, Progress]:
    store = create(folder, manifest(**changes))
    progress = Progress()
    shards = range(store.manifest.plan.shards) if shards is None else shards
    execute(store, simulator or FakeSimulator(), shards, threads, progress)
    return store, progress


def content(store: Store) -> dict[str, bytes]:
    return {str(p.relative_to(store.path)): p.read_bytes() for p in store.path.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> tuple[dict[str, bytes], Progress]:
    store, progress = play(tmp_path_factory.mktemp("reference") / "run", threads=1)
    return content(store), progress


class Scrambled(FakeSimulator):
    """Chunks that come back in any order."""

    def play(self, first, count, events=False):
        time.sleep(hash((first, "x")) % 7 / 500)
        return super().play(first, count, events)


@pytest.mark.parametrize("threads", [2, 7])
def test_bytes_do_not_depend_on_threads(tmp_path, reference, threads):
    store, progress = play(tmp_path / "run", threads, Scrambled())
    assert content(store) == reference[0]
    assert progress == reference[1]


def test_bytes_do_not_depend_on_the_order_of_shards(tmp_path, reference):
    store, _ = play(tmp_path / "run", shards=[4, 0, 2])
    execute(store, FakeSimulator(), iter([3, 1]), 2, Progress())
    assert content(store) == reference[0]


def test_progress_counts_what_is_in_the_files(tmp_path):
    _, progress = play(tmp_path / "run")
    assert (progress.played, progress.shards, progress.deals) == (1000, 5, 1000)
    assert not progress.busy


def test_progress_knows_what_was_there_before():
    assert Progress(shards=2).finished is None
    assert Progress(shards=2, kept=3).finished == 5


def test_without_events_there_are_none(tmp_path):
    store, _ = play(tmp_path / "run", events=False)
    assert store.done() == set(range(5))
    assert not (store.path / "events").exists()


def test_nothing_to_do(tmp_path):
    store, progress = play(tmp_path / "run", shards=[])
    assert progress == Progress()
    assert store.done() == set()


class Failing(FakeSimulator):
    """Breaks in the fourth shard."""

    def play(self, first, count, events=False):
        if first >= 3 * 240:
            raise SisepaiError("deal 720: broken")
        return super().play(first, count, events)


def test_an_error_in_a_worker_keeps_finished_shards(tmp_path, reference):
    store = create(tmp_path / "run", manifest())
    with pytest.raises(SisepaiError, match="deal 720: broken"):
        execute(store, Failing(), range(5), 2, Progress())
    done = store.matching()
    assert done <= {0, 1, 2}
    assert not list(store.path.rglob("*.tmp"))
    execute(store, FakeSimulator(), [shard for shard in range(5) if shard not in done], 2, Progress())
    assert content(store) == reference[0]


def test_an_interrupt_keeps_finished_shards_and_ends_soon(tmp_path, reference):
    store, progress = create(tmp_path / "run", manifest()), Progress()

    def interrupt(progress: Progress) -> None:
        if progress.shards == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(store, FakeSimulator(), range(5), 2, progress, interrupt)
    assert not progress.busy
    done = store.matching()
    assert 2 <= len(done) <= 4
    assert progress.shards == len(done)
    assert not list(store.path.rglob("*.tmp"))
    execute(store, FakeSimulator(), [shard for shard in range(5) if shard not in done], 2, Progress())
    assert content(store) == reference[0]


def test_work_that_has_not_begun_is_dropped(tmp_path):
    played = []

    class Slow(FakeSimulator):
        def play(self, first, count, events=False):
            time.sleep(0.1)
            played.append(first)
            return super().play(first, count, events)

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    progress = Progress()
    with pytest.raises(KeyboardInterrupt):
        execute(create(tmp_path / "run", manifest()), Slow(), range(5), 1, progress, interrupt)
    assert not progress.busy
    assert len(played) <= 2  # one when the interrupt came, one that had begun


def test_an_interrupt_does_not_wait_for_slow_work(tmp_path):
    release = threading.Event()

    class Stuck(FakeSimulator):
        def play(self, first, count, events=False):
            if first > 0:
                release.wait(30)
            return super().play(first, count, events)

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    progress, begun = Progress(), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            execute(create(tmp_path / "run", manifest()), Stuck(), range(5), 2, progress, interrupt)
        assert time.monotonic() - begun < 2
        assert progress.busy
    finally:
        release.set()


def test_little_is_in_flight(tmp_path):
    """However long a run, only a few chunks and shards are in memory at once."""
    alive, most, lock = set(), 0, threading.Lock()

    class Counting(FakeSimulator):
        def play(self, first, count, events=False):
            nonlocal most
            with lock:
                alive.add(first)
                most = max(most, len(alive))
            return super().play(first, count, events)

    store, progress = create(tmp_path / "run", manifest(deals=2400)), Progress()

    def report(progress: Progress) -> None:
        with lock:
            for first in [first for first in alive if store.file("deals", first // 240).exists()]:
                alive.discard(first)

    execute(store, Counting(), range(10), 2, progress, report)
    assert progress.shards == 10
    assert most <= 12 * 6


def test_a_full_disk_stops_the_run(tmp_path, monkeypatch, reference):
    store = create(tmp_path / "run", manifest())
    write = Store.write

    def full(self, kind, shard, content, rows):
        if shard >= 2:
            raise SisepaiError(f"{self.file(kind, shard)}: cannot be written: No space left on device")
        write(self, kind, shard, content, rows)

    monkeypatch.setattr(Store, "write", full)
    with pytest.raises(SisepaiError, match="No space left"):
        execute(store, FakeSimulator(), range(5), 2, Progress())
    monkeypatch.undo()
    done = store.matching()
    execute(store, FakeSimulator(), [shard for shard in range(5) if shard not in done], 2, Progress())
    assert content(store) == reference[0]
