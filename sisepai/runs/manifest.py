"""The manifest: the plan of a run alone, as JSON. Two runs with the same manifest hold the same bytes.

Nothing read from a manifest is trusted: every key has a type and a range, unknown keys are refused, and no text in it
is ever used as a path or executed.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sisepai.errors import InputError
from sisepai.files import read_small
from sisepai.rules import RuleSet
from sisepai.runs import MAX_MATCH, SEATINGS
from sisepai.runs.plan import MAX_DEALS, Plan

SCHEMA = 1
FILE = "manifest.json"
MAX_BYTES = 1_000_000  # no manifest comes near; a file of gigabytes must not be read into memory
MAX_SEED = 2**64 - 1
MAX_SHARD = 24_000_000
MAX_LABEL = 4_000  # characters: a strategy may have dozens of parameters
_LONGEST, _BEFORE = 80, 20  # characters of a value in a message, and of them before what differs


@dataclass(frozen=True)
class PlannedEntry:
    """An entry of a run: its label in files and reports, and what it takes to make it again."""

    label: str
    name: str
    params: Mapping[str, Any]
    digest: str  # hex, of the strategy's code and weights


@dataclass(frozen=True)
class Manifest:
    """What a run was asked to be.

    ``strategies`` are the distinct entries, ``seats`` entry numbers by seat, ``deals`` a whole number of blocks or
    matches, ``match`` the deals of a match, 0 when there are none.

    Raises
    ------
    InputError
        The keys contradict one another; the message names one of them.
    """

    rules: RuleSet
    strategies: tuple[PlannedEntry, ...]
    seats: tuple[int, ...]
    seating: str
    seed: int
    deals: int
    events: bool
    shard_deals: int
    match: int = 0
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if len(self.seats) != self.rules.players:
            raise InputError(
                f"seats: {len(self.seats)} of them, but the rules have {self.rules.players} players"
            )
        if sorted(set(self.seats)) != list(range(len(self.strategies))):
            raise InputError(
                f"seats = {list(self.seats)}: must name each of the {len(self.strategies)} strategies"
            )
        if len(set(self.labels)) != len(self.labels):
            raise InputError(f"strategies: two have the same label ({', '.join(self.labels)})")
        _ = self.plan  # refuses deals and shards that do not fit

    @cached_property
    def plan(self) -> Plan:
        """The numbering of deals, decks, seatings and shards."""
        return Plan(self.seats, self.seating, self.deals, self.shard_deals, self.match)

    @cached_property
    def rules_digest(self) -> str:
        """Digest (hex) of the rule set."""
        return self.rules.digest()

    @property
    def labels(self) -> tuple[str, ...]:
        """What the entries are called in files and reports, by entry number."""
        return tuple(strategy.label for strategy in self.strategies)

    @cached_property
    def run_id(self) -> str:
        """SHA-256 (hex) of the canonical JSON: sorted keys, no spaces, ASCII."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Every key with its value, ready for JSON."""
        return {
            "schema": self.schema,
            "rules": self.rules.to_dict(),
            "rules_digest": self.rules_digest,
            "strategies": [
                {"label": s.label, "name": s.name, "params": dict(s.params), "digest": s.digest}
                for s in self.strategies
            ],
            "seats": list(self.seats),
            "seating": self.seating,
            "seed": self.seed,
            "deals": self.deals,
            "match": self.match,
            "events": self.events,
            "shard_deals": self.shard_deals,
        }

    def to_json(self) -> str:
        """The text of `manifest.json`: for people, one key a line."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, keys: Any) -> "Manifest":
        """The manifest that `to_dict` wrote.

        Raises
        ------
        InputError
            Anything is missing, unknown, of the wrong type or out of range; the message names the key.
        """
        keys = _object("manifest", keys, ())
        # The version first: another one may well have other keys.
        schema = _integer(1, 2**31)("schema", keys.get("schema"))
        if schema != SCHEMA:
            raise InputError(
                f"schema = {schema}: this program reads version {SCHEMA}; use the program that made the run"
            )
        _object("manifest", keys, _KEYS)
        values = {key: check(key, keys[key]) for key, check in _KEYS.items()}
        digest = values.pop("rules_digest")
        if digest != values["rules"].digest():
            raise InputError("rules_digest: does not belong to the rules beside it")
        return cls(**values)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the run in ``folder``.

    Raises
    ------
    InputError
        There is none, or it is not one that this program could have written; one line, with the path.
    """
    path = folder / FILE
    try:
        text = read_small(path, MAX_BYTES)
    except OSError as error:
        reason = "no such folder" if not folder.exists() else "it has no readable manifest.json"
        raise InputError(f"{folder} is not a run: {reason}") from error
    try:
        return Manifest.from_dict(
            json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_doubles)
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # malformed JSON or UTF-8, or numbers of thousands of digits
        raise InputError(f"{path}: not JSON ({' '.join(str(error).split())})") from error


