"""A manifest as the command that asks for it. Built of checked values alone, so that it may be shown and copied."""

import shlex
from collections.abc import Mapping

from sisepai.rules import PRESETS, RuleSet, differences, spelled
from sisepai.rules.rulefile import value_text
from sisepai.runs.manifest import Manifest
from sisepai.strategies import STRATEGIES, Strategy
from sisepai.strategies.base import CHEATS
from sisepai.strategies.base import spelled as entry_text


def command_of(manifest: Manifest, *more: str, plugged: Mapping[str, Strategy] | None = None) -> str:
    """The `sisepai simulate` command of a run and ``more`` words, quoted for a shell; where to play is not in it.

    The manifest does not know where plug-ins come from: ``plugged`` are those that the user has named, by name. For
    one that is not among them stands the word FILE.
    """
    words = [
        "sisepai",
        "simulate",
        *_table(manifest),
        "--deals",
        str(manifest.deals),
        "--seed",
        str(manifest.seed),
    ]
    words += ["--events"] if manifest.events else []
    return shlex.join([*words, *_leave(manifest, plugged or {}), *more])


def replay_of(manifest: Manifest, deal: int, plugged: Mapping[str, Strategy]) -> str:
    """The command that shows a deal of a run, whether it is stored or not; ``plugged`` as for `command_of`."""
    words = ["sisepai", "replay", *_table(manifest), "--seed", str(manifest.seed), "--deal", str(deal)]
    return shlex.join([*words, *_leave(manifest, plugged)])


def report_of(path: str) -> str:
    """The command that sums up the run in ``path``."""
    return shlex.join(["sisepai", "report", path])


def _table(manifest: Manifest) -> list[str]:
    """The options that say who plays what."""
    entries = [entry_text(strategy.name, strategy.params) for strategy in manifest.strategies]
    seats = [entries[seat] for seat in manifest.seats] if len(entries) > 1 else entries
    words = [
        "--strategies",
        ",".join(seats),
        "--seating",
        manifest.seating,
        "--rules",
        _rules(manifest.rules),
    ]
    return [*words, "--match", str(manifest.match)] if manifest.match else words


def _leave(manifest: Manifest, plugged: Mapping[str, Strategy]) -> list[str]:
    """The options without which strategies of the run do not play."""
    named = [strategy.name for strategy in manifest.strategies if strategy.name not in STRATEGIES]
    files = dict.fromkeys(plugged[name].plugin if name in plugged else "FILE" for name in named)
    words = [word for file in files for word in ("--plugin", file)]
    cheats = any(label.endswith(CHEATS) for label in manifest.labels)
    return [*words, "--allow-cheating"] if cheats else words


def _rules(rules: RuleSet) -> str:
    """Text that `--rules` reads as these rules; those of a file are told from the preset that is nearest to them."""
    if rules.name in PRESETS:
        return spelled(rules)
    base = min(PRESETS.values(), key=lambda preset: len(differences(rules, preset)))
    changes = differences(rules, base).items()
    options = [f"{key}={value_text(key, value)}" for key, (value, _) in changes]
    return ":".join([base.name, f"name={rules.name}", *options])
