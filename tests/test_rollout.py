"""A choice that is played out leads where it led in the deal itself, and `clairvoyant` makes use of that."""

from functools import cache

import pytest
from engine_tools import PRESET_NAMES, decisions, rules_of, simulator

from sisepai.engine.simulator import compile_function
from sisepai.engine.stepper import Stepper
from sisepai.strategies.rollout import GREEDY, UKEIRE, list_choices, play_choice, result

TABLES = [
    *((name, {}) for name in PRESET_NAMES),
    ("classic", {"lock_dealt_triples": True, "flowers": 3, "players": 2}),
    ("own", {"players": 3}),
]
POLICIES = {"greedy": GREEDY, "ukeire": UKEIRE}
DEALS = 40


def plays_out(view):
    """Plays out the choice and the policy that stand first among the estimates; leaves the deals and points it won."""
    trial = view.trial
    trial.parameters = view.parameters
    play_choice(view, trial.estimates.choice[0], trial.estimates.choice[1])
    trial.estimates["mean"][0] = result(view, False)
    trial.estimates["mean"][1] = result(view, True)
    return 0


def lists(view):
    """Lists the choices among the estimates."""
    list_choices(view)
    return view.trial.estimates.n


compiled = cache(compile_function)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("name", "options"), TABLES)
def test_the_choice_that_is_made_plays_the_rest_of_the_deal(name, options, policy):
    rules = rules_of(name, options)
    sim = simulator(rules, ",".join([policy, *["greedy"] * (rules.players - 1)]))
    rows, met, stepper = sim.play(0, DEALS).rows, 0, Stepper(sim)
    for number, row in enumerate(rows):
        due = stepper.start(number, pause=1)
        while due:
            trial, choice = stepper.work.trial[0], stepper.ask()
            before = stepper.work.game.tobytes()
            trial.start, trial.estimates.choice[:2] = stepper.work.game, (choice, POLICIES[policy])
            compiled(plays_out)(stepper.view())
            assert stepper.work.game.tobytes() == before
            check_end(trial.game, row)
            won = row.winner == 0
            assert trial.estimates["mean"][:2].tolist() == [won, row.score * won]
            due, met = stepper.submit(choice), met + 1
    assert met > DEALS


def check_end(game, row):
    """A game that is over ended as a row says."""
    table, hidden = game.table, game.hidden
    for field in ("dealer", "draws", "takes", "discards"):
        assert table[field] == row[field]
    for field in ("outcome", "winner", "win_by", "from_seat", "win_card"):
        assert hidden[field] == row[field]


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_all_choices_are_listed(name):
    for stepper in decisions(name, {}, "greedy", DEALS):
        view = stepper.view()
        n = compiled(lists)(view)
        estimates = view.trial.estimates
        assert sorted(estimates.choice[:n].tolist()) == sorted(stepper.choices())
        assert not estimates.samples[:n].any()
        assert not estimates["mean"][:n].any()


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_who_sees_all_wins_more(name):
    """A deal that it once sees won among `greedy` is won, since it may always go on as they do."""
    rules = rules_of(name, {})
    greedy, wins, points = (
        simulator(rules, ",".join([own, *["greedy"] * (rules.players - 1)])).play(0, 2_000).rows
        for own in ("greedy", "clairvoyant", "clairvoyant:objective=score")
    )
    own = [rows["winner"] == 0 for rows in (greedy, wins, points)]
    assert not (own[0] & ~own[1]).any(), "where `greedy` wins, it wins"
    assert own[1].mean() > 1.5 * own[0].mean()
    scores = [
        (rows["score"] * won).astype(int) for rows, won in zip((greedy, wins, points), own, strict=True)
    ]
    assert (scores[2] >= scores[0]).all(), "and no fewer points than `greedy`"
    assert scores[2].mean() > scores[1].mean()
