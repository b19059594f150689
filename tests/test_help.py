"""Every command and option explains itself, in characters that any terminal can show."""

from pathlib import Path

import click
import pytest

import sisepai.cli
from sisepai import __version__
from sisepai.cli.main import COMMANDS, cli, module_of
from sisepai.cli.params import Choice


@pytest.fixture(params=COMMANDS)
def command(request) -> click.Command:
    return cli.get_command(click.Context(cli), request.param)


def test_the_group_lists_every_command(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for name, line in COMMANDS.items():
        assert f"{name}  " in result.stdout
        assert line in result.stdout
    assert invoke().stdout == result.stdout
    assert invoke("-h").stdout == result.stdout


def test_the_group_knows_every_command_file():
    for path in Path(sisepai.cli.__file__).parent.glob("*.py"):
        if "@click.command" in path.read_text(encoding="utf-8"):
            assert path.stem in map(module_of, COMMANDS)


def test_a_command_has_help_with_an_example(command):
    assert command.help, f"{command.name} has no help"
    assert "Example" in command.help
    assert f"sisepai {command.name} " in command.help or f"sisepai {command.name}\n" in command.help


def test_an_option_has_help(command):
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command.name} {parameter.opts[0]} has no help"


def test_help_is_plain_and_fits(command, invoke):
    result = invoke(command.name, "--help")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_choices_suggest_the_nearest(command):
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice):
            assert isinstance(parameter.type, Choice), (
                f"{command.name} {parameter.opts[0]}: use params.Choice"
            )


def test_version(invoke):
    assert invoke("--version").stdout == f"sisepai {__version__}\n"
