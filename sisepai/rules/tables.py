"""The tables of a rule set: one small record that all kernels read.

The cards fall into *blocks* whose deadwood and points can be looked up. With colour groups of Soldiers alone the
blocks are independent: per colour K-A-E and R-H-C (5^3 states each), and the four Soldiers (5^4). With colour groups
of any rank a block is one rank in four colours (5^4), and command and field melds tie three blocks together; then the
rules are *coupled* and `rules/hand.py` runs over the possible numbers of command and field melds.

A block's state is the sum of count * 5^position, plus the place of its table in the arrays.
"""

import numpy as np

from sisepai.cards import FLOWER, MELDS, N_TYPES
from sisepai.rules.melds import melds_of, points_of
from sisepai.rules.ruleset import PLACES, RuleSet

MOST_CARDS = 117
N_BLOCKS = 9
N_STATES = 3 * 625
N_MELDS = len(MELDS)
BY_NAME = {name: number for number, name in enumerate(MELDS)}
K_SINGLE, K_PAIR, K_TRIPLE, K_QUAD, K_COMMAND, K_FIELD, K_SOLDIERS3, K_SOLDIERS4, K_COLOURS3, K_COLOURS4 = (
    range(N_MELDS)
)

# What must lie in the hand for a meld tells its *shape*; several kinds share one.
SINGLE, PAIR, TRIPLE, QUAD, RUN, COLOURS3, COLOURS4 = range(7)
N_SHAPES = 7
N_PLACES = len(PLACES)
SHAPE_OF = dict(
    zip(MELDS, (SINGLE, PAIR, TRIPLE, QUAD, RUN, RUN, COLOURS3, COLOURS4, COLOURS3, COLOURS4), strict=True)
)
ANY_MELD = N_PLACES  # the row of `may` that holds every meld of the rule set, as a winning take may use it

# A *worth* packs points and, below them, how many melds of each kind earn them, five bits a kind. Worths add up, and
# the greatest worth has the most points; ties go to more melds of the kind named last in MELDS.
KIND_BITS = 5
KIND_MASK = (1 << KIND_BITS) - 1
POINTS_SHIFT = KIND_BITS * N_MELDS
IMPOSSIBLE = -1

GENERALS = sum(1 << 7 * colour for colour in range(4))
SOLDIERS = GENERALS << 6
FLOWERS = 1 << FLOWER

TABLES = np.dtype(
    [
        ("players", "i8"), ("pack", "i8"), ("hand_size", "i8"), ("dealer_leads", "i8"), ("show_dealt_quads", "i8"),
        ("lock_dealt_triples", "i8"), ("redeal", "i8"), ("coupled", "i8"), ("min_points", "i8"), ("undrawn", "i8"),
        ("copies", "i8", N_TYPES),  # of each card type in the pack
        ("cards", "u1", MOST_CARDS),  # the whole pack in order of card number
        ("may", "i8", (N_PLACES + 1, N_SHAPES)),  # mask of the cards one may take, by place and by shape of meld
        ("concealed", "i8", (N_MELDS, N_TYPES)),  # worth of a meld by kind and one of its cards
        ("exposed", "i8", (N_MELDS, N_TYPES)),
        ("block_of", "i8", N_TYPES), ("weight", "i8", N_TYPES),  # block, and what one more card adds to its state
        ("start", "i4", N_BLOCKS), ("shift", "i8", N_BLOCKS),  # empty state; card mask = table mask << shift
        ("dead", "i1", N_STATES),  # deadwood
        ("loose", "i4", N_STATES),  # mask of the cards left over in some partition with the least deadwood
        ("completes", "i4", N_STATES),  # mask of the cards with which the block has no deadwood
        ("best", "i8", N_STATES),  # greatest worth of a full partition, all concealed, or IMPOSSIBLE
    ],
    align=True,
)  # fmt: skip


def build_tables(rules: RuleSet) -> np.record:
    """The tables of `rules`, a writable record of dtype TABLES."""
    tables = np.zeros(1, TABLES).view(np.recarray)[0]
    for key in ("players", "hand_size", "dealer_leads", "show_dealt_quads", "lock_dealt_triples", "min_points",
                "undrawn"):  # fmt: skip
        tables[key] = int(getattr(rules, key))
    tables["pack"] = rules.pack_size
    tables["redeal"] = rules.redeal == "always"
    tables["coupled"] = rules.colour_groups == "any"
    tables["copies"][:FLOWER] = 4
    tables["copies"][FLOWER] = rules.flowers
    tables["cards"][: rules.pack_size] = np.repeat(np.arange(N_TYPES), tables["copies"])
    tables["may"] = _may(rules)
    for column, which in (("concealed", 0), ("exposed", 1)):
        for kind in MELDS:
            for card in range(N_TYPES):
                points = points_of(rules, kind, (card,), bool(which))
                tables[column][BY_NAME[kind], card] = (points << POINTS_SHIFT) + (
                    1 << KIND_BITS * BY_NAME[kind]
                )
    _fill_blocks(tables, rules)
    return tables


