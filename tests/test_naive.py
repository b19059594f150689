"""The naive reference against the shared cases, itself under fuzzing, and small hands for subtle rules."""

import json
import random
from itertools import combinations
from pathlib import Path

import naive
import naive_deal
import pytest
from naive import parse_cards, rule_set
from naive_deal import PASS, WIN, Deal, Greedy, Random, Seat, check_events, play_deal, shuffled

CASES = Path(__file__).parents[2] / "shared" / "cases"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this repository")
FILES = ["deals.jsonl", "classic.jsonl", "ten-hu.jsonl"]

VARIANTS = [
    ("cardavia", {}), ("classic", {}), ("classic", {"flowers": 5}), ("classic", {"players": 3}),
    ("classic", {"players": 2, "flowers": 1}), ("classic", {"lock_dealt_triples": True}),
    ("classic", {"colour_groups": "soldiers"}), ("classic", {"claim_general_quad": False}),
    ("classic", {"redeal": "always", "players": 2}), ("ten-hu", {}), ("ten-hu", {"flowers": 3}),
    ("ten-hu", {"lock_dealt_triples": True, "players": 2}), ("ten-hu", {"redeal": "always", "players": 3}),
]  # fmt: skip
ids = [f"{name}-{'-'.join(map(str, options.values()))}" for name, options in VARIANTS]


def read_deals(name):
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


# ---------------------------------------------------------------------------------------- the shared cases


@needs_cases
def test_hands():
    # `points` is that of the best full partition, all concealed, and knows nothing of `min_points`.
    for case in json.loads((CASES / "hands.json").read_text(encoding="utf-8")):
        rules, hand = rule_set(case["rules"]), parse_cards(case["hand"])
        assert (naive.deadwood(rules, hand), naive.concealed_points(rules, hand)) == (
            case["deadwood"],
            case["points"],
        ), case


@needs_cases
@pytest.mark.parametrize("name", FILES)
def test_deals_event_for_event(name):
    for line, case in enumerate(read_deals(name), 1):
        rules = rule_set(case["rules"], players=case["players"], **case["options"])
        deal = play_deal(rules, case["dealer"], case["hands"], case["stock"], [Greedy()] * case["players"])
        result = {"winner": deal.winner, "score": deal.score, "win_by": deal.win_by, "outcome": deal.outcome}
        assert deal.events == case["events"], f"{name} line {line}"
        assert result == {key: case[key] for key in result}, f"{name} line {line}"


@needs_cases
@pytest.mark.parametrize("name", FILES)
def test_checker_accepts_the_cases(name):
    keys = ["rules", "players", "options", "dealer", "hands", "stock", "events"]
    for case in read_deals(name):
        deal = check_events(*[case[key] for key in keys])
        assert (deal.winner, deal.score) == (case["winner"], case["score"])


# ------------------------------------------------------------------------------------------------- fuzzing


def fuzzed(name, options, count):
    """Deals of random strategies that also pass wins, as (rules, dealer, decks, deal)."""
    rules = rule_set(name, **options)
    for seed in range(count):
        source, dealer = random.Random(f"{name} {options} {seed}"), seed % rules["players"]
        decks = [shuffled(rules, dealer, source)]
        strategies = [Random(source.random(), wins=seed % 2) for _ in range(rules["players"])]

        def next_deck(attempt, decks=decks, dealer=dealer, source=source):
            decks.append(shuffled(rules, dealer, source))
            return decks[attempt]

        yield rules, dealer, decks, play_deal(rules, dealer, *decks[0], strategies, next_deck)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=ids)
def test_random_deals_are_legal(name, options):
    for rules, dealer, decks, deal in fuzzed(name, options, 12):
        again = check_events(rules, rules["players"], {}, dealer, *decks[0], deal.events, decks[1:])
        assert (again.events, again.outcome) == (deal.events[-len(again.events) :], deal.outcome)
        if deal.winner is not None and name != "ten-hu":
            assert deal.score % 2 == 1
        if deal.winner is not None and name == "ten-hu":
            assert deal.score >= 10


