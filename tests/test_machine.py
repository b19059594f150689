"""Small deals written by hand, one for each subtle rule and each option.

A deal here has hands of four cards or so, the stock's first cards, and what each seat wishes for; a seat takes nothing
it does not wish for unless it must, and discards its lowest card unless it wishes otherwise. Each deal is also played
by the naive reference (`engine_tools.written`), and the first events must be those written.
"""

import random

import naive
import pytest
from engine_tools import events_by_deal, rules_of, simulator, written

from sisepai.cards import WIN_BY, format_cards
from sisepai.errors import SisepaiError

LOOSE = "Ar Rg Ew Cy"  # four cards that want nothing


def begins(deal, events):
    """The deal's first events are these lines."""
    expected = [line.strip() for line in events.strip().splitlines()]
    assert deal.lines[: len(expected)] == expected


# ------------------------------------------------------------------------------------------------------- priority


def priority(wishes):
    """Seat 0 draws Hy. All want it: a field for 0 and 1, a triple for 2, the win with a pair for 3."""
    hands = ["Ry Cy Ar Ag", "Ry Cy Eg Aw", "Hy Hy Ew Pg", "Hy Kr Pr Pr"]
    return written("cardavia", hands, "Hy", wishes)


def test_a_win_goes_before_a_triple():
    begins(priority({0: "field", 1: "field", 2: "triple", 3: "win"}), """
        0 draw Hy
        3 win Hy 1""")  # fmt: skip


def test_a_triple_goes_before_the_drawers_meld():
    begins(priority({0: "field", 1: "field", 2: "triple"}), """
        0 draw Hy
        2 take Hy triple: Hy Hy
        2 discard Ew""")  # fmt: skip


def test_the_drawers_meld_goes_before_the_next_seats():
    begins(priority({0: "field", 1: "field"}), """
        0 draw Hy
        0 take Hy field: Ry Cy
        0 discard Ar""")  # fmt: skip


def test_the_next_seat_takes_what_nobody_else_wants():
    begins(priority({1: "field"}), """
        0 draw Hy
        1 take Hy field: Ry Cy
        1 discard Aw""")  # fmt: skip


def test_the_drawers_win_goes_first():
    hands = ["Ry Cy Kr F", LOOSE, LOOSE.replace("Ar", "Ay"), "Hy Kr Pr Pr"]
    wins = written("cardavia", hands, "Hy", {0: "win", 3: "win"})
    begins(wins, "0 draw Hy\n0 win Hy 5")
    assert (wins.row["win_by"], wins.row["from_seat"], wins.row["win_card"]) == (0, 0, 8 + 3)
    # A win may be passed; the same seats, but the drawer does not want it.
    begins(written("cardavia", hands, "Hy", {3: "win"}), "0 draw Hy\n3 win Hy 1")


@pytest.mark.parametrize("wish", ["win", "late win"], ids=["draw window", "discard window"])
@pytest.mark.parametrize(("dealer", "winner"), [(1, 2), (3, 0)])
def test_wins_of_one_level_go_by_turn(wish, dealer, winner):
    """Seats 0 and 2 win with Hy, which the dealer draws and then discards."""
    deal = written("cardavia", ["Hy Kr Pr Pr", LOOSE, "Hy Kg Pg Pg", LOOSE], "Hy", {0: wish, 2: wish}, dealer)
    assert deal.lines[-1] == f"{winner} win Hy 1"
    assert WIN_BY[deal.row["win_by"]] == ("discard" if "late" in wish else "other_draw")
    assert deal.row["from_seat"] == dealer


# ---------------------------------------------------------------------------------------------- turns and windows


def test_a_take_out_of_turn_skips_the_seats_between():
    begins(written("cardavia", [LOOSE, LOOSE, "Hy Hy Ew Pg", LOOSE], "Hy Aw", {2: "triple"}), """
        0 draw Hy
        2 take Hy triple: Hy Hy
        2 discard Ew
        3 draw Aw""")  # fmt: skip


