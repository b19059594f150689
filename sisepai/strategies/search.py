"""`search`: plays each choice out in many worlds that fit what was seen, and makes the one that brings most.

All choices are played out in the same worlds (common random numbers). Those that fall behind the best by more than
chance are given up, so that the rollouts go to close contenders. Where none is clearly better than what the policy
would choose, it is the policy's.
"""

from pathlib import Path

import numpy as np

from sisepai.engine.records import NO_WINDOW, WIN
from sisepai.jit import inner, small
from sisepai.strategies import belief, greedy, rollout, ukeire
from sisepai.strategies.base import Parameter, Strategy
from sisepai.strategies.belief import sample_world, set_up
from sisepai.strategies.rollout import list_choices, play_choice, policy_choice, result

P_ROLLOUTS, P_OBJECTIVE, P_POLICY, P_WORLDS, P_ROUNDS, N_PARAMETERS = range(6)

BATCH = 16  # worlds between two looks at who has fallen behind
BEHIND = 2.5  # standard errors of the difference that make a choice fall behind
BETTER = 1.0  # standard errors by which a choice must be better than the policy's own


@inner
def choose(view):
    """Win if offered; else the choice that brings most when it is played out."""
    list_choices(view)
    estimates = view.trial.estimates
    if estimates.n == 1:
        return estimates.choice[0]
    if view.table.window != NO_WINDOW and view.offers.win:
        estimates.n = 0
        return WIN
    p = view.parameters.value
    for i in range(len(p) - N_PARAMETERS):
        view.trial.parameters.value[i] = p[N_PARAMETERS + i]
    view.trial.parameters.value[ukeire.P_OBJECTIVE] = p[P_OBJECTIVE]
    set_up(view)
    contenders = p[P_ROUNDS] == 0
    _play_worlds(view, contenders)
    best = _leader(estimates, view.trial.contest)
    if contenders:
        best = _unless_as_good(view, best, policy_choice(view, view.trial.start, np.int64(p[P_POLICY])))
    _finish(estimates)
    return estimates.choice[best]


@inner
def _play_worlds(view, contenders):
    """Play the choices out until all rollouts are used or one choice is left.

    The estimates hold sums meanwhile: of what a choice brought, and of its squares.
    """
    p, estimates, contest = view.parameters.value, view.trial.estimates, view.trial.contest
    contest.alive = (1 << estimates.n) - 1
    contest.worlds = 0
    for i in range(estimates.n):
        for j in range(i):
            contest.apart[i, j] = 0.0
    alive, left = estimates.n, np.int64(p[P_ROLLOUTS]) * estimates.n
    while left > 0 and alive > 1:
        sample_world(view, p[P_WORLDS] == 0)
        _play_all(view)
        left -= alive
        contest.worlds += 1
        if contenders and contest.worlds % BATCH == 0:
            alive -= _give_up(estimates, contest)


@inner
def _play_all(view):
    """Play all choices that are alive out in the world of `trial.start`."""
    p, estimates, contest = view.parameters.value, view.trial.estimates, view.trial.contest
    policy, by_score = np.int64(p[P_POLICY]), p[P_OBJECTIVE] > 0
    for i in range(estimates.n):
        if contest.alive >> i & 1:
            play_choice(view, estimates.choice[i], policy)
            brought = result(view, by_score)
            contest.brought[i] = brought
            estimates["mean"][i] += brought
            estimates.error[i] += brought * brought
            estimates.samples[i] += 1
            for j in range(i):
                contest.apart[i, j] += (brought - contest.brought[j]) ** 2


@inner
def _give_up(estimates, contest):
    """Give the choices up that have fallen behind; returns how many."""
    best, given_up = _leader(estimates, contest), 0
    for i in range(estimates.n):
        if contest.alive >> i & 1 and _behind(estimates, contest, i, best, BEHIND):
            contest.alive ^= 1 << i
            given_up += 1
    return given_up


@small
def _leader(estimates, contest):
    best = -1
    for i in range(estimates.n):
        if contest.alive >> i & 1 and (best < 0 or estimates["mean"][i] > estimates["mean"][best]):
            best = i
    return best


@small
def _behind(estimates, contest, i, best, errors):
    """Whether choice `i` has brought less than the best by more than so many standard errors."""
    less = estimates["mean"][best] - estimates["mean"][i]
    # One more square, or a few worlds in which two choices brought the same would decide.
    return less * less > errors * errors * (contest.apart[max(i, best), min(i, best)] + 1.0)


@inner
def _unless_as_good(view, best, own):
    """The best choice, or that of the policy, `own`, where it is not clearly behind."""
    estimates, contest = view.trial.estimates, view.trial.contest
    for i in range(estimates.n):
        if (
            estimates.choice[i] == own
            and contest.alive >> i & 1
            and not _behind(estimates, contest, i, best, BETTER)
        ):
            return i
    return best


@inner
def _finish(estimates):
    """Make means and standard errors of the sums."""
    for i in range(estimates.n):
        n = estimates.samples[i]
        mean = estimates["mean"][i] / n
        estimates["mean"][i] = mean
        estimates.error[i] = np.sqrt(max(estimates.error[i] / n - mean * mean, 0.0) / n)


STRATEGY = Strategy(
    "search",
    "plays each choice out in worlds that fit what was seen, and makes the one that brings most",
    choose,
    choose,
    (
        Parameter(
            "rollouts",
            1000,
            "deals played out for each choice, on average",
            1,
            1e6,
            whole=True,
            is_price=True,
        ),
        Parameter("objective", "win", "what is most: deals won, or points", choices=("win", "score")),
        Parameter(
            "policy",
            "ukeire",
            "who plays the own seat on; the others play on as greedy",
            choices=("greedy", "ukeire"),
        ),
        Parameter(
            "worlds",
            "likely",
            "hidden cards as the others' deeds make them likely, or all ways alike",
            choices=("likely", "alike"),
        ),
        Parameter(
            "rounds",
            "contenders",
            "rollouts go to close contenders and equals leave it to the policy; or all choices alike",
            choices=("contenders", "alike"),
        ),
    ),
    weights=(*(p.number(p.default) for p in ukeire.STRATEGY.parameters), *ukeire.STRATEGY.weights),
    files=(
        *ukeire.STRATEGY.files,
        *(Path(str(module.__file__)) for module in (belief, rollout, ukeire, greedy)),
    ),
    shard_deals=240,
    source="Monte Carlo search with determinization, common random numbers and successive elimination",
    explains=True,
)
