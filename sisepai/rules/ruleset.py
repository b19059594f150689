"""`RuleSet`: the rules of one way to play, as data. Everything else reads them from here.

What a key means and may hold is said once, in `KEYS`, `TAKES` and `POINTS`: checks, errors, prints and the pages that
explain a rule set all read it there.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sisepai.cards import MAX_FLOWERS, MELDS
from sisepai.errors import InputError, unknown_name

MAX_POINTS = 12  # a score of 21 single cards still fits a byte
COPIES = 4
TYPES_WITHOUT_FLOWER = 28


@dataclass(frozen=True)
class Key:
    """A key of a rule set: what it means, and what it may hold, as "must be ..." goes on."""

    meaning: str
    allowed: str
    accepts: Callable[[Any], bool]

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that the key called `name` may not hold.

        Raises
        ------
        InputError
            The message has the name, the value and what is allowed.
        """
        if not self.accepts(value):
            raise InputError(f"{name} = {shown(value)}: must be {self.allowed}")


def shown(value: Any) -> str:
    """A value as messages quote it: on one line, as a file would hold it, and not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
        text = text if text.isprintable() else json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):  # nested without end, or thousands of digits
        return "a value too large to show"
    return text if len(text) <= 60 else text[:57] + "..."


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 60 and value.isprintable()


def _is_kinds(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(kind in MELDS for kind in value)


def _is_points(value: Any) -> bool:
    pair = value if isinstance(value, (list, tuple)) else ()
    return len(pair) == 2 and all(_is_whole(number, 0, MAX_POINTS) for number in pair)


def _whole(low: int, high: int, meaning: str, note: str = "") -> Key:
    return Key(
        meaning, f"a whole number from {low} to {high}{note}", lambda value: _is_whole(value, low, high)
    )


def _flag(meaning: str) -> Key:
    return Key(meaning, "true or false", lambda value: isinstance(value, bool))


def _choice(meaning: str, *words: str) -> Key:
    allowed = " or ".join(f'"{word}"' for word in words)
    return Key(meaning, allowed, lambda value: isinstance(value, str) and value in words)


def _kinds(meaning: str) -> Key:
    return Key(meaning, f"a list of {', '.join(MELDS)}", _is_kinds)


def _points(meaning: str) -> Key:
    return Key(meaning, f"two whole numbers from 0 to {MAX_POINTS}, concealed and exposed", _is_points)


KEYS: dict[str, Key] = {
    "name": Key("What runs and reports call the rule set.", "1 to 60 printable characters", _is_name),
    "players": _whole(
        2, 4, "Seats at the table.", "; more than four would need a larger pack, which is not there yet"
    ),
    "flowers": _whole(0, MAX_FLOWERS, "Flowers in the pack, beside its 112 other cards."),
    "hand_size": _whole(4, 20, "Cards dealt to a seat; one card more, all grouped, wins."),
    "dealer_leads": _flag("The dealer is dealt one card more and begins by discarding, or wins at once."),
    "show_dealt_quads": _flag("Quads as dealt are shown at once, stay whole, and score as concealed."),
    "lock_dealt_triples": _flag("Triples as dealt stay whole; a fourth card makes them a quad."),
    "redeal": _choice(
        "Deal again where a hand has no General, triple, quad nor group of four colours.", "never", "always"
    ),
    "colour_groups": _choice(
        "Ranks that group by three or four colours: Soldiers alone, or any but Generals.", "soldiers", "any"
    ),
    "soldier_pairs": _flag("Two Soldiers of one colour are a pair."),
    "general_quads": _flag("Four Generals of one colour are a quad."),
    "claim_general_quad": _flag("With three Generals any seat may claim the fourth; needs general_quads."),
    "min_points": _whole(0, 100, "Points that a complete hand needs to win."),
    "undrawn": _whole(0, 40, "Cards at the end of the stock that are never drawn."),
    "takes": Key(
        "The melds in which a seat may take a card without winning.",
        "a table",
        lambda v: isinstance(v, Mapping),
    ),
    "points": Key("What a meld of the winner scores.", "a table", lambda v: isinstance(v, Mapping)),
}

# A seat stands in one of these places toward the card of a window.
TAKES: dict[str, Key] = {
    "draw_drawer": _kinds("The seat that drew the card; it must be free to take a single."),
    "draw_next": _kinds("A card just drawn, the seat after the drawer."),
    "draw_others": _kinds("A card just drawn, every other seat."),
    "discard_next": _kinds("A discard, the seat after the discarder."),
    "discard_others": _kinds("A discard, every other seat."),
}

# What is counted: a meld kind, told apart where Generals or flowers score for themselves.
POINTS: dict[str, Key] = {
    "general": _points("A General by itself."),
    "flower": _points("A flower."),
    "pair": _points("Two cards of one type."),
    "triple": _points("Three of one type."),
    "quad": _points("Four of one type, Generals apart."),
    "general_quad": _points("Four Generals of one colour."),
    "command": _points("General, Advisor and Elephant of one colour."),
    "field": _points("Chariot, Horse and Cannon of one colour."),
    "soldiers3": _points("Soldiers of three colours."),
    "soldiers4": _points("Soldiers of four colours."),
    "colours3": _points("Another rank in three colours."),
    "colours4": _points("Another rank in four colours."),
}

TABLES = {"takes": TAKES, "points": POINTS}
PLACES = tuple(TAKES)
POINT_KEYS = tuple(POINTS)

_OUT_OF_TURN = ("triple", "quad")
_NEXT_SEAT = ("triple", "quad", "command", "field", "soldiers3", "soldiers4")
_CARDAVIA_TAKES = {
    "draw_drawer": ("single", *_NEXT_SEAT),
    "draw_next": _NEXT_SEAT,
    "draw_others": _OUT_OF_TURN,
    "discard_next": _NEXT_SEAT,
    "discard_others": _OUT_OF_TURN,
}
_CARDAVIA_POINTS = {
    "general": (1, 1), "flower": (3, 3), "pair": (0, 0), "triple": (1, 1), "quad": (2, 2),
    "general_quad": (4, 4), "command": (1, 1), "field": (1, 1), "soldiers3": (1, 1), "soldiers4": (2, 2),
    "colours3": (1, 1), "colours4": (2, 2),
}  # fmt: skip


@dataclass(frozen=True)
class RuleSet:
    """The rules of one way to play; the defaults are those of `cardavia` (docs/rules.md).

    Raises
    ------
    InputError
        A value is out of its range or contradicts another; the message names the key.
    """

    name: str = "cardavia"
    players: int = 4
    flowers: int = 5
    hand_size: int = 20
    dealer_leads: bool = False
    show_dealt_quads: bool = False
    lock_dealt_triples: bool = False
    redeal: str = "never"
    colour_groups: str = "soldiers"
    soldier_pairs: bool = True
    general_quads: bool = False
    claim_general_quad: bool = False
    min_points: int = 0
    undrawn: int = 0
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(_CARDAVIA_TAKES))
    points: Mapping[str, tuple[int, int]] = field(default_factory=lambda: dict(_CARDAVIA_POINTS))

    def __post_init__(self) -> None:
        for name, key in KEYS.items():
            key.check(name, getattr(self, name))
        for name, entries in TABLES.items():
            _check_table(name, getattr(self, name), entries)
        if "single" not in self.takes["draw_drawer"]:
            raise InputError(
                f"takes.draw_drawer = {shown(self.takes['draw_drawer'])}: must hold single, "
                "since a drawn General cannot be discarded"
            )
        # Read-only copies: the digest, once taken, holds.
        takes = {place: tuple(kind for kind in MELDS if kind in self.takes[place]) for place in PLACES}
        points = {key: tuple(self.points[key]) for key in POINT_KEYS}
        object.__setattr__(self, "takes", MappingProxyType(takes))
        object.__setattr__(self, "points", MappingProxyType(points))
        dealt = self.hand_size * self.players + self.dealer_leads
        if dealt + self.undrawn >= self.pack_size:
            raise InputError(
                f"hand_size = {self.hand_size}: {self.players} players and {self.undrawn} undrawn cards leave "
                f"nothing to draw from a pack of {self.pack_size}; use fewer players or a smaller hand"
            )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.digest())

    @property
    def pack_size(self) -> int:
        """Cards in the pack, flowers included."""
        return TYPES_WITHOUT_FLOWER * COPIES + self.flowers

    @property
    def stock_size(self) -> int:
        """Cards left in the stock after the deal."""
        return self.pack_size - self.hand_size * self.players - self.dealer_leads

    def to_dict(self) -> dict[str, Any]:
        """Every key with its value, ready for JSON or TOML."""
        plain = {key.name: getattr(self, key.name) for key in fields(self)}
        plain["takes"] = {place: list(kinds) for place, kinds in self.takes.items()}
        plain["points"] = {key: list(pair) for key, pair in self.points.items()}
        return plain

    def entries(self) -> dict[str, Any]:
        """Every key with its value, the entries of the two tables under dotted names such as `points.flower`."""
        plain = self.to_dict()
        tables = {name: plain.pop(name) for name in TABLES}
        return plain | {
            f"{table}.{entry}": value for table in tables for entry, value in tables[table].items()
        }

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any]) -> "RuleSet":
        """The rule set that `to_dict` wrote; absent keys take their defaults.

        Raises
        ------
        InputError
            An unknown key, or a value `RuleSet` refuses.
        """
        unknown = sorted(map(str, set(keys) - set(KEYS)))
        if unknown:
            raise unknown_name("rule key", unknown[0], KEYS)
        return cls(**keys)

    def with_options(self, **options: Any) -> "RuleSet":
        """A copy with some keys changed."""
        return replace(self, **options)

    def digest(self) -> str:
        """SHA-256 (hex) of the keys that differ from their defaults; the name is no rule and left out."""
        default = RuleSet().to_dict()
        changed = {k: v for k, v in self.to_dict().items() if k != "name" and v != default[k]}
        return hashlib.sha256(json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check_table(name: str, table: Mapping[str, Any], entries: Mapping[str, Key]) -> None:
    for entry in table:
        if entry not in entries:
            raise unknown_name(f"key of {name}", str(entry), entries)
    for entry in entries:
        if entry not in table:
            raise InputError(f"{name}: '{entry}' is missing; the keys are {', '.join(entries)}")
    for entry, value in table.items():
        entries[entry].check(f"{name}.{entry}", value)
