"""Experiment files: TOML whose keys are options of the command; what the command line says wins over them."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from sisepai.errors import InputError, unknown_name

_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


def experiment_file(keys: Iterable[str]) -> Callable[[click.Context, click.Parameter, Path | None], None]:
    """The callback of an eager argument: reads the file and makes its values the defaults of the options ``keys``.

    The values are checked by the very types of the options. The callback raises InputError for malformed TOML (with
    file and line), an unknown key or a value that its option refuses, and OSError when the file cannot be read.
    """
    known = list(keys)

    def callback(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
        if path is None:
            return
        options = {option.name: option for option in ctx.command.params if option.name in known}
        defaults = {}
        for key, value in _parse(path).items():
            if key not in options:
                raise InputError(f"{path}: {unknown_name('key', key, known)}")
            option = options[key]
            try:
                defaults[key] = option.type.convert(_plain(value, option.type), option, ctx)
            except click.BadParameter as error:
                raise InputError(f"{path}: {key}: {error.message}") from error
        ctx.default_map = defaults

    return callback


def _parse(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        match = _LINE.search(message)
        line = int(match[1]) if match else content.rstrip().count(b"\n") + 1
        reason = message[: match.start()] if match else message.removesuffix(" (at end of document)")
        raise InputError(f"{path}, line {line}: {reason}") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply") from error


def _plain(value: Any, kind: Any) -> Any:
    """The value as it would have been typed; a list of texts is one text with commas."""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        value = ",".join(value)
    if isinstance(kind, click.types.BoolParamType):
        if not isinstance(value, bool):
            raise click.BadParameter("must be true or false")
        return value
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or "\0" in (text := _text(value)):
        raise click.BadParameter("must be a number, a text in quotes or a list of texts")
    return text


def _text(value: str | int | float) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes out
        return "1e9999"