def differences(one: Manifest, other: Manifest) -> list[str]:
    """Where two manifests differ, as ``key: this / that``, in the order of the keys; empty when they are the same."""
    mine, theirs = one.to_dict(), other.to_dict()
    return [
        f"{key}: {' / '.join(_told_apart(mine[key], theirs[key]))}"
        for key in mine
        if mine[key] != theirs[key] and key != "rules_digest"
    ]


def _told_apart(one: Any, other: Any) -> tuple[str, str]:
    """Two values that differ, each on one short line that shows in what."""
    texts = [_text(_only(one, other)), _text(_only(other, one))]
    pairs = enumerate(zip(*texts, strict=False))
    same = next((place for place, (mine, its) in pairs if mine != its), min(map(len, texts)))
    long = max(map(len, texts)) > _LONGEST and same > _LONGEST - _BEFORE
    start = same - _BEFORE if long else 0
    return _cut(texts[0], start), _cut(texts[1], start)


def _only(value: Any, other: Any) -> Any:
    """The value; of objects, also in lists of equal length, only what differs from ``other``."""
    if isinstance(value, dict) and isinstance(other, dict):
        return {key: _only(one, other.get(key)) for key, one in value.items() if other.get(key) != one}
    lists = isinstance(value, list) and isinstance(other, list) and len(value) == len(other)
    if lists and all(isinstance(one, dict) for one in value):
        return [_only(one, its) for one, its in zip(value, other, strict=True) if one != its]
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cut(text: str, start: int) -> str:
    text = f"...{text[start:]}" if start else text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


Check = Callable[[str, Any], Any]


def _object(key: str, value: Any, known: Any) -> dict[str, Any]:
    """The value as an object with exactly the ``known`` keys; with none given, any."""
    if not isinstance(value, dict):
        raise InputError(f"{key}: must be an object")
    for name in value:
        if known and name not in known:
            raise InputError(f"{key}: unknown key {_shown(name)}")
    for name in known:
        if name not in value:
            raise InputError(f"{key}: the key '{name}' is missing")
    return value


def _integer(low: int, high: int) -> Check:
    def check(key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(f"{key} = {_shown(value)}: must be a whole number from {low} to {high}")
        return value

    return check


def _word(longest: int) -> Check:
    def check(key: str, value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
            raise InputError(f"{key} = {_shown(value)}: must be 1 to {longest} printable characters")
        return value

    return check


def _hex(key: str, value: Any) -> str:
    if not isinstance(value, str) or not 8 <= len(value) <= 128 or set(value) - set("0123456789abcdef"):
        raise InputError(f"{key} = {_shown(value)}: must be a digest in hex digits")
    return value


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{key} = {_shown(value)}: must be true or false")
    return value


def _seating(key: str, value: Any) -> str:
    if value not in SEATINGS:
        raise InputError(f"{key} = {_shown(value)}: must be one of {', '.join(SEATINGS)}")
    return str(value)


def _list(low: int, high: int, check: Check) -> Check:
    def check_all(key: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not low <= len(value) <= high:
            raise InputError(f"{key}: must be a list of {low} to {high}")
        return tuple(check(f"{key}[{place}]", item) for place, item in enumerate(value))

    return check_all


def _params(key: str, value: Any) -> dict[str, Any]:
    word = _word(200)
    for name, param in _object(key, value, ()).items():
        word(key, name)
        whole = isinstance(param, (bool, int)) and abs(param) <= MAX_SEED
        if not (whole or (isinstance(param, float) and math.isfinite(param)) or isinstance(param, str)):
            raise InputError(f"{key}.{name} = {_shown(param)}: must be a number, a word, true or false")
        if isinstance(param, str):
            word(f"{key}.{name}", param)
    return dict(value)


def _strategy(key: str, value: Any) -> PlannedEntry:
    _object(key, value, _STRATEGY)
    return PlannedEntry(**{name: check(f"{key}.{name}", value[name]) for name, check in _STRATEGY.items()})


def _rules(key: str, value: Any) -> RuleSet:
    try:
        return RuleSet.from_dict(_object(key, value, ()))
    except InputError as error:
        raise InputError(f"{key}: {error}") from error
    except (TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{key}: not a rule set") from error


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python is willing to write out
        return "a huge number"
    return text if len(text) <= 40 else text[:37] + "..."


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key comes twice")
    return keys


_STRATEGY: dict[str, Check] = {
    "label": _word(MAX_LABEL),
    "name": _word(100),
    "params": _params,
    "digest": _hex,
}
_KEYS: dict[str, Check] = {
    "schema": _integer(1, 2**31),
    "rules": _rules,
    "rules_digest": _hex,
    "strategies": _list(1, 4, _strategy),
    "seats": _list(2, 4, _integer(0, 3)),
    "seating": _seating,
    "seed": _integer(0, MAX_SEED),
    "deals": _integer(1, MAX_DEALS),
    "match": _integer(0, MAX_MATCH),
    "events": _flag,
    "shard_deals": _integer(1, MAX_SHARD),
}
