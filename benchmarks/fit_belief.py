"""Finds the weights of the belief of `search` about hidden hands: the constants of sisepai/strategies/belief.py.

    python benchmarks/fit_belief.py --deals 20000

At each decision of `ukeire` against three `greedy` every other hand is held against itself with one card exchanged for
one of the stock. The weights are those of the logistic regression that tells which is the true one; standard errors
are over decks, since the same hand is met again and again.
"""

import argparse
from functools import cache

import numba
import numpy as np
from children import run_main
from decisions import note_decisions, simulator

from sisepai.cards import N_TYPES
from sisepai.engine.chunk import VIEW
from sisepai.engine.randomness import below
from sisepai.engine.records import GAME
from sisepai.engine.stepper import Stepper
from sisepai.errors import InputError
from sisepai.jit import inner, kernel
from sisepai.rules.hand import add_card, remove_card
from sisepai.strategies import belief, parse_entries

SEED = 9
# The constants that are found; those from LONE on count for each exposed meld of the seat.
TERMS = ("PASSED_PAIR", "DISCARDED", "PASSED_RUN", "PASSED_WIN", "LONE", "LOOSE_SOLDIER", "DEADWOOD")
N_TERMS, LONE = len(TERMS), TERMS.index("LONE")
NEVER = 1e-3  # of the hands: what is rarer among true ones has no weight that could be told


def compare_hands(view, game, pairs):
    """Fill `pairs` with the terms of each other hand, as it is and with a card exchanged; returns how many hands."""
    belief.set_up(view)
    n = 0
    for seat in range(view.tables.players):
        if seat == view.seat or view.table.stock == 0:
            continue
        view.trial.start.hands[seat] = game.hands[seat]
        hand = view.trial.start.hands[seat]
        old = _any_card(view, hand)
        new = np.int64(game.hidden.deck[game.hidden.next + below(view.rng, view.table.stock)])
        if old == new:
            continue
        _note_terms(view, seat, hand, pairs[n, 0])
        remove_card(view.tables, hand, old)
        add_card(view.tables, hand, new)
        _note_terms(view, seat, hand, pairs[n, 1])
        n += 1
    return n


@inner
def _any_card(view, hand):
    place, card = below(view.rng, hand.cards), 0
    while card < N_TYPES - 1 and place >= hand.count[card]:
        place -= hand.count[card]
        card += 1
    return card


@inner
def _note_terms(view, seat, hand, row):
    terms = belief.terms(view, seat, hand)
    for i in range(N_TERMS):
        row[i] = terms[i] * (view.table.melds[seat] if i >= LONE else 1)


@cache
def _kernel():
    signature = numba.int64(VIEW, numba.from_dtype(GAME), numba.float64[:, :, ::1])
    return kernel(signature, keep=False)(compare_hands)


def collect(deals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of hands as float64[n, 2, terms], the true one first, and the decks they are from as int64[n]."""

    def note(deck: int, stepper: Stepper) -> tuple[int, np.ndarray]:
        pairs = np.empty((3, 2, N_TERMS))
        return deck, pairs[: compare(stepper.view(), stepper.work.game, pairs)]

    compare = _kernel()
    noted = note_decisions(simulator(parse_entries("ukeire", 2)[0][0], seed), deals, note)
    decks, pairs = zip(*noted, strict=True)
    return np.concatenate(pairs), np.repeat(decks, [len(some) for some in pairs])


def fit(more: np.ndarray, decks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and their standard errors from by how much the terms of the true hands are more, by Newton's method."""
    weights = np.zeros(more.shape[1])
    for _ in range(20):
        wrong = 1 / (1 + np.exp(more @ weights))  # the odds given to the hand that is not the true one
        try:
            curved = np.linalg.inv((more * (wrong * (1 - wrong))[:, None]).T @ more)
        except np.linalg.LinAlgError:
            break
        step = curved @ (more.T @ wrong)
        weights += step
        if np.abs(step).max() < 1e-9:
            return weights, _errors(more * wrong[:, None], decks, curved)
    raise InputError("so few deals do not settle the weights; play more of them (--deals)")


def _errors(pulls: np.ndarray, decks: np.ndarray, curved: np.ndarray) -> np.ndarray:
    """Standard errors over decks (the sandwich), from how each hand pulls at the weights."""
    sums = np.zeros((decks.max() + 1, pulls.shape[1]))
    np.add.at(sums, decks, pulls)
    return np.sqrt(np.diag(curved @ (sums.T @ sums) @ curved))


def main() -> None:
    """Read the options, play, fit and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    pairs, decks = collect(options.deals, options.seed)
    seen = (pairs[:, 0] > 0).mean(0)
    told = seen >= NEVER
    # Where a term that true hands never show tells the two apart, the others have nothing to add.
    open_ones = (pairs[:, 0, ~told] == pairs[:, 1, ~told]).all(1)
    weights, errors = fit((pairs[:, 0] - pairs[:, 1])[open_ones][:, told], decks[open_ones])
    found = iter(zip(weights, errors, strict=True))
    print(f"{len(pairs):,} hands in {options.deals:,} deals\n")
    print(f"{'':15}  in use   found  std. error  true hands that show it")
    for place, name in enumerate(TERMS):
        text = "  never" + 12 * " " if not told[place] else "{:7.3f}     {:7.3f}".format(*next(found))
        print(f"{name:15}  {getattr(belief, name):6.2f} {text}  {seen[place]:.2%}")


if __name__ == "__main__":
    run_main(main)
