"""`sisepai strategies`: what is there, what is known of one, and where the figures come from."""

import json
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
from conftest import one_line_error

from sisepai.strategies import STRATEGIES, Parameter, measured, plugins
from sisepai.strategies.measured import RULES, Strength, read

FIGURES = Strength(
    entry="greedy", digest="", rules=RULES, seed=41, decks=200_000, deals=200_000, wins=0.2389, low=0.2387, high=0.2391,
    points=2.63, points_se=0.0012, speed=166_432.1, command="sisepai simulate --strategies greedy --deals 200000",
    machine="a machine", versions="Python 3",
)  # fmt: skip


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Make these the figures that are known."""

    def known(*figures):
        file = tmp_path / "measured.json"
        file.write_text(json.dumps([vars(one) for one in figures]), encoding="utf-8")
        monkeypatch.setattr(measured.read, "__defaults__", (file,))

    known()
    return known


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_the_list_has_every_strategy_and_what_it_does(invoke, monkeypatch, known, width):
    monkeypatch.setenv("COLUMNS", width)
    known(FIGURES)
    result = invoke("strategies")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= int(width)
    for name, strategy in STRATEGIES.items():
        assert f"\n{name} " in result.stdout
        assert strategy.summary.split()[0] in result.stdout
    assert "23.89%  23.87 to 23.91  166,432" in result.stdout
    assert result.stdout.count("not measured") == len(STRATEGIES) - 1
    assert "sees all cards" not in result.stdout or any(one.cheats for one in STRATEGIES.values())


def test_one_that_cheats_is_marked(invoke, monkeypatch, known):
    monkeypatch.setitem(STRATEGIES, "seer", replace(STRATEGIES["greedy"], name="seer", cheats=True))
    text = invoke("strategies").stdout
    assert "seer *" in text
    assert "* sees all cards" in text
    assert "Sees all cards" in invoke("strategies", "seer").stdout


@pytest.mark.parametrize("width", ["60", "120"])
def test_one_strategy_in_full(invoke, monkeypatch, known, width):
    monkeypatch.setenv("COLUMNS", width)
    risk = Parameter("risk", 0.5, "how much it dares", 0.0, 1.0)
    aim = Parameter("objective", "win", "what it is after", choices=("win", "score"))
    bold = replace(STRATEGIES["greedy"], name="bold", parameters=(risk, aim), source="a book")
    monkeypatch.setitem(STRATEGIES, "bold", bold)
    known(
        replace(FIGURES, entry="bold", digest=bold.digest()),
        replace(FIGURES, entry="bold:risk=0.25", speed=4.24),
    )
    words = invoke("strategies", "bold").stdout
    flat = " ".join(words.split())
    for told in (
        "a book",
        "risk 0.5 a number from 0 to 1 how much it dares",
        "win or score",
        "23.87 to 23.91",
        "4.2",
    ):
        assert told in flat, words
    assert "before its code was changed" in flat
    assert words.count(FIGURES.command) == 2


def test_figures_of_today_are_not_called_old(invoke, known):
    known(replace(FIGURES, digest=STRATEGIES["greedy"].digest()))
    assert "before its code" not in invoke("strategies", "greedy").stdout


def test_without_figures_it_says_so(invoke, known):
    assert "not measured" in invoke("strategies", "greedy").stdout


def test_json_has_all_of_it(invoke, known):
    known(FIGURES)
    told = json.loads(invoke("strategies", "greedy", "--json").stdout)
    assert told["measured"] == [vars(FIGURES)]
    assert told["digest"] == STRATEGIES["greedy"].digest()
    assert told in json.loads(invoke("strategies", "--json").stdout)


def test_what_comes_along_tells_where_the_idea_is_from(invoke):
    assert all(one.source for one in STRATEGIES.values())
    assert "The idea: docs/rules.md, section 7." in invoke("strategies", "greedy").stdout


def test_an_unknown_name_is_one_line(invoke):
    assert "did you mean 'greedy'?" in one_line_error(invoke("strategies", "gredy"))


PLAIN = """
class Calm:
    "Waits."
    def answer(self, view): ...
    def discard(self, view): ...
class Bold(Calm):
    "Dares."
STRATEGIES = (Calm, Bold)
"""


def test_a_file_of_ones_own(invoke, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(PLAIN, encoding="utf-8")
    both = invoke("strategies", str(file)).stdout
    assert "Waits." in both
    assert "Dares." in both
    one = invoke("strategies", f"{file}:bold").stdout
    assert "Dares." in one
    assert "slower" in one
    assert "The idea" not in one
    assert "several strategies" not in both
    assert json.loads(invoke("strategies", f"{file}:bold", "--json").stdout)["name"] == "bold"


def test_installed_plug_ins_are_named_and_not_loaded(invoke, monkeypatch):
    point = EntryPoint("far", "no_such_module:FAR", plugins.GROUP)
    monkeypatch.setattr(plugins, "installed", lambda: {"far": point})
    assert "far " in invoke("strategies").stdout
    assert json.loads(invoke("strategies", "--json").stdout)[-1]["name"] == "far"
    assert "no_such_module" in one_line_error(invoke("strategies", "far"))


def test_what_is_recorded_is_whole():
    """The figures that come along are of strategies that do, each once."""
    records = read()
    assert len({(one.entry, one.rules) for one in records}) == len(records)
    for one in records:
        assert one.strategy in STRATEGIES
        assert one.low <= one.wins <= one.high
        assert one.command.startswith("sisepai simulate --strategies ")
        assert one.decks > 0
        assert one.speed > 0
