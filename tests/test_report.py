"""The figures of a report, against counting deal by deal in plain Python and formulas over plain arrays."""

import json
import math
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import report_data

from sisepai.analysis import tally
from sisepai.analysis.comparison import compare, unlike
from sisepai.analysis.intervals import wilson
from sisepai.analysis.summary import summarise
from sisepai.cards import MELDS, WIN_BY
from sisepai.runs.reader import Run

DESIGNS = {
    "one strategy": {"seats": (0, 0, 0, 0)},
    "two, fixed": {"seats": (0, 1, 1, 1)},
    "rotated": {"seats": (0, 1, 1, 1), "seating": "rotate"},
    "all orders": {"seats": (0, 0, 1, 1), "seating": "all"},
    "three seats": {"seats": (0, 1, 1), "seating": "rotate"},
    "two seats": {"seats": (0, 1), "seating": "rotate"},
    "matches": {"seats": (0, 1, 1, 1), "match": 12},
    "long matches": {"seats": (0, 1, 0), "match": 120, "shard": 120},
}


@pytest.fixture(params=DESIGNS.values(), ids=DESIGNS.keys())
def run(request):
    made = report_data.manifest(deals=1200, **request.param)
    deals = report_data.rows(made.plan)
    return made, report_data.frame(made, deals)


def opened(made, deals, name="x"):
    return Run(Path(name), made, deals.lazy(), None, True)


def compared(first, second):
    summaries = [summarise(run.deals, run.manifest, name) for run, name in ((first, "A"), (second, "B"))]
    return compare(first, second, tuple(summaries))


def block_se(made, values, of):
    """The standard error of sum(values) / sum(of) over blocks with something in them, by the plain formula."""
    y, x = (np.array(v, float).reshape(-1, made.plan.unit).sum(axis=1) for v in (values, of))
    blocks = np.count_nonzero(x)
    residuals = (y - y.sum() / x.sum() * x) / x.sum()
    return math.sqrt(blocks / (blocks - 1) * (residuals**2).sum())


def test_counts_are_those_of_counting(run):
    made, deals = run
    summary = summarise(deals.lazy(), made)
    records = deals.to_dicts()
    players = made.rules.players
    ends = Counter(one["win_by"] or one["outcome"] for one in records)
    assert {key: rate.count for key, rate in summary.ends.items()} == {
        key: ends[key] for key in (*WIN_BY, "exhausted", "dead_hand")
    }
    assert summary.drawn.count == sum(one["winner"] is None for one in records)
    seats = Counter(one["winner"] for one in records)
    assert [rate.count for rate in summary.seats] == [seats[seat] for seat in range(players)]
    places = Counter(
        (one["winner"] - one["dealer"]) % players for one in records if one["winner"] is not None
    )
    assert [rate.count for rate in summary.places] == [places[place] for place in range(players)]
    winners = Counter(one["winner_strategy"] for one in records)
    sat = Counter(made.labels[entry] for one in records for entry in made.plan.seatings[one["seating"]])
    for wins in summary.strategies:
        rate = wins.per_seat_deal
        assert (rate.count, rate.of) == (winners[wins.strategy], sat[wins.strategy])
        assert rate.rate == pytest.approx(rate.count / rate.of)
        assert wins.share_of_wins.of == len(records) - summary.drawn.count
    scores = Counter(one["score"] for one in records if one["winner"] is not None)
    assert {score: rate.count for score, rate in summary.score.distribution.items()} == scores


def test_errors_are_those_of_the_plain_formulas(run):
    made, deals = run
    summary = summarise(deals.lazy(), made)
    won = deals["winner"].is_not_null().to_numpy()
    ones = np.ones(len(deals))
    assert summary.drawn.se == pytest.approx(block_se(made, ~won, ones))
    assert summary.score.deal.se == pytest.approx(block_se(made, deals["score"], ones))
    assert summary.score.win.mean.se == pytest.approx(block_se(made, deals["score"], won))
    for kind in MELDS:
        column = deals[f"melds_{kind}"]
        assert summary.melds[kind].mean == pytest.approx(column.sum() / won.sum())
        assert summary.melds[kind].se == pytest.approx(block_se(made, column, won))
    for what, spread in summary.length.items():
        assert spread.mean.mean == pytest.approx(deals[what].mean())
        assert spread.mean.se == pytest.approx(block_se(made, deals[what], ones))
        assert spread.quantiles["q50"] == np.quantile(deals[what], 0.5, method="inverted_cdf")
    for score, rate in summary.score.distribution.items():
        here = (deals["score"].to_numpy() == score) & won
        assert rate.se == pytest.approx(block_se(made, here, won))
    share = summary.strategies[0].share_of_wins
    mine = (deals["winner_strategy"].cast(pl.String) == made.labels[0]).fill_null(False)
    assert share.se == pytest.approx(block_se(made, mine, won), abs=1e-12)


