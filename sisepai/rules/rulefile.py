"""Rule sets of one's own: from a TOML file or from options behind a name; and written as a file that explains itself.

Nothing in a file is executed or used as a path; every value goes through the checks of `RuleSet`.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from sisepai.errors import InputError, unknown_name
from sisepai.rules.presets import PRESETS, preset
from sisepai.rules.ruleset import KEYS, PLACES, POINT_KEYS, POINTS, TABLES, TAKES, Key, RuleSet, shown

MAX_BYTES = 100_000  # a file with every key is a twentieth of it
DEFAULT_BASE = "cardavia"
_OPTION = re.compile(r":(?=[^:/\\=]*=)")  # the colon before key=value; not the one of a path
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_WHOLE = re.compile(r"-?\d{1,9}", re.ASCII)


def load(text: str) -> RuleSet:
    """The rule set that `--rules` names: a preset or a TOML file, either with options, `classic:players=3:flowers=5`.

    With options it keeps its name; `spelled` tells such rule sets apart.

    Raises
    ------
    InputError
        No such rule set or file, or something in it is refused; the message names key, value and where they stand.
    """
    source, *assignments = _OPTION.split(text)
    if is_path(source):
        rules = read_rules(Path(source))
    elif ":" in source:
        raise InputError(f"rules '{text}': '{source.partition(':')[2]}' is no option; write key=value")
    else:
        rules = preset(source)
    if not assignments:
        return rules
    try:
        return changed(rules, _options(assignments))
    except InputError as error:
        raise InputError(f"rules '{text}': {error}") from None


def is_path(source: str) -> bool:
    """Whether `--rules` means a file by this, not a preset."""
    return source.endswith(".toml") or "/" in source or os.sep in source


def read_rules(path: Path) -> RuleSet:
    """The rule set in a TOML file: that of its `base` with the keys changed that the file holds.

    Raises
    ------
    InputError
        The file cannot be read, or something in it is refused; one line that begins with the path.
    """
    keys = read_toml(path)
    base = keys.pop("base", DEFAULT_BASE)
    try:
        if not isinstance(base, str):
            raise InputError(f"base = {shown(base)}: must be one of {', '.join(PRESETS)}")
        if base not in PRESETS:
            raise unknown_name("base", base, PRESETS)
        return changed(PRESETS[base], {"name": path.stem, **keys}, ("base", *KEYS))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """The keys of a TOML file.

    Raises
    ------
    InputError
        It cannot be read, is too large, or is not TOML; one line with the path, and the line in the file.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is no path: {error}") from error
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: too large; such a file has at most {MAX_BYTES:,} bytes")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
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
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}: {error}") from error


def changed(rules: RuleSet, keys: Mapping[str, Any], known: tuple[str, ...] = tuple(KEYS)) -> RuleSet:
    """A copy of `rules` with some keys changed; the tables `takes` and `points` may hold only the entries to change.

    One number for points stands for concealed and exposed, one word for a list of melds.

    Raises
    ------
    InputError
        An unknown key (`known` are those a message lists), or a value `RuleSet` refuses.
    """
    values: dict[str, Any] = {}
    for name, value in keys.items():
        if name not in KEYS:
            raise unknown_name("rule key", name, known)
        KEYS[name].check(name, value)
        values[name] = value
        if name in TABLES:
            given = {entry: _entry(name, entry, one) for entry, one in value.items()}
            values[name] = {**getattr(rules, name), **given}
    return rules.with_options(**values)


def _entry(table: str, entry: str, value: Any) -> Any:
    """The value of a table's entry, written out where it was given in short."""
    long = [value] * (2 if table == "points" else 1)
    key = TABLES[table].get(entry)
    return long if key is not None and key.accepts(long) else value


