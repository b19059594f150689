"""Files that are read and written with care: no pipe is waited for, nothing endless read, nothing half-written kept."""

import errno
import os
from pathlib import Path

import pytest

from sisepai.errors import InputError, SisepaiError
from sisepai.files import read_small, whole_file
from sisepai.runs import log
from sisepai.runs.manifest import read_manifest


def test_a_small_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    assert read_small(path, 4) == b"1234"
    with pytest.raises(InputError, match="larger than 3 bytes"):
        read_small(path, 3)


def special(path: Path, kind: str) -> Path:
    """Something that is no regular file."""
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
    return path


KINDS = ["pipe", "folder", "device"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_not_read(tmp_path, kind):
    with pytest.raises(InputError, match="not a regular file"):
        read_small(special(tmp_path / "x", kind), 10)
    with pytest.raises(InputError):
        read_manifest(special(tmp_path / "manifest.json", kind).parent)


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_is_no_file_is_empty_and_in_the_way(tmp_path, kind):
    special(tmp_path / log.FILE, kind)
    assert log.read(tmp_path) == []
    with pytest.raises(SisepaiError, match=r"log\.jsonl cannot be written.*remove it first"):
        log.append(tmp_path, {"event": "begin"})


def test_a_log_without_end_is_not_read(tmp_path):
    with (tmp_path / log.FILE).open("wb") as file:
        file.truncate(10**12)
    assert log.read(tmp_path) == []


def half_write(path, failure):
    with whole_file(path) as file:
        file.write(b"half")
        raise failure


@pytest.mark.parametrize("how", ["full", "stopped"])
def test_what_is_half_written_does_not_stay(tmp_path, how):
    path = tmp_path / "table.csv"
    path.write_text("before")
    failure = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if how == "full" else KeyboardInterrupt()
    with pytest.raises(SisepaiError if how == "full" else KeyboardInterrupt) as caught:
        half_write(path, failure)
    if how == "full":
        assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_name_as_long_as_a_name_may_be(tmp_path):
    path = tmp_path / ("x" * 255)
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
