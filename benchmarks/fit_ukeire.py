"""Finds the weights of `ukeire`: better ones than those it is given, by deals played out.

    python benchmarks/fit_ukeire.py --deals 4000 --write sisepai/strategies/ukeire.json
    python benchmarks/fit_ukeire.py --deals 4000 --objective score --write sisepai/strategies/ukeire.json

At each decision of `ukeire` against three `greedy` every choice that its weights decide about is played out in the same
likely worlds, and noted with its features. For each kind of decision and each deadwood the weights then maximise what a
choice brings that is drawn by a softmax of the weighed features, less a small pull to the weights they began with. What
the best choices bring before and after is told for a fifth of the decks, which is held back. Needs SciPy (the extra
`bench`). Repeat it with what it wrote: better weights play deals out better.
"""

import argparse
import hashlib
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from children import run_main
from decisions import note_decisions, simulator

from sisepai.engine.chunk import VIEW
from sisepai.engine.records import MOST_CHOICES, NO_WINDOW, PASS, View
from sisepai.engine.stepper import Stepper
from sisepai.errors import InputError, SisepaiError
from sisepai.files import write_whole
from sisepai.jit import inner, kernel, lowest
from sisepai.rules.hand import add_card, remove_card
from sisepai.strategies import Entry, ukeire
from sisepai.strategies.belief import sample_world, set_up
from sisepai.strategies.rollout import UKEIRE, play_choice, result
from sisepai.strategies.ukeire import ANSWERS, DISCARDS, FEATURES, N_FEATURES, ROWS, TAKE

SEED = 5
TEMPERATURE = 0.02  # of the softmax
PULL = 1e-3  # for each square of a weight's change, in standard deviations of its feature
HELD_BACK = 5  # one deck of so many
OBJECTIVES = ("win", "score")
KINDS = ("answers", "discards")


# ------------------------------------------------------------------------------------- a decision, as a kernel


def study(view, worlds, by_score, choices, brought, features):
    """Fill in what each choice brings, on average over so many worlds, and its features.

    Returns how many choices there are and where their weights begin in the parameters.
    """
    if view.offers.win:
        return np.int64(0), np.int64(0)
    answers = view.table.window != NO_WINDOW
    ukeire.see_live(view)
    view.trial.parameters = view.parameters
    n, row = _list_answers(view, choices, features) if answers else _list_discards(view, choices, features)
    if n > 1:
        view.trial.parameters = view.parameters
        set_up(view)
        for _ in range(worlds):
            sample_world(view, True)
            for i in range(n):
                play_choice(view, choices[i], UKEIRE)
                brought[i] += result(view, by_score) / worlds
    return n, row


@inner
def _list_answers(view, choices, features):
    dead = view.hand.dead
    row, n = ukeire.row_of(view, ANSWERS, dead), 0
    if not view.offers.forced:
        view.scratch.hand = view.hand
        choices[n] = PASS
        _note_features(view, row, dead, features[n])
        n += 1
    for i in range(view.offers.n):
        if ukeire.lay_and_discard(view, i):
            choices[n] = i
            _note_features(view, row, dead, features[n])
            features[n, TAKE] = 1.0
            n += 1
    return n, row


@inner
def _list_discards(view, choices, features):
    view.scratch.hand = view.hand
    cards, dead = ukeire.least_dead(view, view.scratch.hand)
    row, n = ukeire.row_of(view, DISCARDS, dead), 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        remove_card(view.tables, view.scratch.hand, card)
        choices[n] = card
        _note_features(view, row, dead, features[n])
        add_card(view.tables, view.scratch.hand, card)
        n += 1
    return n, row


@inner
def _note_features(view, row, dead, features):
    """The features of the hand in `scratch`: what it is worth to `ukeire` with a weight of one for each alone."""
    asked = View(
        view.tables, view.table, view.history, view.hand, view.offers, view.seat, view.rng, view.trial.parameters,
        view.scratch, view.trial,
    )  # fmt: skip
    weights = asked.parameters.value[row:]
    for i in range(N_FEATURES):
        weights[i] = 0.0
    for i in range(N_FEATURES):
        weights[i] = 1.0
        features[i] = ukeire.worth_of(asked, view.scratch.hand, row, dead)
        weights[i] = 0.0


@cache
def _kernel():
    arrays = (numba.int64[::1], numba.float64[::1], numba.float64[:, ::1])
    signature = numba.types.UniTuple(numba.int64, 2)(VIEW, numba.int64, numba.boolean, *arrays)
    return kernel(signature, keep=False)(study)


# ------------------------------------------------------------------------------------------- decisions, and a fit


class Decision(NamedTuple):
    """A decision between n choices: `brought` is float64[n], `features` float64[n, features]."""

    deck: int
    row: int  # of the weights: that of each deadwood for answers, then for discards
    brought: np.ndarray
    features: np.ndarray