@pytest.mark.parametrize(("name", "options"), VARIANTS[:2] + VARIANTS[9:10], ids=ids[:2] + ids[9:10])
def test_checker_refuses_bad_events(name, options):
    source = random.Random(7)
    for rules, dealer, decks, deal in fuzzed(name, options, 8):
        events = deal.events
        place = source.randrange(len(events))
        other = (events[place].get("seat", 0) + 1) % 4
        changed = [
            events[:-1],
            events + events[-1:],
            events[:place] + events[place + 1 :],
            events[:place] + events[place : place + 1] + events[place:],
            [*events[:place], events[place] | {"seat": other, "card": "Kr"}, *events[place + 1 :]],
            [*events[:-1], {"event": "win", "seat": other, "card": None, "score": 99}],
        ]
        for bad in changed:
            with pytest.raises(AssertionError, match="event "):
                check_events(rules, 4, {}, dealer, *decks[0], bad)


def test_checker_refuses_bad_packs():
    rules = rule_set("cardavia")
    hands, stock = shuffled(rules, 0, random.Random(1))
    deal = play_deal(rules, 0, hands, stock, [Greedy()] * 4)
    with pytest.raises(AssertionError, match="not those of the pack"):
        check_events("cardavia", 4, {}, 0, hands, [*stock[:-1], stock[0]], deal.events)
    with pytest.raises(AssertionError, match="right size"):
        check_events("cardavia", 4, {}, 0, [hands[0] + stock[:1], *hands[1:]], stock[1:], deal.events)


# ------------------------------------------------------------- deadwood by definition: every set partition


def is_meld(rules, cards):
    """Section 2's table, and what each rule set changes in it, read off a set of cards."""
    size, types, colours = len(cards), set(cards), {naive.colour_of(card) for card in cards}
    ranks = {naive.rank_of(card) for card in cards}
    ordinary = not any(naive.is_honour(card) for card in cards)
    if size == 1:
        return not ordinary
    if len(types) == 1:
        pair = ordinary and (rules["soldier_pairs"] or ranks != {6} or size > 2)
        return size <= 4 and (pair or (rules["general_quads"] and ranks == {0} and size == 4))
    if size == 3 and len(colours) == 1:
        return ranks in ({0, 1, 2}, {3, 4, 5})
    grouped = ranks == {6} or (rules["colour_groups"] == "any" and len(ranks) == 1 and ordinary)
    return grouped and size in (3, 4) and len(colours) == size


def partitions(cards):
    if not cards:
        yield []
        return
    first, rest = cards[0], cards[1:]
    for size in range(min(4, len(cards))):
        for chosen in combinations(range(len(rest)), size):
            block = [first, *(rest[place] for place in chosen)]
            for tail in partitions([card for place, card in enumerate(rest) if place not in chosen]):
                yield [block, *tail]


@pytest.mark.parametrize("name", ["cardavia", "classic", "ten-hu"])
def test_deadwood_by_definition(name):
    rules, source = rule_set(name, flowers=2), random.Random(name)
    few = [card for card in naive.pack(rules) if naive.colour_of(card) != 3 or naive.rank_of(card) in (0, 6)]
    for _ in range(60):
        hand = sorted(source.sample(source.choice([few, few[:28], few[:14] + few[-8:]]), 7))
        loose = [
            sum(len(block) for block in blocks if not is_meld(rules, block) and len(block) == 1)
            for blocks in partitions(hand)
            if all(len(block) == 1 or is_meld(rules, block) for block in blocks)
        ]
        assert naive.deadwood(rules, hand) == min(loose), naive.codes_of(hand)
        assert naive.is_complete(rules, hand) == (min(loose) == 0)


# --------------------------------------------------------------------------- small cases for subtle points


def seat_of(hand, exposed=(), **locked):
    """A seat from text; exposed melds as (kind, cards), locked quads and triples as one code each."""
    melds = tuple((kind, tuple(sorted(parse_cards(cards)))) for kind, cards in exposed)
    locks = {key: tuple(parse_cards(cards)) for key, cards in locked.items()}
    return Seat(tuple(sorted(parse_cards(hand))), exposed=melds, **locks)


def window(name, kind, turn, card, *seats, **options):
    """A deal with an open window; seats given as text or as Seat, the missing ones hold loose cards."""
    loose = "Ar Ay Aw Ag Rr Ry Cw"
    seats = [seat_of(seat) if isinstance(seat, str) else seat for seat in seats]
    seats += [seat_of(loose) for _ in range(4 - len(seats))]
    deal = Deal(rule_set(name, **options), 0, seats, [])
    deal.open_window(kind, turn, parse_cards(card)[0])
    return deal


