"""Plays single deals again, and compares deals played again with what a run has stored."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sisepai import __version__
from sisepai.cards import MELDS, NONE
from sisepai.engine.faults import StrategyFault, is_answer
from sisepai.engine.records import WIN
from sisepai.engine.simulator import Simulator, decks
from sisepai.engine.stepper import Stepper
from sisepai.errors import InputError, SisepaiError
from sisepai.jit import kernel_digest
from sisepai.rules import RuleSet
from sisepai.runs import log
from sisepai.runs.deal import Choice, Deal, Decision, Deck, Estimate, read_events
from sisepai.runs.manifest import Manifest, PlannedEntry
from sisepai.runs.schema import deal_table
from sisepai.runs.store import Store
from sisepai.strategies import STRATEGIES, Entry, Strategy

MOST_NAMED = 4  # columns that a message names


class Replayer:
    """Plays any deal of one rule set, one set of strategies and one seed.

    Parameters
    ----------
    entries
        The different strategies, up to four.
    seatings
        uint8[S, players]: which of them sits where; deal i plays deck i // S under seating i % S.
    seed
        0 to 2**64 - 1.
    match
        Deals of a match, in which the winner of a deal deals the next; 0 when each deal is by itself.
    """

    def __init__(
        self, rules: RuleSet, entries: Sequence[Entry], seatings: NDArray[np.uint8], seed: int, match: int = 0
    ) -> None:
        self.rules = rules
        self.seatings = seatings
        self.seed = seed
        self.match = match
        self.simulator = Simulator(rules, entries, seatings, seed, match)
        self._labels = [entry.label for entry in entries]
        self._explains = [entry.strategy.explains for entry in entries]

    @classmethod
    def of(cls, manifest: Manifest, plugged: Mapping[str, Strategy] | None = None) -> "Replayer":
        """What plays the deals of a run.

        Raises
        ------
        InputError
            As `entries_of`, or a strategy cannot be compiled.
        """
        entries = entries_of(manifest, plugged)
        return cls(manifest.rules, entries, manifest.plan.seatings, manifest.seed, manifest.match)

    def labels(self, number: int) -> tuple[str, ...]:
        """Who sits where in deal ``number``: the strategies by seat."""
        return tuple(self._labels[entry] for entry in self.seatings[number % len(self.seatings)])

    def deal(self, number: int, dealer: int | None = None) -> Deal:
        """Play deal ``number``, 0 to 2**63 - 1; decision by decision where a strategy explains its own.

        In a match the ``dealer`` follows from the deals before it, which are played where it is not given.

        Raises
        ------
        StrategyFault
            A strategy raised, or chose what it was not offered; `so_far` is its deal.
        """
        if dealer is None and self.match:
            dealer = self._dealer(number)
        if self._explaining(number):
            return self._explained(number, dealer)
        dealers = None if dealer is None else np.array([dealer], np.uint8)
        chunk = self.simulator.play(number, 1, events=True, dealers=dealers)
        assert chunk.events is not None
        return Deal(self.rules, self._dealt(number, chunk.rows), chunk.rows, read_events(chunk.events))

    def given(self, dealers: NDArray[np.uint8], cards: NDArray[np.uint8], first: int = 0) -> Iterator[Deal]:
        """Play given decks: uint8[count] and uint8[count, pack], as ``engine.simulator.decks`` returns them.

        They have the numbers from ``first`` on for seatings and random streams; a redeal takes its next deck from seed
        and number.

        Raises
        ------
        StrategyFault
            As `deal`.
        """
        if any(self._explains):
            for place, (dealer, pack) in enumerate(zip(dealers.tolist(), cards, strict=True)):
                yield self._explained(first + place, dealer, pack)
            return
        chunk = self.simulator.play_decks(dealers, cards, events=True, first=first)
        assert chunk.events is not None
        assert chunk.event_counts is not None
        at = 0
        for place, count in enumerate(chunk.event_counts.tolist()):
            row, events = chunk.rows[place : place + 1], chunk.events[at : at + count]
            yield Deal(self.rules, self._dealt(first + place, row, cards[place]), row, read_events(events))
            at += count

    def so_far(self, fault: StrategyFault) -> Deal:
        """A deal of seed and number that could not be played on. Its row has dealer and redeals alone."""
        return Deal(self.rules, self._dealt(fault.deal, fault.row), fault.row, read_events(fault.events))

    def _dealer(self, number: int) -> int | None:
        """Who deals deal ``number`` of a match, from the deals before it; None for the first, whose deck says it."""
        before = number % self.match
        if not before:
            return None
        last = self.simulator.play(number - before, before).rows[-1]
        return int(last["dealer"] if last["winner"] == NONE else last["winner"])

    def _explaining(self, number: int) -> int:
        """Mask of the seats in deal ``number`` whose strategies explain their choices."""
        entries = self.seatings[number % len(self.seatings)]
        return sum(1 << seat for seat, entry in enumerate(entries.tolist()) if self._explains[entry])

    def _explained(self, number: int, dealer: int | None, cards: NDArray[np.uint8] | None = None) -> Deal:
        """Play a deal decision by decision, and keep what the strategies that explain thought."""
        stepper, decisions = Stepper(self.simulator), []
        due = stepper.start(number, dealer, cards, self._explaining(number))
        while due:
            stepper.estimates["n"] = 0
            choice = stepper.ask()
            decisions += _decisions(stepper, choice)
            due = stepper.submit(choice)
            if stepper.illegal:
                raise stepper.refused(choice)
        row, events = stepper.row, read_events(stepper.events)
        return Deal(self.rules, self._dealt(number, row, cards), row, events, tuple(decisions))

    def _dealt(
        self, number: int, row: NDArray[np.void], cards: NDArray[np.uint8] | None = None
    ) -> tuple[Deck, ...]:
        """What a deal with such a row, DEAL[1], was dealt, at first and after each redeal; ``cards``: at first."""
        dealer, redeals = int(row["dealer"][0]), int(row["redeals"][0])
        first = self._deck(number, dealer, 0) if cards is None else Deck.split(self.rules, dealer, cards)
        return first, *(self._deck(number, dealer, attempt) for attempt in range(1, redeals + 1))

    def _deck(self, number: int, dealer: int, attempt: int) -> Deck:
        """What deal ``number`` is dealt after some redeals."""
        _, cards = decks(self.rules, self.seed, number // len(self.seatings), 1, attempt)
        return Deck.split(self.rules, dealer, cards[0])


def entries_of(manifest: Manifest, plugged: Mapping[str, Strategy] | None = None) -> list[Entry]:
    """The strategies of a run, made again from their names and parameters.

    ``plugged`` are the plug-ins that the user has named, by name; a manifest leads to no code but the program's own.

    Raises
    ------
    InputError
        This program does not know one, or a parameter of it, or a plug-in is not the code that made the run.
    """
    check_plugged(manifest, plugged or {})
    return [_entry(wanted, {**STRATEGIES, **(plugged or {})}) for wanted in manifest.strategies]


def check_plugged(manifest: Manifest, plugged: Mapping[str, Strategy]) -> None:
    """Refuse plug-ins that are not the code with which a run was made.

    Raises
    ------
    InputError
        One is not; the message names it and both digests.
    """
    for wanted in manifest.strategies:
        one = plugged.get(wanted.name)
        if one is not None and one.digest() != wanted.digest:
            raise InputError(
                f"{one.plugin} is not the code of '{wanted.name}' with which the run was made: its digest is "
                f"{one.digest()[:12]}, that in the manifest {wanted.digest[:12]}; put it back as it was then"
            )


def check_rows(store: Store, rows: NDArray[np.void], stored: pa.Table, first: int) -> None:
    """Compare deals played again with the rows a run has stored, in all columns.

    Parameters
    ----------
    rows
        DEAL[count]: the deals from number ``first`` on.
    stored
        Their rows in the run.

    Raises
    ------
    SisepaiError
        They differ; the message names the first deal, what differs, and why that may be.
    """
    played, stored = _plain(deal_table(store.manifest, rows, first)), _plain(stored)
    if played.equals(stored):
        return
    place = _first_difference(played, stored)
    now, then = (table.slice(place, 1).to_pylist()[0] for table in (played, stored))
    different = [f"{key} {_shown(then[key])} / {_shown(now[key])}" for key in now if now[key] != then[key]]
    more = ", ..." if len(different) > MOST_NAMED else ""
    raise SisepaiError(
        f"{store.path}: deal {first + place} is not as stored (stored / played again): "
        f"{', '.join(different[:MOST_NAMED])}{more}; {_why(store, first + place)}"
    )


def other_version(store: Store) -> str | None:
    """In what the program that made a run differs from this one, as a clause; None when nothing is known to differ."""
    for key, mine in (("sisepai", __version__), ("kernels", kernel_digest())):
        for made in sorted(log.makers(store.path, key) - {mine}):
            return f"the run was made by another version of the program ({key} {made}; here it is {mine})"
    for wanted in store.manifest.strategies:
        if wanted.name in STRATEGIES and wanted.digest != STRATEGIES[wanted.name].digest():
            return f"the run was made with another version of the strategy '{wanted.name}'"
    return None


def _entry(wanted: PlannedEntry, strategies: Mapping[str, Strategy]) -> Entry:
    if wanted.name not in strategies:
        raise InputError(
            f"strategy '{wanted.label}' of the run cannot be played: it is not built in, and a run leads to no code; "
            f"name its file with --plugin FILE"
        )
    made = strategies[wanted.name]
    known = {parameter.name: parameter for parameter in made.parameters}
    for name in wanted.params:
        if name not in known:
            raise InputError(
                f"strategy '{wanted.label}' of the run cannot be played: it has no parameter '{name}'"
            )
    try:
        return Entry(made, {name: known[name].check(value) for name, value in wanted.params.items()})
    except InputError as error:
        raise InputError(f"strategy '{wanted.label}' of the run: {error}") from error


def _decisions(stepper: Stepper, choice: int) -> list[Decision]:
    """The decision that is due, if the strategy which chose so has estimated anything for it."""
    told = stepper.estimates[0]
    columns = [told[key][: max(int(told["n"]), 0)].tolist() for key in ("choice", "mean", "error", "samples")]
    game, legal = stepper.work.game, stepper.choices()
    found = [
        Estimate(_choice(game, number), mean, error, samples)
        for number, mean, error, samples in zip(*columns, strict=True)
        if samples > 0 and number in legal and np.isfinite([mean, error]).all()
    ]
    if not found or choice not in legal:
        return []
    found.sort(key=lambda estimate: -estimate.mean)
    return [Decision(len(stepper.events), stepper.seat, tuple(found), _choice(game, choice))]


def _choice(game: np.record, number: int) -> Choice:
    """What a strategy chooses by a number, in words; ``game`` is the GAME in which it is due."""
    if not is_answer(game):
        return Choice("discard", None, (number,))
    if number < 0:
        return Choice("win" if number == WIN else "pass")
    partners = game.offers.partners[number].tolist()
    return Choice("take", MELDS[game.offers.kind[number]], tuple(card for card in partners if card != NONE))


def _plain(table: pa.Table) -> pa.Table:
    """Words as text, so that tables are equal whatever the order of their dictionaries."""
    words = [pa.types.is_dictionary(field.type) for field in table.schema]
    fields = [
        field.with_type(pa.string()) if word else field
        for field, word in zip(table.schema, words, strict=True)
    ]
    return table.cast(pa.schema(fields))


def _first_difference(one: pa.Table, other: pa.Table) -> int:
    """The first row in which two tables differ that do differ, found by halving."""
    low, high = 0, len(one)
    while high - low > 1:
        middle = (low + high) // 2
        if one.slice(low, middle - low).equals(other.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def _why(store: Store, number: int) -> str:
    shard = number // store.manifest.shard_deals
    path = store.file("deals", shard)
    if not store.matches("deals", shard):
        return f"{path} is damaged: its SHA-256 is not that of its receipt"
    reason = other_version(store)
    if reason:
        return f"that is no damage: {reason}"
    return f"{path} is as its receipt says, so both were edited, or the program was and kept its version"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
