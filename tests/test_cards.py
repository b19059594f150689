"""Cards: numbers, codes, and hands as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisepai import cards
from sisepai.cards import CODES, FLOWER, N_TYPES, check_copies, format_cards, glyph, parse_cards
from sisepai.errors import InputError

HANDS = st.lists(st.integers(0, N_TYPES - 1), max_size=21)


def test_numbers_are_those_of_the_specification():
    assert len(CODES) == N_TYPES == 29
    assert len(set(CODES)) == N_TYPES
    for colour, letter in enumerate("rywg"):
        for rank, name in enumerate("KAERHCP"):
            assert CODES[colour * 7 + rank] == name + letter
    assert CODES[FLOWER] == "F"


def test_names_keep_their_places():
    # Files hold the places, so this list may grow at its end and must not change otherwise.
    assert cards.MELDS == (
        *("single", "pair", "triple", "quad", "command", "field"),
        *("soldiers3", "soldiers4", "colours3", "colours4"),
    )
    assert cards.EVENTS == ("show", "redeal", "draw", "take", "discard", "win", "exhausted", "dead_hand")
    assert cards.OUTCOMES == ("win", "exhausted", "dead_hand")
    assert cards.WIN_BY == ("own_draw", "other_draw", "discard", "dealt")


def test_glyphs():
    assert "".join(glyph(card) for card in range(7)) == "帥仕相俥傌炮兵"
    assert "".join(glyph(card) for card in range(21, 29)) == "將士象車馬包卒花"
    for card in range(7):
        assert glyph(card) == glyph(card + 7) != glyph(card + 14) == glyph(card + 21)


def test_the_hand_of_the_specification():
    assert parse_cards("Kr Ar Er RyRyRy F") == [0, 1, 2, 10, 10, 10, 28]


@pytest.mark.parametrize(
    "text", ["krArerryryryf", "Kr,Ar, Er\tRy\nRyRy,F\n", "  KrArErRyRyRy F  ", "kr ar er ryRyry f"]
)
def test_ways_to_write_it(text):
    assert parse_cards(text) == [0, 1, 2, 10, 10, 10, 28]


@pytest.mark.parametrize("text", ["", "   ", ",", "\n"])
def test_no_cards(text):
    assert parse_cards(text) == []


@given(HANDS)
def test_what_is_written_is_read_back(hand):
    text = format_cards(hand)
    assert parse_cards(text) == hand
    assert parse_cards(text.replace(" ", "")) == hand


@given(HANDS, st.text(" ,\n", min_size=1, max_size=3))
def test_separators_and_small_letters_change_nothing(hand, separator):
    assert parse_cards(separator.join(CODES[card].lower() for card in hand)) == hand


@pytest.mark.parametrize(
    ("text", "part", "position"),
    [
        ("Kx", "Kx", 1),
        ("Kr Zr", "Zr", 4),
        ("KrArQg", "Qg", 5),
        ("Kr A", "A", 4),
        ("Kr A ", "A", 4),
        ("Kr 10", "10", 4),
        ("F?", "?", 2),
        ("Kr;Ar", ";A", 3),
        ("帥", "帥", 1),
        ("Kr ßr", "ßr", 4),
        ("Kr ıg", "ıg", 4),
    ],
)
def test_the_error_names_part_and_position(text, part, position):
    with pytest.raises(InputError) as caught:
        parse_cards(text)
    assert str(caught.value).startswith(f"unknown card {part!r} at position {position}; ")
    assert "\n" not in str(caught.value)


def test_a_capital_colour_is_answered_with_the_card_meant():
    with pytest.raises(InputError, match=r"did you mean Kr\?"):
        parse_cards("KR")


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        hand = parse_cards(text)
    except InputError:
        return
    assert all(0 <= card < N_TYPES for card in hand)


def test_copies():
    check_copies(parse_cards("KrKrKrKr FFFFF"))
    with pytest.raises(InputError, match="too many Pg: 5, and a pack has 4"):
        check_copies(parse_cards("PgPgPgPgPg"))
    with pytest.raises(InputError, match="too many F: 6, and a pack has 5"):
        check_copies(parse_cards("FFFFFF"))