def test_intervals_hold_their_rates(run):
    made, deals = run
    summary = summarise(deals.lazy(), made)
    for rate in (summary.drawn, *summary.ends.values(), *summary.seats, *summary.score.distribution.values()):
        assert 0 <= rate.low <= rate.rate <= rate.high <= 1
        if made.plan.unit == 1:
            assert (rate.low, rate.high) == wilson(rate.rate, rate.of)


def test_payoffs_and_the_dealers_edge(run):
    made, deals = run
    players = made.rules.players
    assert summarise(deals.lazy(), made).payoff is None
    summary = summarise(deals.lazy(), made, payoff=True)
    payoff = summary.payoff
    records = deals.to_dicts()
    ones = np.ones(len(records))
    # A drawn deal has score 0, so nobody pays.
    paid = np.array(
        [[one["score"] * (players * (one["winner"] == s) - 1) for s in range(players)] for one in records]
    )
    assert not paid.sum(axis=1).any()
    place = (np.arange(players) - deals["dealer"].to_numpy()[:, None]) % players
    by_place = np.array([paid[place == after] for after in range(players)])
    for means, columns in ((payoff.seats, paid.T), (payoff.places, by_place)):
        assert sum(mean.mean for mean in means) == pytest.approx(0, abs=1e-12)
        for mean, column in zip(means, columns, strict=True):
            assert mean.mean == pytest.approx(column.mean())
            assert mean.se == pytest.approx(block_se(made, column, ones))
    chairs = made.plan.seatings[deals["seating"].to_numpy()]
    held = [made.seats.count(entry) for entry in range(len(made.labels))]
    for entry, label in enumerate(made.labels):
        column = (paid * (chairs == entry)).sum(axis=1)
        assert payoff.strategies[label].mean == pytest.approx(column.mean() / held[entry], abs=1e-12)
        assert payoff.strategies[label].se == pytest.approx(
            block_se(made, column, ones * held[entry]), abs=1e-12
        )
    means = [mean.mean for mean in payoff.strategies.values()]
    assert np.dot(means, held) == pytest.approx(0, abs=1e-12)
    winner, dealer = (deals[name].cast(pl.Int64).to_numpy() for name in ("winner", "dealer"))
    edge = (winner == dealer) - ~np.isnan(winner) / players
    assert summary.dealer_edge.mean == pytest.approx(edge.mean())
    assert summary.dealer_edge.se == pytest.approx(block_se(made, edge, ones))


def test_blocks_that_hang_together_widen_the_interval():
    made = report_data.manifest(deals=4000, seats=(0, 1, 1, 1), seating="rotate")
    deals = report_data.frame(made, report_data.rows(made.plan, together=0.9))
    drawn = summarise(deals.lazy(), made).drawn
    low, high = wilson(drawn.rate, drawn.of)
    assert drawn.high - drawn.low > 1.5 * (high - low)


@pytest.mark.parametrize("batch", [1, 7, 100, 60_000])
def test_batches_and_partial_blocks(batch, monkeypatch):
    """However the deals come in, whole blocks alone are counted and what is left out is told."""
    monkeypatch.setattr(tally, "BATCH", batch)
    made = report_data.manifest(deals=1200, seats=(0, 1, 1, 1), seating="rotate")
    deals = report_data.frame(made, report_data.rows(made.plan))
    whole = summarise(deals.filter(~pl.col("deck").is_in([0, 7, 299])).lazy(), made)
    assert whole.run.left_out == 0
    torn = summarise(deals.filter(~pl.col("deal").is_in([0, 29, 30, 1199])).lazy(), made)
    assert (torn.run.deals, torn.run.blocks, torn.run.left_out, torn.run.missing) == (1188, 297, 8, 4)
    assert asdict(torn) | {"run": None} == asdict(whole) | {"run": None}


@pytest.mark.parametrize("design", ["two, fixed", "rotated", "matches"])
@pytest.mark.parametrize(("count", "drawn"), [(0, 0.0), (1, 0.0), (4, 0.0), (4, 1.0), (240, 1.0), (240, 0.0)])
def test_little_or_nothing_is_valid_json(design, count, drawn, recwarn):
    made = report_data.manifest(deals=240, **DESIGNS[design])
    deals = report_data.frame(made, report_data.rows(made.plan, drawn=drawn))[:count]
    summary = summarise(deals.lazy(), made, payoff=True)
    text = json.dumps(asdict(summary), allow_nan=False)
    assert json.loads(text)["run"]["deals"] == count // made.plan.unit * made.plan.unit
    comparison = compared(opened(made, deals), opened(made, deals))
    json.dumps(asdict(comparison), allow_nan=False)
    assert not recwarn.list
    if drawn == 1.0 and count == 240:
        assert summary.drawn.rate == 1
        assert summary.drawn.high == 1
        assert summary.score.win.mean.mean is None
        assert summary.score.win.quantiles is None
        assert summary.melds["pair"].mean is None


