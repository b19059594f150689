"""The order of the rooms (docs/architecture.md): imports point down, and nothing heavy is loaded before it is used."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sisepai
from sisepai.cli.main import COMMANDS, module_of

PACKAGE = Path(sisepai.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up: a file may import from its own room and from those named before it.
ROOMS = [{"cards", "errors", "files", "jit"}, {"rules"}, {"engine"}, {"strategies"}, {"runs"}, {"analysis"}, {"cli"}]
LEVEL = {name: level for level, names in enumerate(ROOMS) for name in names}
ENTRY = {"__init__", "__main__"}  # the package's own two files may import from every room

# Packages that stay out of a room, so that what it does not know cannot creep in.
STRANGERS = {
    "rules": {"click", "rich", "polars", "pyarrow"},
    "engine": {"click", "rich", "polars", "pyarrow"},
    "strategies": {"click", "rich", "polars", "pyarrow"},
    "runs": {"click", "rich"},
    "analysis": {"click", "numba"},
}
HEAVY = ("numba", "numpy", "polars", "pyarrow", "rich")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> list[str]:
    """Full dotted names of all a file imports, wherever in the file it does so."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    room = room_of(path)
    if room in ENTRY:
        return
    assert room in LEVEL, f"{room} is not a room of docs/architecture.md"
    for name in imported(path):
        package, _, rest = name.partition(".")
        if package == "sisepai" and rest != "__version__":
            target = rest.partition(".")[0]
            assert target in LEVEL, f"{path} imports {name}, which is in no room"
            assert LEVEL[target] <= LEVEL[room], f"{path} imports {name}, which lies above it"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_know_nothing_of_strangers(path):
    strangers = STRANGERS.get(room_of(path), set())
    assert not strangers & {name.partition(".")[0] for name in imported(path)}


def test_analysis_never_imports_the_engine():
    for path in (PACKAGE / "analysis").rglob("*.py"):
        for name in imported(path):
            assert not name.startswith(("sisepai.engine", "sisepai.strategies")), f"{path} imports {name}"


def loaded_by(code: str) -> set[str]:
    """The heavy packages in memory after a fresh interpreter has run ``code``."""
    report = f"import sys; {code}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import sisepai") == set()


def test_the_command_line_loads_nothing_heavy_before_a_command_runs():
    modules = ", ".join(f"sisepai.cli.{module_of(name)}" for name in COMMANDS)
    assert loaded_by(f"import sisepai.cli.main, {modules}") == set()


def test_help_is_quick():
    """At most 0.25 s on a quiet core; the best of several starts, since the machine may be busy."""
    command = [sys.executable, "-m", "sisepai", "--help"]
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
        if best <= 0.25:
            return
    pytest.fail(f"sisepai --help takes {best:.2f} s")


def test_read_run_is_found_on_the_package():
    from sisepai.runs.reader import read_run

    assert sisepai.read_run is read_run
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sisepai.nothing
