"""Where a run may be put: one writer at a time, nothing foreign removed, no kill that leaves a run nowhere."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import one_line_error
from fakes import FakeSimulator, manifest

from sisepai.errors import InputError, SisepaiError
from sisepai.runs import directory, log
from sisepai.runs.execute import Progress, execute
from sisepai.runs.lock import Lock
from sisepai.runs.manifest import read_manifest

OLD, NEW = manifest(deals=240), manifest(deals=480)


@pytest.fixture
def place(tmp_path) -> Path:
    """Where a complete run of the plan OLD is."""
    played(directory.create(tmp_path / "run", OLD))
    return tmp_path / "run"


def played(store) -> None:
    with store:
        execute(store, FakeSimulator(), range(store.manifest.plan.shards), 2, Progress())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("side", [directory.staging, directory.set_aside])
def test_a_foreign_folder_beside_a_run_is_never_removed(place, side):
    mine = side(place) / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("years of work")
    for call in (lambda: directory.check_overwrite(place), lambda: directory.stage(place, NEW)):
        with pytest.raises(InputError, match=r"is not a run.*move away what is there"):
            call()
    with pytest.raises(InputError, match="is not a run"):
        directory.replace(place)
    assert mine.read_text() == "years of work"
    assert read_manifest(place) == OLD


def test_a_run_is_replaced(place, tmp_path):
    with directory.stage(place, NEW) as store:
        execute(store, FakeSimulator(), range(2), 2, Progress())
        assert read_manifest(place) == OLD
        directory.replace(place)
    assert read_manifest(place) == NEW
    assert names(tmp_path) == ["run"]
    assert names(place) == ["deals", "events", "manifest.json"]


def test_where_a_link_points_to_is_replaced(place, tmp_path):
    link = tmp_path / "elsewhere" / "latest"
    link.parent.mkdir()
    link.symlink_to(place)
    with directory.stage(link, NEW):
        directory.replace(link)
    assert link.is_symlink()
    assert read_manifest(place) == read_manifest(link) == NEW
    assert names(tmp_path) == ["elsewhere", "run"]


@pytest.fixture
def cut_short(place) -> Path:
    """As `place`, but a replacement was killed between its two moves."""
    played(directory.stage(place, NEW))
    place.rename(directory.set_aside(place))
    return place


def test_overwrite_finishes_a_replacement_that_was_cut_short(cut_short, tmp_path):
    directory.check_overwrite(cut_short)
    with directory.stage(cut_short, NEW) as store:
        assert store.matching() == {0, 1}
        directory.replace(cut_short)
    assert read_manifest(cut_short) == NEW
    assert names(tmp_path) == ["run"]


def test_resume_puts_back_what_was_there(cut_short):
    with directory.resume(cut_short, OLD) as store:
        assert store.matching() == {0}
    assert read_manifest(cut_short) == OLD
    assert not directory.set_aside(cut_short).exists()


def test_no_new_run_in_place_of_one_that_was_moved_away(cut_short):
    with pytest.raises(InputError, match="go on with --overwrite"):
        directory.check_new(cut_short)


def test_a_removal_that_is_cut_short_leaves_a_run(place, monkeypatch):
    """Whatever is still there can be told from a folder of somebody else, and is removed the next time."""

    def stop(*_):
        raise KeyboardInterrupt

    with directory.stage(place, NEW):
        monkeypatch.setattr(directory.shutil, "rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            directory.replace(place)
        monkeypatch.undo()
    assert read_manifest(place) == NEW
    assert read_manifest(directory.set_aside(place)) == OLD
    with directory.stage(place, OLD):
        directory.replace(place)
    assert names(place.parent) == ["run"]


def test_a_start_that_was_killed_at_once_is_taken_over(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".lock").write_text("process 1 on nowhere\n")
    (folder / ".sisepai.0123abcd.tmp").write_text("{")
    directory.check_new(folder)
    with directory.create(folder, NEW):
        assert names(folder) == [".lock", "manifest.json"]


HOLD = """
import sys, time
from pathlib import Path
from sisepai.runs.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(place):
    """Another process that holds the lock of the run."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(place)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_writer_is_told_who_the_first_is(place, holder):
    for call in (lambda: directory.resume(place, OLD), lambda: directory.stage(place, NEW)):
        with pytest.raises(InputError) as caught:
            call()
        said = f"{place} is being written by process {holder.pid} on {os.uname().nodename}; wait for it"
        assert str(caught.value).startswith(said)
    assert not directory.staging(place).exists()


def test_a_lock_ends_with_its_process(place, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (place / ".lock").exists()
    with directory.resume(place, OLD):
        assert str(os.getpid()) in (place / ".lock").read_text()
    assert not (place / ".lock").exists()


def test_leftovers_are_removed_under_the_lock_alone(place, holder):
    half = place / ".sisepai.0123abcd.tmp"
    half.write_text("being written")
    with pytest.raises(InputError):
        directory.resume(place, OLD)
    assert half.exists()
    holder.kill()
    holder.wait()
    with directory.resume(place, OLD):
        assert not half.exists()


def test_the_staging_folder_is_locked_too(place):
    with directory.stage(place, NEW) as store:
        with pytest.raises(InputError, match="is being written by process"):
            directory.resume(store.path, NEW)
        with pytest.raises(InputError, match="is being written by process"):
            directory.stage(place, NEW)


def test_a_lock_goes_along_when_its_folder_is_renamed(tmp_path):
    (tmp_path / "a").mkdir()
    held = Lock(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    with pytest.raises(InputError):
        Lock(tmp_path / "b")
    held.release()
    assert names(tmp_path / "b") == []
    Lock(tmp_path / "b").release()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_a_lock_that_is_no_file(place, kind):
    path = place / ".lock"
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "link": lambda: path.symlink_to("nowhere")}[
        kind
    ]()
    with pytest.raises(SisepaiError, match=r"\.lock"):
        directory.resume(place, OLD)


def made_by(place: Path, **versions: str) -> None:
    mine = log.surroundings()["versions"]
    log.append(place, {"event": "begin", "versions": {**mine, **versions}})


@pytest.mark.parametrize("key", ["sisepai", "pyarrow", "kernels"])
def test_resume_does_not_mix_programs(place, key):
    made_by(place)
    directory.check_resume(place, OLD)
    made_by(place, **{key: "0.0.9"})
    for call in (directory.check_resume, directory.resume):
        with pytest.raises(InputError, match=f"made with {key} 0.0.9, while here it is .*--overwrite"):
            call(place, OLD)
    assert not (place / ".lock").exists()


def test_another_python_is_no_other_program(place):
    made_by(place, python="2.7", numpy="1.0")
    directory.resume(place, OLD).release()


def test_what_another_program_has_not_finished_is_played_by_this_one(tmp_path):
    store = directory.create(tmp_path / "run", OLD)
    store.release()
    made_by(store.path, kernels="other")
    with directory.resume(store.path, OLD) as again:
        made_by(store.path)
        execute(again, FakeSimulator(), [0], 1, Progress())
    directory.resume(store.path, OLD).release()


def test_overwrite_plays_anew_what_another_program_has_staged(place):
    played(directory.stage(place, NEW))
    made_by(directory.staging(place), sisepai="0.0.9")
    with directory.stage(place, NEW) as store:
        assert store.done() == set()


def test_the_command_line_says_it_in_one_line(place, invoke, tmp_path):
    """What another program has made, a folder of somebody else, a run that is being written: exit code 2."""
    words = ("simulate", "--quiet", "--deals", "48", "--out", str(tmp_path / "real"))
    assert invoke(*words).exit_code == 0
    with Lock(tmp_path / "real"):
        for flag in ("--resume", "--overwrite"):
            assert "is being written by process" in one_line_error(invoke(*words, flag))
    made_by(tmp_path / "real", pyarrow="9.9")
    line = one_line_error(invoke(*words, "--resume"))
    assert "made with pyarrow 9.9, while here it is " in line
    (tmp_path / ".real.old").mkdir()
    (tmp_path / ".real.old" / "mine").write_text("mine")
    assert "move away what is there" in one_line_error(invoke(*words, "--overwrite"))
    assert names(tmp_path / ".real.old") == ["mine"]