def test_a_discard_window_follows_the_draw_window():
    """A seat that passed may take the card now; the drawer, whose discard it has become, may not."""
    field = "Ry Cy Ar Ag"
    begins(written("cardavia", [field, field, LOOSE, LOOSE], "Hy", {0: "late field", 1: "late field"}), """
        0 draw Hy
        0 discard Hy
        1 take Hy field: Ry Cy
        1 discard Ar""")  # fmt: skip
    begins(written("cardavia", [field, LOOSE, field, LOOSE], "Hy Aw", {0: "late field win", 2: "field"}), """
        0 draw Hy
        0 discard Hy
        1 draw Aw""")  # fmt: skip


def test_the_discarder_does_not_win_with_its_own_discard():
    begins(written("cardavia", ["Ry Cy Kr F", LOOSE, LOOSE, LOOSE], "Hy Aw", {0: "late win"}), """
        0 draw Hy
        0 discard Hy
        1 draw Aw""")  # fmt: skip


def test_a_winning_take_is_free_of_place_and_kind():
    begins(
        written("cardavia", [LOOSE, LOOSE, "Ry Cy Kr F", LOOSE], "Hy", {2: "win"}), "0 draw Hy\n2 win Hy 5"
    )
    begins(
        written("cardavia", [LOOSE, LOOSE, "Hy Ky Kr F", LOOSE], "Hy", {2: "win"}), "0 draw Hy\n2 win Hy 5"
    )


def test_no_pair_without_winning():
    begins(written("cardavia", ["Hy Ar Rg Ew"] * 2 + [LOOSE] * 2, "Hy Aw", {0: "pair", 1: "pair"}), """
        0 draw Hy
        0 discard Hy
        1 draw Aw""")  # fmt: skip


def test_grouped_cards_of_a_hand_are_no_win():
    begins(written("cardavia", ["Hy Hy Kr F", LOOSE, LOOSE, LOOSE], "Aw Ky", {0: "win", 1: "win"}), """
        0 draw Aw
        0 discard Aw
        1 draw Ky""")  # fmt: skip


# ---------------------------------------------------------------------------------------------- forced takes


def test_a_drawn_flower_or_general_must_be_taken():
    begins(written("cardavia", [LOOSE, LOOSE, LOOSE, "Ay Er Hw Cg"], "F Kr"), """
        0 draw F
        0 take F single
        0 discard Ar
        1 draw Kr
        1 take Kr single
        1 discard Ar""")  # fmt: skip


def test_a_drawn_general_is_its_drawers_but_for_a_win():
    command = "Ar Er Rg Cy"
    hands = [command, command, "Ar Er Pg Pg", LOOSE.replace("Ar", "Ag")]
    begins(written("cardavia", hands, "Kr", {0: "command", 1: "command"}), """
        0 draw Kr
        0 take Kr command: Ar Er
        0 discard Cy""")  # fmt: skip
    begins(written("cardavia", hands, "Kr", {1: "command"}), "0 draw Kr\n0 take Kr single\n0 discard Ar")
    begins(written("cardavia", hands, "Kr", {0: "command", 2: "win"}), "0 draw Kr\n2 win Kr 1")


def test_a_forced_drawer_with_no_other_answer_wins():
    begins(written("cardavia", ["Kr Ky Kw Kg", LOOSE, LOOSE, LOOSE], "F"), "0 draw F\n0 win F 7")


@pytest.mark.parametrize("wish", ["Kr", "nonsense", "refuse"])
def test_illegal_choices_are_caught(wish):
    """To discard a General, to answer with a meld that was not offered, to pass a forced take."""
    hands = ["Kr Rg Ew Cy", LOOSE, LOOSE, LOOSE]
    with pytest.raises(SisepaiError, match=r"deal 0, seat ., .* which was not offered"):
        written("cardavia", hands, "F", {0: wish})


# ------------------------------------------------------------------------------------------------- the stock's end


def loose_hands(rules, sizes):
    """Hands of a shuffled pack, as text."""
    cards = naive.pack({"flowers": rules.flowers})
    random.Random(2).shuffle(cards)
    return [format_cards(cards.pop() for _ in range(size)) for size in sizes]


