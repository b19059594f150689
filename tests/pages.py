"""What pages show: the commands and examples in them, run again and compared, or written anew.

A block marked ``console`` holds commands after ``$ ``, each with its standard output below it. A block marked
``python`` that a ``text`` block follows prints that text. The blocks of a page run in its order in one folder, as a
reader would run them in a checkout. Figures of time differ from run to run and are not compared.

    .venv/bin/python tests/pages.py --write     puts what the program prints now into the pages (minutes)
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/rules.md", "docs/strategies.md", "docs/plug-ins.md", "data/README.md")

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", flags=re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)
FACTS = re.compile(r"(?<=<!-- facts -->\n).*?(?=<!-- end of facts -->)", flags=re.DOTALL)

# Lines that only the first time or only a terminal shows, and figures that no two runs share.
PASSING = re.compile(r"^(installing|compiling|[\d,]+ of [\d,]+ deals) .*\n", flags=re.MULTILINE)
TIMING = re.compile(r" in [\d.]+ s \([\d,]+ deals/s\), [\d.]+ [kM]B|(?<=with )\d+ threads?")
MAKE = "make simulate"

FACT_DEALS = "1e6"
FACT_RUNS = (
    ("cardavia", "greedy"),
    ("cardavia", "random"),
    ("cardavia", "greedy,random,random,random"),
    ("classic", "greedy"),
    ("ten-hu", "greedy"),
)


class Shown(NamedTuple):
    """An example of a page: what to run, and what it says comes out."""

    page: str
    kind: str  # console or python
    source: str
    output: str


def text_of(page: str) -> str:
    """A page of the checkout."""
    return (ROOT / page).read_text(encoding="utf-8")


def shown_in(page: str) -> list[Shown]:
    """All examples of a page, in order."""
    examples: list[Shown] = []

    def keep(example: Shown) -> str:
        examples.append(example)
        return example.output

    _replaced(page, keep)
    return examples


def comparable(output: str) -> str:
    """The part of an output that is the same each time."""
    lines = TIMING.sub("", PASSING.sub("", output)).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def prepare(folder: Path) -> None:
    """Make `folder` look like a checkout to the examples."""
    for name in ("data", "sims", "docs"):
        (folder / name).symlink_to(ROOT / name)


def run(example: Shown, folder: Path, deals: str = "") -> str:
    """What the example prints when run in `folder`; `deals` makes `make simulate` smaller."""
    if example.kind == "python":
        return _call([sys.executable, "-c", example.source], folder)
    if example.source == MAKE:
        return "".join(f"{line}\n{_shell(line, folder, stderr=True)}" for line in make_commands(deals))
    return _shell(example.source, folder)


def make_commands(deals: str = "") -> list[str]:
    """The commands of the program that `make simulate` runs."""
    command = ["make", "--dry-run", "simulate", *([f"DEALS={deals}"] if deals else [])]
    return [line for line in _call(command, ROOT).splitlines() if line.startswith(".venv/bin/sisepai")]


def facts() -> str:
    """The table of figures of docs/rules.md: five runs of a million deals, played and reported."""
    lines = [
        "| rules | strategies | drawn | won by own draw, another's draw, a discard, as dealt | "
        "wins from the dealer on | wins of a seat, by strategy | mean points of a win | "
        "draws, takes, discards a deal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    errors: dict[str, list[float]] = {"rate": [0.0], "mean": [0.0]}
    with tempfile.TemporaryDirectory() as folder:
        for rules, strategies in FACT_RUNS:
            lines.append(_fact_row(rules, strategies, Path(folder), errors))
    return (
        "\n".join(lines) + "\n\nNo standard error is greater than "
        f"{100 * max(errors['rate']):.2f} percentage points for a share and {max(errors['mean']):.3f} for a mean.\n"
    )


def write(page: str) -> None:
    """Put what the program prints now into the page, where it is not the same."""
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))

        def renewed(example: Shown) -> str:
            output = run(example, Path(name))
            same = comparable(output) == comparable(example.output)
            return example.output if same else "".join(f"{line.rstrip()}\n" for line in output.splitlines())

        text = _replaced(page, renewed)
    if FACTS.search(text):
        text = FACTS.sub(lambda _: facts(), text)
    (ROOT / page).write_text(text, encoding="utf-8")


def _replaced(page: str, output_of: Callable[[Shown], str]) -> str:
    """The text of the page with every example's output as `output_of` gives it."""

    def block(found: re.Match[str]) -> str:
        kind, body, text = found.groups()
        if kind == "console":
            body = COMMAND.sub(lambda m: f"$ {m[1]}\n{output_of(Shown(page, kind, m[1], m[2]))}", body)
            return f"```console\n{body}```\n"
        if text is None:
            return found[0]
        return f"```python\n{body}```\n\n```text\n{output_of(Shown(page, kind, body, text))}```\n"

    return BLOCK.sub(block, text_of(page))


def _shell(command: str, folder: Path, stderr: bool = False) -> str:
    return _call(["sh", "-c", command.replace(".venv/bin/", "")], folder, stderr)


def _call(command: list[str], folder: Path, stderr: bool = False) -> str:
    environment = {
        **{key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "MAKEFLAGS")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if stderr else subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr or done.stdout}"
    return done.stdout


def _fact_row(rules: str, strategies: str, folder: Path, errors: dict[str, list[float]]) -> str:
    path = folder / f"{rules} {strategies}"
    plan = ["--rules", rules, "--strategies", strategies, "--deals", FACT_DEALS, "--seed", "7"]
    _call(["sisepai", "simulate", *plan, "--out", str(path), "--quiet"], folder)
    run = json.loads(_call(["sisepai", "report", str(path), "--json"], folder))["runs"][0]
    dead = run["ends"]["dead_hand"]
    errors["rate"] += [rate["se"] for rate in (run["drawn"], *run["ends"].values(), *run["places"])]
    means = [run["score"]["win"]["mean"], *(run["length"][name]["mean"] for name in ("draws", "takes", "discards"))]
    errors["mean"] += [mean["se"] for mean in means]
    cells = [
        rules,
        strategies.replace(",", ", "),
        _percent(run["drawn"]) + (f", dead hands {_percent(dead)}" if dead["count"] else ""),
        ", ".join(_percent(run["ends"][by]) for by in ("own_draw", "other_draw", "discard", "dealt")),
        ", ".join(map(_percent, run["places"])),
        ", ".join(f"{wins['strategy']} {_percent(wins['per_seat_deal'])}" for wins in run["strategies"]),
        f"{means[0]['mean']:.2f}",
        ", ".join(f"{mean['mean']:.2f}" for mean in means[1:]),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(rate: dict[str, float]) -> str:
    return f"{100 * rate['rate']:.2f}%"


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit("usage: python tests/pages.py --write [PAGE...]")
    for name in sys.argv[2:] or PAGES:
        write(name)
