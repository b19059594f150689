"""Whole deals under every rule set and option: the same events as the reference, and never an illegal one.

The shared cases are played event for event; seeded decks are played by `greedy` in both implementations; what
`random` does is checked for legality, slowly and whole (`check_events`) or fast and in great numbers (`referee`).
"""

import json

import numpy as np
import pytest
from engine_tools import (
    VARIANT_IDS,
    VARIANTS,
    event_dicts,
    events_by_deal,
    later_deck,
    naive_rules_of,
    result_of,
    rules_of,
    seeded_decks,
    simulator,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import deadwood, parse_cards
from naive_deal import Greedy, check_events, play_deal
from referee import breaches

from sisepai.cards import MELDS, NONE
from sisepai.engine.simulator import decks

SEED = 20
every_variant = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=VARIANT_IDS)
EVEN_TOO = ("ten-hu", "own")  # where a winning score need not be odd
MELD_SIZES = np.array([1, 2, 3, 4, 3, 3, 3, 4, 3, 4])


# ------------------------------------------------------------------------------------------------ the shared cases


@pytest.mark.parametrize("file", ["deals.jsonl", "classic.jsonl", "ten-hu.jsonl"])
def test_shared_deals_event_for_event(cases, file):
    for line, text in enumerate((cases / file).read_text(encoding="utf-8").splitlines(), 1):
        case = json.loads(text)
        rules = rules_of(case["rules"], {"players": case["players"], **case["options"]})
        cards = [card for hand in case["hands"] for card in parse_cards(hand)] + parse_cards(case["stock"])
        chunk = simulator(rules).play_decks(
            np.array([case["dealer"]], np.uint8), np.array([cards], np.uint8), events=True
        )
        assert event_dicts(chunk.events) == case["events"], f"{file} line {line}"
        assert result_of(chunk.rows[0]) == {
            key: case[key] for key in ("winner", "score", "win_by", "outcome")
        }


# ----------------------------------------------------------------------------------------- the reference's `greedy`


def greedy_agrees(name, options, seed, first, count):
    """Kernels and reference play the same deals, redeals included, and the rows say what the events say."""
    rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
    chunk = simulator(rules, "greedy", seed).play(first, count, events=True)
    table = zip(chunk.rows, events_by_deal(chunk), seeded_decks(rules, seed, first, count), strict=True)
    for number, (row, events, (dealer, hands, stock)) in enumerate(table, first):

        def next_deck(attempt, number=number, dealer=dealer):
            return later_deck(rules, seed, number, dealer, attempt)

        slow = play_deal(slow_rules, dealer, hands, stock, [Greedy()] * rules.players, next_deck)
        assert events == slow.events, f"deal {number}"
        check_row(rules, row, events, slow, dealer)


def check_row(rules, row, events, slow, dealer):
    """A row says what the reference's finished deal and the events say."""
    assert result_of(row) == {"winner": slow.winner, "score": slow.score, "win_by": slow.win_by,
                              "outcome": slow.outcome}  # fmt: skip
    names = [event["event"] for event in events]
    assert (row["draws"], row["takes"], row["discards"]) == tuple(
        map(names.count, ("draw", "take", "discard"))
    )
    assert row["dealer"] == dealer
    for seat in range(slow.players):
        assert row["dealt_deadwood"][seat] == deadwood(slow.rules, slow.dealt[seat])
        left = 0 if seat == slow.winner else deadwood(slow.rules, slow.seats[seat].hand)
        assert row["end_deadwood"][seat] == left
    check_win_of_row(row, events)


def check_win_of_row(row, events):
    """The columns of the win: its card, whose card it was, and melds of 21 cards, the winner's takes among them."""
    last = events[-1]
    if last["event"] != "win":
        assert (row["winner"], row["win_by"], row["from_seat"], row["win_card"], row["score"]) == (
            NONE,
        ) * 4 + (0,)
        assert not row["melds"].any()
        return
    dealt = last["card"] is None
    assert row["win_card"] == (NONE if dealt else parse_cards(last["card"])[0])
    assert row["from_seat"] == (NONE if dealt else events[-2]["seat"])
    assert row["melds"] @ MELD_SIZES == 21
    laid = [event["meld"] for event in events if event["event"] == "take" and event["seat"] == row["winner"]]
    assert all(row["melds"][number] >= laid.count(kind) for number, kind in enumerate(MELDS))


@every_variant
def test_greedy_plays_as_the_reference(name, options):
    greedy_agrees(name, options, SEED, 0, 16)


@pytest.mark.slow
@every_variant
def test_greedy_plays_as_the_reference_many_times(name, options):
    greedy_agrees(name, options, SEED + 1, 10**6, 500)


# --------------------------------------------------------------------------------------------------- legal events


def mixed(players):
    """Random and greedy at one table."""
    return ",".join(["random", "greedy", "random", "greedy"][:players])


