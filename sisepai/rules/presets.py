"""The rule sets that come with the program (docs/rules.md)."""

from sisepai.cards import MELDS
from sisepai.errors import unknown_name
from sisepai.rules.ruleset import RuleSet

_ANY_MELD = MELDS
_OUT_OF_TURN = ("triple", "quad")

CARDAVIA = RuleSet()

CLASSIC = RuleSet(
    name="classic",
    flowers=0,
    dealer_leads=True,
    show_dealt_quads=True,
    colour_groups="any",
    general_quads=True,
    claim_general_quad=True,
    takes={
        "draw_drawer": _ANY_MELD,
        "draw_next": _OUT_OF_TURN,
        "draw_others": _OUT_OF_TURN,
        "discard_next": _ANY_MELD,
        "discard_others": _OUT_OF_TURN,
    },
    points={
        "general": (1, 1), "flower": (1, 1), "pair": (0, 0), "triple": (3, 1), "quad": (8, 6),
        "general_quad": (8, 6), "command": (1, 1), "field": (1, 1), "soldiers3": (1, 1), "soldiers4": (4, 4),
        "colours3": (1, 1), "colours4": (4, 4),
    },
)  # fmt: skip

TEN_HU = CLASSIC.with_options(
    name="ten-hu",
    colour_groups="soldiers",
    soldier_pairs=False,
    min_points=10,
    undrawn=6,
    points={
        "general": (1, 1), "flower": (1, 1), "pair": (0, 0), "triple": (3, 1), "quad": (8, 6),
        "general_quad": (6, 8), "command": (2, 2), "field": (1, 1), "soldiers3": (3, 3), "soldiers4": (5, 5),
        "colours3": (1, 1), "colours4": (4, 4),
    },
)  # fmt: skip

PRESETS: dict[str, RuleSet] = {rules.name: rules for rules in (CARDAVIA, CLASSIC, TEN_HU)}


def preset(name: str) -> RuleSet:
    """The rule set of that name.

    Raises
    ------
    InputError
        There is none; the message gives the nearest name and all names.
    """
    if name in PRESETS:
        return PRESETS[name]
    raise unknown_name("rule set", name, PRESETS)
