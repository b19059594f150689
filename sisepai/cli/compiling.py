"""Says that kernels are compiled, the first time they are: otherwise half a minute passes in silence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sisepai.strategies import Strategy


def announce_compiling(
    quiet: bool = False, plugged: "Mapping[str, Strategy] | None" = None, explained: bool = False
) -> None:
    """Print a line on stderr when the kernels will be compiled. To be called before a simulator is made.

    Plain Python among the ``plugged`` strategies is played by another kernel, and so are deals that are ``explained``.
    """
    from sisepai.jit import CACHE_FOLDER, is_compiled

    in_steps = any(strategy.player for strategy in (plugged or {}).values())
    needed = ["step_deal"] * (in_steps or explained) + ["play_chunk"] * (not in_steps)
    if quiet or all(map(is_compiled, needed)):
        return
    if CACHE_FOLDER is None:
        click.echo("compiling the kernels: no folder to keep them in; NUMBA_CACHE_DIR can name one", err=True)
    else:
        click.echo("compiling the kernels, once; later starts skip this", err=True)
