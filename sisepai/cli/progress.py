"""Progress of a run on stderr: a bar on a terminal, a plain line now and then elsewhere, nothing when quiet."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

PLAIN_SECONDS = 10.0  # between two plain lines
BAR_SECONDS = 0.1  # between two updates of the bar


@contextmanager
def shown(total: int, quiet: bool, note: Callable[[], str] | None = None) -> Iterator[Callable[[int], None]]:
    """Show how many of ``total`` deals are played; yields the function to call with that number.

    ``note`` tells how far the work is in words of its own: a bar has it in place of the deals, a line in front.
    """
    if quiet:
        yield lambda played: None
    elif sys.stderr.isatty():
        with _bar(total, note) as update:
            yield _at_most_every(BAR_SECONDS, total, update)
    else:
        begun = time.monotonic()

        def line(played: int) -> None:
            said = f"{note()}; " if note else ""
            click.echo(said + _line(played, total, begun), err=True)

        yield _at_most_every(PLAIN_SECONDS, total, line)


def byte_size(count: int) -> str:
    """A number of bytes for people: ``31 kB``, ``9.7 MB``, ``1,200.0 MB``."""
    return f"{count / 1e3:,.0f} kB" if count < 1e6 else f"{count / 1e6:,.1f} MB"


def duration(seconds: float) -> str:
    """A length of time for people: ``3.2 s``, ``4 min 10 s``, ``2 h 05 min``, ``12 days``."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 72 else f"{hours / 24:,.0f} days"


def _at_most_every(seconds: float, total: int, update: Callable[[int], None]) -> Callable[[int], None]:
    last, said = time.monotonic(), 0

    def report(played: int) -> None:
        nonlocal last, said
        now = time.monotonic()
        if played > said and (now - last >= seconds or played == total):
            last, said = now, played
            update(played)

    return report


def _line(played: int, total: int, begun: float) -> str:
    rate = played / max(time.monotonic() - begun, 1e-9)
    left = (total - played) / rate
    return f"{played:,} of {total:,} deals ({played / total:.0%}), {rate:,.0f} deals/s, {duration(left)} left"


@contextmanager
def _bar(total: int, note: Callable[[], str] | None) -> Iterator[Callable[[int], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from sisepai.cli.console import console

    rate = "" if note else "  {task.fields[rate]:>11,.0f} deals/s"
    columns = (
        TextColumn("{task.description}" if note else "{task.completed:,.0f} of {task.total:,.0f} deals"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%" + rate),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    begun = time.monotonic()
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task(note() if note else "", total=total, rate=0.0)
        yield lambda played: bar.update(
            task, completed=played, rate=played / max(time.monotonic() - begun, 1e-9),
            description=note() if note else "",
        )  # fmt: skip
