"""Where a run may be put: a fresh folder, one to go on with, one to replace. Nothing foreign is ever touched.

Nothing is written without the lock of the folder (``lock``). A run that replaces another is played in ``.NAME.new`` and
takes its place in two moves, over ``.NAME.old``.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sisepai.errors import InputError
from sisepai.files import sync_folder, write_whole
from sisepai.runs import lock, log
from sisepai.runs import manifest as manifests
from sisepai.runs.lock import Lock
from sisepai.runs.manifest import Manifest, differences, read_manifest
from sisepai.runs.store import Store

DIGITS = 4  # of a numbered folder; they grow when they must
# What a start leaves that was killed before there was a manifest.
_LEFTOVER = re.compile(r"\.lock|\.(sisepai|manifest\.json)\.[0-9a-f]{8}\.tmp")


def check_new(path: Path) -> None:
    """Refuse a place for a new run unless nothing is there, or an empty folder.

    Raises
    ------
    InputError
        Something is there, or nothing can be put there; the message says what to do.
    """
    if _holds_nothing(path):
        check_writable(path)
        if not _holds_nothing(set_aside(path)):
            raise InputError(
                f"{set_aside(path)} is what was in {path} when an --overwrite was cut short; go on with --overwrite"
            )
    elif (path / manifests.FILE).exists():
        raise InputError(f"{path} holds a run already; go on with --resume, or replace it with --overwrite")
    else:
        raise InputError(f"{path} exists already and holds no run; choose another folder")


def check_resume(path: Path, manifest: Manifest) -> None:
    """Refuse to go on with a run of another plan, or with shards that another version of the program has made.

    A folder that holds nothing is a run of which nothing is played.

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
    other = _other_makers(path)
    if other and Store(path, manifest).done():
        raise InputError(
            f"{path} holds shards made with {other}: --resume does not mix them; go on with that version, or play all "
            f"anew with --overwrite"
        )


def check_overwrite(path: Path) -> None:
    """Refuse to replace anything but a run, and to use the places beside it if they hold anything else.

    Raises
    ------
    InputError
        The message names the folder.
    """
    check_writable(path)
    if not _holds_nothing(path):
        read_manifest(path)
        check_writable(staging(path))
    for side in (staging(path), set_aside(path)):
        if not _holds_nothing(side):
            try:
                read_manifest(side)
            except InputError as error:
                raise InputError(f"{error}; --overwrite needs that place: move away what is there") from error


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
    with suppress(FileExistsError):
        path.mkdir()
    held = Lock(path)
    try:
        if not _holds_nothing(path):
            check_new(path)
        _remove_leftovers(path)
        write_whole(path / manifests.FILE, manifest.to_json().encode())
    except BaseException:
        held.release()
        with suppress(OSError):
            path.rmdir()
        raise
    return Store(path, manifest, held)


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
    InputError
        As `check_resume`, or another process is at work there.
    OSError, SisepaiError
        It cannot be written to.
    """
    _put_back(path)
    if _holds_nothing(path):
        return create(path, manifest)
    held = Lock(path)
    try:
        check_resume(path, manifest)  # once more: only now does it stay as it is
        if _other_makers(path):
            log.append(path, {"event": log.ANEW})
        store = Store(path, manifest, held)
        store.clean()
    except BaseException:
        held.release()
        raise
    return store


def staging(path: Path) -> Path:
    """Where the run that is to replace ``path`` is played: beside it, so that it can be moved into place."""
    whole = _real(path)
    return whole.with_name(f".{whole.name}.new")


def set_aside(path: Path) -> Path:
    """Where the run in ``path`` is between being moved away and removed."""
    whole = _real(path)
    return whole.with_name(f".{whole.name}.old")


def stage(path: Path, manifest: Manifest) -> Store:
    """Open the run that will replace the one in ``path``: what a stopped attempt at the same plan has left, or anew.

    Where there is nothing to replace, the run is made in ``path`` itself.

    Raises
    ------
    InputError
        As `check_overwrite`, or another process is at work there.
    OSError, SisepaiError
        It cannot be made.
    """
    _put_back(path)
    if _holds_nothing(path):
        return create(path, manifest)
    held = Lock(_real(path))
    try:
        check_overwrite(path)  # once more: only now does it stay as it is
        store = _staged(staging(path), manifest)
    except BaseException:
        held.release()
        raise
    store.locks.append(held)
    return store


def replace(path: Path) -> None:
    """Put the complete run from `staging` in the place of ``path``; the old one is removed after that.

    The store from `stage` must not have been released.

    Raises
    ------
    InputError
        Something else has come between.
    OSError
        A folder cannot be moved or removed.
    """
    place, old = staging(path), set_aside(path)
    read_manifest(place)
    _remove_run(old)
    if os.path.lexists(_real(path)):
        _real(path).rename(old)
    place.rename(_real(path))
    sync_folder(place.parent)
    with suppress(OSError):
        _remove_run(old)


def _staged(place: Path, manifest: Manifest) -> Store:
    """Open the run that is played in ``place``, which holds nothing or a run."""
    if not _holds_nothing(place):
        if read_manifest(place) == manifest and not _other_makers(place):
            return resume(place, manifest)
        with Lock(place):
            _remove_run(place)
    return create(place, manifest)


def _put_back(path: Path) -> None:
    """Undo what is left of `replace` when it was killed between its two moves: the run is away, and none in its place.

    What was to replace it stays where it is, so that the next --overwrite finds it complete.
    """
    old = set_aside(path)
    if not _holds_nothing(path) or _holds_nothing(old):
        return
    read_manifest(old)
    with Lock(old):
        if os.path.lexists(path):
            with Lock(_real(path)):
                _remove_run(_real(path))
        old.rename(_real(path))


def _remove_run(path: Path) -> None:
    """Remove a run, or what is left of one; the caller has its lock. Where there is nothing, nothing happens.

    Raises
    ------
    InputError
        It is not a run; nothing is removed.
    OSError
        It cannot be removed.
    """
    if not os.path.lexists(path):
        return
    if _holds_nothing(path):
        _remove_leftovers(path)
    else:
        read_manifest(path)
        # The manifest last: what is left when this is cut short is known for a run.
        kept = (manifests.FILE, lock.FILE)
        for entry in [entry for entry in path.iterdir() if entry.name not in kept]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        (path / manifests.FILE).unlink()
    (path / lock.FILE).unlink(missing_ok=True)
    path.rmdir()


def _remove_leftovers(path: Path) -> None:
    """Remove what a start has left that was killed at once, but for the lock."""
    for entry in path.iterdir():
        if entry.name != lock.FILE and _LEFTOVER.fullmatch(entry.name):
            entry.unlink()


def _other_makers(path: Path) -> str | None:
    """What differs between this program and those that played in ``path`` so far; None when nothing is known to."""
    mine = log.surroundings()["versions"]
    for key in ("sisepai", "pyarrow", "kernels"):
        for made in sorted(log.makers(path, key) - {mine[key]}):
            return f"{key} {made}, while here it is {mine[key]}"
    return None


def _holds_nothing(path: Path) -> bool:
    """Whether there is no such folder, or it holds only what a start that was killed at once has left."""
    try:
        return all(_LEFTOVER.fullmatch(entry.name) for entry in path.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return not os.path.lexists(path)


def _real(path: Path) -> Path:
    """The folder itself, where ``path`` is a link to it."""
    return Path(os.path.realpath(path))


def _upwards(path: Path) -> Iterator[Path]:
    whole = Path(os.path.abspath(path))
    yield whole
    yield from whole.parents
