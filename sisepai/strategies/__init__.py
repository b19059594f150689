"""The strategies that play, one file each, and the registry that knows them by name."""

from sisepai.strategies.base import Entry, Parameter, Strategy
from sisepai.strategies.registry import STRATEGIES, parse_entries, strategy

__all__ = ["STRATEGIES", "Entry", "Parameter", "Strategy", "parse_entries", "strategy"]
