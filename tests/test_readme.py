"""The README and the pages beside it: what they show is what the program prints, what they name exists."""

import re
from pathlib import Path

import numpy as np
import pages
import pytest
from fakes import manifest

from sisepai.cards import CODES, EVENTS, GLYPHS, MELDS, N_TYPES
from sisepai.cli.main import COMMANDS
from sisepai.engine.records import GAME, HISTORY, PARAMETERS, SCRATCH, TABLE, TRIAL, View
from sisepai.rules import PRESETS, preset
from sisepai.rules.ruleset import PLACES, POINT_KEYS
from sisepai.rules.tables import TABLES
from sisepai.runs.schema import deal_schema
from sisepai.strategies import STRATEGIES

ALL_PAGES = sorted(str(p.relative_to(pages.ROOT)) for p in [*pages.ROOT.glob("*.md"), *pages.ROOT.glob("docs/*.md")])
README, RULES, STRATEGY_PAGE = map(pages.text_of, ("README.md", "docs/rules.md", "docs/strategies.md"))
SMALL = "2400"


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder in which the examples of a page run as in a checkout."""
    pages.prepare(tmp_path)
    return tmp_path


def rows_below(text: str, head: str) -> list[list[str]]:
    """The cells of the first table after `head`, its title row left out."""
    table = re.search(r"^\|.*\n\|[-|]+\n((?:\|.*\n)+)", text[text.index(head) :], flags=re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]


# --- what is shown is what is printed


@pytest.mark.parametrize("page", pages.PAGES)
def test_the_examples_print_what_is_shown(page, checkout):
    for example in pages.shown_in(page):
        if example.source != pages.MAKE:
            printed = pages.run(example, checkout)
            assert pages.comparable(printed) == pages.comparable(example.output), hint(page, example.source)


def hint(page: str, command: str) -> str:
    return f"{command}: prints something else; if it is meant: python tests/pages.py --write {page}"


def test_make_simulate_prints_a_report(checkout):
    """A small one: the shape is that of the README, and the plan all the same but for the number of deals."""
    shown = next(example for example in pages.shown_in("README.md") if example.source == pages.MAKE)
    printed = pages.run(shown, checkout, deals=SMALL)
    assert headings(printed) == headings(shown.output)
    assert printed.count("1,000,000") == 0


def headings(report: str) -> list[str]:
    """The titles of a report's tables: the lines after an empty one."""
    return re.findall(r"(?<=\n\n)\S.*", report)


@pytest.mark.slow
def test_make_simulate_prints_what_is_shown(checkout):
    shown = next(example for example in pages.shown_in("README.md") if example.source == pages.MAKE)
    printed = pages.run(shown, checkout)
    assert pages.comparable(printed) == pages.comparable(shown.output), hint("README.md", pages.MAKE)


@pytest.mark.slow
def test_the_figures_of_the_rules_are_those_of_the_program():
    assert pages.FACTS.search(RULES)[0] == pages.facts(), hint("docs/rules.md", "the figures")


def test_outputs_that_differ_are_seen():
    shown = "1,000 deals of cardavia in 4.4 s (227,428 deals/s), 9.7 MB\ndrawn 4.50%\nplaying with 2 threads\n"
    other = "compiling the kernels, once\n1,000 deals of cardavia in 9.9 s (1,000 deals/s), 9.6 MB\ndrawn 4.50%  \n"
    assert pages.comparable(shown) == pages.comparable(other + "playing with 16 threads\n")
    assert pages.comparable(shown) != pages.comparable(shown.replace("4.50", "4.51"))
    assert pages.comparable(shown) != pages.comparable(shown.replace("1,000", "1,001"))


# --- what is named exists


@pytest.mark.parametrize("page", [*ALL_PAGES, "data/README.md"])
def test_links_lead_somewhere(page):
    text = pages.text_of(page)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith("https://"):
            file, _, anchor = target.partition("#")
            path = (pages.ROOT / page).parent / file if file else pages.ROOT / page
            assert path.exists(), target
            titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.M) if anchor else []
            assert not anchor or anchor in {title.lower().replace(" ", "-") for title in titles}, target


