"""`clairvoyant`: sees all cards and plays each choice out with them: how far luck would let one come, no player."""

from pathlib import Path

from sisepai.engine.records import NO_WINDOW
from sisepai.jit import inner
from sisepai.strategies import greedy, rollout
from sisepai.strategies.base import Parameter, Strategy
from sisepai.strategies.rollout import GREEDY, list_choices, play_choice, result


@inner
def choose(view):
    """The choice that brings most in the true deal if all play on as `greedy`; the choice of `greedy` where it ties."""
    own = greedy.discard(view) if view.table.window == NO_WINDOW else greedy.answer(view)
    by_score = view.parameters.value[0] > 0
    list_choices(view)
    estimates = view.trial.estimates
    best, most = own, -1.0
    for i in range(-1, estimates.n):
        choice = own if i < 0 else estimates.choice[i]
        play_choice(view, choice, GREEDY)
        brought = result(view, by_score)
        if brought > most:
            best, most = choice, brought
        if most > 0 and not by_score:
            break
    return best


STRATEGY = Strategy(
    "clairvoyant",
    "sees all cards and plays each choice out with them; a yardstick for luck, no player",
    choose,
    choose,
    (Parameter("objective", "win", "what is most: deals won, or points", choices=("win", "score")),),
    shard_deals=24_000,
    source="perfect information: how well one would choose who knew where all cards lie",
    cheats=True,
    files=(Path(str(rollout.__file__)), Path(str(greedy.__file__))),
)
