"""Kernel times as JSON, for `run.py`: in a process of its own, since it needs the whole package in memory.

A kernel time is that of `Simulator.play` on one thread: decks, deals and rows, and nothing of files. A rollout begins
at the first decision of a deal; what it takes to copy the deal is counted.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numba
import numpy as np

from sisepai.engine.chunk import VIEW, one
from sisepai.engine.records import GAME, View
from sisepai.engine.simulator import Simulator
from sisepai.engine.stepper import Stepper
from sisepai.jit import kernel, kernel_digest
from sisepai.rules import PRESETS, preset
from sisepai.strategies import parse_entries
from sisepai.strategies.rollout import GREEDY, play_choice

SEED = 7
PIECE = 10_000  # deals that a thread takes at a time
ROLLED_OUT = 500  # different deals, too many for a processor to learn their branches
REPEATS = 3  # within a call, side by side


def simulator(rules: str, strategy: str) -> Simulator:
    """Four equal players, with everything compiled and loaded."""
    rule_set = preset(rules)
    entries, seats = parse_entries(strategy, rule_set.players)
    made = Simulator(rule_set, entries, np.array([seats], np.uint8), SEED)
    made.play(0, 100)
    return made


def seconds(function: Callable[[], object]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def play_out(view, games, choices, count):
    """Play so many deals out from their first decisions."""
    for i in range(count):
        view.trial.start = games[i % len(games)]
        play_choice(view, choices[i % len(games)], GREEDY)
    return count


class Rollouts:
    """Some deals of a table of `greedy`, to be played out again and again."""

    def __init__(self, plays: Simulator, count: int) -> None:
        stepper = Stepper(plays)
        self.games, self.choices = np.zeros(count, GAME).view(np.recarray), np.zeros(count, np.int64)
        number = 0
        for place in range(count):
            while not stepper.start(number):  # over without a decision
                number += 1
            self.games[place], self.choices[place] = stepper.work.game, stepper.ask()
            number += 1
        self.view: View = stepper.view()

    def play(self, count: int) -> None:
        """Play so many deals out."""
        play_out_kernel()(self.view, self.games, self.choices, count)


@cache
def play_out_kernel() -> Callable:
    """`play_out`, compiled."""
    signature = numba.int64(VIEW, numba.typeof(one(GAME)), numba.int64[::1], numba.int64)
    return kernel(signature, keep=False)(play_out)


def with_threads(plays: Simulator, first: int, deals: int, threads: int) -> float:
    """How long so many threads take for these deals, in pieces."""
    starts = range(first, first + deals, PIECE)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(abs, range(threads)))  # the threads exist
        return seconds(
            lambda: list(pool.map(lambda start: len(plays.play(start, min(PIECE, first + deals - start)).rows), starts))
        )


def times(deals: int, first: int) -> dict[str, object]:
    """Microseconds a deal and a take by rule set, and the gain of a second thread."""
    tables = [(rules, strategy, simulator(rules, strategy)) for strategy in ("greedy", "random") for rules in PRESETS]
    measured: dict[tuple[str, str], list[float]] = {}
    rollouts = {rules: Rollouts(plays, ROLLED_OUT) for rules, strategy, plays in tables if strategy == "greedy"}
    rolled_out: dict[str, list[float]] = {rules: [] for rules in rollouts}
    play_out_kernel()
    gains = []
    own = tables[0][2]
    for repeat in range(REPEATS):
        start = (first * REPEATS + repeat) * 2 * deals
        for rules, strategy, plays in tables:
            spent = seconds(lambda plays=plays, start=start: plays.play(start, deals))
            measured.setdefault((rules, strategy), []).append(spent / deals * 1e6)
        for rules, some in rollouts.items():
            rolled_out[rules].append(seconds(lambda some=some: some.play(deals)) / deals * 1e6)
        gains.append(2 * with_threads(own, start, deals, 1) / with_threads(own, start, 2 * deals, 2))
    deal = {table: statistics.median(micros) for table, micros in measured.items()}
    greedy = [(rules, plays) for rules, strategy, plays in tables if strategy == "greedy"]
    takes = {rules: plays.play(0, deals).rows["takes"].mean() for rules, plays in greedy}
    return {
        "kernels": kernel_digest(),
        "deal": {f"{rules}, {strategy} ×4": micros for (rules, strategy), micros in deal.items()},
        "rollout": {rules: statistics.median(micros) for rules, micros in rolled_out.items()},
        "take": {rules: deal[rules, "greedy"] / mean for rules, mean in takes.items()},
        "two_threads": statistics.median(gains),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=float, default=1e5)
    parser.add_argument("--first", type=int, default=0, help="which deals: another number, others")
    parser.add_argument("--all-cores", action="store_true", help="time greedy ×4 on all cores alone")
    options = parser.parse_args()
    deals = int(options.deals)
    if options.all_cores:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        print(json.dumps({"seconds": with_threads(simulator("cardavia", "greedy"), 0, deals, cores)}))
    else:
        print(json.dumps(times(deals, options.first)))


if __name__ == "__main__":
    main()