def said(deal, seat):
    """The offers of a seat as text, such as ``quad:RyRyRy``."""
    codes = [(kind, "".join(naive.codes_of(partners))) for kind, partners in deal.offers(seat)]
    return [f"{kind}:{partners}" if partners else kind for kind, partners in codes]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("cardavia", "draw", [["field:RyCy"], ["field:RyCy"], [], []]),
        ("cardavia", "discard", [None, ["field:RyCy"], [], []]),
        ("classic", "draw", [["pair:Hy", "field:RyCy", "colours3:HrHw"], [], [], []]),
        ("classic", "discard", [None, ["pair:Hy", "field:RyCy", "colours3:HrHw"], [], []]),
        ("ten-hu", "draw", [["pair:Hy", "field:RyCy"], [], [], []]),
    ],
)
def test_who_may_take_what(name, kind, expected):
    deal = window(name, kind, 0, "Hy", *["Hy Ry Cy Hr Hw Ar Ag"] * 4)
    assert [said(deal, seat) or None for seat in range(4)] == [
        None if melds is None else ["pass", *melds] for melds in expected
    ]


def test_triples_and_quads_for_everybody():
    deal = window("cardavia", "draw", 0, "Hy", "Hy Ar", "Hy Hy Ar", "Hy Hy Hy Ar", "Ar")
    assert [said(deal, seat) for seat in range(3)] == [["pass"], ["pass", "triple:HyHy"],
                                                      ["pass", "triple:HyHy", "quad:HyHyHy"]]  # fmt: skip


def test_any_seat_wins_with_a_pair():
    deal = window("cardavia", "draw", 0, "Hy", "Ar Eg", "Ar Eg", "Kr Hy F", "Ar Eg")
    assert said(deal, 2) == ["pass", "win"]
    deal.settle([PASS, PASS, WIN, PASS])
    assert (deal.winner, deal.score, deal.win_by) == (2, 4, "other_draw")


def test_forced_drawer():
    assert said(window("cardavia", "draw", 0, "F", "Kr Ar Rg"), 0) == ["single"]
    deal = window("cardavia", "draw", 0, "Kr", "Ar Er Rg", "Ar Er Rg")
    assert said(deal, 0) == ["single", "command:ArEr"]
    assert said(deal, 1) == ["pass"]  # the next seat's command can never be: the drawer must take the General
    # no other answer: the win cannot be passed; where the command leaves deadwood it is another answer
    assert said(window("cardavia", "draw", 0, "Kr", "Kr"), 0) == ["win"]
    assert said(window("cardavia", "draw", 0, "Kr", "Ar Ar Er Er"), 0) == ["win", "command:ArEr"]
    assert said(window("cardavia", "draw", 0, "Kr", "Ar Er Rg", "Kg"), 1) == ["pass", "win"]


def test_fourth_general():
    three = "Kr Kr Kr Hy Ag"
    deal = window("classic", "draw", 0, "Kr", "Ar Er Rg", "Ar Er", three)
    assert [said(deal, seat) for seat in (0, 2)] == [["single", "command:ArEr"], ["pass", "quad:KrKrKr"]]
    assert deal.owner([("single", ()), PASS, deal.offers(2)[1], PASS]) == 2
    deal = window("classic", "draw", 0, "Kr", "Rg", "Rg", three, claim_general_quad=False)
    assert said(deal, 2) == ["pass"]
    deal = window("classic", "draw", 0, "Kr", three, claim_general_quad=False)
    assert said(deal, 0) == ["single", "quad:KrKrKr"]
    # a winning quad is free of the option; three single Generals and a fourth are worth less
    deal = window("classic", "draw", 0, "Kr", "Rg", "Kr Kr Kr", claim_general_quad=False)
    assert (said(deal, 1), deal.win_score(1)) == (["pass", "win"], 6)
    assert window("ten-hu", "draw", 0, "Kr", "Rg", seat_of("Kr Kr Kr F F")).win_score(1) == 10
    assert said(window("cardavia", "draw", 0, "Kr", "Rg", three), 1) == ["pass"]


