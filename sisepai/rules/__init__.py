"""Rule sets as data, the tables built from them, and what a hand is worth under them."""

from sisepai.rules.presets import PRESETS, preset
from sisepai.rules.ruleset import RuleSet

__all__ = ["PRESETS", "RuleSet", "load", "preset"]


def load(text: str) -> RuleSet:
    """The rule set that `--rules` names.

    Raises
    ------
    InputError
        No such rule set.
    """
    return preset(text)
