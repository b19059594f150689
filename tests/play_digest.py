"""Plays a few deals of every variant and prints one digest a line; run as a process of its own.

``python play_digest.py DEALS``: the environment tells whether kernels are compiled, and whether bounds are checked.
"""

import hashlib
import os
import sys

import numba
import numpy as np
from engine_tools import VARIANT_IDS, VARIANTS, rules_of, simulator

SHARES = {"greedy": 1, "random": 1, "ukeire": 4}  # the slow one plays a part of the deals
SEED, FIRST = 2**63 + 5, 2**33


def digests(deals):
    """By variant and strategy: a digest of the rows and events of its first deals."""
    lines = {}
    for variant, (name, options) in zip(VARIANT_IDS, VARIANTS, strict=True):
        for strategy, share in SHARES.items():
            count = -(-deals // share)
            chunk = simulator(rules_of(name, options), strategy, SEED).play(FIRST, count, events=True)
            data = chunk.rows.tobytes() + chunk.events.tobytes() + chunk.event_counts.tobytes()
            lines[f"{variant} {strategy}"] = hashlib.sha256(data).hexdigest()
    return lines


@numba.njit
def _read(array, place):
    return array[place]


def bounds_are_checked():
    """Whether compiled code refuses to read past an array's end."""
    try:
        _read(np.zeros(3)[:2], 2)
    except IndexError:
        return True
    return False


if __name__ == "__main__":
    if os.environ.get("NUMBA_BOUNDSCHECK") == "1" and not bounds_are_checked():
        sys.exit("bounds are not checked")
    for line, digest in digests(int(sys.argv[1])).items():
        print(line, digest)