def test_winning_triple_or_pair():
    # the drawn card as the fourth: an exposed quad is 6; kept apart the triple (3) and the command (1) are 4
    rules = rule_set("classic")
    score, melds = naive.best_win(rules, parse_cards("Kr Ar Ar Ar Er"), parse_cards("Ar")[0])
    assert (score, melds[0][0]) == (4, "command")
    score, melds = naive.best_win(rules, parse_cards("Ar Ar Ar Kr"), parse_cards("Ar")[0])
    assert (score, melds[0][0]) == (7, "quad")
    # a triple with the winning card is exposed: 1
    assert naive.best_win(rules, parse_cards("Ar Ar Kr"), parse_cards("Ar")[0])[0] == 2


def test_locked_triple():
    seat = seat_of("Ar Ey", triples="Rr")
    deal = window("classic", "draw", 0, "Rr", seat)
    assert said(deal, 0) == ["pass", "quad:RrRrRr"]
    deal = window("classic", "draw", 0, "Hr", seat_of("Cr Ay", triples="Rr"))
    assert said(deal, 0) == ["pass"]  # no field out of the triple
    deal = window("classic", "draw", 0, "Rr", seat_of("Hr Cr Ay", triples="Rr"))
    assert said(deal, 0) == ["pass", "field:HrCr", "quad:RrRrRr"]  # the fourth card itself is free
    assert window("classic", "draw", 0, "Hr", seat_of("Hr", triples="Rr")).win_score(0) == 3
    assert window("classic", "draw", 0, "Rr", seat_of("Kr", triples="Rr")).win_score(0) == 7
    assert seat.lay(3, ("quad", (3, 3, 3))) == Seat(seat.hand, (), (), (("quad", (3,) * 4),))
    assert seat.discardable() == parse_cards("Ar Ey")


def test_dealt_quads_and_triples_are_set_apart():
    rules = rule_set("classic", lock_dealt_triples=True, flowers=4)
    hands = ["Ar Ey", "Rg Rg Rg Rg Kr Kr Kr Kr Py Py Py Ky Ky Ky F F F F Ag", "Kg", "Aw Aw Aw Aw"]
    seats = [seat_of(hand) for hand in hands]
    deal = Deal(rules, 2, seats, [])
    deal.begin()
    shown = [(event["seat"], event["card"]) for event in deal.events if event["event"] == "show"]
    assert shown == [(3, "Aw"), (1, "Kr"), (1, "Rg")]  # from the dealer on, lowest number first
    assert (seats[1].quads, seats[1].triples) == (tuple(parse_cards("Kr Rg")), tuple(parse_cards("Py")))
    assert naive.codes_of(seats[1].hand) == ["Ky", "Ky", "Ky", "Ag", "F", "F", "F", "F"]
    assert (deal.seen[0], deal.seen[24], deal.outcome) == (4, 4, "win")  # seat 2's lone General: a dealt win


@pytest.mark.parametrize(("name", "hand", "score"), [
    ("classic", "Rr Rr Rr Rr Hr Hr Kg", 9), ("classic", "Rr Rr Rr Rr Hr Cr Kg", None),
    ("ten-hu", "Rr Rr Rr Rr Hr Hr Kg", None), ("ten-hu", "Rr Rr Rr Rr Hr Hr Kg Ky", 10),
    ("ten-hu", "Kr Kr Kr Kr Ar Ar Ar Kg", 10),
])  # fmt: skip
def test_dealt_win(name, hand, score):
    deal = Deal(rule_set(name), 0, [seat_of(hand), *[seat_of("Ag")] * 3], [])
    deal.begin()
    assert (deal.winner, deal.score) == ((None, 0) if score is None else (0, score))
    assert deal.events[0]["event"] == "show"
    if score is not None:
        assert deal.events[-1] == {"event": "win", "seat": 0, "card": None, "score": score}


def test_redeal():
    rules = rule_set("classic", redeal="always")
    seats = [seat_of(hand) for hand in ("Ar Ag", "Ky Ay", "Rg Rg Rg Ar", "Pr Hy Hy")]
    deal = Deal(rules, 3, seats, [])
    deal.begin()
    assert deal.events == [{"event": "redeal", "seat": 3}, {"event": "redeal", "seat": 0}]
    assert deal.outcome == "redeal"
    for name, hand, expected in [
        ("classic", "Hr Hy Hw Hg", False),
        ("ten-hu", "Hr Hy Hw Hg", True),
        ("ten-hu", "Pr Py Pw Pg", False),
        ("classic", "F F F F Pr Py Pw", True),
    ]:
        assert naive_deal.may_redeal(rule_set(name), tuple(sorted(parse_cards(hand)))) is expected


