"""Where a run may be put: a fresh folder, one to go on with, one to replace. Nothing foreign is ever touched."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sisepai.errors import InputError, SisepaiError
from sisepai.runs import log
from sisepai.runs import manifest as manifests
from sisepai.runs.manifest import Manifest, differences, read_manifest
from sisepai.runs.store import TEMPORARY, Store, sync_folder, write_whole

DIGITS = 4  # of a numbered folder; they grow when they must


def check_new(path: Path) -> None:
    """Refuse a place for a new run unless nothing is there, or an empty folder.

    Raises
    ------
    InputError
        Something is there, or nothing can be put there; the message says what to do.
    """
    if _holds_nothing(path):
        check_writable(path)
    elif (path / manifests.FILE).exists():
        raise InputError(f"{path} holds a run already; go on with --resume, or replace it with --overwrite")
    else:
        raise InputError(f"{path} exists already and holds no run; choose another folder")


def check_resume(path: Path, manifest: Manifest) -> None:
    """Refuse to go on with a run of another plan. A folder that holds nothing is a run of which nothing is played.

    Raises
    ------
    InputError
        The folder holds something else, or another plan; the message names the keys that differ.
    """
    check_writable(path)
    if _holds_nothing(path):
        return
    there = read_manifest(path)
    if there != manifest:
        keys = "; ".join(differences(there, manifest))
        raise InputError(f"{path} holds another plan, and --resume changes none (there / asked for): {keys}")


def check_overwrite(path: Path) -> None:
    """Refuse to replace anything but a run.

    Raises
    ------
    InputError
        The folder holds something else.
    """
    check_writable(path)
    if not _holds_nothing(path):
        read_manifest(path)
        check_writable(staging(path))


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be made because the nearest thing that exists is no folder or takes no files.

    Raises
    ------
    InputError
        The message names it.
    """
    for folder in _upwards(path):
        if folder.exists():
            if not folder.is_dir():
                raise InputError(f"{folder} is no folder")
            if not os.access(folder, os.W_OK | os.X_OK):
                raise InputError(f"{folder}: no permission to write there")
            return


def create(path: Path, manifest: Manifest) -> Store:
    """Make the run directory ``path``, which does not exist or is empty, and write its manifest.

    Raises
    ------
    InputError
        Another process was faster.
    OSError, SisepaiError
        It cannot be made; nothing is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir()
    except FileExistsError:
        check_new(path)
    try:
        write_whole(path / manifests.FILE, manifest.to_json().encode())
    except SisepaiError:
        with suppress(OSError):
            path.rmdir()
        raise
    return Store(path, manifest)


def create_numbered(parent: Path, manifest: Manifest) -> Store:
    """Make the next numbered folder below ``parent`` and put the run there; safe when many do so at once.

    Raises
    ------
    OSError, SisepaiError
        It cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    numbers = [int(entry.name) for entry in parent.iterdir() if entry.name.isascii() and entry.name.isdigit()]
    number = max(numbers, default=0)
    while True:
        number += 1
        path = parent / f"{number:0{DIGITS}d}"
        try:
            path.mkdir()  # whoever makes the folder owns the number
        except FileExistsError:
            continue
        return create(path, manifest)


def resume(path: Path, manifest: Manifest) -> Store:
    """Open the run in ``path``, of this very plan, to go on with it; leftovers of dead writers are removed.

    Raises
    ------
    OSError, SisepaiError
        It cannot be written to.
    """
    if _holds_nothing(path):
        return create(path, manifest)
    store = Store(path, manifest)
    store.clean()
    return store


def staging(path: Path) -> Path:
    """Where the run that is to replace ``path`` is played: beside it, so that it can be moved into place."""
    whole = Path(os.path.abspath(path))
    return whole.with_name(f".{whole.name}.new")


def stage(path: Path, manifest: Manifest) -> Store:
    """Open the run that will replace the one in ``path``: what a stopped attempt at the same plan has left, or anew.

    Where there is nothing to replace, the run is made in ``path`` itself.

    Raises
    ------
    OSError, SisepaiError
        It cannot be made.
    """
    if _holds_nothing(path):
        return create(path, manifest)
    place = staging(path)
    try:
        if read_manifest(place) == manifest:
            return resume(place, manifest)
    except InputError:
        pass  # nothing there, or nothing that can be gone on with
    if place.exists():
        shutil.rmtree(place)
    return create(place, manifest)


def replace(path: Path) -> None:
    """Put the complete run from `staging` in the place of ``path``; the old one is removed after that.

    Raises
    ------
    OSError
        A folder cannot be moved or removed.
    """
    place = staging(path)
    old = place.with_suffix(".old")
    if old.exists():
        shutil.rmtree(old)
    if path.exists():
        path.rename(old)
    place.rename(path)
    sync_folder(place.parent)
    shutil.rmtree(old, ignore_errors=True)


def _holds_nothing(path: Path) -> bool:
    """Whether there is no such folder, or it holds only what a start that was killed at once has left."""
    try:
        names = {entry.name for entry in path.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return not os.path.lexists(path)
    return all(name == log.FILE or TEMPORARY.fullmatch(name) for name in names)


def _upwards(path: Path) -> Iterator[Path]:
    whole = Path(os.path.abspath(path))
    yield whole
    yield from whole.parents
