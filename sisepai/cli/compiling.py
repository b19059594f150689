"""Says that kernels are compiled, the first time they are: otherwise half a minute passes in silence."""

import click


def announce_compiling(quiet: bool = False) -> None:
    """Print a line on stderr when the kernels will be compiled. To be called before a simulator is made."""
    from sisepai.jit import is_compiled

    if not quiet and not is_compiled():
        click.echo("compiling the kernels, once; later starts skip this", err=True)
