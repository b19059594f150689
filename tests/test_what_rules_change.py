"""docs/what-rules-change.md: its commands are played, its tables are what the program reports of them.

A block marked ``sh`` plays runs and ends with a report; the tables below it, between two marks, hold that report's
figures.

    .venv/bin/python tests/test_what_rules_change.py --write     plays the page's runs and renews its tables (minutes)
"""

import json
import math
import re
import shlex
import sys
import tempfile
import tomllib
from contextlib import chdir
from pathlib import Path

import pages
import pytest
from click.testing import CliRunner

from sisepai.analysis.intervals import t_quantile
from sisepai.cli.main import cli

PAGE = "docs/what-rules-change.md"
QUESTION = re.compile(
    r"(?<=^```sh\n)(.*?)(^```\n\n<!-- figures -->\n)(.*?)(?=^<!-- end of figures -->)",
    flags=re.MULTILINE | re.DOTALL,
)
FIGURES = (
    "| run | drawn | points of a win | dealer wins | another seat wins | dealer ahead |\n"
    + 6 * "|---"
    + "|\n"
)
CHANGES = "| run | against {} | drawn | points of a win | dealer ahead |\n" + 5 * "|---" + "|\n"
FIGURE = re.compile(r"\d+\.\d\d+")
ENDS = ("difference", "low", "high")
HINT = f"if it is meant: python {Path(__file__).relative_to(pages.ROOT)} --write"


def renewed(text: str, folder: Path, deals: str = "") -> str:
    """The page with the figures of its commands, played in `folder`; `deals` makes all runs smaller."""
    pages.prepare(folder)
    with chdir(folder):
        return QUESTION.sub(lambda found: found[1] + found[2] + tables(found[1], deals), text)


def tables(commands: str, deals: str) -> str:
    """What comes out of a question's commands: the figures of each run, then its differences from the first."""
    *simulations, report = commands_of(commands)
    for command in simulations:
        call([*command, "--quiet", "--threads", "1", *(["--deals", deals] if deals else [])])
    told = json.loads(call([*report, "--json"]))
    runs, comparisons = told["runs"], told["comparisons"]
    first = runs[0]
    changes = [change(first, run, comparison) for run, comparison in zip(runs[1:], comparisons, strict=True)]
    return "".join([FIGURES, *map(figures, runs), "\n", CHANGES.format(name_of(first)), *changes])


def commands_of(text: str) -> list[list[str]]:
    """The words of each command of a block."""
    return [shlex.split(line) for line in text.replace("\\\n", "").splitlines()]


def call(command: list[str]) -> str:
    program, *arguments = command
    assert program == "sisepai"
    done = CliRunner().invoke(cli, arguments, prog_name=program)
    assert done.exit_code == 0, done.output
    return done.stdout


def figures(run: dict) -> str:
    """A row of the first table."""
    drawn, dealer, mean = run["drawn"], run["places"][0]["rate"], run["score"]["win"]["mean"]
    ahead, ahead_se = dealer_ahead(run)
    reach = t_quantile(run["run"]["blocks"] - 1)
    return row(
        name_of(run),
        "{}% ({} to {})".format(*(percent(drawn[end], 3) for end in ("rate", "low", "high"))),
        f"{mean['mean']:.3f} ± {reach * mean['se']:.3f}",
        f"{percent(dealer)}%",
        f"{percent(dealer - ahead)}%",
        f"{percent(ahead)} ± {percent(reach * ahead_se)}",
    )


def change(first: dict, run: dict, comparison: dict) -> str:
    """A row of the second table."""
    told = {difference["what"]: difference for difference in comparison["differences"]}
    drawn, points, edge = told["drawn"], told["points a win"], told["dealer's edge"]
    if comparison["paired"]:
        scale = others_share(run)
        ahead = [scale * edge[end] for end in ENDS]
    else:
        (one, one_se), (two, two_se) = map(dealer_ahead, (first, run))
        blocks = min(side["run"]["blocks"] for side in (first, run))
        reach = t_quantile(blocks - 1) * math.hypot(one_se, two_se)
        ahead = [two - one, two - one - reach, two - one + reach]
    return row(
        name_of(run),
        "paired" if comparison["paired"] else f"not paired, other {', '.join(comparison['unlike'])}",
        span([100 * drawn[end] for end in ENDS], 3),
        span([points[end] for end in ENDS], 3),
        span([100 * end for end in ahead], 2),
    )


