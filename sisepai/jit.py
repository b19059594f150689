"""Every JIT decision in one place: flags, and where compiled kernels are kept.

Compiled kernels live in a folder named by a digest of all kernel sources, because Numba does not notice
that a helper in another file has changed. `NUMBA_CACHE_DIR` moves the folder; where nothing is writable
the kernels are compiled in memory each time.
"""

import hashlib
import os
import tempfile
import warnings
from pathlib import Path

import numba
from numba.core import config
from numba.core.errors import NumbaExperimentalFeatureWarning

# First-class function types are experimental in Numba; the kernels' tests watch over them here.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)

_PACKAGE = Path(__file__).parent
_KERNEL_FOLDERS = ("rules", "engine", "strategies")


def kernel_digest() -> str:
    """A short name for the kernels as they are: a digest of their sources and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    sources = [_PACKAGE / "jit.py", *(p for room in _KERNEL_FOLDERS for p in sorted((_PACKAGE / room).glob("*.py")))]
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "sisepai"
    return Path("~/.cache/sisepai").expanduser()


def _writable_cache() -> Path | None:
    try:
        folder = _cache_root() / f"kernels-{kernel_digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home directory to be found
        return None


CACHE_FOLDER = _writable_cache()
if CACHE_FOLDER is not None:
    config.CACHE_DIR = str(CACHE_FOLDER)


def is_compiled() -> bool:
    """Whether an earlier start has left compiled kernels behind."""
    return CACHE_FOLDER is not None and any(CACHE_FOLDER.rglob("*.nbc"))


def inner(function):
    """A function that only kernels call: compiled with its caller, never on its own."""
    return numba.njit(nogil=True, error_model="numpy", _nrt=False)(function)


def kernel(signature):
    """A function that Python or a function table calls: compiled once for its signature, then kept."""
    return numba.njit(signature, nogil=True, error_model="numpy", _nrt=False, cache=CACHE_FOLDER is not None)
