"""`RuleSet`: the rules of one way to play, as data. Everything else reads them from here."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from sisepai.cards import MELDS
from sisepai.errors import InputError

# A seat stands in one of these places toward the card of a window.
PLACES = ("draw_drawer", "draw_next", "draw_others", "discard_next", "discard_others")

# What is counted: a meld kind, told apart where Generals or flowers score for themselves.
POINT_KEYS = (
    "general", "flower", "pair", "triple", "quad", "general_quad", "command", "field",
    "soldiers3", "soldiers4", "colours3", "colours4",
)  # fmt: skip

_Check = Callable[[str, Any], None]

MAX_POINTS = 12  # a score of 21 single cards still fits a byte
COPIES = 4
TYPES_WITHOUT_FLOWER = 28

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
        for key in fields(self):
            _CHECKS[key.name](key.name, getattr(self, key.name))
        object.__setattr__(self, "takes", {p: tuple(k for k in MELDS if k in self.takes[p]) for p in PLACES})
        object.__setattr__(self, "points", {k: tuple(self.points[k]) for k in POINT_KEYS})
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
        plain = asdict(self)
        plain["takes"] = {place: list(kinds) for place, kinds in self.takes.items()}
        plain["points"] = {key: list(pair) for key, pair in self.points.items()}
        return plain

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any]) -> "RuleSet":
        """The rule set that `to_dict` wrote; absent keys take their defaults.

        Raises
        ------
        InputError
            An unknown key, or a value `RuleSet` refuses.
        """
        unknown = sorted(set(keys) - {key.name for key in fields(cls)})
        if unknown:
            raise InputError(
                f"unknown rule key '{unknown[0]}'; known: {', '.join(k.name for k in fields(cls))}"
            )
        return cls(**keys)

    def with_options(self, **options: Any) -> "RuleSet":
        """A copy with some keys changed."""
        return replace(self, **options)

    def digest(self) -> str:
        """SHA-256 (hex) of the keys that differ from their defaults; the name is no rule and left out."""
        default = RuleSet().to_dict()
        changed = {k: v for k, v in self.to_dict().items() if k != "name" and v != default[k]}
        return hashlib.sha256(json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _integer(low: int, high: int) -> _Check:
    def check(key: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(f"{key} = {value!r}: must be a whole number from {low} to {high}")

    return check


def _choice(*allowed: Any) -> _Check:
    def check(key: str, value: Any) -> None:
        if type(value) is not type(allowed[0]) or value not in allowed:
            raise InputError(f"{key} = {value!r}: must be one of {', '.join(map(_shown, allowed))}")

    return check


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _name(key: str, value: Any) -> None:
    if not isinstance(value, str) or not value or len(value) > 60 or not value.isprintable():
        raise InputError(f"{key} = {value!r}: must be 1 to 60 printable characters")


def _table(key: str, value: Any, known: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping) or set(value) != set(known):
        missing = sorted(set(known) - set(value)) if isinstance(value, Mapping) else known
        extra = sorted(map(str, set(value) - set(known))) if isinstance(value, Mapping) else []
        wrong = f"unknown '{extra[0]}'" if extra else f"'{missing[0]}' is missing"
        raise InputError(f"{key}: {wrong}; the keys are {', '.join(known)}")


def _takes(key: str, value: Any) -> None:
    _table(key, value, PLACES)
    for place, kinds in value.items():
        for kind in kinds if isinstance(kinds, (list, tuple)) else [kinds]:
            if kind not in MELDS:
                raise InputError(f"{key}.{place} = {kind!r}: must be a list of {', '.join(MELDS)}")
    if "single" not in value["draw_drawer"]:
        raise InputError(f"{key}.draw_drawer: must hold 'single', since a drawn General cannot be discarded")


def _points(key: str, value: Any) -> None:
    _table(key, value, POINT_KEYS)
    for name, pair in value.items():
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InputError(f"{key}.{name} = {pair!r}: must be two numbers, concealed and exposed")
        for number in pair:
            _integer(0, MAX_POINTS)(f"{key}.{name}", number)


_FLAG = _choice(False, True)
_CHECKS = {
    "name": _name,
    "players": _integer(2, 4),
    "flowers": _integer(0, 5),
    "hand_size": _integer(4, 20),
    "dealer_leads": _FLAG,
    "show_dealt_quads": _FLAG,
    "lock_dealt_triples": _FLAG,
    "redeal": _choice("never", "always"),
    "colour_groups": _choice("soldiers", "any"),
    "soldier_pairs": _FLAG,
    "general_quads": _FLAG,
    "claim_general_quad": _FLAG,
    "min_points": _integer(0, 100),
    "undrawn": _integer(0, 40),
    "takes": _takes,
    "points": _points,
}
