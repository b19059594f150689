"""Slow, obvious card arithmetic: the reference every fast path is compared with.

Standard library only, and nothing from the package. A *meld* here is a pair ``(kind, cards)``, cards in
order of card number; a *meld with a card* is ``(kind, partners)``, where the card itself is left out.
"""

import re
from functools import lru_cache
from itertools import combinations

RANKS = "KAERHCP"
COLOURS = "rywg"
GENERAL, ADVISOR, ELEPHANT, CHARIOT, HORSE, CANNON, SOLDIER = range(7)
FLOWER = 28
LINES = {"command": (GENERAL, ADVISOR, ELEPHANT), "field": (CHARIOT, HORSE, CANNON)}

# --------------------------------------------------------------------------------------------------- rules

# Points of a meld: (concealed, exposed). Colour groups are `soldiers3/4`, and `colours3/4` of other ranks.
CARDAVIA_POINTS = {
    "single": (1, 1), "flower": (3, 3), "pair": (0, 0), "triple": (1, 1), "quad": (2, 2), "command": (1, 1),
    "field": (1, 1), "soldiers3": (1, 1), "soldiers4": (2, 2),
}  # fmt: skip
CLASSIC_POINTS = {
    "single": (1, 1), "flower": (1, 1), "pair": (0, 0), "triple": (3, 1), "quad": (8, 6),
    "general_quad": (8, 6), "command": (1, 1), "field": (1, 1), "soldiers3": (1, 1), "soldiers4": (4, 4),
    "colours3": (1, 1), "colours4": (4, 4),
}  # fmt: skip
TEN_HU_POINTS = CLASSIC_POINTS | {
    "general_quad": (6, 8), "command": (2, 2), "soldiers3": (3, 3), "soldiers4": (5, 5)
}  # fmt: skip

CARDAVIA = {
    "name": "cardavia",
    "players": 4,
    "flowers": 5,
    "points": CARDAVIA_POINTS,
    "colour_groups": "soldiers",
    "soldier_pairs": True,
    "general_quads": False,  # is a quad of Generals a meld at all?
    "claim_general_quad": False,  # may a seat out of turn take the fourth General?
    "dealer_21": False,  # the dealer is dealt 21 cards and begins by discarding
    "show_quads": False,  # dealt quads are shown and locked
    "lock_dealt_triples": False,
    "redeal": "never",
    "min_points": 0,
    "reserve": 0,  # cards at the end of the stock that are not drawn
    # What a seat in turn may lay without winning, by window; the seats out of turn may lay triple and quad.
    "drawer_pair": False,
    "next_in_draw_window": True,  # the next seat may lay mixed melds in the draw window
    "next_pair": False,
}
CLASSIC = CARDAVIA | {
    "name": "classic",
    "flowers": 0,
    "points": CLASSIC_POINTS,
    "colour_groups": "any",
    "general_quads": True,
    "claim_general_quad": True,
    "dealer_21": True,
    "show_quads": True,
    "drawer_pair": True,
    "next_in_draw_window": False,
    "next_pair": True,
}
TEN_HU = CLASSIC | {
    "name": "ten-hu",
    "points": TEN_HU_POINTS,
    "colour_groups": "soldiers",
    "soldier_pairs": False,
    "min_points": 10,
    "reserve": 6,
}
RULE_SETS = {rules["name"]: rules for rules in (CARDAVIA, CLASSIC, TEN_HU)}


def rule_set(name, **options):
    """The rule data of a named rule set, with options set over it; points are those of the name."""
    unknown = set(options) - set(RULE_SETS[name])
    if unknown:
        raise KeyError(f"unknown options {sorted(unknown)}")
    return RULE_SETS[name] | options


def pack(rules):
    """Every card of the pack, in order of card number."""
    return [number for number in range(28) for _ in range(4)] + [FLOWER] * rules["flowers"]


# --------------------------------------------------------------------------------------------------- cards


def colour_of(card):
    """Colour 0..3 of a chess card (4 for a flower)."""
    return card // 7


def rank_of(card):
    """Rank 0..6 of a chess card; None for a flower."""
    return None if card == FLOWER else card % 7


def is_honour(card):
    """True for a General or a flower: a meld by itself, and never discarded."""
    return rank_of(card) in (None, GENERAL)