@pytest.mark.parametrize(("name", "undrawn", "draws"), [
    ("cardavia", 0, 37), ("cardavia", 2, 35), ("classic", 0, 31), ("ten-hu", 6, 25), ("ten-hu", 0, 31),
])  # fmt: skip
def test_the_last_card_drawn(name, undrawn, draws):
    rules = rules_of(name, {})
    hands = loose_hands(rules, [20 + rules.dealer_leads, 20, 20, 20])
    deal = written(name, hands, "", undrawn=undrawn)
    assert deal.lines[-1] == "exhausted"
    assert (deal.row["outcome"], deal.row["draws"], deal.row["score"]) == (1, draws, 0)


def test_the_last_card_goes_through_windows_and_takes():
    chunk = simulator(rules_of("cardavia", {})).play(0, 3000, events=True)
    ends = {tuple(event["event"] for event in events[-4:]) for events in events_by_deal(chunk)}
    assert ("draw", "take", "discard", "exhausted") in ends


# ------------------------------------------------------------------------------------------ classic: who may take

FIVE = "Ar Rg Ew Cy Pw"  # the dealer's cards, of which it discards Pw


def classic(hands, stock, wishes, **options):
    """A deal of `classic`; seat 0 deals and discards Pw first."""
    return written("classic", [FIVE, *hands], stock, {0: "Pw"} | wishes, **options)


def test_the_dealer_discards_first_and_the_next_seat_pairs():
    begins(classic(["Pw Hg Er Ay", LOOSE, LOOSE], "", {1: "pair"}), """
        0 discard Pw
        1 take Pw pair: Pw
        1 discard Er""")  # fmt: skip


def test_the_next_seat_pairs_in_the_discard_window_alone():
    begins(classic([LOOSE, "Hy Kg Er Ay", LOOSE], "Hy", {2: "pair"}), """
        0 discard Pw
        1 draw Hy
        1 discard Hy
        2 take Hy pair: Hy
        2 discard Er""")  # fmt: skip
    begins(classic(["Hy Kg Er Ay", LOOSE, "Hy Kg Er Ay"], "Hy Aw", {1: "pair", 3: "pair"}), """
        0 discard Pw
        1 draw Hy
        1 take Hy pair: Hy""")  # fmt: skip
    begins(classic([LOOSE, LOOSE, "Hy Kg Er Ay"], "Hy Aw", {3: "pair"}), """
        0 discard Pw
        1 draw Hy
        1 discard Hy
        2 draw Aw""")  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "third"), [("any", "1 take Hy colours3: Hr Hw"), ("soldiers", "1 discard Hy")]
)
def test_colour_groups(groups, third):
    deal = classic(["Hr Hw Er Ay", LOOSE, LOOSE], "Hy", {1: "colours3"}, colour_groups=groups)
    begins(deal, f"0 discard Pw\n1 draw Hy\n{third}")


@pytest.mark.parametrize(
    ("claim", "third"), [(True, "3 take Kr quad: Kr Kr Kr"), (False, "1 take Kr single")]
)
def test_claim_general_quad(claim, third):
    hands = [LOOSE, LOOSE, "Kr Kr Kr Ew"]
    begins(classic(hands, "Kr", {3: "quad"}, claim_general_quad=claim), f"0 discard Pw\n1 draw Kr\n{third}")


def test_a_drawer_lays_the_fourth_general_in_any_case():
    deal = classic(["Kr Kr Kr Ew", LOOSE, LOOSE], "Kr", {1: "quad"}, claim_general_quad=False)
    begins(deal, "0 discard Pw\n1 draw Kr\n1 take Kr quad: Kr Kr Kr")


@pytest.mark.parametrize(("players", "second"), [(2, "0 take Hy field: Ry Cy"), (3, "1 discard Hy")])
def test_with_two_players_the_opponent_is_the_next_seat(players, second):
    hands = ["Ry Cy Ar Ag", LOOSE, LOOSE][:players]
    begins(written("cardavia", hands, "Hy", {0: "field"}, dealer=1), f"1 draw Hy\n{second}")


# ------------------------------------------------------------------------------------------- classic: dealt cards


def test_dealt_quads_are_shown_and_never_split():
    hands = ["Ar Rg Ew Cy", "Hy Hy Hy Hy", "Pg Ew Ag Cw Rr", "Kr Kr Kr Kr"]
    deal = written("classic", hands, "Ry Cy Aw", {1: "field", 2: "Pg"}, dealer=2)
    begins(deal, """
        3 show Kr
        1 show Hy
        2 discard Pg
        3 draw Ry
        3 discard Ry
        0 draw Cy
        0 discard Cy
        1 draw Aw
        1 discard Aw""")  # fmt: skip