def test_a_run_and_itself_differ_by_nothing():
    made = report_data.manifest(deals=1200, seats=(0, 1, 1, 1), seating="rotate")
    deals = report_data.frame(made, report_data.rows(made.plan))
    comparison = compared(opened(made, deals), opened(made, deals))
    assert comparison.paired
    assert comparison.decks == 300
    assert {(one.difference, one.se, one.low, one.high) for one in comparison.differences} == {(0, 0, 0, 0)}


@pytest.mark.parametrize("batch", [5, 60_000])
def test_paired_over_shared_decks(batch, monkeypatch):
    """One run plays each deck once, the other four times and lacks some: the shared decks alone count."""
    monkeypatch.setattr(tally, "BATCH", batch)
    one = report_data.manifest(deals=200)
    four = report_data.manifest(deals=1200, seats=(0, 1, 1, 1), seating="rotate")
    a = report_data.frame(one, report_data.rows(one.plan, seed=1))
    b = report_data.frame(four, report_data.rows(four.plan, seed=2)).filter(
        ~pl.col("deck").is_in([0, 3, 150])
    )
    comparison = compared(opened(one, a), opened(four, b))
    assert (comparison.paired, comparison.decks, comparison.unlike) == (True, 197, [])
    a = a.filter(~pl.col("deck").is_in([0, 3, 150]))
    b = b.filter(pl.col("deck") < 200)
    per_deck = [run["winner"].is_null().to_numpy().reshape(197, -1).mean(axis=1) for run in (a, b)]
    difference = per_deck[1] - per_deck[0]
    drawn = comparison.differences[0]
    assert drawn.what == "drawn"
    assert drawn.first == pytest.approx(per_deck[0].mean())
    assert drawn.difference == pytest.approx(difference.mean())
    assert drawn.se == pytest.approx(difference.std(ddof=1) / math.sqrt(197))
    assert drawn.low < drawn.difference < drawn.high
    whats = {one.what for one in comparison.differences}
    assert {"points a deal", "points a win", "seat 3", "place 0", "strategy greedy"} <= whats
    assert "strategy random" not in whats


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 8}, "seed"),
        ({"flowers": 0}, "pack"),
        ({"hand_size": 19}, "hands"),
        ({"dealer_leads": True}, "hands"),
        ({"seats": (0, 0, 0)}, "number of seats"),
        ({"match": 8}, "matches"),
    ],
)
def test_unlike_runs_are_not_paired(change, reason):
    one, other = report_data.manifest(deals=400), report_data.manifest(deals=400, **change)
    assert unlike(one, other) == [reason]
    a, b = (
        report_data.frame(made, report_data.rows(made.plan, seed=s)) for s, made in ((1, one), (2, other))
    )
    comparison = compared(opened(one, a), opened(other, b))
    assert (comparison.paired, comparison.unlike) == (False, [reason])
    summaries = summarise(a.lazy(), one), summarise(b.lazy(), other)
    drawn = comparison.differences[0]
    assert drawn.difference == pytest.approx(summaries[1].drawn.rate - summaries[0].drawn.rate)
    assert drawn.se == pytest.approx(math.hypot(*(summary.drawn.se for summary in summaries)))
    assert -1 <= drawn.low < drawn.difference < drawn.high <= 1


def test_runs_without_common_decks_are_not_paired():
    made = report_data.manifest(deals=400)
    deals = report_data.frame(made, report_data.rows(made.plan))
    comparison = compared(opened(made, deals[:200]), opened(made, deals[200:]))
    assert (comparison.paired, comparison.unlike) == (False, ["deck numbers"])


def test_matches_are_paired_with_the_same_matches():
    one, other = (report_data.manifest(deals=480, match=24, colour_groups=how) for how in ("soldiers", "any"))
    a, b = (
        report_data.frame(made, report_data.rows(made.plan, seed=seed))
        for seed, made in ((1, one), (2, other))
    )
    comparison = compared(opened(one, a), opened(other, b.filter(~pl.col("deal").is_in([30, 479]))))
    assert (comparison.paired, comparison.decks, comparison.matches) == (True, 432, 18)
    assert comparison.rules == {"colour_groups": ("soldiers", "any")}
    a, b = (run.filter(~pl.col("match").is_in([1, 19])) for run in (a, b))
    found = {one.what: one for one in comparison.differences}
    for what, values in (("drawn", lambda run: run["winner"].is_null()), ("draws", lambda run: run["draws"])):
        per_match = [values(run).to_numpy().reshape(18, 24).mean(axis=1) for run in (a, b)]
        difference = per_match[1] - per_match[0]
        assert found[what].difference == pytest.approx(difference.mean())
        assert found[what].se == pytest.approx(difference.std(ddof=1) / math.sqrt(18))
