"""A deal on the terminal: hands, turns, and what the winner holds. Fits 60 columns and reads well at 80."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sisepai.cards import NONE
from sisepai.cli.console import can_encode, card_text, plain_table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from sisepai.runs.deal import Deal, Decision, Deck, Event

_HOW = {
    "exposed": "exposed",
    "concealed": "concealed",
    "shown": "shown when dealt",
    "winning": "with the winning card",
}


def print_deal(out: "Console", deal: "Deal", labels: Sequence[str], title: str) -> None:
    """Print a deal turn by turn under a title; ``labels`` are the strategies by seat. Its end, where it has one."""
    out.print(title, style="bold", markup=False)
    redeals = [place for place, event in enumerate(deal.events) if event.event == "redeal"]
    begins = [0, *(place + 1 for place in redeals)]
    ends = [*begins[1:], len(deal.events)]
    for deck, begin, end in zip(deal.decks, begins, ends, strict=True):
        out.print()
        out.print(_hands(deal, deck, labels))
        out.print()
        out.print(_turns(deal.events[begin:end], begin, deal.decisions))
    if deal.row["outcome"][0] != NONE:
        out.print()
        _print_end(out, deal)


def _hands(deal: "Deal", deck: "Deck", labels: Sequence[str]) -> "Table":
    """The hands in order of card number, and the stock in the order of drawing."""
    table = plain_table("seat", "strategy", "dealt")
    table.columns[1].max_width, table.columns[1].overflow = 12, "fold"
    for seat, hand in enumerate(deck.hands):
        name = f"{seat}{' dealer' if seat == deal.dealer else ''}"
        table.add_row(name, labels[seat], card_text(sorted(hand)))
    table.add_row("stock", "", card_text(deck.stock))
    return table


def _turns(events: Sequence["Event"], begin: int, decisions: Sequence["Decision"]) -> "Table":
    table = plain_table("turn", "step", "seat", "event", "card", "")
    for column in table.columns[:3]:
        column.justify = "right"
        column.no_wrap = True
    for row in _turn_rows(events, begin, decisions):
        table.add_row(*row)
    return table


def _turn_rows(
    events: Sequence["Event"], begin: int, decisions: Sequence["Decision"]
) -> Iterator[tuple["RenderableType", ...]]:
    """A row an event, and before it one a decision that led to it and is explained.

    A turn begins with a draw, and the dealer's discard of its extra card is a turn too.
    """
    turn, before = 0, None
    for step, event in enumerate(events, begin):
        for decision in decisions:
            if decision.step == step:
                yield "", "", str(decision.seat), "thinks", "", _thoughts(decision)
        begins = event.event == "draw" or (event.event == "discard" and turn == 0)
        turn += begins
        yield (
            str(turn) if begins else "",
            str(step),
            "" if event.seat is None else str(event.seat),
            event.event.replace("_", " "),
            "" if event.card is None else card_text([event.card]),
            _detail(event, before),
        )
        before = event


def _thoughts(decision: "Decision") -> "RenderableType":
    """The choices with what was expected of them, as many a line as there is room for; * is what was chosen."""
    from rich.columns import Columns
    from rich.text import Text

    shown, sign = [], "±" if can_encode("±") else "+-"
    for choice, mean, error, _ in decision.estimates:
        words = Text(choice.meld or ("" if choice.act == "discard" else choice.act))
        words.append(" with " if choice.meld and choice.cards else "").append_text(card_text(choice.cards))
        shown.append(words.append(f" {mean:.3f}{sign}{error:.3f}{'*' * (choice == decision.chosen)}"))
    return Columns(shown, padding=(0, 2))


def _detail(event: "Event", before: "Event | None") -> "Text":
    from rich.text import Text

    if event.event == "take" and event.partners:
        return Text(f"{event.meld} with ").append_text(card_text(event.partners))
    if event.event == "discard" and before is not None and before.event == "draw":
        return Text("the drawn card")
    if event.event == "win":
        return Text(_points(event.score or 0))
    words = {
        "exhausted": "nothing left to draw",
        "dead_hand": "no card may be discarded",
        "redeal": "dealt again",
    }
    return Text(event.meld or words.get(event.event, ""))


def _print_end(out: "Console", deal: "Deal") -> None:
    from sisepai.runs.deal import winning_melds

    if deal.winner is None:
        reasons = {"exhausted": "nobody won before the stock ran out", "dead_hand": "a dead hand"}
        out.print(f"drawn: {reasons[deal.outcome]}")
    else:
        out.print(f"seat {deal.winner} wins {_how_won(deal)}: {_points(deal.score)}")
        out.print()
        table = plain_table("meld", "cards", "points", "")
        table.columns[2].justify = "right"
        for meld, how in winning_melds(deal):
            table.add_row(meld.kind, card_text(meld.cards), str(meld.points), _HOW[how])
        table.add_row("score", "", str(deal.score), "")
        out.print(table)
    out.print()
    seats = range(deal.rules.players)
    table = plain_table("deadwood", *(f"seat {seat}" for seat in seats))
    for when, words in (("dealt", "as dealt"), ("end", "at the end")):
        table.add_row(words, *map(str, deal.deadwood(when)))
    for seat in seats:
        table.columns[seat + 1].justify = "right"
    out.print(table)


def _how_won(deal: "Deal") -> str:
    from_seat = int(deal.row["from_seat"][0])
    return {
        "own_draw": "with a card of its own draw",
        "other_draw": f"with a card that seat {from_seat} drew",
        "discard": f"with a discard of seat {from_seat}",
        "dealt": "with the cards it was dealt",
    }[deal.win_by or ""]


def _points(score: int) -> str:
    return f"{score} point{'s' * (score != 1)}"
