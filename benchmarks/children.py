"""What the benchmarks share: child processes and what they cost, and the machine they ran on.

No more than the standard library is loaded: on Linux a child's peak memory is never less than its parent's.
"""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("sisepai", "numba", "numpy", "polars", "pyarrow")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Cost(NamedTuple):
    """What a finished child process cost."""

    seconds: float
    processor: float  # seconds, of all its threads
    peak: float  # bytes
    output: str


def run_python(arguments: list[str], folder: Path, environment: dict[str, str] | None = None) -> Cost:
    """Run Python with these arguments in `folder` and wait for it."""
    errors = folder / "stderr"
    begun = time.perf_counter()
    with errors.open("wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert child.stdout is not None
        try:
            output = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
    seconds = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    if child.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {child.returncode}:\n{errors.read_text()}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, output)


def machine() -> str:
    """The machine this runs on, in a line."""
    return f"{processor()}, {CORES} cores; {system()}"


def versions() -> str:
    """The versions that figures depend on, in a line."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)])


def processor() -> str:
    """The name of the processor, as the system tells it."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def system() -> str:
    """The operating system and its release."""
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def say(text: str) -> None:
    """A word to whoever waits."""
    print(text, file=sys.stderr, flush=True)


def run_main(main: Callable[[], None]) -> None:
    """Run a script's `main`; Ctrl-C and what a user may see end it without a traceback."""
    from sisepai.errors import SisepaiError  # here: the scripts that call this have loaded it anyway

    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except SisepaiError as error:
        sys.exit(str(error))
