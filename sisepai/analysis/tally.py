"""One pass over the deals of a run, keeping only sums.

What a report says follows from a few dozen *features* of a deal (small whole numbers: seat 2 won, points,
draws ...). The pass sums them over the deals of each block and keeps, for the whole run, their totals and
the products of each pair: the two arrays that ``intervals`` works on. Memory does not grow with the run.

A block is what hangs together: the deals of a deck, or those of a match.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sisepai.analysis.intervals import Ints
from sisepai.cards import MELDS, WIN_BY

if TYPE_CHECKING:
    from sisepai.runs.manifest import Manifest

# Deals handed over at a time: few enough that their features stay in the processor's cache.
BATCH = 60_000
LENGTHS = ("draws", "takes", "discards")
SHORT = 24  # deals of a block that are added one by one, which is faster, and no uint16 overflows

Features = dict[str, pl.Expr]


def _winners(manifest: "Manifest") -> Features:
    """Who won, by seat, by place after the dealer, and by strategy (entry number).

    Nothing is asked of a label: entry numbers come from the plan's seatings.
    """
    players = manifest.rules.players
    winner = pl.col("winner")
    place = (winner + pl.lit(players, pl.UInt8) - pl.col("dealer")) % pl.lit(players, pl.UInt8)
    chair = pl.col("seating") * pl.lit(players, pl.UInt8) + winner
    chairs = manifest.plan.seatings.reshape(-1)
    features = {f"seat{seat}": winner == seat for seat in range(players)}
    features |= {f"place{after}": place == after for after in range(players)}
    for entry in range(len(manifest.strategies)):
        held = pl.Series(np.flatnonzero(chairs == entry).astype(np.uint8))
        features[f"entry{entry}"] = chair.is_in(held.implode())
    return {name: flag.fill_null(False).cast(pl.UInt8) for name, flag in features.items()}


def win_features(manifest: "Manifest") -> Features:
    """What runs are compared by: who won, the points, how long it took."""
    return _winners(manifest) | {name: _byte(name) for name in ("score", *LENGTHS)}


def all_features(manifest: "Manifest", payoff: bool = False) -> Features:
    """Everything a report on one run needs of a deal; for the ``payoff`` the points of each winner too."""
    by = {name: (pl.col("win_by") == name).fill_null(False).cast(pl.UInt8) for name in WIN_BY}
    dead = {"dead_hand": (pl.col("outcome") == "dead_hand").cast(pl.UInt8)}
    melds = {name: _byte(name) for name in (f"melds_{kind}" for kind in MELDS)}
    points = {f"points_{name}": won * _byte("score") for name, won in _winners(manifest).items()}
    return win_features(manifest) | by | dead | melds | (points if payoff else {})


def _byte(column: str) -> pl.Expr:
    # Costs nothing where the column is as it should be, and refuses what it should not be.
    return pl.col(column).cast(pl.UInt8)


@dataclass
class Tally:
    """The sums of a run over its whole blocks.

    ``total`` int64[K] and ``gram`` int64[K, K] over the features ``names``, the last of which is ``blocks``
    (1 in each block); ``blocks`` with their ``size`` in deals, ``blocks_won`` those with a win in them;
    ``left_out`` deals of partial blocks. ``spread`` holds for each of LENGTHS the deals by value,
    int64[256]; ``scores`` for each score the wins, the sum over blocks of their square, and of their
    product with the wins of the block, int64[3, 256].
    """

    names: list[str]
    size: int
    blocks: int = 0
    blocks_won: int = 0
    left_out: int = 0
    total: Ints = field(init=False)
    gram: Ints = field(init=False)
    spread: dict[str, Ints] = field(init=False)
    scores: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.names = [*self.names, "blocks"]
        count = len(self.names)
        self.total = np.zeros(count, np.int64)
        self.gram = np.zeros((count, count), np.int64)
        self.spread = {name: np.zeros(256, np.int64) for name in LENGTHS}
        self.scores = np.zeros((3, 256), np.int64)

    @property
    def deals(self) -> int:
        """Deals counted."""
        return self.blocks * self.size

    def weights(self, *names: str) -> Ints:
        """The sum of these features, as weights of all features: int64[K]."""
        return np.array([names.count(name) for name in self.names], np.int64)

    @property
    def wins(self) -> Ints:
        """The number of wins, as weights of the features."""
        return self.weights(*(name for name in self.names if name.startswith("seat")))

    @property
    def dealt(self) -> Ints:
        """The number of deals, as weights of the features."""
        return self.weights("blocks") * self.size

    def add(self, deals: NDArray[Any]) -> None:
        """Add whole blocks: the features of their deals but the last, small unsigned integers [K - 1, deals]."""
        sums = block_sums(deals, self.size)
        total, gram = moments(sums)
        blocks = sums.shape[1]
        self.total[:-1] += total
        self.gram[:-1, :-1] += gram
        # The last feature is 1 in every block, so its sums are known.
        self.total[-1] += blocks
        self.gram[-1, :-1] += total
        self.gram[:-1, -1] += total
        self.gram[-1, -1] += blocks
        self.blocks += blocks
        self._add_spread(deals, sums)

    def _add_spread(self, deals: NDArray[Any], sums: NDArray[Any]) -> None:
        for name in LENGTHS:
            self.spread[name] += np.bincount(deals[self.names.index(name)], minlength=256)
        wins = sums[self.wins[:-1] > 0].sum(axis=0, dtype=np.int64)
        self.blocks_won += int(np.count_nonzero(wins))
        self.scores += _scores_by_block(deals[self.names.index("score")], wins, self.size)


def tally(deals: pl.LazyFrame, manifest: "Manifest", payoff: bool = False) -> Tally:
    """The sums of a run, in one pass. ``deals``: the columns of docs/schema.md, in the order of the deals."""
    features = all_features(manifest, payoff)
    result = Tally(list(features), manifest.plan.unit)
    for _, rows, left_out in whole_blocks(deals, features, manifest):
        result.left_out += left_out
        result.add(rows)
    return result


def whole_blocks(
    deals: pl.LazyFrame, features: Features, manifest: "Manifest", numbers: bool = False
) -> Iterator[tuple[NDArray[np.uint64], NDArray[Any], int]]:
    """The features of a run's deals, a batch of whole blocks at a time.

    Yields the number of each block (its deck or match, uint64[B]; empty when a block is one deal and ``numbers``
    are not asked for), the features of its deals (small unsigned integers [K, B * size], deal after deal), and the
    number of deals left out because their block is not whole.
    """
    size = manifest.plan.unit
    keyed = size > 1 or numbers
    key = pl.col("match" if manifest.match else "deck").alias("block")
    columns = [expression.alias(name) for name, expression in features.items()]
    query = deals.select(*([key] if keyed else []), *columns)
    rest: pl.DataFrame | None = None
    for batch in query.collect_batches(chunk_size=BATCH, maintain_order=True):
        if not keyed:
            yield np.empty(0, np.uint64), _matrix(batch), 0
            continue
        if rest is not None:
            batch = pl.concat([rest, batch])
        # The last block may go on in the next batch.
        block = batch["block"].to_numpy()
        cut = int(np.searchsorted(block, block[-1])) if len(block) else 0
        rest = batch[cut:]
        if cut:
            yield _complete(batch[:cut], size)
    if rest is not None and len(rest):
        yield _complete(rest, size)


def _complete(rows: pl.DataFrame, size: int) -> tuple[NDArray[np.uint64], NDArray[Any], int]:
    """The whole blocks among rows sorted by block."""
    block = rows["block"].to_numpy()
    starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]])
    lengths = np.diff(np.r_[starts, len(block)])
    whole = lengths == size
    matrix = _matrix(rows.drop("block"))
    if not whole.all():
        matrix = matrix[:, np.repeat(whole, lengths)]
    return block[starts[whole]], matrix, len(block) - matrix.shape[1]


def _matrix(rows: pl.DataFrame) -> NDArray[Any]:
    # A frame is stored by column, so this transposition copies nothing.
    return rows.to_numpy().T


def block_sums(deals: NDArray[Any], size: int) -> NDArray[Any]:
    """Sums over consecutive blocks: unsigned [K, B * size] becomes [K, B], in wider integers when ``size`` > 1."""
    if size == 1:
        return deals
    if size > SHORT:
        return deals.reshape(len(deals), -1, size).sum(axis=2, dtype=np.uint32)
    sums = deals[:, ::size].astype(np.uint16)
    for turn in range(1, size):
        sums += deals[:, turn::size]
    return sums


def moments(sums: NDArray[Any]) -> tuple[Ints, Ints]:
    """Totals (int64[K]) and gram matrix (int64[K, K]) of block sums [K, B].

    The products go through floating point, which is exact: they are whole numbers far below 2^53 in one
    batch, even of the longest matches.
    """
    values = sums.astype(np.float64)
    return values.sum(axis=1).astype(np.int64), (values @ values.T).astype(np.int64)


def _scores_by_block(score: NDArray[Any], wins: Ints, size: int) -> Ints:
    """For each score its wins, their square, and their product with the block's wins, summed over blocks."""
    if size == 1:
        seen = np.bincount(score, minlength=256)
        seen[0] -= len(wins) - int(wins.sum())  # a drawn deal is no win with score 0
        return np.stack([seen] * 3)
    blocks = len(wins)
    width = int(score.max(initial=0)) + 1
    cells = np.arange(blocks, dtype=np.int64).repeat(size) * width + score
    counts = np.bincount(cells, minlength=blocks * width).reshape(blocks, width)
    counts[:, 0] -= size - wins
    result = np.zeros((3, 256), np.int64)
    result[:, :width] = counts.sum(axis=0), (counts * counts).sum(axis=0), wins @ counts
    return result
