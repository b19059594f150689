"""What the fits share: deals of `ukeire` against three `greedy`, stopped wherever `ukeire` has to choose."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from children import CORES, say

from sisepai.engine.simulator import Simulator
from sisepai.engine.stepper import Stepper
from sisepai.errors import InputError
from sisepai.rules import preset
from sisepai.runs.plan import seatings
from sisepai.strategies import Entry, parse_entries

RULES = "cardavia"
PART = 40  # deals that a thread takes at a time


def simulator(entry: Entry, seed: int) -> Simulator:
    """One seat of `ukeire` against three of `greedy`, every deck under all rotations."""
    others, _ = parse_entries("greedy", 2)
    return Simulator(preset(RULES), (entry, *others), seatings("rotate", (0, 1, 1, 1)), seed)


def note_decisions(table: Simulator, deals: int, note: Callable[[int, Stepper], Any]) -> list[Any]:
    """What `note(deck, stepper)` returns at each decision of `ukeire`, in the order of the deals; None is left out."""
    if deals < 1:
        raise InputError("--deals: at least one")

    def play(first: int) -> list[Any]:
        stepper, noted = Stepper(table), []
        for number in range(first, min(first + PART, deals)):
            own = next(seat for seat in range(4) if table.entry(number, seat) == 0)
            due = stepper.start(number, pause=1 << own)
            while due:
                noted.append(note(number // table.seatings, stepper))
                due = stepper.submit(stepper.ask())
        return [one for one in noted if one is not None]

    pool = ThreadPoolExecutor(CORES)
    try:
        all_noted = []
        for first, noted in zip(range(0, deals, PART), pool.map(play, range(0, deals, PART)), strict=True):
            all_noted += noted
            if first // PART % 25 == 24:
                say(f"{first + PART:,} deals")
        return all_noted
    finally:
        pool.shutdown(cancel_futures=True)