def card_code(number):
    """The code of a card number, such as ``Kr``."""
    return "F" if number == FLOWER else RANKS[number % 7] + COLOURS[number // 7]


def card_number(code):
    """The number of one card code."""
    return FLOWER if code == "F" else COLOURS.index(code[1]) * 7 + RANKS.index(code[0])


def parse_cards(text):
    """Card numbers of a text of codes, in the order written."""
    codes = re.findall(r"[KAERHCP][rywg]|F", text)
    if "".join(codes) != "".join(text.split()):
        raise ValueError(f"not all of {text!r} is cards")
    return [card_number(code) for code in codes]


def codes_of(cards):
    """The codes of some cards, as a list."""
    return [card_code(card) for card in cards]


def without(hand, cards):
    """The hand, a sorted tuple, less some of its cards."""
    left = list(hand)
    for card in cards:
        left.remove(card)
    return tuple(left)


# --------------------------------------------------------------------------------------------------- melds


def melds_with(rules, card, hand, locked_triples=()):
    """Every meld of a card with cards of the hand, one for each set of card types: ``(kind, partners)``.

    `hand` leaves the locked cards out; a locked triple can serve only whole, in a quad.
    """
    melds = _melds_with(card, tuple(hand), _shape(rules))
    if card in locked_triples:
        melds.append(("quad", (card,) * 3))
    return melds


def _shape(rules):
    """The rule data that decide which sets of cards are melds (hashable, for the memoised recursions)."""
    return rules["colour_groups"], rules["soldier_pairs"], rules["general_quads"]


def _melds_with(card, hand, shape):
    return _same_type(card, hand, shape) + _line(card, hand) + _colour_groups(card, hand, shape)


def _same_type(card, hand, shape):
    _, soldier_pairs, general_quads = shape
    kinds = {"pair": 1, "triple": 2, "quad": 3}
    if card == FLOWER:
        kinds = {"single": 0}
    elif rank_of(card) == GENERAL:
        kinds = {"single": 0, "quad": 3} if general_quads else {"single": 0}
    elif rank_of(card) == SOLDIER and not soldier_pairs:
        del kinds["pair"]
    copies = hand.count(card)
    return [(kind, (card,) * partners) for kind, partners in kinds.items() if copies >= partners]


def _line(card, hand):
    for kind, ranks in LINES.items():
        if rank_of(card) in ranks:
            partners = tuple(colour_of(card) * 7 + rank for rank in ranks if rank != rank_of(card))
            if all(partner in hand for partner in partners):
                return [(kind, partners)]
    return []


def _colour_groups(card, hand, shape):
    groups, _, _ = shape
    if rank_of(card) == SOLDIER:
        name = "soldiers"
    elif groups == "any" and not is_honour(card):
        name = "colours"
    else:
        return []
    others = [other for other in range(rank_of(card), 28, 7) if other != card and other in hand]
    return [(f"{name}{size + 1}", chosen) for size in (2, 3) for chosen in combinations(others, size)]


def meld_points(rules, kind, card, exposed):
    """Points of one meld that holds the card (which matters for singles and quads alone)."""
    if kind == "single" and card == FLOWER:
        kind = "flower"
    elif kind == "quad" and rank_of(card) == GENERAL:
        kind = "general_quad"
    return rules["points"][kind][exposed]


# ---------------------------------------------------------------------------------------------- partitions


def deadwood(rules, hand):
    """The fewest cards left over when the rest of the hand is partitioned into melds."""
    return _deadwood(tuple(sorted(hand)), _shape(rules))


@lru_cache(maxsize=1 << 21)
def _deadwood(hand, shape):
    if not hand:
        return 0
    first, rest = hand[0], hand[1:]
    best = 1 + _deadwood(rest, shape)
    for _, partners in _melds_with(first, rest, shape):
        best = min(best, _deadwood(without(rest, partners), shape))
    return best


def best_partition(rules, hand):
    """``(points, melds)`` of the full partition that scores most, all concealed; None if there is none."""
    return _best_partition(tuple(sorted(hand)), rules["name"], _shape(rules))


@lru_cache(maxsize=1 << 21)
def _best_partition(hand, name, shape):
    if not hand:
        return 0, ()
    first, rest = hand[0], hand[1:]
    best = None
    for kind, partners in _melds_with(first, rest, shape):
        tail = _best_partition(without(rest, partners), name, shape)
        if tail is not None:
            points = meld_points(RULE_SETS[name], kind, first, exposed=False) + tail[0]
            if best is None or points > best[0]:
                best = points, ((kind, (first, *partners)), *tail[1])
    return best


def is_complete(rules, hand):
    """True if all cards can be partitioned into melds (whatever their points)."""
    return best_partition(rules, hand) is not None


def concealed_points(rules, hand):
    """Most points of a full partition of concealed cards; None if there is no full one."""
    best = best_partition(rules, hand)
    return None if best is None else best[0]


def best_win_by(rules, hand, card, meld, fixed=0, locked_triples=()):
    """``(score, melds)`` of a win that lays this ``(kind, partners)`` with the card; None if it is no win.

    The meld scores as exposed, the locked triples and the rest as concealed; `fixed` is what the exposed
    melds and the shown quads score. The melds are the card's, the partition of the hand, the locked triples.
    """
    kind, partners = meld
    if kind == "quad" and card in locked_triples:
        locked_triples = [triple for triple in locked_triples if triple != card]
        rest = tuple(hand)
    else:
        rest = without(hand, partners)
    best = best_partition(rules, rest)
    if best is None:
        return None
    score = fixed + meld_points(rules, kind, card, exposed=True) + best[0]
    score += sum(meld_points(rules, "triple", triple, exposed=False) for triple in locked_triples)
    if score < rules["min_points"]:
        return None
    triples = tuple(("triple", (triple,) * 3) for triple in locked_triples)
    return score, ((kind, tuple(sorted((card, *partners)))), *best[1], *triples)


def best_win(rules, hand, card, fixed=0, locked_triples=()):
    """``(score, melds)`` of the best win with the card over the choice of its meld; None if no meld wins."""
    wins = [
        best_win_by(rules, hand, card, meld, fixed, locked_triples)
        for meld in melds_with(rules, card, hand, locked_triples)
    ]
    return max((win for win in wins if win is not None), key=lambda win: win[0], default=None)