@pytest.mark.parametrize(("shown", "first"), [
    (True, "1 show Hy\n0 discard Pw\n1 draw Cy\n1 discard Cy"),
    (False, "0 discard Pw\n1 draw Cy\n1 take Cy field: Ry Hy"),
])  # fmt: skip
def test_show_dealt_quads(shown, first):
    hands = ["Ar Rg Ew Ey Pw Pr Cw", "Hy Hy Hy Hy Ry Ag", "Ar Rg Ew Ey Pr Pg", "Ar Rg Ew Ey Pr Pg"]
    begins(written("classic", hands, "Cy", {0: "Pw", 1: "field"}, show_dealt_quads=shown), first)


def test_a_dealt_win_scores_all_as_concealed():
    deal = written("classic", ["Hy Hy Hy Hy Kr", LOOSE, LOOSE, LOOSE], "")
    begins(deal, "0 show Hy\n0 win 9")
    assert WIN_BY[deal.row["win_by"]] == "dealt"
    assert (deal.row["from_seat"], deal.row["win_card"], deal.row["draws"]) == (255, 255, 0)
    begins(written("classic", ["Hy Hy Hy Pg Pg", LOOSE, LOOSE, LOOSE], ""), "0 win 3")


@pytest.mark.parametrize(("locked", "third"), [(False, "1 take Cg field: Rg Hg"), (True, "1 discard Cg")])
def test_a_locked_triple_is_not_split(locked, third):
    hands = ["Ar Pg Ew Cy Pw Py", "Rg Rg Rg Hg Ag", "Ar Ew Cy Ay Pr", "Ar Ew Cy Ay Pr"]
    deal = written("classic", hands, "Cg", {0: "Pw", 1: "field"}, lock_dealt_triples=locked)
    begins(deal, f"0 discard Pw\n1 draw Cg\n{third}")


def test_a_locked_triple_becomes_a_quad_whole():
    hands = ["Ar Pg Ew Cy Pw", "Rg Rg Rg Hg", "Ar Ew Cy Ay", "Ar Ew Cy Ay"]
    deal = written("classic", hands, "Rg", {0: "Pw", 1: "triple quad"}, lock_dealt_triples=True)
    begins(deal, "0 discard Pw\n1 draw Rg\n1 take Rg quad: Rg Rg Rg\n1 discard Hg")


@pytest.mark.parametrize(("locked", "first"), [(False, "0 discard Ar"), (True, "0 discard Py")])
def test_a_locked_triple_is_not_discarded(locked, first):
    hands = ["Ar Ar Ar Py Ew", "Rg Ew Cy Ay", "Rg Ew Cy Ay", "Rg Ew Cy Ay"]
    begins(written("classic", hands, "", lock_dealt_triples=locked), first)


def test_a_redeal_takes_the_next_deck():
    hands = ["Ar Rg Ew Cy Kw", LOOSE, LOOSE, "Py Py Py Cw"]
    deal = written("classic", hands, "", redeal="always")
    assert deal.lines[:2] == ["1 redeal", "2 redeal"]
    assert deal.row["redeals"] >= 1
    assert "redeal" not in " ".join(written("classic", hands, "", redeal="never").lines)


# ----------------------------------------------------------------------------------------------------- the score


def test_the_winning_card_may_choose_its_meld():
    """With the fourth Ar the quad would leave Kr and Er: the command is laid, and the triple stays concealed."""
    hands = ["Ay Rg Ew Cy Pw Hw", "Kr Ar Ar Ar Er", "Rg Ew Cy Ay Pg", "Rg Ew Cy Ay Pg"]
    begins(written("classic", hands, "Ar", {0: "Pw", 1: "win"}), "0 discard Pw\n1 draw Ar\n1 win Ar 4")
    hands[1] = "Kr Ar Ar Ar Kg"
    begins(written("classic", hands, "Ar", {0: "Pw", 1: "win"}), "0 discard Pw\n1 draw Ar\n1 win Ar 8")


