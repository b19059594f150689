"""The plan of a run: which deck every deal plays, who sits where, and which shard holds it. Pure arithmetic.

The deals of one deck, under all seatings of the plan, are a *block*. With S seatings, deal ``i`` plays deck
``i // S`` under seating ``i % S``; shard ``n`` holds the deals from ``n * shard_deals`` on. In a run of matches
there is one seating, and N deals in a row are a match: deal ``i`` is round ``i % N`` of match ``i // N``.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from sisepai.errors import InputError, unknown_name
from sisepai.runs import SEATINGS

SHARD_MULTIPLE = 24  # 4! seatings at most, and every possible block size divides it: no shard cuts a block
MAX_DEALS = 2**63 - 1
EVENTS_SHARE = 5  # a deal with events has ten times the bytes, so a shard holds a fifth of the deals


def seatings(kind: str, seats: Iterable[int]) -> NDArray[np.uint8]:
    """The seatings of a block, one a row: entry numbers by seat.

    ``fixed`` is the seats as given. ``rotate`` moves everybody on by 0, 1, 2 … seats, in that order. ``all`` holds
    every order of the entries, in lexicographic order of their numbers. Equal entries are one and the same
    strategy, so seatings that differ by their exchange are the same and come once: ``rotate`` of one strategy at
    all seats is a single seating, of ``a b a b`` two.

    Parameters
    ----------
    kind
        One of `SEATINGS`.
    seats
        Entry numbers by seat, two to four.

    Returns
    -------
    uint8[S, players]
        S is 1, 2, 3, 4, 6, 12 or 24.

    Raises
    ------
    InputError
        No such kind.
    """
    given = tuple(seats)
    players = len(given)
    if kind == "fixed":
        orders = [given]
    elif kind == "rotate":
        orders = [tuple(given[(seat - turn) % players] for seat in range(players)) for turn in range(players)]
    elif kind == "all":
        orders = sorted(permutations(given))
    else:
        raise unknown_name("seating", kind, SEATINGS)
    return np.array(list(dict.fromkeys(orders)), dtype=np.uint8)


def shard_size(declared: Iterable[int], events: bool, match: int = 0) -> int:
    """Deals a shard, from what the strategies declare: the least of it, fewer when events are stored, whole matches."""
    step = math.lcm(SHARD_MULTIPLE, match or 1)
    wanted = min(declared) // (EVENTS_SHARE if events else 1)
    return max(step, wanted // step * step)


@dataclass(frozen=True)
class Shard:
    """A piece of a run that is written as a whole: deals ``first`` to ``first + count - 1``."""

    number: int
    first: int
    count: int


@dataclass(frozen=True)
class Plan:
    """The numbering of a run: ``seats`` holds entry numbers by seat, ``deals`` a whole number of blocks or matches.

    ``match`` is the number of deals of a match, 0 when there are none.

    Raises
    ------
    InputError
        ``deals`` is no whole number of blocks or matches, ``shard_deals`` no multiple of 24 or cuts a match, or there
        are both matches and several seatings of a deck.
    """

    seats: tuple[int, ...]
    seating: str
    deals: int
    shard_deals: int
    match: int = 0

    def __post_init__(self) -> None:
        if self.match and self.block > 1:
            raise InputError(
                f"match = {self.match}: does not go with seating {self.seating}, under which each deck is played "
                f"{self.block} times"
            )
        if self.shard_deals < 1 or self.shard_deals % SHARD_MULTIPLE:
            raise InputError(f"shard_deals = {self.shard_deals}: must be a multiple of {SHARD_MULTIPLE}")
        if self.shard_deals % self.unit:
            raise InputError(
                f"shard_deals = {self.shard_deals}: must be a multiple of the {self.unit} deals of a match"
            )
        if self.deals < 1 or self.deals % self.unit:
            what = "match" if self.match else "block"
            raise InputError(f"deals = {self.deals}: must be a multiple of the {self.unit} deals of a {what}")

    @classmethod
    def rounded(
        cls, seats: tuple[int, ...], seating: str, deals: int, shard_deals: int, match: int = 0
    ) -> "Plan":
        """A plan of at least ``deals`` deals, rounded up to whole blocks or matches.

        Raises
        ------
        InputError
            More deals than can be numbered, or matches with several seatings.
        """
        unit = match or len(seatings(seating, seats))
        whole = -(-deals // unit) * unit
        if whole > MAX_DEALS:
            raise InputError(f"{deals} deals are too many; the most is {MAX_DEALS // unit * unit}")
        return cls(seats, seating, whole, shard_deals, match)

    @cached_property
    def seatings(self) -> NDArray[np.uint8]:
        """Entry numbers, uint8[S, players]: by seating and seat."""
        return seatings(self.seating, self.seats)

    @property
    def players(self) -> int:
        """Seats at the table."""
        return len(self.seats)

    @property
    def block(self) -> int:
        """Deals of one deck, S."""
        return len(self.seatings)

    @property
    def unit(self) -> int:
        """Deals that hang together: those of a match, otherwise those of a deck."""
        return self.match or self.block

    @property
    def shards(self) -> int:
        """Number of shards; the last may hold fewer deals."""
        return -(-self.deals // self.shard_deals)

    def shard(self, number: int) -> Shard:
        """The deals of shard ``number``, from 0 to ``shards - 1``."""
        if not 0 <= number < self.shards:
            raise IndexError(f"shard {number} of {self.shards}")
        first = number * self.shard_deals
        return Shard(number, first, min(self.shard_deals, self.deals - first))

    def numbers(
        self, first: int, count: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]:
        """Deal, deck and seating of ``count`` deals from ``first`` on: uint64[count], uint64[count], uint8[count]."""
        deal = np.arange(first, first + count, dtype=np.uint64)
        deck, seating = np.divmod(deal, np.uint64(self.block))
        return deal, deck, seating.astype(np.uint8)
