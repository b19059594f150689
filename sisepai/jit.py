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
import numba.extending
from llvmlite import ir
from numba.core import config, types
from numba.core.errors import NumbaExperimentalFeatureWarning

# First-class function types are experimental in Numba; the kernels' tests watch over them.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)

# Level 1 compiles in four fifths of the time and plays as fast as level 3.
if "NUMBA_OPT" not in os.environ:
    config.OPT = type(config.OPT)(1)

_FLAGS = {"nogil": True, "error_model": "numpy", "_nrt": False}  # _nrt: kernels own no memory, so count none

_PACKAGE = Path(__file__).parent
_KERNEL_ROOMS = ("rules", "engine", "strategies")
# In those rooms, but nothing of them is compiled; a new file counts as a kernel until it is named here.
_NO_KERNELS = {
    "__init__.py",
    "partition.py",
    "presets.py",
    "rulefile.py",
    "simulator.py",
    "stepper.py",
    "faults.py",
    "plain.py",
    "plugins.py",
    "base.py",
    "registry.py",
    "tuning.py",
    "measured.py",
    "conformance.py",
}


def kernel_digest() -> str:
    """A short name for the kernels as they are: a digest of what is compiled into them and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    rooms = [path for room in _KERNEL_ROOMS for path in sorted((_PACKAGE / room).glob("*.py"))]
    for path in [_PACKAGE / "cards.py", _PACKAGE / "jit.py", *rooms]:
        if path.name not in _NO_KERNELS:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "sisepai"
    return Path("~/.cache/sisepai").expanduser()


def _writable_cache() -> Path | None:
    try:
        # Numba files kernels by where their sources are: a checkout of its own gets a folder of its own.
        place = hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:8]
        folder = _cache_root() / f"kernels-{kernel_digest()}-{place}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home directory to be found
        return None


CACHE_FOLDER = _writable_cache()
if CACHE_FOLDER is not None:
    config.CACHE_DIR = str(CACHE_FOLDER)


def is_compiled(name: str) -> bool:
    """Whether an earlier start has left a kernel behind, named by its module and function: `chunk.play_chunk`."""
    return CACHE_FOLDER is not None and any(CACHE_FOLDER.rglob(f"{name}-*.nbc"))


def inner(function):
    """A function that only kernels call: compiled with its caller, never on its own."""
    return numba.njit(**_FLAGS)(function)


def small(function):
    """An `inner` function that is made part of each caller: for short ones, and long ones called from one place."""
    return numba.njit(forceinline=True, **_FLAGS)(function)


def kernel(signature, keep=True):
    """A function that Python or a function table calls: compiled once for its signature, then kept.

    A plug-in's is not kept (`keep`): the digest that names the folder knows nothing of its files.
    """
    return numba.njit(signature, cache=keep and CACHE_FOLDER is not None, **_FLAGS)


@numba.extending.intrinsic
def _count_trailing_zeros(typing_context, mask):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@numba.extending.intrinsic
def _population(typing_context, mask):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


def lowest(mask):
    """Number of the lowest bit set in `mask` (int64, not 0)."""
    return (int(mask) & -int(mask)).bit_length() - 1


def bits(mask):
    """How many bits are set in `mask` (int64, not negative)."""
    return int(mask).bit_count()


if not config.DISABLE_JIT:

    @inner
    def lowest(mask):
        return _count_trailing_zeros(mask)

    @inner
    def bits(mask):
        return _population(mask)