def _may(rules: RuleSet) -> list[list[int]]:
    """Masks of the cards that may be taken, by place (and once for any meld) and shape."""
    cards = dict.fromkeys(MELDS, 0)  # by kind: the cards that such a meld can hold
    for meld, kind in melds_of(rules).items():
        cards[kind] |= sum(1 << card for card in set(meld))
    rows = []
    for place in (*PLACES, None):
        row = [0] * N_SHAPES
        for kind in rules.takes[place] if place else MELDS:
            allowed = cards[kind]
            if place not in ("draw_drawer", None):  # a drawn General or flower is its drawer's
                claim = GENERALS if kind == "quad" and rules.claim_general_quad and rules.general_quads else 0
                allowed &= ~(GENERALS | FLOWERS) | claim
            row[SHAPE_OF[kind]] |= allowed
        rows.append(row)
    return rows


def _blocks(rules: RuleSet) -> list[list[int]]:
    """The blocks as lists of card types; blocks with equal tables have equal ranks."""
    if rules.colour_groups == "any":
        return [[rank + 7 * colour for colour in range(4)] for rank in range(7)]
    triplets = [[7 * colour + first + i for i in range(3)] for colour in range(4) for first in (0, 3)]
    return [*triplets, [6 + 7 * colour for colour in range(4)]]


def _fill_blocks(tables: np.record, rules: RuleSet) -> None:
    known: dict[tuple[int, ...], int] = {}  # ranks of a block: start of its table
    end = 0
    for block, cards in enumerate(_blocks(rules)):
        ranks = tuple(card % 7 for card in cards)
        alike = (1,) * 4 if set(ranks) <= {1, 2, 3, 4, 5} and len(cards) == 4 else ranks
        shift = min(cards)
        if alike not in known:
            known[alike] = end
            _fill_table(tables, rules, cards, end, shift)
            end += 5 ** len(cards)
        tables["start"][block], tables["shift"][block] = known[alike], shift
        for position, card in enumerate(cards):
            tables["block_of"][card], tables["weight"][card] = block, 5**position


def _melds_within(block: list[int], rules: RuleSet) -> list[tuple[tuple[int, ...], str]]:
    """Every meld of cards of this block, as the counts of the cards it takes, with its kind."""
    inside = [(meld, kind) for meld, kind in melds_of(rules).items() if set(meld) <= set(block)]
    return [(tuple(meld.count(card) for card in block), kind) for meld, kind in inside]


def _fill_table(tables: np.record, rules: RuleSet, cards: list[int], start: int, shift: int) -> None:
    """Solve every state of a block from the smaller ones: its lowest card is left over or in a meld."""
    n = len(cards)
    melds = _melds_within(cards, rules)
    dead, best = tables["dead"], tables["best"]
    states = range(5**n)
    counts = [tuple(state // 5**i % 5 for i in range(n)) for state in states]
    for state in states[1:]:
        lowest = next(i for i in range(n) if counts[state][i])
        least, most = dead[start + state - 5**lowest] + 1, IMPOSSIBLE
        for meld, kind in melds:
            if meld[lowest] and all(m <= c for m, c in zip(meld, counts[state], strict=True)):
                rest = start + state - sum(m * 5**i for i, m in enumerate(meld))
                least = min(least, dead[rest])
                if best[rest] != IMPOSSIBLE:
                    first = next(card for card, m in zip(cards, meld, strict=True) if m)
                    most = max(most, best[rest] + tables["concealed"][BY_NAME[kind], first])
        dead[start + state], best[start + state] = least, most
    for state in states:
        for i, card in enumerate(cards):
            bit = 1 << (card - shift)
            if counts[state][i] and dead[start + state - 5**i] < dead[start + state]:
                tables["loose"][start + state] |= bit
            if counts[state][i] < 4 and dead[start + state + 5**i] == 0:
                tables["completes"][start + state] |= bit