def legal(name, options, strategies, seed, first, count):
    """Every event is legal to the reference, which counts the cards at each step; scores odd where they must be."""
    rules, slow_rules = rules_of(name, options), naive_rules_of(name, options)
    chunk = simulator(rules, strategies, seed).play(first, count, events=True)
    table = zip(chunk.rows, events_by_deal(chunk), seeded_decks(rules, seed, first, count), strict=True)
    for number, (row, events, (dealer, hands, stock)) in enumerate(table, first):
        later = [later_deck(rules, seed, number, dealer, a) for a in range(1, int(row["redeals"]) + 1)]
        slow = check_events(slow_rules, rules.players, {}, dealer, hands, stock, events, later)
        check_row(rules, row, events, slow, dealer)
        if slow.winner is not None:
            assert slow.score % 2 == 1 or name in EVEN_TOO
            assert slow.score >= rules.min_points


@every_variant
def test_random_events_are_legal(name, options):
    legal(name, options, "random", SEED, 0, 10)
    legal(name, options, mixed(options.get("players", 4)), SEED, 100, 10)


@pytest.mark.slow
@every_variant
def test_many_random_deals_are_legal(name, options):
    legal(name, options, "random", SEED + 1, 0, 250)
    legal(name, options, mixed(options.get("players", 4)), SEED + 1, 2**40, 250)


RULES = st.fixed_dictionaries(
    {"players": st.integers(2, 4), "flowers": st.integers(0, 5), "lock_dealt_triples": st.booleans(),
     "redeal": st.sampled_from(["never", "always"]), "colour_groups": st.sampled_from(["any", "soldiers"]),
     "claim_general_quad": st.booleans()}
)  # fmt: skip
NUMBERS = st.integers(0, 2**64 - 2)


@settings(deadline=None, max_examples=25)
@given(name=st.sampled_from(["classic", "ten-hu"]), options=RULES, seed=NUMBERS, deck=NUMBERS, data=st.data())
def test_any_options_any_seats(name, options, seed, deck, data):
    if name == "ten-hu":
        del options["colour_groups"]
    seats = data.draw(st.lists(st.sampled_from(["greedy", "random"]), min_size=options["players"],
                               max_size=options["players"]))  # fmt: skip
    legal(name, options, ",".join(seats), seed, deck, 1)


@settings(deadline=None, max_examples=15)
@given(players=st.integers(2, 4), flowers=st.integers(0, 5), seed=NUMBERS, deck=NUMBERS)
def test_any_cardavia_deal(players, flowers, seed, deck):
    options = {"players": players, "flowers": flowers}
    legal("cardavia", options, mixed(players), seed, deck, 1)
    greedy_agrees("cardavia", options, seed, deck, 1)


# -------------------------------------------------------------------------------------------------- great numbers


def refereed(name, options, strategies, count):
    rules = rules_of(name, options)
    dealers, cards = decks(rules, SEED, 0, count)
    assert (np.sort(cards, axis=1) == np.sort(cards[:1])).all()
    chunk = simulator(rules, strategies, SEED).play(0, count, events=True)
    assert (chunk.rows.dealer == dealers).all()
    wrong = [(deal, text) for deal, text in enumerate(breaches(name, options, cards, chunk)) if text]
    assert wrong == []
    won = chunk.rows[chunk.rows.winner != NONE]
    assert name in EVEN_TOO or (won.score % 2 == 1).all()
    assert (won.score >= rules.min_points).all()
    assert (won.melds @ MELD_SIZES == 21).all()
    assert (chunk.event_counts < 300).sum() == (chunk.rows.redeals < 50).sum()


@pytest.mark.parametrize("strategies", ["greedy", "random"])
@every_variant
def test_many_deals_before_the_referee(name, options, strategies):
    refereed(name, options, strategies, 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("strategies", ["greedy", "random"])
@every_variant
def test_a_hundred_thousand_deals_before_the_referee(name, options, strategies):
    refereed(name, options, strategies, 100_000)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [((0, 1), 0, "a draw out of turn"), ((0, 2), 5, "next in the stock"), ((-1, 0), 9, "an unknown event"),
     ((1, 2), 0, "."), ((-1, 0), 4, ".")],
)  # fmt: skip
def test_the_referee_sees_breaches(place, value, told):
    rules = rules_of("cardavia", {})
    dealers, cards = decks(rules, SEED, 0, 50)
    chunk = simulator(rules, "greedy", SEED).play(0, 50, events=True)
    deal = int(np.argmax((dealers != 0) & (cards[:, 80] != 5)))
    start, end = (
        np.cumsum(chunk.event_counts, dtype=np.int64)[[deal - 1, deal]]
        if deal
        else (0, chunk.event_counts[0])
    )
    words = chunk.events.view(np.uint8).reshape(-1, 8)[start:end]
    words[place] = value
    text = breaches("cardavia", {}, cards, chunk)[deal]
    assert text
    assert told in text or told == "."
