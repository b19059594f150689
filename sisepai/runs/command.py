"""A manifest as the command that asks for it. Built of checked values alone, so that it may be shown and copied."""

import shlex

from sisepai.rules import PRESETS, RuleSet, differences, spelled
from sisepai.rules.rulefile import value_text
from sisepai.runs.manifest import Manifest, PlannedEntry
from sisepai.strategies.base import short


def command_of(manifest: Manifest, *more: str) -> str:
    """The `sisepai simulate` command of a run and ``more`` words, quoted for a shell; where to play is not in it."""
    entries = [_entry(strategy) for strategy in manifest.strategies]
    seats = [entries[seat] for seat in manifest.seats] if len(entries) > 1 else entries
    words = ["sisepai", "simulate", "--strategies", ",".join(seats), "--seating", manifest.seating]
    words += ["--rules", _rules(manifest.rules)]
    words += ["--match", str(manifest.match)] if manifest.match else []
    words += ["--deals", str(manifest.deals), "--seed", str(manifest.seed)]
    words += ["--events"] if manifest.events else []
    return shlex.join([*words, *more])


def report_of(path: str) -> str:
    """The command that sums up the run in ``path``."""
    return shlex.join(["sisepai", "report", path])


def _rules(rules: RuleSet) -> str:
    """Text that `--rules` reads as these rules; those of a file are told from the preset that is nearest to them."""
    if rules.name in PRESETS:
        return spelled(rules)
    base = min(PRESETS.values(), key=lambda preset: len(differences(rules, preset)))
    changes = differences(rules, base).items()
    options = [f"{key}={value_text(key, value)}" for key, (value, _) in changes]
    return ":".join([base.name, f"name={rules.name}", *options])


def _entry(strategy: PlannedEntry) -> str:
    return ":".join([strategy.name, *(f"{key}={short(value)}" for key, value in strategy.params.items())])