def _options(assignments: list[str]) -> dict[str, Any]:
    """The keys of `key=value` texts; `points.flower=3/1` is an entry of a table."""
    keys: dict[str, Any] = {}
    for assignment in assignments:
        name, _, text = assignment.partition("=")
        table, dot, entry = name.partition(".")
        if not dot and table in TABLES:
            known = next(iter(TABLES[table]))
            raise InputError(
                f"{assignment}: '{table}' is a table; give its entries, as in {table}.{known}=..."
            )
        place = keys.setdefault(table, {}) if dot and table in TABLES else keys
        last = entry if place is not keys else name
        if last in place:
            raise InputError(f"{name} is given twice")
        place[last] = _value(table, text)
    return keys


def _value(table: str, text: str) -> Any:
    """What a text behind `=` means; whether it may stand there is not asked here."""
    if table == "takes":
        return [kind.strip() for kind in text.split(",") if kind.strip()]
    if table == "points" and "/" in text:
        return [_word(part) for part in text.split("/")]
    return text if table == "name" else _word(text)


def _word(text: str) -> bool | int | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _WHOLE.fullmatch(text) else text


def differences(one: RuleSet, other: RuleSet) -> dict[str, tuple[Any, Any]]:
    """The rules in which two rule sets differ, with both values, in the order of the keys; names are no rules."""
    mine, theirs = one.entries(), other.entries()
    return {
        key: (value, theirs[key]) for key, value in mine.items() if key != "name" and value != theirs[key]
    }


def spelled(rules: RuleSet) -> str:
    """The shortest text that tells a rule set from others: its name, and for a preset's name what was changed.

    For a preset with options `load` understands it: `classic:players=3:points.triple=3/2`.
    """
    if rules.name not in PRESETS:
        return rules.name
    changes = differences(rules, PRESETS[rules.name])
    return ":".join([rules.name, *(f"{key}={value_text(key, value)}" for key, (value, _) in changes.items())])


def value_text(key: str, value: Any, comma: str = ",") -> str:
    """A value as options write it: `true`, `3/1` for points, `triple,quad` for melds."""
    table = key.partition(".")[0]
    if table in TABLES:
        return (comma if table == "takes" else "/").join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_toml(rules: RuleSet) -> str:
    """A rule file with every key, its meaning, what it may hold and its value; `load` makes the same rules of it."""
    values = rules.to_dict()
    plain = [name for name in KEYS if name != "name" and name not in TABLES]
    parts = [
        _comment(
            f"The rules of {spelled(rules)}, every key with its value. Save them as my-rules.toml, "
            "change what you like, and play by them with --rules my-rules.toml."
        )
        + "\n",
        _comment(f"Where keys that are left out come from: {', '.join(PRESETS)}."),
        f'base = "{rules.name if rules.name in PRESETS else DEFAULT_BASE}"\n',
        _explained(KEYS["name"]),
        _comment("Left out, it is the name of the file."),
        f"# name = {_plain(rules.name)}\n",
        *(f"{_explained(KEYS[name])}\n{name} = {_plain(values[name])}\n" for name in plain),
        *_takes_lines(values["takes"]),
        *_points_lines(values["points"]),
    ]
    return "\n".join(parts) + "\n"


def _takes_lines(takes: Mapping[str, Any]) -> Iterator[str]:
    note = "kinds that the rules have no meld of change nothing"
    yield _comment(f"{KEYS['takes'].meaning} {_sentence(f'{TAKES[PLACES[0]].allowed}; {note}')}")
    yield "[takes]"
    for place, key in TAKES.items():
        yield _comment(key.meaning)
        yield f"{place} = {_plain(takes[place])}"


def _points_lines(points: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield _comment(
        f"{KEYS['points'].meaning} {_sentence(f'{POINTS[POINT_KEYS[0]].allowed}, or one for both')}"
    )
    yield "[points]"
    for kind, key in POINTS.items():
        yield f"{f'{kind} = {_plain(points[kind])}':24}# {key.meaning}"


def _explained(key: Key) -> str:
    return _comment(f"{key.meaning} {_sentence(key.allowed)}")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _comment(text: str) -> str:
    return fill(text, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _plain(value: Any) -> str:
    """A value of a rule set in TOML, which writes them all as JSON does."""
    return json.dumps(value, ensure_ascii=False)
