"""What all tests share: the example cases, and ways to call the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sisepai.cli.main import cli

SHARED = Path(__file__).parents[2] / "shared"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of example hands and deals that comes with the specification, beside the checkout."""
    folder = SHARED / "cases"
    if not folder.is_dir():
        pytest.skip(f"the example cases are not there: {folder}")
    return folder


@pytest.fixture
def invoke() -> Callable[..., Result]:
    """Call the command line in this process: ``invoke("rules", "--json")``; quick, and stderr apart from stdout."""

    def call(*args: str, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, list(args), input=stdin, prog_name="sisepai")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def run() -> Run:
    """Call the command line as a process of its own, with changed environment variables as keywords."""

    def call(*args: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sisepai", *args],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **environment},
            timeout=300,
            check=False,
        )

    return call


def one_line_error(result: Result | subprocess.CompletedProcess[str]) -> str:
    """The single line of a refused command: exit 2, nothing on stdout, one line on stderr."""
    code = result.exit_code if isinstance(result, Result) else result.returncode
    assert code == 2, result
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("sisepai")
    return lines[0]
