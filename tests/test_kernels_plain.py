"""The kernels once as plain Python, with every warning an error, and once compiled with bounds checks: the same deals.

Plain Python has no overflow, no mixed-up signedness and no reading past an array's end that goes unseen.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from play_digest import digests

SCRIPT = Path(__file__).with_name("play_digest.py")


def elsewhere(deals, *flags, **environment):
    """The digests of another process."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), **environment}
    command = [sys.executable, *flags, str(SCRIPT), str(deals)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


def test_plain_python_plays_the_same_deals():
    assert elsewhere(2, "-W", "error", NUMBA_DISABLE_JIT="1") == digests(2)


@pytest.mark.slow
def test_plain_python_plays_many_of_the_same_deals():
    assert elsewhere(40, "-W", "error", NUMBA_DISABLE_JIT="1") == digests(40)


@pytest.mark.slow
def test_bounds_hold(tmp_path):
    """Compiles everything anew, in a folder of its own."""
    checked = elsewhere(3000, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert checked == digests(3000)
