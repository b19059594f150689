"""The figures of one or more runs as plain tables: what terminals, CSV files and pages show, without their looks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sisepai.analysis.comparison import Comparison
from sisepai.analysis.summary import LEVELS, Mean, Rate, Spread, Summary
from sisepai.cards import MELDS

ENDS = {
    "own_draw": "won: own draw",
    "other_draw": "won: another's draw",
    "discard": "won: a discard",
    "dealt": "won: as dealt",
}
DRAWN = {"exhausted": "  no stock left", "dead_hand": "  a dead hand"}
PLACES = ("the dealer", "1st after", "2nd after", "3rd after")


@dataclass(frozen=True)
class Row:
    """One figure of every run, None where a run has no such thing; ``key`` for machines, ``label`` for
    people.

    A row that is not ``shown`` (what these rules or strategies never do) goes into files, not on the screen.
    """

    key: str
    label: str
    cells: Sequence[Rate | Mean | None]
    drawn: bool = False
    shown: bool = True


@dataclass(frozen=True)
class Section:
    """A table: ``key`` names its CSV file; ``unit`` says what the figures are shares or means of."""

    key: str
    title: str
    unit: str
    rows: list[Row]


def sections(runs: Sequence[Summary]) -> list[Section]:
    """All rates and means of the runs, side by side."""
    payoffs = Section("payoff", "Payoff (each loser pays the score)", "mean a deal", _payoffs(runs))
    return [
        Section("ends", "How deals end", "share of all deals", _ends(runs)),
        Section("seats", "Wins by seat", "share of all deals", _seats(runs)),
        Section("places", "Wins by place after the dealer", "share of all deals", _places(runs)),
        Section("strategies", "Wins by strategy", "share of the deals of a seat", _strategies(runs)),
        Section("shares", "Whose the wins are", "share of all wins", _shares(runs)),
        Section("scores", "Points of a win", "share of all wins", _scores(runs)),
        Section("melds", "Melds of a winning hand", "mean number", _melds(runs)),
        *([payoffs] if payoffs.rows else []),
    ]


def spreads(run: Summary) -> dict[str, Spread]:
    """The quantities of which quantiles are shown, by name: points of a win; draws, takes, discards of a deal."""
    return {"points": run.score.win} | run.length


def _ends(runs: Sequence[Summary]) -> list[Row]:
    def cells(key: str) -> list[Rate]:
        return [run.ends[key] for run in runs]

    won = [
        Row(key, label, cells(key), shown=key != "dealt" or _seen(cells(key))) for key, label in ENDS.items()
    ]
    drawn = Row("drawn", "drawn", [run.drawn for run in runs], drawn=True)
    # Told apart only where there is anything to tell apart.
    apart = _seen(cells("dead_hand"))
    return [
        *won,
        drawn,
        *(Row(key, label, cells(key), drawn=True, shown=apart) for key, label in DRAWN.items()),
    ]


def _seen(cells: Sequence[Rate | Mean]) -> bool:
    return any(cell.value for cell in cells)


def _seats(runs: Sequence[Summary]) -> list[Row]:
    return _by(runs, lambda run: {f"{seat}": rate for seat, rate in enumerate(run.seats)}, "seat {}".format)


def _places(runs: Sequence[Summary]) -> list[Row]:
    return _by(runs, lambda run: dict(zip(PLACES, run.places, strict=False)))


def _strategies(runs: Sequence[Summary]) -> list[Row]:
    return _by(runs, lambda run: {wins.strategy: wins.per_seat_deal for wins in run.strategies})


def _shares(runs: Sequence[Summary]) -> list[Row]:
    return _by(runs, lambda run: {wins.strategy: wins.share_of_wins for wins in run.strategies})


def _scores(runs: Sequence[Summary]) -> list[Row]:
    points = sorted({score for run in runs for score in run.score.distribution})

    def cell(run: Summary, score: int) -> Rate | None:
        return run.score.distribution.get(score)

    return [Row(str(score), str(score), [cell(run, score) for run in runs]) for score in points]


def _melds(runs: Sequence[Summary]) -> list[Row]:
    kinds = {kind: [run.melds[kind] for run in runs] for kind in MELDS}
    return [Row(kind, kind, cells, shown=_seen(cells)) for kind, cells in kinds.items()]


def _payoffs(runs: Sequence[Summary]) -> list[Row]:
    def figures(run: Summary) -> dict[str, Mean]:
        if run.payoff is None:
            return {}
        strategies = {f"strategy {label}": mean for label, mean in run.payoff.strategies.items()}
        seats = {f"seat {seat}": mean for seat, mean in enumerate(run.payoff.seats)}
        places = {f"place {after}": mean for after, mean in enumerate(run.payoff.places)}
        return strategies | seats | places

    return _by(runs, figures, spoken)


def spoken(what: str) -> str:
    """What people call the figure ``what``: places have names of their own."""
    word, _, number = what.partition(" ")
    return PLACES[int(number)] if word == "place" else what


def _by(
    runs: Sequence[Summary],
    figures: Callable[[Summary], Mapping[str, Rate | Mean]],
    label: Callable[[str], str] = str,
) -> list[Row]:
    """A row for each name that any run has, in the order of their first appearance."""
    columns = [figures(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return [Row(name, label(name), [column.get(name) for column in columns]) for name in names]


def flat_tables(
    runs: Sequence[Summary], comparisons: Sequence[Comparison]
) -> dict[str, list[dict[str, Any]]]:
    """Every table as records of plain values (one a run and row), by name: what goes into CSV files."""
    names = [run.run.name for run in runs]
    tables = {
        section.key: [
            {"run": name, "what": row.key} | _plain(cell)
            for row in section.rows
            for name, cell in zip(names, row.cells, strict=True)
            if cell is not None
        ]
        for section in sections(runs)
    }
    tables["runs"] = [_joined(vars(run.run)) for run in runs]
    tables["spread"] = [
        {"run": run.run.name, "what": what} | _plain(spread.mean) | _quantiles(spread)
        for run in runs
        for what, spread in spreads(run).items()
    ]
    if comparisons:
        tables["differences"] = [
            {"run": pair.second, "minus": pair.first, "paired": pair.paired, "decks": pair.decks} | vars(one)
            for pair in comparisons
            for one in pair.differences
        ]
    return tables


def _plain(cell: Rate | Mean) -> dict[str, Any]:
    return dict(vars(cell))


def _quantiles(spread: Spread) -> dict[str, int | None]:
    return {name: None if spread.quantiles is None else spread.quantiles[name] for name in LEVELS}


def _joined(values: dict[str, Any]) -> dict[str, Any]:
    """Lists as words separated by blanks, since a CSV cell holds one text."""
    return {key: " ".join(value) if isinstance(value, list) else value for key, value in values.items()}
