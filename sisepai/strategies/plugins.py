"""Strategies from elsewhere: files that the user names, and installed packages' entry points.

Loading runs their code. So nothing is loaded but what the command line names: no manifest, no other file leads here.
"""

import inspect
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from sisepai.engine.records import MOST_PARAMETERS
from sisepai.errors import InputError, unknown_name
from sisepai.files import read_small
from sisepai.strategies.base import FAST_SHARD, Parameter, Strategy

GROUP = "sisepai.strategies"  # of entry points
PLAIN_SHARD = 240  # deals a shard of strategies in plain Python; a multiple of 24
SHARD_STEP, MOST_SHARD = 24, 24_000_000
MOST_BYTES = 10_000_000  # of a file
MOST_NAME = 40  # characters


def is_file(word: str) -> bool:
    """Whether a word of the command line means a file, and no name."""
    return word.endswith(".py")


def installed() -> dict[str, EntryPoint]:
    """What installed packages offer, by name; nothing of it is loaded."""
    return {point.name: point for point in entry_points(group=GROUP)}


def load(word: str, taken: Collection[str]) -> dict[str, Strategy]:
    """The strategies, by name, of a file `word` or of the entry point with that name; `taken` are no names for them.

    Raises
    ------
    InputError
        There is nothing of the kind, or it does anything wrong; one line, with the file and where it can the line.
    """
    try:
        if is_file(word):
            return _of_file(Path(word).expanduser(), word, taken)
        return _of_package(word, taken)
    except InputError as error:
        raise InputError(f"{word}: {error}") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home for a `~`
        raise InputError(f"{word}: {getattr(error, 'strerror', None) or error}") from error


def strategy_of(thing: Any) -> Strategy:
    """A Strategy, checked, or a class in plain Python as one.

    Raises
    ------
    InputError
        It is neither, or something about it is not as it should be.
    """
    made = _of_class(thing) if inspect.isclass(thing) else thing
    if not isinstance(made, Strategy):
        raise InputError(f"{thing!r} is no Strategy and no class with answer and discard")
    if not _is_word(made.name):
        raise InputError(f"{made.name!r} is no name: letters, digits, - and _ make one")
    try:
        _check(made)
    except InputError as error:
        raise InputError(f"strategy '{made.name}': {error}") from error
    return made


def _of_file(path: Path, word: str, taken: Collection[str]) -> dict[str, Strategy]:
    place = path.resolve()
    module = _module(place, read_small(place, MOST_BYTES))
    single = [module.STRATEGY] if hasattr(module, "STRATEGY") else []
    listed = getattr(module, "STRATEGIES", single)
    if not isinstance(listed, (tuple, list)) or not listed:
        raise InputError("it must define STRATEGIES, a tuple of strategies, or STRATEGY, one")
    found: dict[str, Strategy] = {}
    for thing in listed:
        one = strategy_of(thing)
        if one.name in taken:
            raise InputError(f"'{one.name}' is the name of a built-in strategy; choose another")
        if one.name in found:
            raise InputError(f"it has two strategies called '{one.name}'")
        found[one.name] = _loaded(replace(one, files=(place, *one.files)), word)
    return found


def _of_package(name: str, taken: Collection[str]) -> dict[str, Strategy]:
    points = installed()
    if name in taken:
        raise InputError(
            "a built-in strategy, no plug-in; a plug-in is a file ending in .py or an installed name"
        )
    if name not in points:
        raise unknown_name("plug-in", name, points) if points else InputError(
            "no such plug-in; give a file ending in .py, or the name of an installed one"
        )  # fmt: skip
    with _one_line(""):
        thing = points[name].load()
    one = strategy_of(thing)
    if one.name != name:
        raise InputError(f"its strategy is called '{one.name}'; an entry point has its strategy's name")
    return {name: _loaded(one, name)}


def _loaded(one: Strategy, word: str) -> Strategy:
    # A file that gives a digest of its own is not believed.
    return replace(one, plugin=word, loaded=replace(one, loaded="").digest())


@cache
def _module(path: Path, source: bytes) -> ModuleType:
    """The file's code, run once for what is in it. No bytecode is kept: that would be told by its date alone."""
    module = ModuleType(f"sisepai_plugin_{sha256(bytes(path) + source).hexdigest()[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where classes look for the names of their annotations
    with _one_line(str(path)):
        exec(compile(source, path, "exec"), module.__dict__)
    return module


@contextmanager
def _one_line(file: str) -> Iterator[None]:
    """Whatever a plug-in raises becomes an InputError with the line of ``file`` it comes from."""
    try:
        yield
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
        ]
        text = str(error)
        if isinstance(error, SyntaxError):
            text = error.msg
            lines += [error.lineno] if error.lineno and error.filename == file else []
        text = " ".join(text.split())
        where = f"line {lines[-1]}: " if lines else ""
        raise InputError(f"{where}{type(error).__name__}{f': {text}' if text else ''}") from error


