"""What a meld is: every meld a rule set knows, and its points. Tables and partitions are built from here."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

from sisepai.cards import FLOWER, MELDS
from sisepai.rules.ruleset import RuleSet

Cards = tuple[int, ...]


def points_of(rules: RuleSet, kind: str, cards: Sequence[int], exposed: bool) -> int:
    """Points of a meld under a rule set."""
    key = kind
    if kind == "single":
        key = "flower" if cards[0] == FLOWER else "general"
    elif kind == "quad" and cards[0] % 7 == 0:
        key = "general_quad"
    return rules.points[key][exposed]


@cache
def melds_of(rules: RuleSet) -> dict[Cards, str]:
    """Every meld a rule set knows: its cards in order of card number, and its kind."""
    melds: dict[Cards, str] = {(FLOWER,): "single"}
    for colour in range(4):
        general, advisor, elephant, chariot, horse, cannon, _ = range(7 * colour, 7 * colour + 7)
        melds |= {
            (general,): "single",
            (general, advisor, elephant): "command",
            (chariot, horse, cannon): "field",
        }
        if rules.general_quads:
            melds[(general,) * 4] = "quad"
        for card in range(7 * colour + 1, 7 * colour + 7):
            for size in (2, 3, 4):
                melds[(card,) * size] = MELDS[size - 1]
        if not rules.soldier_pairs:
            del melds[(7 * colour + 6,) * 2]
    for rank in range(1, 7) if rules.colour_groups == "any" else (6,):
        for size in (3, 4):
            for group in combinations(range(rank, FLOWER, 7), size):
                melds[group] = f"{'soldiers' if rank == 6 else 'colours'}{size}"
    return melds