def dealer_ahead(run: dict) -> tuple[float, float]:
    """What the dealer wins more often than the mean of the others, with its standard error."""
    edge, scale = run["dealer_edge"], others_share(run)
    return scale * edge["mean"], scale * edge["se"]


def others_share(run: dict) -> float:
    """From the report's dealer's edge, over the mean of all seats, to the lead over the mean of the others."""
    players = run["run"]["players"]
    return players / (players - 1)


def name_of(run: dict) -> str:
    return Path(run["run"]["path"]).name


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def percent(rate: float, decimals: int = 2) -> str:
    return f"{100 * rate:.{decimals}f}"


def span(ends: list[float], decimals: int) -> str:
    """A difference with its interval; what is rounded to zero has no sign of its own."""
    texts = [f"{end:+.{decimals}f}" for end in ends]
    return "{} ({} to {})".format(*(text if float(text) else text.replace("-", "+") for text in texts))


def labels(text: str) -> list[list[tuple[str, str]]]:
    """Of every question, the name of each row of its tables, and whether it is paired where a row says so."""
    row = re.compile(r"^\| ([^|]+) \| (not paired[^|]*|paired)?.*$", flags=re.MULTILINE)
    return [row.findall(found[3]) for found in QUESTION.finditer(text)]


def test_the_tables_hold_the_runs_of_the_commands_in_their_order():
    """Played small: the same rows, paired where the page says so."""
    text = pages.text_of(PAGE)
    assert len(labels(text)) == text.count("```sh\n") > 3
    with tempfile.TemporaryDirectory() as folder:
        small = renewed(text, Path(folder), deals="240")
    assert labels(small) == labels(text), HINT
    assert QUESTION.sub("", small) == QUESTION.sub("", text)


def test_the_differences_shown_are_those_of_the_figures_shown():
    for found in QUESTION.finditer(pages.text_of(PAGE)):
        above, below = (part.splitlines()[2:] for part in found[3].split("\n\n"))
        shown = {line.split(" | ")[0]: numbers(line, (1, 2, 5)) for line in above}
        base = next(iter(shown.values()))
        for line in below:
            own = shown[line.split(" | ")[0]]
            expected = [b - a for a, b in zip(base, own, strict=True)]
            assert numbers(line, (2, 3, 4)) == pytest.approx(expected, abs=0.0151), line


def test_the_figures_in_the_text_stand_in_a_table():
    text = pages.text_of(PAGE)
    shown = {figure for found in QUESTION.finditer(text) for figure in FIGURE.findall(found[3])}
    assert set(FIGURE.findall(QUESTION.sub("", text))) <= shown


def numbers(line: str, cells: tuple[int, ...]) -> list[float]:
    """The first number in each of these cells."""
    parts = line.split(" | ")
    return [float(re.search(r"[-+]?\d+\.\d+", parts[cell])[0]) for cell in cells]


def test_all_runs_share_strategies_seed_and_size():
    text = pages.text_of(PAGE)
    for file in sorted(pages.ROOT.glob("sims/rules-*.toml")):
        plan = tomllib.loads(file.read_text(encoding="utf-8"))
        assert plan.pop("rules")
        assert plan == {"strategies": "greedy", "deals": 200_000, "seed": 7}, file
        assert f"sims/{file.name}" in text


@pytest.mark.slow
def test_the_tables_are_what_the_program_reports(tmp_path):
    text = pages.text_of(PAGE)
    assert renewed(text, tmp_path) == text, HINT


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"usage: python {sys.argv[0]} --write")
    with tempfile.TemporaryDirectory() as name:
        (pages.ROOT / PAGE).write_text(renewed(pages.text_of(PAGE), Path(name)), encoding="utf-8")
