"""Says that kernels are compiled, the first time they are: otherwise half a minute passes in silence."""

import click


def announce_compiling(quiet: bool = False) -> None:
    """Print a line on stderr when the kernels will be compiled. To be called before a simulator is made."""
    from sisepai.jit import CACHE_FOLDER, is_compiled

    if quiet or is_compiled():
        return
    if CACHE_FOLDER is None:
        click.echo("compiling the kernels: no folder to keep them in; NUMBA_CACHE_DIR can name one", err=True)
    else:
        click.echo("compiling the kernels, once; later starts skip this", err=True)
