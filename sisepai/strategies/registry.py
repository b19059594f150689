"""The strategies by name, and how `--strategies` is read."""

from collections.abc import Iterable, Mapping, Sequence

from sisepai.errors import InputError, unknown_name
from sisepai.strategies import clairvoyant, greedy, plugins, random, search, ukeire
from sisepai.strategies.base import Entry, Strategy, Value

STRATEGIES: dict[str, Strategy] = {
    module.STRATEGY.name: module.STRATEGY for module in (random, greedy, ukeire, search, clairvoyant)
}


def parse_entries(
    text: str, players: int, plugged: Mapping[str, Strategy] | None = None, load: bool = True
) -> tuple[list[Entry], list[int]]:
    """Read entries separated by commas, one for all seats or one a seat.

    An entry is a name, or a file of plug-ins as in `./mine.py:bold`, with its parameters. ``plugged`` are plug-ins
    that are loaded already; no other is without ``load``, for texts that the user has not typed. Returns the
    different entries and, by seat, which of them sits there.

    Raises
    ------
    InputError
        An unknown strategy or parameter, a value out of range, a plug-in that cannot be loaded, or a number of
        entries that fits no table.
    """
    given = [_parse_entry(part.strip(), plugged or {}, load) for part in text.split(",")]
    if len(given) not in (1, players):
        raise InputError(
            f"--strategies '{text}': {len(given)} entries for {players} seats; give one for all seats or {players}"
        )
    by_seat = given * players if len(given) == 1 else given
    entries: list[Entry] = []
    for entry in by_seat:
        if entry not in entries:
            entries.append(entry)
    for entry in entries:
        if any(entry.name == other.name and entry.strategy != other.strategy for other in entries):
            raise InputError(
                f"--strategies '{text}': two plug-ins have a strategy '{entry.name}'; rename one"
            )
    return entries, [entries.index(entry) for entry in by_seat]


def load_plugins(words: Iterable[str]) -> dict[str, Strategy]:
    """The strategies, by name, of files and installed plug-ins that the user names.

    Raises
    ------
    InputError
        One cannot be loaded, or two have a name in common.
    """
    found: dict[str, Strategy] = {}
    for word in words:
        for name, one in plugins.load(word, STRATEGIES).items():
            if found.setdefault(name, one) != one:
                raise InputError(f"two plug-ins have a strategy '{name}': {found[name].plugin} and {word}")
    return found


def plugged_of(entries: Iterable[Entry]) -> dict[str, Strategy]:
    """The plug-ins, by name, among entries."""
    return {entry.name: entry.strategy for entry in entries if entry.strategy.plugin}


def check_cheating(entries: Sequence[Entry], allowed: bool) -> None:
    """Refuse strategies that are shown all cards, unless that is ``allowed``.

    Raises
    ------
    InputError
        There is one; the message names it.
    """
    for entry in entries:
        if entry.strategy.cheats and not allowed:
            raise InputError(
                f"strategy '{entry.name}' is shown all cards; it plays with --allow-cheating only"
            )


def strategy(name: str, plugged: Mapping[str, Strategy] | None = None, load: bool = True) -> Strategy:
    """The strategy of a name: built in, one of ``plugged``, or, where it may be loaded, an installed plug-in.

    Raises
    ------
    InputError
        There is none; the message gives the nearest name and all names.
    """
    known = {**STRATEGIES, **(plugged or {})}
    if name in known:
        return known[name]
    offered = plugins.installed()
    if name in offered:
        if not load:
            raise InputError(_only_typed(name, name))
        return plugins.load(name, STRATEGIES)[name]
    raise unknown_name("strategy", name, [*known, *offered])


def _parse_entry(text: str, plugged: Mapping[str, Strategy], load: bool) -> Entry:
    file, words = _split(text)
    if file and not load:
        raise InputError(_only_typed(file, "NAME"))
    chosen = _of_file(file, words) if file else strategy(words.pop(0), plugged, load)
    params: dict[str, Value] = {}
    for assignment in words:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f"strategy '{text}': '{assignment}' is no parameter; write key=value")
        if key in params:
            raise InputError(f"strategy '{text}': parameter '{key}' is given twice")
        params[key] = _value(chosen, key, value)
    # In the strategy's own order and without defaults, so that equal entries are equal.
    kept = {p.name: params[p.name] for p in chosen.parameters if params.get(p.name, p.default) != p.default}
    return Entry(chosen, kept)


def _only_typed(word: str, name: str) -> str:
    """Why a plug-in is not loaded that something else than the command line names."""
    return f"'{word}' is code, which the command line alone may name: --plugin {word}, and here {name}"


def _split(text: str) -> tuple[str, list[str]]:
    """The file that an entry begins with, if it does, and the words after it. A path may have colons too."""
    words = text.split(":")
    for end in range(1, len(words) + 1):
        if plugins.is_file(words[end - 1]):
            return ":".join(words[:end]), words[end:]
    return "", words


def _of_file(file: str, words: list[str]) -> Strategy:
    """The strategy of a plug-in file that the words begin with; it need not be named where it is the only one."""
    found = plugins.load(file, STRATEGIES)
    if words and "=" not in words[0]:
        name = words.pop(0)
        if name not in found:
            raise unknown_name(f"strategy of {file}", name, found)
        return found[name]
    if len(found) > 1:
        raise InputError(
            f"{file} has several strategies; name one: {', '.join(f'{file}:{name}' for name in found)}"
        )
    return next(iter(found.values()))


def _value(chosen: Strategy, key: str, text: str) -> Value:
    known = {p.name: p for p in chosen.parameters}
    if key not in known:
        if not known:
            raise InputError(f"strategy '{chosen.name}' has no parameters, but '{key}' is given")
        raise unknown_name(f"parameter of {chosen.name}", key, known)
    try:
        return known[key].read(text)
    except InputError as error:
        raise InputError(f"strategy '{chosen.name}': {error}") from error
