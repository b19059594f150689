"""What one run shows: the figures of a report, computed from its sums."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sisepai.analysis.intervals import Ints, clustered_wilson, quantiles, ratio, wilson
from sisepai.analysis.tally import LENGTHS, Tally, tally
from sisepai.cards import MELDS, WIN_BY

if TYPE_CHECKING:
    import polars as pl

    from sisepai.runs.manifest import Manifest

LEVELS = {"min": 0.0, "q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95, "max": 1.0}


@dataclass(frozen=True)
class Rate:
    """A share, ``count`` of ``of``, with standard error and 95% interval; None where too little was seen."""

    count: int
    of: int
    rate: float | None
    se: float | None
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        """The rate, under the name it has in a mean too."""
        return self.rate


@dataclass(frozen=True)
class Mean:
    """The mean of ``of`` observations and its standard error over blocks; None where too little was seen."""

    of: int
    mean: float | None
    se: float | None

    @property
    def value(self) -> float | None:
        """The mean, under the name it has in a rate too."""
        return self.mean


@dataclass(frozen=True)
class Spread:
    """A mean with quantiles, under the names of LEVELS; None without any observation."""

    mean: Mean
    quantiles: dict[str, int] | None


@dataclass(frozen=True)
class StrategyWins:
    """The wins of one strategy, as a share of the deals each of its seats played, and of all wins."""

    strategy: str
    per_seat_deal: Rate
    share_of_wins: Rate


@dataclass(frozen=True)
class Score:
    """Points: of a win, of any deal (a drawn one has none), and how many wins had each score."""

    win: Spread
    deal: Mean
    distribution: dict[int, Rate]


@dataclass(frozen=True)
class RunFacts:
    """Which run it is, and how much of it was counted.

    Of the ``planned`` deals ``deals`` are counted, ``left_out`` belong to blocks that are not whole, and ``missing``
    are not there. A block is the ``block_deals`` deals of one deck, or of one match where there are matches (of
    ``match`` deals, otherwise 0); with one deal a block the deals are independent.
    """

    name: str
    path: str
    run_id: str
    rules: str
    rules_digest: str
    players: int
    strategies: list[str]
    seats: list[str]
    seating: str
    seed: int
    planned: int
    deals: int
    left_out: int
    missing: int
    blocks: int
    block_deals: int
    match: int


@dataclass(frozen=True)
class Payoff:
    """The zero-sum reading of points: each loser pays the winner's score to the winner.

    Means a seat and deal, for each strategy and by seat and place after the dealer.
    """

    strategies: dict[str, Mean]
    seats: list[Mean]
    places: list[Mean]


@dataclass(frozen=True)
class Summary:
    """Everything a report says of one run.

    ``ends`` holds the ways a deal can end (WIN_BY, then ``exhausted`` and ``dead_hand``) as shares of all
    deals, ``seats`` and ``places`` (0 is the dealer) the wins as shares of all deals, ``dealer_edge`` what the
    dealer's share has over that of a seat on average, ``melds`` the mean number of each kind in a winning hand,
    ``length`` the draws, takes and discards of a deal. ``payoff`` is there when it was asked for.
    """

    run: RunFacts
    drawn: Rate
    ends: dict[str, Rate]
    seats: list[Rate]
    places: list[Rate]
    dealer_edge: Mean
    strategies: list[StrategyWins]
    score: Score
    melds: dict[str, Mean]
    length: dict[str, Spread]
    payoff: Payoff | None


def summarise(
    deals: "pl.LazyFrame", manifest: "Manifest", name: str = "A", path: str = "", payoff: bool = False
) -> Summary:
    """The summary of a run, in one pass. ``deals``: the columns of docs/schema.md, in the order of the deals."""
    sums = tally(deals, manifest, payoff)
    wins, dead = sums.wins, sums.weights("dead_hand")
    drawn = sums.dealt - wins
    ends = {way: sums.weights(way) for way in WIN_BY} | {"exhausted": drawn - dead, "dead_hand": dead}
    players = range(manifest.rules.players)

    def of_deals(weights: Ints) -> Rate:
        return _rate(sums, weights, sums.dealt, sums.blocks)

    return Summary(
        run=_run(sums, manifest, name, path),
        drawn=of_deals(drawn),
        ends={way: of_deals(weights) for way, weights in ends.items()},
        seats=[of_deals(sums.weights(f"seat{seat}")) for seat in players],
        places=[of_deals(sums.weights(f"place{after}")) for after in players],
        dealer_edge=_mean(
            sums, sums.weights("place0") * len(players) - wins, sums.dealt * len(players), sums.blocks
        ),
        strategies=[_strategy(sums, manifest, entry) for entry in range(len(manifest.strategies))],
        score=_score(sums),
        melds={kind: _mean(sums, sums.weights(f"melds_{kind}"), wins, sums.blocks_won) for kind in MELDS},
        length={what: _length(sums, what) for what in LENGTHS},
        payoff=_payoff(sums, manifest) if payoff else None,
    )


def _run(sums: Tally, manifest: "Manifest", name: str, path: str) -> RunFacts:
    labels = list(manifest.labels)
    return RunFacts(
        name=name,
        path=path,
        run_id=manifest.run_id,
        rules=manifest.rules.name,
        rules_digest=manifest.rules.digest(),
        players=manifest.rules.players,
        strategies=labels,
        seats=[labels[entry] for entry in manifest.seats],
        seating=manifest.seating,
        seed=manifest.seed,
        planned=manifest.deals,
        deals=sums.deals,
        left_out=sums.left_out,
        missing=manifest.deals - sums.deals - sums.left_out,
        blocks=sums.blocks,
        block_deals=sums.size,
        match=manifest.match,
    )


def _rate(sums: Tally, y: Ints, x: Ints, blocks: int) -> Rate:
    """The share ``y / x`` (weights of the features), ``blocks`` of them holding anything of ``x``."""
    return _share(sums.total, sums.gram, y, x, blocks, sums.size)


def _share(total: Ints, gram: Ints, y: Ints, x: Ints, blocks: int, size: int) -> Rate:
    count, of = int(total @ y), int(total @ x)
    rate, se = ratio(total, gram, y, x, blocks)
    if rate is None:
        return Rate(count, of, None, None, None, None)
    if size == 1:
        interval: tuple[float, float] | None = wilson(rate, of)
    else:
        interval = None if se is None else clustered_wilson(rate, se, of, blocks)
    low, high = interval or (None, None)
    return Rate(count, of, rate, se, low, high)


def _mean(sums: Tally, y: Ints, x: Ints, blocks: int) -> Mean:
    mean, se = ratio(sums.total, sums.gram, y, x, blocks)
    return Mean(int(sums.total @ x), mean, se)


def _strategy(sums: Tally, manifest: "Manifest", entry: int) -> StrategyWins:
    """The wins of one entry.

    In a deal it wins once at most, however many seats it holds. So the interval is that of its wins among
    the deals it sits in, divided like the rate itself by the seats it holds in them.
    """
    held = manifest.plan.seatings == entry
    decks = sums.size // manifest.plan.block
    sittings, chairs = int(held.any(axis=1).sum()) * decks, int(held.sum()) * decks
    wins = sums.weights(f"entry{entry}")
    rate = _rate(sums, wins, sums.weights("blocks") * sittings, sums.blocks)
    return StrategyWins(
        strategy=manifest.labels[entry],
        per_seat_deal=_shrunk(rate, sittings, chairs),
        share_of_wins=_rate(sums, wins, sums.wins, sums.blocks_won),
    )


def _shrunk(rate: Rate, sittings: int, chairs: int) -> Rate:
    values = (rate.rate, rate.se, rate.low, rate.high)
    scaled = [None if value is None else value * sittings / chairs for value in values]
    return Rate(rate.count, rate.of // sittings * chairs, *scaled)


def _payoff(sums: Tally, manifest: "Manifest") -> Payoff:
    players = manifest.rules.players

    def mean(winner: str, seats: int) -> Mean:
        """Of so many seats a deal, which win what this winner wins and lose every score of the deal else."""
        got = sums.weights(f"points_{winner}") * players - sums.weights("score") * seats
        return _mean(sums, got, sums.dealt * seats, sums.blocks)

    entries = enumerate(manifest.labels)
    return Payoff(
        strategies={label: mean(f"entry{entry}", manifest.seats.count(entry)) for entry, label in entries},
        seats=[mean(f"seat{seat}", 1) for seat in range(players)],
        places=[mean(f"place{after}", 1) for after in range(players)],
    )


def _score(sums: Tally) -> Score:
    wins = sums.wins
    counts, squares, products = sums.scores
    won, won_squared = int(sums.total @ wins), int(wins @ sums.gram @ wins)
    y, x = np.array([1, 0]), np.array([0, 1])
    distribution = {}
    for score in np.flatnonzero(counts).tolist():
        total = np.array([counts[score], won])
        gram = np.array([[squares[score], products[score]], [products[score], won_squared]])
        distribution[score] = _share(total, gram, y, x, sums.blocks_won, sums.size)
    points = sums.weights("score")
    return Score(
        win=_spread(_mean(sums, points, wins, sums.blocks_won), counts),
        deal=_mean(sums, points, sums.dealt, sums.blocks),
        distribution=distribution,
    )


def _length(sums: Tally, what: str) -> Spread:
    mean = _mean(sums, sums.weights(what), sums.dealt, sums.blocks)
    return _spread(mean, sums.spread[what])


def _spread(mean: Mean, counts: Ints) -> Spread:
    values = quantiles(counts, tuple(LEVELS.values()))
    return Spread(mean, None if values is None else dict(zip(LEVELS, values, strict=True)))
