"""Experiment files: TOML whose keys are options of the command; what the command line says wins over them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sisepai.cli.params import WholeNumber
from sisepai.errors import InputError, unknown_name

_FILE = "sisepai.experiment"  # where a command's context keeps the path


def experiment_file(keys: Iterable[str]) -> Callable[[click.Context, click.Parameter, Path | None], None]:
    """The callback of an eager argument: reads the file and makes its values the defaults of the options ``keys``.

    The values are checked by the very types of the options. The callback raises InputError for a file that is not to
    be read, malformed TOML (with file and line), an unknown key or a value that its option refuses.
    """
    known = list(keys)

    def callback(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
        if path is None:
            return
        from sisepai.rules.rulefile import read_toml

        options = {option.name: option for option in ctx.command.params if option.name in known}
        defaults = {}
        for key, value in read_toml(path).items():
            if key not in options:
                raise InputError(f"{path}: {unknown_name('key', key, known)}")
            option = options[key]
            try:
                defaults[key] = option.type.convert(_plain(key, value, option.type), option, ctx)
            except click.BadParameter as error:
                raise InputError(f"{path}: {key}: {error.message}") from error
        ctx.default_map = defaults
        ctx.meta[_FILE] = path

    return callback


@contextmanager
def naming(*keys: str) -> Iterator[None]:
    """Errors within come from the values of ``keys``: name the file and those of the keys that it decided."""
    try:
        yield
    except InputError as error:
        ctx = click.get_current_context()
        there = [key for key in keys if ctx.get_parameter_source(key) is ParameterSource.DEFAULT_MAP]
        if not there:
            raise
        raise InputError(f"{ctx.meta[_FILE]}: {', '.join(there)}: {error}") from error


def typed(key: str) -> bool:
    """Whether the value of an option is not from a file."""
    return click.get_current_context().get_parameter_source(key) is not ParameterSource.DEFAULT_MAP


def _plain(key: str, value: Any, kind: Any) -> Any:
    """The value as it would have been typed; a list of strategies is one text with commas."""
    if isinstance(kind, click.types.BoolParamType):
        return _checked(value, isinstance(value, bool), "true or false")
    if isinstance(kind, WholeNumber):
        is_number = isinstance(value, (int, float, str)) and not isinstance(value, bool)
        return _text(_checked(value, is_number, "a number"))
    if key == "strategies":
        is_list = isinstance(value, list) and bool(value) and all(isinstance(part, str) for part in value)
        _checked(value, is_list or isinstance(value, str), "a text in quotes or a list of texts")
        value = ",".join(value) if is_list else value
    return _checked(value, isinstance(value, str) and "\0" not in value, "a text in quotes")


def _text(value: str | int | float) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes out
        return "1e9999"


def _checked(value: Any, is_right: bool, wanted: str) -> Any:
    if not is_right:
        raise click.BadParameter(f"must be {wanted}")
    return value