def test_the_readme_leads_to_every_page_and_names_every_command():
    for page in ALL_PAGES:
        assert page == "README.md" or f"]({page})" in README, page
    for command in COMMANDS:
        assert f"`{command}" in README or f"sisepai {command}" in README, command
    assert f"{len(deal_schema(manifest()))} columns a deal" in README


def test_the_rules_page_shows_the_cards():
    cells = [row for row in rows_below(RULES, "## 1. Cards") if row[0] != "flower"]
    assert [row[1].strip("`") for row in cells] == [CODES[card][0] for card in range(7)]
    assert [row[2] for row in cells] == list(GLYPHS[:7])
    assert [row[3] for row in cells] == list(GLYPHS[14:21])
    assert re.search(r"`F` \| (.)", RULES)[1] == GLYPHS[-1]
    assert f"{N_TYPES} types" in RULES


def test_the_rules_page_names_melds_and_events():
    kinds = {name for row in rows_below(RULES, "## 2. Melds") for name in re.findall(r"`(\w+)`", row[0])}
    assert kinds == set(MELDS)
    assert [row[0].strip("`") for row in rows_below(RULES, "## 6. Events")] == list(EVENTS)


@pytest.mark.parametrize(("column", "name"), list(enumerate(PRESETS, 1)))
def test_the_rules_page_shows_the_points(column, name):
    rules = preset(name)
    names = {"General": "general", "quad of Generals": "general_quad"}
    rows = {names.get(row[0], row[0]): row[column] for row in rows_below(RULES, "Points of a meld")}
    assert set(rows) == set(POINT_KEYS)
    for key, shown in rows.items():
        concealed, exposed = rules.points[key]
        possible = (key != "general_quad" or rules.general_quads) and (
            not key.startswith("colours") or rules.colour_groups == "any"
        )
        expected = f"{concealed}" if concealed == exposed else f"{concealed} / {exposed}"
        assert shown == (expected if possible else "-"), key


def test_the_rules_page_shows_what_may_be_taken():
    drawer, following, others = rows_below(RULES, "**What may be taken without winning:**")
    cells = [drawer[1], following[1], others[1], following[2].replace("the same", following[1]), others[2]]
    for place, cell in zip(PLACES, cells, strict=True):
        assert tuple(cell.split(", ")) == tuple(preset("cardavia").takes[place]), place


def test_the_rules_page_names_rules_that_exist():
    for key in re.findall(r"`(\w+)`(?: \(on\)| \(off\)|, on| off)", RULES):
        assert hasattr(preset("classic"), key), key


# --- strategies


def test_the_strategy_page_lists_the_strategies():
    named = [row[0].strip("`") for row in rows_below(STRATEGY_PAGE, "## The ladder")]
    assert set(named) >= set(STRATEGIES)


def test_the_strategy_page_shows_code_as_it_is():
    source = (pages.ROOT / "sisepai/strategies/random.py").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", STRATEGY_PAGE, flags=re.DOTALL)
    assert code
    for part in code:
        assert part in source


def test_the_strategy_page_names_fields_that_exist():
    rows = {row[0].strip("`"): row[1] for row in rows_below(STRATEGY_PAGE, "## The view")}
    assert tuple(rows) == View._fields
    records = {"tables": TABLES, "table": TABLE, "history": HISTORY, "parameters": PARAMETERS}
    records |= {"hand": hand_record(), "offers": offers_record(), "scratch": SCRATCH, "trial": TRIAL}
    for name, record in records.items():
        for field in re.findall(r"`([\w.]+)`", rows[name]):
            record_of, _, inner = field.rpartition(".")
            assert inner in (records[record_of] if record_of else record).names or inner == "greedy", field


def hand_record() -> np.dtype:
    return GAME["hands"].base


def offers_record() -> np.dtype:
    return GAME["offers"]
