"""Rule sets as data, the tables built from them, and what a hand is worth under them."""

from sisepai.rules.presets import PRESETS, preset
from sisepai.rules.rulefile import differences, load, spelled
from sisepai.rules.ruleset import RuleSet

__all__ = ["PRESETS", "RuleSet", "differences", "load", "preset", "spelled"]
