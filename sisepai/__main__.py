"""``python -m sisepai`` is the console script ``sisepai``."""

from sisepai.cli.main import cli

if __name__ == "__main__":
    cli(prog_name="sisepai")
