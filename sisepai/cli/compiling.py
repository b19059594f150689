"""Says that kernels are compiled, the first time they are: otherwise half a minute passes in silence."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sisepai.strategies import Entry


def announce_compiling(entries: "Iterable[Entry]", quiet: bool = False, explained: bool = False) -> None:
    """Print a line on stderr when kernels that these entries need will be compiled. Call it before a simulator is made.

    Plain Python is played by another kernel than the rest, and so are deals that are ``explained``.
    """
    from sisepai.jit import CACHE_FOLDER, is_compiled

    strategies = [entry.strategy for entry in entries]
    in_steps = any(strategy.player for strategy in strategies)
    needed = ["chunk.step_deal"] * (in_steps or explained) + ["chunk.play_chunk"] * (not in_steps)
    needed += [name for strategy in strategies for name in strategy.kernels]
    if quiet or all(map(is_compiled, needed)):
        return
    if CACHE_FOLDER is None:
        click.echo("compiling the kernels: no folder to keep them in; NUMBA_CACHE_DIR can name one", err=True)
    else:
        click.echo("compiling the kernels, once; later starts skip this", err=True)