def collect(weights: np.ndarray, objective: str, deals: int, worlds: int, seed: int) -> list[Decision]:
    """The decisions of `ukeire` with these weights, float64[objectives, rows, features]."""
    entry = Entry(replace(ukeire.STRATEGY, weights=tuple(weights.ravel())), {"objective": objective})
    own, study_choices = weights[OBJECTIVES.index(objective)], _kernel()

    def note(deck: int, stepper: Stepper) -> Decision | None:
        choices = np.zeros(MOST_CHOICES, np.int64)
        brought, features = np.zeros(MOST_CHOICES), np.zeros((MOST_CHOICES, N_FEATURES))
        n, at = study_choices(stepper.view(), worlds, objective == "score", choices, brought, features)
        if n < 2:
            return None
        row = (at - ukeire.N_PARAMETERS) // N_FEATURES % len(own)
        worth = features[:n] @ own[row]
        if worth[choices[:n] == stepper.ask()].max(initial=-np.inf) < worth.max() - 1e-9:
            raise SisepaiError(f"deck {deck}: by its features ukeire would have chosen otherwise than it did")
        return Decision(deck, row, brought[:n].copy(), features[:n].copy())

    return note_decisions(simulator(entry, seed), deals, note)


def fit(decisions: list[Decision], begun: np.ndarray) -> np.ndarray:
    """The weights of a row, float64[features], with which these decisions bring most."""
    from scipy.optimize import minimize

    sizes = [len(one.brought) for one in decisions]
    first = np.cumsum([0, *sizes[:-1]])
    brought = np.concatenate([one.brought for one in decisions])
    features = np.concatenate([one.features - one.features.mean(0) for one in decisions])
    scale = features.std(0)
    scale[scale < 1e-9] = 1.0  # what is the same for all choices keeps its weight
    features /= scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        worth = features @ weights / TEMPERATURE
        odds = np.exp(worth - np.repeat(np.maximum.reduceat(worth, first), sizes))
        odds /= np.repeat(np.add.reduceat(odds, first), sizes)
        brings = np.add.reduceat(odds * brought, first)
        slope = (odds * (brought - np.repeat(brings, sizes))) @ features / TEMPERATURE / len(decisions)
        change = weights - begun * scale
        return PULL * change @ change - brings.mean(), 2 * PULL * change - slope

    return minimize(loss, begun * scale, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x / scale


def fit_all(decisions: list[Decision], begun: np.ndarray) -> np.ndarray:
    """The weights of all rows; prints what the choices of the decks held back bring before and after."""
    found, total = begun.copy(), np.zeros(3)
    print("kind      deadwood  decisions  before   after")
    for row in range(len(begun)):
        here = [one for one in decisions if one.row == row]
        fitted = [one for one in here if one.deck % HELD_BACK]
        if fitted:
            found[row] = fit(fitted, begun[row]).round(6)
        held = [one for one in here if one.deck % HELD_BACK == 0]
        sums = np.array([len(held), *(sum(map(brings(w[row]), held)) for w in (begun, found))])
        _print(KINDS[row // ROWS], f"{row % ROWS}{'+' * (row % ROWS == ROWS - 1)}", sums)
        total += sums
    _print("all", "", total)
    return found


def brings(weights: np.ndarray) -> Callable[[Decision], float]:
    """What a decision brings by these weights."""
    return lambda one: float(one.brought[np.argmax(one.features @ weights)])


def _print(kind: str, deadwood: str, sums: np.ndarray) -> None:
    before, after = (f"{mean:.4f}" if sums[0] else "-" for mean in sums[1:] / max(sums[0], 1))
    print(f"{kind:8}  {deadwood:>8}  {int(sums[0]):>9,}  {before:>6}  {after:>6}")


# --------------------------------------------------------------------------------------------------- the file


def read(path: Path) -> tuple[dict[str, str], np.ndarray]:
    """How the weights of a file were found, by objective, and they themselves, float64[objectives, rows, features]."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = [[row for kind in KINDS for row in content[objective][kind]] for objective in OBJECTIVES]
        how = (
            content["how"] if isinstance(content["how"], dict) else dict.fromkeys(OBJECTIVES, content["how"])
        )
        return how, np.array(rows, float).reshape(len(OBJECTIVES), len(KINDS) * ROWS, N_FEATURES)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path}: no weights of ukeire: {error}") from None


def as_text(how: dict[str, str], weights: np.ndarray) -> str:
    """A file of weights, a row a line."""
    content: dict[str, Any] = {"how": how, "features": FEATURES}
    for objective, rows in zip(OBJECTIVES, weights.tolist(), strict=True):
        content[objective] = dict(zip(KINDS, (rows[:ROWS], rows[ROWS:]), strict=True))
    text = json.dumps(content, indent=1)
    return re.sub(r"\[[^][]*\]", lambda row: f"[{' '.join(row[0][1:-1].split())}]", text) + "\n"


def main() -> None:
    """Read the options, play, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=4_000)
    parser.add_argument("--worlds", type=int, default=100, help="in which each choice is played out")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--objective", choices=OBJECTIVES, default="win")
    parser.add_argument("--from", dest="begun", metavar="FILE", type=Path, default=ukeire.FILE)
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the weights there")
    options = parser.parse_args()
    if not find_spec("scipy"):
        raise InputError("the fit needs SciPy: pip install 'sisepai[bench]'")
    how, weights = read(options.begun)
    digest = hashlib.sha256(options.begun.read_bytes()).hexdigest()
    decisions = collect(weights, options.objective, options.deals, options.worlds, options.seed)
    place = OBJECTIVES.index(options.objective)
    weights[place] = fit_all(decisions, weights[place])
    if options.write:
        command = shlex.join(["python", "benchmarks/fit_ukeire.py", *sys.argv[1:]])
        how[options.objective] = (
            f"From the weights with SHA-256 {digest[:16]}, by what choices bring when they are played out: {command}"
        )
        write_whole(options.write, as_text(how, weights).encode())


if __name__ == "__main__":
    run_main(main)
