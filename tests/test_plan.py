"""The arithmetic of a plan: seatings, blocks, shards, and the numbers of deals and decks."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisepai.errors import InputError
from sisepai.runs import MAX_MATCH, SEATINGS
from sisepai.runs.plan import MAX_DEALS, Plan, Shard, seatings, shard_size


@pytest.mark.parametrize(
    ("kind", "seats", "expected"),
    [
        ("fixed", (0, 1, 1, 1), [[0, 1, 1, 1]]),
        ("rotate", (0, 1, 2, 3), [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]),
        ("rotate", (0, 1, 1, 1), [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]),
        ("rotate", (0, 1, 0, 1), [[0, 1, 0, 1], [1, 0, 1, 0]]),
        ("rotate", (0, 0, 0, 0), [[0, 0, 0, 0]]),
        ("rotate", (0, 1), [[0, 1], [1, 0]]),
        ("all", (1, 0, 0), [[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
        ("all", (0, 0, 1, 1), [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]]),
    ],
)  # fmt: skip
def test_seatings(kind, seats, expected):
    found = seatings(kind, seats)
    assert found.dtype == np.uint8
    assert found.tolist() == expected


def test_all_four_different_come_in_lexicographic_order():
    assert seatings("all", (2, 0, 3, 1)).tolist() == [list(order) for order in permutations(range(4))]


def test_an_unknown_seating_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'rotate'"):
        seatings("rotat", (0, 1))


SEATS = (
    st.integers(2, 4).flatmap(lambda n: st.lists(st.integers(0, n - 1), min_size=n, max_size=n)).map(tuple)
)


@given(SEATS, st.sampled_from(SEATINGS), st.integers(1, 5000), st.integers(1, 20))
def test_shards_hold_every_deal_once_and_no_block_is_cut(seats, seating, deals, size):
    plan = Plan.rounded(seats, seating, deals, 24 * size)
    assert 0 <= plan.deals - deals < plan.block
    shards = [plan.shard(number) for number in range(plan.shards)]
    assert [s.number for s in shards] == list(range(plan.shards))
    end = 0
    for shard in shards:
        assert shard.first == end
        assert shard.count > 0
        assert shard.first % plan.block == shard.count % plan.block == 0
        end = shard.first + shard.count
    assert end == plan.deals


@given(SEATS, st.integers(1, MAX_MATCH), st.integers(1, 10**6), st.integers(24, 10**6), st.booleans())
def test_no_shard_cuts_a_match(seats, match, deals, declared, events):
    size = shard_size([declared], events, match)
    assert size % 24 == size % match == 0
    plan = Plan.rounded(seats, "fixed", deals, size, match)
    assert 0 <= plan.deals - deals < match
    assert plan.unit == match
    for number in (0, plan.shards - 1):
        shard = plan.shard(number)
        assert shard.first % match == shard.count % match == 0


def test_matches_and_several_seatings_are_refused():
    with pytest.raises(
        InputError, match="match = 8: does not go with seating rotate, under which each deck is played 4"
    ):
        Plan.rounded((0, 1, 1, 1), "rotate", 24, 24, 8)
    assert Plan.rounded((0, 0, 0, 0), "rotate", 20, 24, 8).deals == 24  # a single seating after all
    with pytest.raises(InputError, match="of the 16 deals of a match"):
        Plan((0, 0), "fixed", 32, 24, 16)
    with pytest.raises(InputError, match="of the 8 deals of a match"):
        Plan((0, 0), "fixed", 30, 24, 8)


@given(SEATS, st.sampled_from(SEATINGS), st.integers(0, 2**62), st.integers(0, 50))
def test_a_deck_is_played_once_under_every_seating(seats, seating, first, count):
    plan = Plan.rounded(seats, seating, 24, 24)
    deal, deck, place = plan.numbers(first, count)
    assert deal.dtype == deck.dtype == np.uint64
    assert place.dtype == np.uint8
    assert deal.tolist() == list(range(first, first + count))
    assert [(int(d), int(s)) for d, s in zip(deck, place, strict=True)] == [
        divmod(n, plan.block) for n in range(first, first + count)
    ]


def test_shards_out_of_range():
    plan = Plan((0, 0), "fixed", 100, 48)
    assert plan.shard(2) == Shard(2, 96, 4)
    for number in (-1, 3):
        with pytest.raises(IndexError):
            plan.shard(number)


@pytest.mark.parametrize(("deals", "shard_deals"), [(0, 24), (10, 24), (-4, 24), (8, 0), (8, 23), (8, -24)])
def test_a_plan_that_does_not_fit_is_refused(deals, shard_deals):
    with pytest.raises(InputError, match="must be a multiple"):
        Plan((0, 1, 1, 1), "rotate", deals, shard_deals)


def test_the_most_deals_are_planned_without_effort():
    plan = Plan.rounded((0, 1, 2, 3), "all", MAX_DEALS // 24 * 24, 24)
    assert plan.shard(plan.shards - 1).count == 24
    with pytest.raises(InputError, match="too many"):
        Plan.rounded((0, 1, 2, 3), "all", MAX_DEALS, 24)


def test_shard_size_comes_from_the_slowest_strategy():
    assert shard_size([120_000, 2400], events=False) == 2400
    assert shard_size([120_000], events=True) == 24_000
    assert shard_size([24, 240], events=True) == 24
    assert shard_size([240], events=True) == 48
    assert shard_size([120_000], events=False, match=1000) == 120_000
    assert shard_size([120_000], events=True, match=7) == 23_856
    assert shard_size([24], events=True, match=7) == 168