@pytest.mark.parametrize(("name", "flowers", "score"), [("cardavia", 5, 3 + 2), ("classic", 1, 1 + 2)])
def test_points_of_a_flower(name, flowers, score):
    hands = ["F Kg Ky Hy", LOOSE, LOOSE, LOOSE]
    if name == "classic":
        hands[3] += " Pw"
    deal = written(
        name, hands, "Hy", {0: "win", 3: "Pw"}, dealer=0 if name == "cardavia" else 3, flowers=flowers
    )
    assert deal.lines[-1] == f"0 win Hy {score}"


def test_four_generals_exposed():
    hands = ["Ar Rg Ew Cy Pw Pw", "Kr Kr Kr F F", "Ar Rg Ew Cy Pg", "Ay Rg Ew Cy Pg"]
    for name, score in (("classic", 6 + 2), ("ten-hu", 8 + 2)):
        deal = written(name, hands, "Kr", {0: "Pw", 1: "win"}, flowers=2)
        begins(deal, f"0 discard Pw\n1 draw Kr\n1 win Kr {score}")


# -------------------------------------------------------------------------------------------------------- ten-hu


@pytest.mark.parametrize(("least", "first"), [(10, "0 discard Hy"), (3, "0 win 3")])
def test_a_complete_hand_that_is_short_plays_on(least, first):
    begins(written("ten-hu", ["Hy Hy Kr Kg Kw", LOOSE, LOOSE, LOOSE], "", min_points=least), first)


def test_a_short_meld_may_stand_beside_a_win():
    """The quad brings 6 + 3 + 1 points; the pair is complete too, but short, so it is an ordinary take."""
    hands = [
        "Ar Hg Ew Cy Pw Ey Ey Ag",
        "Rr Rr Rr Pr Py Pg Kg",
        "Ar Hg Ew Cy Ag Cw Ey",
        "Ar Hg Ew Cy Ag Cw Ey",
    ]
    begins(written("ten-hu", hands, "Rr", {0: "Pw", 1: "win"}), "0 discard Pw\n1 draw Rr\n1 win Rr 10")
    begins(
        written("ten-hu", hands, "Rr", {0: "Pw", 1: "pair"}), "0 discard Pw\n1 draw Rr\n1 take Rr pair: Rr"
    )


def test_a_take_that_leaves_no_discard_is_not_offered():
    hands = ["Ar Hg Ew Cy Pw", "Kg Ky Rr Rr", "Ar Hg Ew Cy", "Ar Hg Ew Cy"]
    begins(written("ten-hu", hands, "Rr", {0: "Pw", 1: "triple pair"}), """
        0 discard Pw
        1 draw Rr
        1 take Rr pair: Rr
        1 discard Rr""")  # fmt: skip


@pytest.mark.parametrize(("least", "end"), [(10, "1 take Kr single\n1 dead_hand"), (5, "1 win Kr 5")])
def test_a_forced_take_may_leave_a_dead_hand(least, end):
    hands = ["Ar Hg Ew Cy Pw", "Kg Ky F F", "Ar Hg Ew Cy", "Ar Hg Ew Cy"]
    deal = written("ten-hu", hands, "Kr", {0: "Pw", 1: "win"}, flowers=2, min_points=least)
    begins(deal, f"0 discard Pw\n1 draw Kr\n{end}")


def test_a_forced_winner_is_not_offered_a_dead_hand():
    """The quad wins with 8 + 1 + 1 points; the single would be short, and leave nothing to discard."""
    hands = ["Ar Hg Ew Cy Pw Ey", "Kr Kr Kr Ky F", "Ar Hg Ew Cy Ey", "Ar Hg Ew Cy Pg"]
    deal = written("ten-hu", hands, "Kr", {0: "Pw", 1: "single"}, flowers=1)
    begins(deal, "0 discard Pw\n1 draw Kr\n1 win Kr 10")


def test_soldiers_do_not_pair_in_ten_hu():
    for name, third in (("classic", "1 take Py pair: Py"), ("ten-hu", "1 discard Py")):
        hands = ["Ar Hg Ew Cy Pw", "Py Kg Rr Cw", "Ar Hg Ew Cy", "Ar Hg Ew Cy"]
        begins(written(name, hands, "Py", {0: "Pw", 1: "pair"}), f"0 discard Pw\n1 draw Py\n{third}")
