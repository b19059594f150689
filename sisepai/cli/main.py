"""The command ``sisepai``: lists the commands without loading them, loads the one that is asked for."""

import sys
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NoReturn

import click

from sisepai import __version__
from sisepai.cli.boundary import guard
from sisepai.cli.stopping import ending_at_once
from sisepai.errors import unknown_name

# Command NAME lives in sisepai/cli/NAME.py as a click command of that name, with _ for -. The line stands here, so that
# the list of commands is printed without importing any of them.
COMMANDS = {
    "simulate": "Play deals and store them as a run.",
    "report": "Sum up runs: who wins, how, with what scores.",
    "info": "Show what a run is, what is done and what is missing.",
    "export": "Write the deals, events or decks of a run to one file.",
    "replay": "Show one deal turn by turn.",
    "analyze": "Show the melds, deadwood and winning cards of a hand.",
    "rules": "List the rule sets, print one, or compare two (diff).",
    "strategies": "List the strategies, or tell all about one.",
    "check-strategy": "Check that a strategy plays fair, under every rule set.",
    "tune": "Look for better parameters of a strategy.",
}


def module_of(command: str) -> str:
    """The name of a command's file and function."""
    return command.replace("-", "_")


class Commands(click.Group):
    """A group that imports a command's module only when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = module_of(cmd_name)
        command: click.Command = getattr(import_module(f"sisepai.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise unknown_name("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        kwargs["standalone_mode"] = False
        # Whoever hands the words over is a program that goes on afterwards: its signals are its own.
        with nullcontext() if args or "args" in kwargs else ending_at_once():
            code = guard(lambda: super(Commands, self).main(*args, **kwargs))
        sys.exit(code)


@click.group(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate millions of deals of the card game Si Se Pai (Four Colour Cards).

    \b
    Examples:
      sisepai simulate --deals 1e6       play a million deals
      sisepai report runs/0001           and sum them up
      sisepai analyze "Kr Ar Er PrPyPw"  look at one hand
      sisepai COMMAND --help             the options of a command
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