def test_short_melds_beside_a_win():
    # the quad makes 6 + 1 + 3 = 10 and wins; the triple leaves the fourth card over
    seat = seat_of("Rr Rr Rr Ay Ay Kg", exposed=[("soldiers3", "Pr Py Pw")])
    deal = window("ten-hu", "draw", 0, "Rr", seat)
    assert (said(deal, 0), deal.win_score(0)) == (["pass", "win", "pair:Rr", "triple:RrRr"], 10)
    # complete with the pair too (two pairs), but for 4 points only: an ordinary meld, beside the win
    assert naive.best_win_by(deal.rules, seat.hand, 3, ("pair", (3,)), 3) is None
    assert said(window("ten-hu", "draw", 0, "Ay", seat_of("Ay Kg Rr Rr")), 0) == ["pass", "pair:Ay"]


def test_no_legal_discard():
    assert said(window("ten-hu", "draw", 0, "Rr", "Kg F Rr Rr"), 0) == ["pass", "pair:Rr"]
    assert said(window("ten-hu", "draw", 0, "Kr", "Kg Rr"), 0) == ["single"]
    deal = window("ten-hu", "draw", 0, "Kr", "Kg Ar Er")
    assert said(deal, 0) == ["single"]  # after the command only the General would be left
    deal = window("ten-hu", "draw", 0, "Kr", "Kg F")
    assert said(deal, 0) == ["single"]  # forced
    deal.settle([("single", ()), PASS, PASS, PASS])
    assert [event["event"] for event in deal.events] == ["take", "dead_hand"]
    assert (deal.outcome, deal.winner) == ("dead_hand", None)


def test_priority():
    deal = window("cardavia", "draw", 1, "Hy")
    field, triple, none = ("field", ()), ("triple", ()), PASS
    for answers, owner in [
        ([WIN, WIN, WIN, none], 1),
        ([WIN, field, WIN, WIN], 2),
        ([triple, field, field, none], 0),
        ([none, field, field, none], 1),
        ([none, none, field, none], 2),
        ([none, none, none, none], None),
    ]:
        assert deal.owner(answers) == owner
    deal = window("cardavia", "discard", 1, "Hy")
    assert deal.owner([WIN, None, none, WIN]) == 3
    assert deal.owner([none, None, field, triple]) == 3


def test_turn_after_takes_and_windows():
    deal = window("cardavia", "draw", 0, "Hy", "Ar", "Ar", "Hy Hy Ar", "Ar")
    deal.settle([PASS, PASS, ("triple", tuple(parse_cards("Hy Hy"))), PASS])
    deal.discard(1)
    deal.settle([PASS, PASS, None, PASS])
    assert (deal.phase, deal.turn) == ("draw", 3)  # seat 1 has lost its turn
    deal = window("cardavia", "draw", 0, "Hy", "Ar", "Ar", "Ar", "Ar")
    deal.settle([PASS] * 4)
    assert (deal.window, deal.turn, deal.offers(0)) == ("discard", 0, [])


@pytest.mark.parametrize(("name", "left"), [("cardavia", 0), ("classic", 0), ("ten-hu", 6)])
def test_exhausted_stock(name, left):
    for more in (0, 1):
        deal = Deal(rule_set(name), 0, [seat_of("Ar")] * 4, parse_cards("Hy") * (left + more), "draw")
        deal.draw()
        assert deal.outcome == (None if more else "exhausted")


def test_same_type_as_the_card_taken_may_be_discarded():
    deal = window("classic", "draw", 0, "Hy", "Hy Hy Ar")
    deal.settle([("pair", tuple(parse_cards("Hy"))), PASS, PASS, PASS])
    assert deal.seats[0].discardable() == parse_cards("Ar Hy")


def test_parsing():
    assert naive.codes_of(parse_cards("Kr ArEr F Pg")) == ["Kr", "Ar", "Er", "F", "Pg"]
    with pytest.raises(ValueError, match="not all"):
        parse_cards("Kr Xx")
    with pytest.raises(AssertionError, match="right size"):
        naive_deal.new_deal(rule_set("classic"), 0, ["Kr"] * 4, "")