def _of_class(player: type) -> Strategy:
    """A class in plain Python; what it does not say of itself follows from its name."""
    for method in ("answer", "discard"):
        if not callable(getattr(player, method, None)):
            raise InputError(f"class {player.__name__} has no method {method}(self, view)")
    said = inspect.cleandoc(player.__doc__ or "").partition("\n")[0]
    more = {
        key: getattr(player, key) for key in ("files", "source", "cheats", "explains") if hasattr(player, key)
    }
    return Strategy(
        getattr(player, "name", player.__name__.lower()),
        getattr(player, "summary", said),
        parameters=getattr(player, "parameters", ()),
        shard_deals=getattr(player, "shard_deals", PLAIN_SHARD),
        player=player,
        **more,
    )


def _check(made: Strategy) -> None:
    for key, kind in (("summary", str), ("source", str), ("cheats", bool), ("explains", bool)):
        if not isinstance(getattr(made, key), kind):
            raise InputError(f"{key} must be {'text' if kind is str else 'True or False'}")
    for key, kinds in (("parameters", Parameter), ("weights", (int, float)), ("files", Path)):
        value = getattr(made, key)
        if not isinstance(value, tuple) or not all(isinstance(one, kinds) for one in value):
            what = {"parameters": "Parameter records", "weights": "numbers", "files": "paths"}[key]
            raise InputError(f"{key} must be a tuple of {what}")
    for path in made.files:
        if not Path(path).is_file():
            raise InputError(f"files: there is no file {path}")
    step = made.shard_deals
    if type(step) is not int or not 0 < step <= MOST_SHARD or step % SHARD_STEP:
        raise InputError(f"shard_deals = {step!r}: must be a multiple of {SHARD_STEP}, such as {FAST_SHARD}")
    if len(made.parameters) + len(made.weights) > MOST_PARAMETERS:
        raise InputError(f"it has more than {MOST_PARAMETERS} parameters and weights")
    for parameter in made.parameters:
        _check_parameter(parameter)
    names = [parameter.name for parameter in made.parameters]
    if len(set(names)) < len(names):
        raise InputError(f"two of its parameters have one name ({', '.join(names)})")
    _check_functions(made)


def _check_parameter(parameter: Parameter) -> None:
    name = parameter.name
    if not _is_word(name) or not name.isidentifier():
        raise InputError(f"{name!r} is no name of a parameter: letters, digits and _ make one")
    if not isinstance(parameter.help, str):
        raise InputError(f"parameter {name}: help must be text")
    if not isinstance(parameter.choices, tuple) or not all(_is_word(choice) for choice in parameter.choices):
        raise InputError(f"parameter {name}: choices must be a tuple of words")
    try:
        if not parameter.choices and not parameter.low <= parameter.high:
            raise InputError(f"low {parameter.low} is above high {parameter.high}")
        parameter.check(parameter.default)
    except InputError as error:
        raise InputError(f"parameter {name}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"parameter {name}: low, high and default must be numbers") from error


def _check_functions(made: Strategy) -> None:
    if made.player is None:
        for key in ("answer", "discard"):
            function = getattr(made, key)
            function = getattr(function, "py_func", function)
            if not inspect.isfunction(function):
                raise InputError(f"{key} must be a function")
            _check_call(function, f"{key} must take the view alone: {key}(view)", None)
        return
    settings = {parameter.name: parameter.default for parameter in made.parameters}
    _check_call(
        made.player, f"must be made with its parameters as keywords ({', '.join(settings)})", **settings
    )
    for key in ("answer", "discard"):
        _check_call(
            getattr(made.player, key), f"{key} must take the view alone: {key}(self, view)", None, None
        )
    with _one_line(inspect.getfile(made.player)):
        made.player(**settings)


def _check_call(function: Callable[..., Any], what: str, *values: Any, **settings: Any) -> None:
    try:
        inspect.signature(function).bind(*values, **settings)
    except (TypeError, ValueError) as error:
        raise InputError(what) from error


def _is_word(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= MOST_NAME and text.replace("-", "_").isidentifier()
