"""``python -m sisepai`` is the console script ``sisepai``."""

from sisepai.cli.main import cli

cli(prog_name="sisepai")
