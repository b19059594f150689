"""A report for the terminal: tables with small bars, at any width, in any encoding.

Everything is laid out from the width and the encoding of the console: bars take the room that is left and
vanish where there is none, runs that do not fit beside one another follow one another, wide terminals hold
two tables a line. Colour repeats what words and signs say already.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sisepai.analysis.comparison import Comparison, Difference
from sisepai.analysis.sections import Row, Section, sections, spoken, spreads
from sisepai.analysis.summary import LEVELS, Mean, Rate, RunFacts, Summary
from sisepai.rules.rulefile import value_text

GAP = 2
MOST_BAR, LEAST_BAR = 40, 5
TWO_COLUMNS = 150
# A label may be as long as its author likes; beyond this it is folded.
LONGEST_LABEL = 28
WON, DRAWN, COUNTED = "green", "yellow", "cyan"
MORE, LESS = "cyan", "magenta"  # not green and red: more is not always better
MISSING = "-"
MOST_DIGITS = 12


@dataclass(frozen=True)
class _Page:
    """How wide, and whether in ASCII alone."""

    width: int
    ascii: bool

    def half(self) -> "_Page":
        return _Page((self.width - 2 * GAP) // 2, self.ascii)


def print_report(console: Console, runs: Sequence[Summary], comparisons: Sequence[Comparison]) -> None:
    """Print the report; ``runs`` in the order asked for.

    Tables are padded to rectangles, which a terminal needs for nothing and a file should not hold.
    """
    if console.is_terminal:
        _print(console, runs, comparisons)
        return
    with console.capture() as capture:
        _print(console, runs, comparisons)
    for line in capture.get().splitlines():
        console.file.write(line.rstrip() + "\n")


def _print(console: Console, runs: Sequence[Summary], comparisons: Sequence[Comparison]) -> None:
    page = _Page(console.width, console.options.ascii_only)
    for run in runs:
        for line in _warnings(run.run, len(runs) > 1):
            console.print(Text(line, style="bold yellow"))
    for run in runs:
        console.print(_heading(run.run, len(runs) > 1))
    if not any(run.run.deals for run in runs):
        return
    for block in _blocks(page, runs, comparisons):
        console.print()
        console.print(block)
    console.print()
    for line in _notes(page, len(runs) > 1, comparisons):
        console.print(Text(line, style="dim"))


def _blocks(
    page: _Page, runs: Sequence[Summary], comparisons: Sequence[Comparison]
) -> Iterator[RenderableType]:
    parts = {section.key: section for section in sections(runs)}
    several = len(parts["strategies"].rows) > 1  # a single one has all the wins
    order = [["ends"], ["strategies", "shares"] if several else ["strategies"]]
    order += [["seats"], ["places"], ["scores"], ["melds"]]
    two = page.width >= TWO_COLUMNS
    column = page.half() if two else page
    blocks = [_stack([t for key in keys for t in _section(column, parts[key], runs)]) for keys in order]
    if two:
        for left, right in zip(blocks[::2], blocks[1::2], strict=True):
            grid = Table.grid(padding=(0, 2 * GAP, 0, 0))
            grid.add_column(width=column.width)
            grid.add_row(left, right)
            yield grid
    else:
        yield from blocks
    if "payoff" in parts:
        yield _stack(list(_section(page, parts["payoff"], runs)))
    yield _spread_table(page, runs)
    for comparison in comparisons:
        yield _comparison(page, comparison)


def _stack(tables: Sequence[Group]) -> Group:
    """Tables below one another with a blank line between."""
    parts: list[RenderableType] = []
    for table in tables:
        parts += ["", table] if parts else [table]
    return Group(*parts)


def _section(page: _Page, section: Section, runs: Sequence[Summary]) -> Iterator[Group]:
    """The section as one table, or as several where its runs do not fit beside one another."""
    rows = [row for row in section.rows if row.shown]
    if not rows:
        return
    digits = _digits(section, runs)
    single = len(runs) == 1
    texts = [[_cell(page, cell, digits, single) for cell in row.cells] for row in rows]
    label = min(LONGEST_LABEL, max(cell_len(row.label) for row in rows)) + GAP
    cell = _width(
        [_heads(section, single, run.run.name) for run in runs] + [one for row in texts for one in row]
    )
    fit = max(1, (page.width - label) // cell)
    longest = max((cell.value or 0 for row in rows for cell in row.cells if cell), default=0)
    for first in range(0, len(runs), fit):
        some = slice(first, first + fit)
        names = [run.run.name for run in runs[some]]
        bar = min(MOST_BAR, (page.width - label) // len(names) - cell - GAP)
        # One bar alone compares nothing.
        bar = bar if bar >= LEAST_BAR and len(rows) > 1 else 0
        table = _table("")
        for name in names:
            for head in _heads(section, single, name):
                table.add_column(head, justify="right", no_wrap=True)
            if bar:
                table.add_column(no_wrap=True)
        for row, cells in zip(rows, texts, strict=True):
            table.add_row(Text(row.label), *_run_cells(page, row, cells, some, longest, bar))
        yield _titled(f"{section.title}, {section.unit}", table)


def _width(rows: Sequence[tuple[str, ...]]) -> int:
    """The room that columns of these texts take, gaps included."""
    return sum(max(cell_len(text) for text in column) + GAP for column in zip(*rows, strict=True))


def _run_cells(
    page: _Page, row: Row, texts: list[tuple[str, ...]], some: slice, longest: float, bar: int
) -> Iterator[RenderableType]:
    counted = any(isinstance(cell, Mean) for cell in row.cells)
    style = COUNTED if counted else DRAWN if row.drawn else WON
    for cell, words in zip(row.cells[some], texts[some], strict=True):
        yield from words
        if bar:
            share = (cell.value or 0) / longest if cell and longest else 0
            yield Text(bar_text(share, bar, page.ascii), style=style)


def bar_text(share: float, width: int, ascii_only: bool) -> str:
    """A bar of ``share`` (0 to 1) of ``width`` characters; anything that is not nothing is seen."""
    if ascii_only:
        return "#" * max(round(share * width), share > 0)
    whole, part = divmod(max(round(share * width * 8), share > 0), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[part].strip()


def _heads(section: Section, single: bool, name: str) -> tuple[str, ...]:
    if not single:
        return (name,)
    return ("share", "95% interval") if _is_rates(section) else ("mean", "std. error")


def _is_rates(section: Section) -> bool:
    return isinstance(next(cell for row in section.rows for cell in row.cells if cell), Rate)


def _digits(section: Section, runs: Sequence[Summary]) -> int:
    """Decimals: as many as the intervals of the largest run bear."""
    deals = max(run.run.deals for run in runs)
    return (1 if deals < 10_000 else 2 if deals < 3_000_000 else 3) + (0 if _is_rates(section) else 1)


def _cell(page: _Page, cell: Rate | Mean | None, digits: int, single: bool) -> tuple[str, ...]:
    """A figure as text: value and error apart for a single run, in one for several."""
    if cell is None or cell.value is None:
        return (MISSING, MISSING) if single else (MISSING,)
    if isinstance(cell, Mean):
        value = f"{cell.value:.{digits}f}"
        error = MISSING if cell.se is None else f"{cell.se:.{digits + 1}f}"
        return (value, error) if single else (f"{value} {_plus_minus(page)}{error}",)
    value = _percent(cell.value, digits)
    if single:
        return value, _interval(cell.low, cell.high, 100, digits)
    if cell.low is None or cell.high is None:
        return (f"{value} {_plus_minus(page)}{MISSING}",)
    half = 100 * max(cell.high - cell.value, cell.value - cell.low)
    return (f"{value} {_plus_minus(page)}{half:.{_apart(0.0, half, digits)}f}",)


def _percent(share: float, digits: int) -> str:
    """A share in percent; what is rare is not rounded to nothing."""
    text = f"{share:.{digits}%}"
    return f"<{10.0**-digits:.{digits}f}%" if share > 0 and float(text[:-1]) == 0 else text


def _interval(low: float | None, high: float | None, scale: int, digits: int, sign: str = "") -> str:
    if low is None or high is None:
        return MISSING
    low, high = low * scale, high * scale
    digits = _apart(low, high, digits)
    return f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"


def _apart(low: float, high: float, digits: int) -> int:
    """So many decimals, or as many more as it takes to see that the two differ."""
    while digits < MOST_DIGITS and low != high and f"{low:.{digits}f}" == f"{high:.{digits}f}":
        digits += 1
    return digits


def _plus_minus(page: _Page) -> str:
    return "+-" if page.ascii else "±"


def _spread_table(page: _Page, runs: Sequence[Summary]) -> Group:
    """Mean, standard error and quantiles of points and lengths; a run a line."""
    quantiles = [name for name in LEVELS if page.width >= 70 or name not in ("q25", "q75")]
    several = len(runs) > 1
    table = _table("", *(["run"] if several else []))
    percents = [f"{LEVELS[name]:.0%}" if name.startswith("q") else name for name in quantiles]
    for head in ("mean", "std. error", *percents):
        table.add_column(head, justify="right", no_wrap=True)
    for what in spreads(runs[0]):
        for run in runs:
            spread = spreads(run)[what]
            numbers = spread.quantiles or {}
            table.add_row(
                what if run is runs[0] else "",
                *([run.run.name] if several else []),
                *_cell(page, spread.mean, 3, single=True),
                *(str(numbers.get(name, MISSING)) for name in quantiles),
            )
    return _titled("Points of a win; draws, takes and discards of a deal", table)


def _comparison(page: _Page, pair: Comparison) -> Group:
    inside = f" in {pair.matches:,} matches" if pair.matches else ""
    how = f"paired over {pair.decks:,} decks{inside}" if pair.paired else _not_paired(pair)
    table = _table("")
    wide = page.width >= 70
    for head in (*((pair.first, pair.second) if wide else ()), "difference", "95% interval", ""):
        table.add_column(head, justify="right", no_wrap=True)
    for one in pair.differences:
        table.add_row(*_difference_row(one, wide))
    return _titled(f"{pair.second} minus {pair.first}, {how}", table, _rules(pair))


def _rules(pair: Comparison) -> str:
    """The rules that differ, in words; nothing where there are none."""
    both = {
        key: [value_text(key, value) or "nothing" for value in values] for key, values in pair.rules.items()
    }
    words = "; ".join(f"{key} {first} / {second}" for key, (first, second) in both.items())
    return words and f"rules that differ ({pair.first} / {pair.second}): {words}"


def _not_paired(pair: Comparison) -> str:
    return f"not paired (other {', '.join(pair.unlike)})"


def _difference_row(one: Difference, wide: bool) -> Iterator[RenderableType]:
    scale, digits, unit = (100, 3, "%") if one.kind == "rate" else (1, 4, "")
    yield Text(spoken(one.what))
    for value in (one.first, one.second) if wide else ():
        yield MISSING if value is None else f"{value * scale:.{digits}f}{unit}"
    clear = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
    style = (MORE if (one.difference or 0) > 0 else LESS) if clear else ""
    amount = MISSING if one.difference is None else f"{one.difference * scale:+.{digits}f}"
    yield Text(amount, style=style)
    yield _interval(one.low, one.high, scale, digits, "+")
    yield Text("*" if clear else "", style=style)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _titled(title: str, table: Table, under: str = "") -> Group:
    """Rich would fold a title to the width of its table."""
    return Group(Text(title, style="bold"), *([Text(under)] if under else []), table)


def _warnings(run: RunFacts, several: bool) -> Iterator[str]:
    who = f"run {run.name}" if several else "this run"
    if run.missing:
        done = run.planned - run.missing
        yield f"Not complete: {who} has {done:,} of its {run.planned:,} deals; what follows is about those."
    if run.left_out:
        torn = "of matches that are not whole" if run.match else "of decks that not all seatings have played"
        yield f"Left out of {who}: {run.left_out:,} deals {torn}."


def _heading(run: RunFacts, several: bool) -> Table:
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(run.name if several else "Run", Text(run.path, style="bold"))
    grid.add_row("", Text(f"rules {run.rules}, seed {run.seed}, seating {run.seating}"))
    same = len(set(run.seats)) == 1
    grid.add_row(
        "", Text(f"{run.players} seats: " + (f"all {run.seats[0]}" if same else ", ".join(run.seats)))
    )
    if run.match:
        decks = f"{run.blocks:,} matches of {run.match:,}, the winner deals next; intervals are over matches"
    elif run.block_deals == 1:
        decks = "each with a deck of its own"
    else:
        decks = f"{run.blocks:,} decks under {run.block_deals} seatings each; intervals are over decks"
    grid.add_row("", Text(f"{run.deals:,} deals, {decks}" if run.deals else "no deals yet: nothing to count"))
    return grid


def _notes(page: _Page, several: bool, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What the signs mean, those that occur."""
    if several:
        yield f"{_plus_minus(page)} half a 95% interval of a share, one standard error of a mean"
    if comparisons:
        yield "* the interval excludes 0; differences of shares are in percentage points"
    if any(pair.paired for pair in comparisons):
        yield "paired figures are those on the shared decks alone"
    yield f"{MISSING} nothing or not enough seen"
