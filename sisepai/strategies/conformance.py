"""Whether a strategy keeps what every strategy promises: legal choices, the same ones again, and nothing hidden seen.

A choice follows from the view alone. So it is asked for again with other things left in `scratch` and `trial`, at
another time, in deals played alone and backwards, and with the cards that the seat cannot see changed for others.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numba
import numpy as np

from sisepai.cards import CODES, MELDS, N_TYPES
from sisepai.engine.chunk import one
from sisepai.engine.faults import StrategyFault, not_offered
from sisepai.engine.records import GAME, PASS, SCRATCH, SEATS, TRIAL, WIN
from sisepai.engine.simulator import Simulator
from sisepai.engine.stepper import Stepper
from sisepai.errors import SisepaiError
from sisepai.jit import kernel
from sisepai.rules import RuleSet
from sisepai.rules.hand import fill_hand
from sisepai.rules.offers import OFFERS, refresh
from sisepai.rules.tables import TABLES
from sisepai.strategies.base import Entry, spelled
from sisepai.strategies.plugins import is_file
from sisepai.strategies.registry import STRATEGIES

RULES = ("cardavia", "classic:players=2", "classic:players=3", "classic", "ten-hu")
CHECKS = ("legal", "same again", "no leak")
OPPONENTS = ("random", "greedy")

DEALS = 3_000  # of each table, where there is time for them
SECONDS = 10.0  # for a rule set, about
SHARES = {"deals": 0.1, "decisions": 0.6}  # of the time; deals: of each of three tables
SPEED_SECONDS = 0.5  # that a measurement of the speed takes at least
PIECE = 240  # deals played at a time, at most
SAMPLED = 0.5  # share of the decisions of a seat that are looked into
AGAIN = 8  # pieces in which a piece is played again
PERMUTED = 2  # times that hidden cards are changed at such a decision
KEPT = 400  # decisions that are kept to be asked again at the end


@dataclass(frozen=True)
class Failure:
    """The first time that a promise was broken: in which deal, with whom at the seats, and what happened."""

    what: str
    deal: int
    strategies: str


@dataclass
class Findings:
    """What was seen under one rule set: whole deals, single decisions, and the first failure of each check.

    `leaks` tells of a strategy that says it cheats how it was seen to. `speed` is deals a second on one thread, one
    seat of the strategy against `greedy`; None when it could not be measured.
    """

    rules: RuleSet
    deals: int = 0
    decisions: int = 0
    speed: float | None = None
    leaks: bool = False
    failures: dict[str, Failure] = field(default_factory=dict)

    def fail(self, check: str, what: str, deal: int, table: "Table") -> None:
        """Keep the first failure of a check."""
        self.failures.setdefault(check, Failure(what, deal, table.typed))

    def seen(self, check: str) -> bool:
        """Whether a check says something: not where the first choice stopped all, nor, of what decides a choice, where
        the same deal has others.
        """
        if check == "no leak":
            return self.decisions > 0 and "same again" not in self.failures
        return self.deals > 0


def typed(entry: Entry) -> str:
    """An entry as `--strategies` reads it."""
    strategy = entry.strategy
    name = f"{strategy.plugin}:{strategy.name}" if is_file(strategy.plugin) else strategy.name
    return spelled(name, entry.params)


class Table:
    """Who sits where, and what plays their deals."""

    def __init__(self, rules: RuleSet, seated: Sequence[Entry], seed: int) -> None:
        entries = [entry for place, entry in enumerate(seated) if entry not in seated[:place]]
        seats = [entries.index(entry) for entry in seated]
        self.players = rules.players
        self.typed = ",".join(typed(entry) for entry in seated)
        self.simulator = Simulator(rules, entries, np.array([seats], np.uint8), seed)

    def play(self, first: int, count: int) -> list[bytes] | SisepaiError:
        """Each of these deals as its row and its events, or what stopped them."""
        try:
            rows, words, counts = self.simulator.play(first, count, events=True)
        except SisepaiError as error:
            return error
        assert words is not None
        assert counts is not None
        ends = np.cumsum(counts, dtype=np.int64)
        events = np.split(words, ends[:-1])
        return [row.tobytes() + own.tobytes() for row, own in zip(rows, events, strict=True)]


def examine(
    entry: Entry, rules: RuleSet, seed: int, deals: int | None = None, seconds: float = SECONDS
) -> Findings:
    """Look at a strategy under one rule set.

    Parameters
    ----------
    deals
        Deals of each table; None: `DEALS`, or as many as the time allows.
    seconds
        For all of it, about; no limit where `deals` are given.
    """
    findings = Findings(rules)
    wanted = deals or DEALS
    limits = {what: np.inf if deals else seconds * share for what, share in SHARES.items()}
    own = Table(rules, [entry] * rules.players, seed)
    # First, since what fails here says more.
    _decisions(_Inspector(entry, own, findings, seed), _pieces(wanted, limits["decisions"]))
    for opponent in OPPONENTS:
        table = Table(rules, [entry, *[Entry(STRATEGIES[opponent])] * (rules.players - 1)], seed)
        _whole_deals(table, findings, _pieces(wanted, limits["deals"]))
    _whole_deals(own, findings, _pieces(wanted, limits["deals"]))
    findings.speed = _speed(table, findings)
    if not findings.seen("no leak"):
        findings.failures.pop("no leak", None)
    return findings


def _pieces(deals: int, seconds: float) -> Iterator[tuple[int, int]]:
    """First deal and number of pieces of so many deals, for so long; the first are small, since deals may be slow."""
    first, size, begun = 0, 1, time.monotonic()
    while first < deals:
        before = time.monotonic()
        count = min(size, deals - first)
        yield first, count
        first += count
        now = time.monotonic()
        if now - begun > seconds:
            return
        if now - before < seconds / 16:
            size = min(2 * size, PIECE)


# --------------------------------------------------------------------------------------------- whole deals


def _whole_deals(table: Table, findings: Findings, pieces: Iterator[tuple[int, int]]) -> None:
    """Play deals, then again in smaller pieces and from the back: every choice legal, and the same deals."""
    for first, count in pieces:
        played = table.play(first, count)
        if isinstance(played, SisepaiError):
            _stopped(table, findings, first, played)
            return
        findings.deals += count
        step = -(-count // AGAIN)
        for start in reversed(range(0, count, step)):
            again = table.play(first + start, min(step, count - start))
            if again != played[start : start + step]:
                _another(table, findings, first, played)
                return


def _another(table: Table, findings: Findings, first: int, played: list[bytes]) -> None:
    """Find a deal that is another one when it is played alone; the first of the piece where there is none such."""
    for place, deal in enumerate(played):
        alone = table.play(first + place, 1)
        if alone != [deal]:
            findings.fail("same again", "another deal when it is played again, alone", first + place, table)
            return
    findings.fail("same again", "another deal when it is played again, after others", first, table)


def _stopped(table: Table, findings: Findings, first: int, error: SisepaiError) -> None:
    """Tell of what stopped a piece, and whether it stops that deal alone too."""
    number = error.deal if isinstance(error, StrategyFault) else first
    if isinstance(table.play(number, 1), SisepaiError):
        findings.fail("legal", str(error), number, table)
    else:
        findings.fail("same again", f"{error}; but not when the deal is played again, alone", number, table)


def _speed(table: Table, findings: Findings) -> float | None:
    """Deals a second; None when the strategy stops them, which is told as for any other deals."""
    count = 1
    while True:
        begun = time.perf_counter()
        try:
            table.simulator.play(0, count)
        except SisepaiError as error:
            _stopped(table, findings, 0, error)
            return None
        spent = time.perf_counter() - begun
        if spent > SPEED_SECONDS:
            return count / spent
        count *= 2


# ----------------------------------------------------------------------------------------------- decisions


class _Decision(NamedTuple):
    """A decision as it was met, to be asked for again."""

    deal: int
    seat: int
    step: int  # events before it
    answers: bool
    game: np.record
    rng: np.ndarray
    choice: int = PASS

    def where(self) -> str:
        """Where in the deal it was."""
        return f"deal {self.deal}, seat {self.seat}, before step {self.step}"

    def spoken(self, choice: "int | StrategyFault") -> str:
        """A choice in words."""
        if isinstance(choice, StrategyFault):
            return f"does not choose ({choice})"
        if not self.answers:
            return f"discards {CODES[choice] if 0 <= choice < N_TYPES else choice}"
        offers = self.game.offers
        words = {WIN: "wins", PASS: "passes"}
        melds = {number: f"takes offer {number}, {MELDS[offers.kind[number]]}" for number in range(offers.n)}
        return (words | melds).get(choice, f"answers {choice}")


class _Inspector:
    """Asks for choices at the decisions of one deal after another."""

    def __init__(self, entry: Entry, table: Table, findings: Findings, seed: int) -> None:
        self.label, self.cheats = entry.label, entry.strategy.cheats
        self.table, self.findings = table, findings
        self.stepper = Stepper(table.simulator)
        self.other = one(GAME)
        self.chance = np.random.default_rng(seed)
        self.kept: list[_Decision] = []

    def play(self, number: int) -> None:
        """Play a deal and look into decisions of one seat.

        Raises
        ------
        SisepaiError
            The strategy raised, or chose what it was not offered.
        """
        seat = number % self.table.players
        due = self.stepper.start(number, pause=1 << seat)
        while due:
            choice = self.look(number) if self.chance.random() < SAMPLED else self.stepper.ask()
            due = self.stepper.submit(choice)
            if self.stepper.illegal:
                work = self.stepper.work
                raise StrategyFault(number, self.label, work, not_offered(work.game, choice))

    def met(self, number: int) -> _Decision:
        """The decision that is due, as it is now."""
        stepper, work = self.stepper, self.stepper.work
        game, rng = work.game.copy(), work.rng.copy()
        return _Decision(number, stepper.seat, int(game.table.events), stepper.answers, game, rng)

    def look(self, number: int) -> int:
        """Look into the decision that is due; returns the choice."""
        work = self.stepper.work
        met = self.met(number)
        met = met._replace(choice=self.stepper.ask())
        after = work.rng.copy()
        if _content(work.game) != _content(met.game):
            self.findings.fail("legal", f"{met.where()}: changes the deal when asked", number, self.table)
        self.again(met, "with other things left in its memory")
        for _ in range(PERMUTED):
            self.permuted(met)
        if len(self.kept) < KEPT:
            self.kept.append(met)
        work.game, work.rng = met.game, after
        self.findings.decisions += 1
        return met.choice

    def again(self, met: _Decision, how: str) -> None:
        """Ask for a choice again."""
        choice = self.ask(met)
        if choice != met.choice:
            what = f"{met.where()}: {met.spoken(met.choice)}, and asked again {how} {met.spoken(choice)}"
            self.findings.fail("same again", what, met.deal, self.table)

    def permuted(self, met: _Decision) -> None:
        """Ask for a choice with other cards where the seat cannot see them."""
        choice = self.ask(met, permuted=True)
        if choice != met.choice and self.cheats:
            self.findings.leaks = True
        elif choice != met.choice:
            what = (
                f"{met.where()}: {met.spoken(met.choice)}, and with other hidden cards {met.spoken(choice)}"
            )
            self.findings.fail("no leak", what, met.deal, self.table)

    def ask(self, met: _Decision, permuted: bool = False) -> int | StrategyFault:
        """The choice at a decision of before, with whatever in the room that strategies may write to."""
        work = self.stepper.work
        work.game, work.rng = met.game, met.rng
        work.scratch, work.trial = self.litter(SCRATCH, SEATS), self.litter(TRIAL, SEATS)
        if permuted:
            self.permute(met)
        self.litter_offers(work.game.offers)
        try:
            return self.stepper.ask()
        except StrategyFault as fault:
            return fault

    def litter(self, dtype: np.dtype, count: int) -> np.ndarray:
        """Memory full of numbers as small as cards, so that a strategy that reads them finds its way nevertheless."""
        words = self.chance.integers(0, N_TYPES, count * dtype.itemsize // 8)
        return words.view(dtype)

    def litter_offers(self, offers: np.record) -> None:
        """The same beyond the offers that there are, where those of another seat may lie still."""
        litter = self.litter(OFFERS, 1)[0]
        for name in ("kind", "partners"):
            offers[name][offers.n :] = litter[name][offers.n :]

    def permute(self, met: _Decision) -> None:
        """Deal the cards that the seat cannot see anew: other hands and the stock, each as many as before."""
        game, tables = met.game, self.table.simulator.tables
        others = [game.hands[seat].count for seat in range(tables[0].players) if seat != met.seat]
        deck, begin, end = game.hidden.deck, game.hidden.next, tables[0].pack
        cards = np.concatenate([*(np.repeat(np.arange(N_TYPES), count) for count in others), deck[begin:end]])
        self.chance.shuffle(cards)
        self.other[0] = game
        self.other[0].hidden.deck[:begin] = self.chance.permutation(
            deck[:begin]
        )  # what was dealt lies there still
        _refill()(tables, self.other, met.seat, cards.astype(np.uint8))
        self.stepper.work.game = self.other[0]


def _decisions(inspector: _Inspector, pieces: Iterator[tuple[int, int]]) -> None:
    """Look into decisions of deals with the strategy at all seats."""
    number = 0
    try:
        for first, count in pieces:
            for number in range(first, first + count):
                inspector.play(number)
                inspector.findings.deals += 1
        # Whatever a strategy keeps from one choice to the next is by now from elsewhere.
        for place in inspector.chance.permutation(len(inspector.kept)):
            inspector.again(inspector.kept[place], "after other decisions")
    except SisepaiError as error:
        inspector.findings.fail("legal", str(error), number, inspector.table)


def _content(game: np.record) -> bytes:
    """The fields of a deal in progress, whatever lies between them."""
    content = np.zeros((), GAME)
    content[()] = game
    return content.tobytes()


REFILL = numba.void(
    numba.typeof(one(TABLES)), numba.typeof(one(GAME)), numba.int64, numba.uint8[::1]
)  # fmt: skip


def refill_hidden(tables, games, seat, cards):
    """Fill the hands of the others and the stock from `cards`; what is shown or locked stays."""
    game = games[0]
    at = 0
    for other in range(tables[0].players):
        if other != seat:
            hand = game.hands[other]
            locked, fixed, kept = hand.locked, hand.fixed, hand.cards
            size = 0
            for card in range(N_TYPES):
                size += hand.count[card]
            fill_hand(tables[0], hand, cards, at, size)
            hand.locked, hand.fixed, hand.cards = locked, fixed, kept
            refresh(tables[0], hand, game.melds)
            at += size
    for place in range(at, len(cards)):
        game.hidden.deck[game.hidden.next + place - at] = cards[place]


@cache
def _refill():
    return kernel(REFILL)(refill_hidden)
