"""The strategies by name, and how `--strategies` is read."""

from sisepai.errors import InputError, unknown_name
from sisepai.strategies import greedy, random
from sisepai.strategies.base import Entry, Strategy, Value

STRATEGIES: dict[str, Strategy] = {s.name: s for s in (random.STRATEGY, greedy.STRATEGY)}


def parse_entries(text: str, players: int) -> tuple[list[Entry], list[int]]:
    """Read entries separated by commas, one for all seats or one a seat.

    Returns the different entries and, by seat, which of them sits there.

    Raises
    ------
    InputError
        An unknown strategy or parameter, a value out of range, or a number of entries that fits no table.
    """
    given = [_parse_entry(part.strip()) for part in text.split(",")]
    if len(given) not in (1, players):
        raise InputError(
            f"--strategies '{text}': {len(given)} entries for {players} seats; give one for all seats or {players}"
        )
    by_seat = given * players if len(given) == 1 else given
    entries: list[Entry] = []
    for entry in by_seat:
        if entry not in entries:
            entries.append(entry)
    return entries, [entries.index(entry) for entry in by_seat]


def strategy(name: str) -> Strategy:
    """The strategy of that name.

    Raises
    ------
    InputError
        There is none; the message gives the nearest name and all names.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    raise unknown_name("strategy", name, STRATEGIES)


def _parse_entry(text: str) -> Entry:
    name, *assignments = text.split(":")
    chosen = strategy(name)
    params: dict[str, Value] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f"strategy '{text}': '{assignment}' is no parameter; write key=value")
        if key in params:
            raise InputError(f"strategy '{text}': parameter '{key}' is given twice")
        params[key] = _value(chosen, key, value)
    # In the strategy's own order and without defaults, so that equal entries are equal.
    kept = {p.name: params[p.name] for p in chosen.parameters if params.get(p.name, p.default) != p.default}
    return Entry(chosen, kept)


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
