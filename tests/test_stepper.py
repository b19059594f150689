"""A deal played decision by decision is the deal that a chunk plays."""

import numpy as np
import pytest
from engine_tools import PRESET_NAMES, VARIANT_IDS, VARIANTS, rules_of, simulator

from sisepai.engine.records import PASS, WIN
from sisepai.engine.simulator import decks
from sisepai.engine.stepper import Stepper

MIXED = "random,greedy,random,greedy"


def step_through(stepper, due):
    """Play to the end with the strategies' own choices; returns how many there were."""
    choices = 0
    while due:
        assert stepper.choices()
        choice = stepper.ask()
        assert choice in stepper.choices()
        due = stepper.submit(choice)
        choices += 1
    return choices


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=VARIANT_IDS)
def test_a_deal_in_steps_is_the_deal_of_a_chunk(name, options):
    players = options.get("players", 4)
    sim = simulator(rules_of(name, options), ",".join(MIXED.split(",")[:players]))
    whole, at, stepper = sim.play(90, 40, events=True), 0, Stepper(sim)
    for place, count in enumerate(whole.event_counts):
        assert step_through(stepper, stepper.start(90 + place)) > 0 or count < 3
        assert stepper.row.tobytes() == whole.rows[place : place + 1].tobytes()
        assert stepper.events.tobytes() == whole.events[at : at + count].tobytes()
        at += count


def test_only_the_paused_seats_are_left_to_the_caller():
    sim = simulator(rules_of("classic", {}), MIXED)
    whole, stepper = sim.play(5, 1), Stepper(sim)
    due, seats = stepper.start(5, pause=0b0110), set()
    while due:
        seats.add(stepper.seat)
        due = stepper.submit(stepper.ask())
    assert seats == {1, 2}
    assert stepper.row.tobytes() == whole.rows.tobytes()


def test_given_decks_and_dealers():
    rules = rules_of("classic", {})
    sim, stepper = simulator(rules, MIXED), Stepper(simulator(rules, MIXED, seed=8))
    dealers, cards = decks(rules, 7, 3, 1)
    chunk = sim.play_decks(dealers, cards, events=True)
    step_through(stepper, stepper.start(0, int(dealers[0]), cards[0]))
    assert stepper.row["dealt_deadwood"].tobytes() == chunk.rows["dealt_deadwood"].tobytes()
    with pytest.raises(ValueError, match="not the first of its match"):
        Stepper(simulator(rules, MIXED, match=6)).start(5)
    with pytest.raises(ValueError, match="dealers"):
        stepper.start(0, 4)
    with pytest.raises(ValueError, match="packs"):
        stepper.start(0, 1, np.zeros(3, np.uint8))


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_what_was_not_offered_ends_the_deal(name):
    stepper = Stepper(simulator(rules_of(name, {})))
    assert stepper.start(4)
    before, seat, answers = stepper.events, stepper.seat, stepper.answers
    assert not stepper.submit(-7)
    assert stepper.illegal
    assert not stepper.paused
    assert stepper.events.tobytes() == before.tobytes()
    assert (stepper.seat, stepper.answers) == (seat, answers), "it stands where it stood"


def test_the_view_is_that_of_the_seat():
    stepper = Stepper(simulator(rules_of("cardavia", {}), "greedy"))
    due = stepper.start(2)
    while due:
        view, choices = stepper.view(), stepper.choices()
        assert view.seat == stepper.seat
        assert view.hand.cards == view.table.cards[view.seat]
        assert (WIN in choices) == bool(view.offers.win and stepper.answers)
        assert not stepper.answers or (PASS in choices) == (not view.offers.forced)
        due = stepper.submit(stepper.ask())
