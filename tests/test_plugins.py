"""Plug-ins: strategies from files and from installed packages, and everything a file may do wrong."""

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import one_line_error

from sisepai.engine.records import MOST_PARAMETERS
from sisepai.errors import InputError
from sisepai.runs.manifest import read_manifest
from sisepai.strategies import STRATEGIES, parse_entries
from sisepai.strategies import plugins as plugins_room
from sisepai.strategies.plugins import PLAIN_SHARD, load

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "mine.py"

CLASS = """
class Mine:
    def answer(self, view):
        return 0 if view.offers.forced else -2 if view.offers.win else -1
    def discard(self, view):
        return next(card for card in range(28) if card % 7 and view.hand.count[card])
"""
PLAIN = f"{CLASS}\nSTRATEGIES = (Mine,)\n"
COMPILED = """
from sisepai.strategies import Parameter, Strategy
from sisepai.strategies.greedy import answer, discard
STRATEGY = Strategy("mine", "greedy by another name", answer, discard)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text, name="mine.py"):
    """A file with a text; returns its name."""
    Path(name).write_text(text, encoding="utf-8")
    return name


# ------------------------------------------------------------------------------------------ what is typed


@pytest.mark.parametrize(
    "text",
    [
        "mine.py",
        "./mine.py",
        "mine.py:mine",
        "{folder}/mine.py:mine",
        "~/mine.py",
        "my strategies/我的.py:mine",
        "a:b.py",
    ],
)
def test_ways_to_name_a_file(folder, monkeypatch, text):
    monkeypatch.setenv("HOME", str(folder))
    Path("my strategies").mkdir()
    for name in ("mine.py", "my strategies/我的.py", "a:b.py"):
        written(PLAIN, name)
    entries, seats = parse_entries(f"{text.format(folder=folder)},greedy,random,greedy", 4)
    assert [entry.label for entry in entries] == ["mine", "greedy", "random"]
    assert seats == [0, 1, 2, 1]
    assert entries[0].strategy.shard_deals == PLAIN_SHARD


def test_one_file_named_in_two_ways_is_one_strategy(folder):
    written(PLAIN)
    entries, seats = parse_entries(f"mine.py,./mine.py:mine,{folder}/mine.py,mine.py", 4)
    assert (len(entries), seats) == (1, [0, 0, 0, 0])
    assert entries[0].strategy.plugin == "mine.py", "as it was typed"


def test_a_changed_file_is_read_anew(folder):
    before = load(written(PLAIN), ())["mine"]
    after = load(written(PLAIN.replace("28", "20 + 8")), ())["mine"]
    assert before.player is not after.player
    assert before.digest() != after.digest()
    assert load(written(PLAIN), ())["mine"].digest() == before.digest(), "the content alone"
    Path("elsewhere").mkdir()
    assert load(written(PLAIN, "elsewhere/other.py"), ())["mine"].digest() == before.digest()
    assert not list(folder.rglob("__pycache__"))


def test_files_named_by_a_strategy_are_in_its_digest(folder):
    written("1 2 3", "weights.txt")
    text = f"from pathlib import Path\n{PLAIN}\nMine.files = (Path(__file__).parent / 'weights.txt',)\n"
    before = load(written(text), ())["mine"].digest()
    written("1 2 4", "weights.txt")
    assert load("mine.py", ())["mine"].digest() != before


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("none.py:mine", "none.py: No such file or directory"),
        ("two.py", "two.py has several strategies; name one: two.py:mine, two.py:other"),
        ("two.py:mime", "unknown strategy of two.py 'mime'; did you mean 'mine'?"),
        ("two.py:mine:risk=1", "strategy 'mine' has no parameters, but 'risk' is given"),
        ("two.py:mine:risk", "'risk' is no parameter; write key=value"),
        ("folder.py", "folder.py: not a regular file"),
        ("two.py:mine,other.py:mine,greedy,greedy", "two plug-ins have a strategy 'mine'; rename one"),
        ("bold", "unknown strategy 'bold'"),
    ],
)
def test_wrong_words(folder, invoke, text, part):
    Path("folder.py").mkdir()
    written(f"{CLASS}\nclass Other(Mine): pass\nSTRATEGIES = (Mine, Other)\n", "two.py")
    written(COMPILED, "other.py")
    assert part in one_line_error(invoke("simulate", "--strategies", text, "--deals", "10"))
    assert not Path("runs").exists()


# ------------------------------------------------------------------------------------- what a file does wrong


def class_with(text):
    """A file with a class whose body begins with a text."""
    return PLAIN.replace(
        "class Mine:\n", f"from sisepai.strategies import Parameter\nclass Mine:\n    {text}\n"
    )


def strategy_with(arguments, before=""):
    """A file with a Strategy record."""
    head = "from sisepai.strategies import Parameter, Strategy\nfrom sisepai.strategies.greedy import answer, discard\n"
    return f"{head}{before}\nSTRATEGY = Strategy({arguments})\n"


WRONG = [
    ("x = 1\ndef f(:\n", "line 2: SyntaxError: invalid syntax"),
    ("x = 1\n\ny = x / 0\n", "line 3: ZeroDivisionError: division by zero"),
    ("def f():\n    raise ValueError('a\\nb')\nf()\n", "line 2: ValueError: a b"),
    ("import nowhere_to_be_found", "line 1: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
    ("import sys\nsys.exit(3)", "line 2: SystemExit: 3"),
    ("\0", "SyntaxError: source code string cannot contain null bytes"),
    ("x = 1", "it must define STRATEGIES, a tuple of strategies, or STRATEGY, one"),
    ("STRATEGIES = ()", "it must define STRATEGIES"),
    ("STRATEGIES = 3", "it must define STRATEGIES"),
    ("STRATEGIES = (3,)", "3 is no Strategy and no class with answer and discard"),
    ("STRATEGIES = (int,)", "class int has no method answer(self, view)"),
    (PLAIN.replace("(Mine,)", "(Mine, Mine)"), "it has two strategies called 'mine'"),
    (class_with("name = 'greedy'"), "'greedy' is the name of a built-in strategy; choose another"),
    (class_with("name = 'a b'"), "'a b' is no name"),
    (class_with("name = ''"), "'' is no name"),
    (class_with("name = 7"), "7 is no name"),
    (class_with("name = 'x' * 41"), "is no name"),
    (class_with("name = 'a:b'"), "'a:b' is no name"),
    (class_with("summary = 7"), "strategy 'mine': summary must be text"),
    (class_with("cheats = 'no'"), "cheats must be True or False"),
    (class_with("parameters = ('risk',)"), "parameters must be a tuple of Parameter records"),
    (class_with("parameters = [Parameter('risk', 1, '')]"), "parameters must be a tuple"),
    (class_with("parameters = (Parameter('a-b', 1, ''),)"), "'a-b' is no name of a parameter"),
    (class_with("parameters = (Parameter('risk', 3, '', low=0, high=1),)"), "risk: risk = 3: must be a number"),
    (class_with("parameters = (Parameter('risk', 1, '', low=2, high=1),)"), "parameter risk: low 2 is above high 1"),
    (class_with("parameters = (Parameter('risk', 1, '', low='a'),)"), "low, high and default must be numbers"),
    (class_with("parameters = (Parameter('risk', None, ''),)"), "low, high and default must be numbers"),
    (class_with("parameters = (Parameter('aim', 'a', '', choices=('b', 'c')),)"), "aim: unknown value of aim"),
    (class_with("parameters = (Parameter('aim', 'a', '', choices='ab'),)"), "choices must be a tuple of words"),
    (class_with("parameters = (Parameter('r', 1, ''),) * 2"), "two of its parameters have one name (r, r)"),
    (class_with("parameters = tuple(Parameter(f'r{i}', 1, '') for i in range(999))"), f"more than {MOST_PARAMETERS} "),
    (class_with("parameters = (Parameter('risk', 1, ''),)"), "must be made with its parameters as keywords (risk)"),
    (class_with("shard_deals = 100"), "shard_deals = 100: must be a multiple of 24"),
    (class_with("files = ('x',)"), "files must be a tuple of paths"),
    (class_with("def __init__(self): self.x = {}['y']"), "line 4: KeyError: 'y'"),
    (class_with("def __init__(self, view): pass"), "must be made with its parameters as keywords ()"),
    (PLAIN.replace("answer(self, view)", "answer(self)"), "answer must take the view alone: answer(self, view)"),
    (PLAIN.replace("discard(self, view)", "discard(self, view, more)"), "discard must take the view alone"),
    (PLAIN.replace("def discard", "def discards"), "class Mine has no method discard(self, view)"),
    (strategy_with("'mine', 'x', answer, 3"), "discard must be a function"),
    (strategy_with("'mine', 'x', answer"), "discard must be a function"),
    (strategy_with("'mine'"), "line 4: TypeError"),
    (strategy_with("'mine', 'x', f, discard", "def f(): return 1"), "answer must take the view alone: answer(view)"),
    (strategy_with("'mine', 'x', answer, discard, weights=('a',)"), "weights must be a tuple of numbers"),
    (strategy_with("'mine', 'x', f, discard", "def f(view):\n    return nothing\n"), "cannot be compiled: NameError: "),
    (strategy_with("'mine', 'x', f, discard", "def f(view):\n    return view.hnad.dead\n"), "line 4: 'mine' cannot be"),
    (strategy_with("'mine', 'x', f, discard", "def f(view):\n    return view\n"), "cannot be compiled"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), WRONG, ids=range(len(WRONG)))
def test_what_a_file_does_wrong_is_one_line(folder, invoke, text, part):
    written(text)
    line = one_line_error(invoke("simulate", "--strategies", "./mine.py", "--deals", "10"))
    assert line.startswith("sisepai: ./mine.py: "), line
    assert part in line
    assert not Path("runs").exists()
    assert len(line) < 500


def test_the_same_in_replay(folder, invoke):
    written("x = 1 / 0")
    command = ("replay", "--seed", "7", "--deal", "0", "--strategies")
    expected = "sisepai: ./mine.py: line 1: ZeroDivisionError: division by zero"
    assert one_line_error(invoke(*command, "./mine.py")) == expected
    assert one_line_error(invoke(*command, "mine", "--plugin", "./mine.py")) == expected


# --------------------------------------------------------------------------------------------------- runs


@pytest.fixture(params=["bold:risk=0.2", "calm:least=2"])
def run_of(request, folder, invoke):
    """(path of a run, what was typed for the strategy, its label): one of each kind."""
    written(EXAMPLE.read_text())
    typed = f"./mine.py:{request.param},greedy,greedy,greedy"
    result = invoke("simulate", "--strategies", typed, "--deals", "480", "--out", "runs/own", "--quiet")
    assert result.exit_code == 0, result.stderr
    return "runs/own", typed, request.param


def test_files_of_a_run_hold_no_path(folder, run_of):
    path, _, label = run_of
    manifest = read_manifest(Path(path))
    assert manifest.labels == (label, "greedy")
    for file in Path(path).rglob("*"):
        if file.is_file() and file.name != "log.jsonl":
            assert b"mine.py" not in file.read_bytes(), file
            assert str(folder).encode() not in file.read_bytes(), file
    columns = pq.read_table(next(Path(path).glob("deals/*/part-*.parquet"))).to_pydict()
    assert label in str(columns)


def test_the_command_in_the_log_runs(run_of, invoke, monkeypatch):
    import shlex

    path, _, _ = run_of
    entries = [json.loads(line) for line in Path(path, "log.jsonl").read_text().splitlines()]
    words = shlex.split(entries[0]["command"])
    assert words[:2] == ["sisepai", "simulate"]
    assert words[-2:] == ["--plugin", "./mine.py"]
    again = invoke(*words[1:], "--out", "runs/again", "--quiet")
    assert again.exit_code == 0, again.stderr
    assert read_manifest(Path("runs/again")) == read_manifest(Path(path))


def test_a_run_is_read_without_its_plugin(run_of, invoke):
    path, _, label = run_of
    Path("mine.py").unlink()
    assert label in invoke("report", path).stdout
    assert label in invoke("info", path).stdout
    assert "--plugin FILE" in invoke("info", path).stdout
    for what in ("deals", "decks"):
        assert invoke("export", path, "--what", what, "--out", f"{what}.csv", "--quiet").exit_code == 0


def test_events_that_are_not_stored_are_played_again(run_of, invoke):
    path, typed, _ = run_of
    export = ("export", path, "--what", "events", "--format", "jsonl", "--quiet", "--out")
    assert "name its file with --plugin FILE" in one_line_error(invoke(*export, "events.jsonl"))
    played = invoke(*export, "-", "--plugin", "./mine.py")
    assert played.exit_code == 0, played.stderr
    stored = f"--strategies {typed} --deals 480 --events --out runs/events --quiet"
    assert invoke("simulate", *stored.split()).exit_code == 0
    assert invoke("export", "runs/events", *export[2:], "-").stdout == played.stdout
    written(EXAMPLE.read_text() + "# another version\n")
    assert "./mine.py is not the code" in one_line_error(
        invoke(*export, "events.jsonl", "--plugin", "./mine.py")
    )
    assert not Path("events.jsonl").exists()


def test_a_run_leads_to_no_code(run_of, invoke):
    path, typed, _ = run_of
    for command in (
        ("replay", path, "--deal", "3"),
        (
            "simulate",
            "--strategies",
            typed.removeprefix("./mine.py:"),
            "--deals",
            "480",
            "--out",
            path,
            "--resume",
        ),
    ):
        assert "bold" in one_line_error(invoke(*command)) or "calm" in one_line_error(invoke(*command))
    shown = invoke("replay", path, "--deal", "3", "--plugin", "mine.py")
    assert shown.exit_code == 0, shown.stderr
    assert "the stored row is the same" in shown.stdout


def test_resume_by_the_file_or_by_name_and_plugin(run_of, invoke):
    path, typed, _ = run_of
    whole = {file: file.read_bytes() for file in Path(path).rglob("part-*.parquet")}
    for words in (
        ["--strategies", typed],
        ["--strategies", typed.removeprefix("./mine.py:"), "--plugin", "./mine.py"],
    ):
        first = min(whole)
        first.unlink()
        result = invoke("simulate", *words, "--deals", "480", "--out", path, "--resume", "--quiet")
        assert result.exit_code == 0, result.stderr
        assert {file: file.read_bytes() for file in Path(path).rglob("part-*.parquet")} == whole


def test_other_code_is_refused(run_of, invoke):
    path, typed, _ = run_of
    written(EXAMPLE.read_text() + "# another version\n")
    for command in (
        ("replay", path, "--deal", "3", "--plugin", "./mine.py"),
        ("simulate", "--strategies", typed, "--deals", "480", "--out", path, "--resume"),
    ):
        line = one_line_error(invoke(*command))
        assert "./mine.py is not the code of '" in line
        assert "with which the run was made" in line


def test_threads_change_no_byte(run_of, invoke):
    path, typed, _ = run_of
    again = (
        "simulate",
        "--strategies",
        typed,
        "--deals",
        "480",
        "--threads",
        "3",
        "--out",
        "runs/again",
        "--quiet",
    )
    assert invoke(*again).exit_code == 0
    for file in Path(path).rglob("part-*.parquet"):
        assert file.read_bytes() == Path("runs/again", file.relative_to(path)).read_bytes()


def test_the_speed_of_plain_python_is_said_before(folder, invoke):
    written(PLAIN)
    command = ("simulate", "--strategies", "mine.py,greedy,greedy,greedy", "--deals", "24", "--out")
    lines = invoke(*command, "runs/one").stderr.splitlines()
    told = [line for line in lines if line.startswith("mine is plain Python: about ")]
    assert len(told) == 1
    assert lines.index(told[0]) < next(
        place for place, line in enumerate(lines) if line.startswith("playing ")
    )
    assert "plain Python" not in invoke(*command, "runs/two", "--quiet").stderr
    compiled = invoke("simulate", "--strategies", "greedy", "--deals", "24", "--out", "runs/three")
    assert "plain Python" not in compiled.stderr


def test_only_the_command_line_names_code(folder, invoke):
    written(PLAIN)
    written('strategies = ["./mine.py:mine", "greedy", "greedy", "greedy"]\n', "a.toml")
    written('strategies = "mine,greedy,greedy,greedy"\n', "b.toml")
    line = one_line_error(invoke("simulate", "a.toml", "--deals", "24"))
    assert (
        "a.toml: strategies: './mine.py' is code, which the command line alone may name: --plugin ./mine.py"
        in line
    )
    assert "unknown strategy 'mine'" in one_line_error(invoke("simulate", "b.toml", "--deals", "24"))
    done = invoke(
        "simulate", "b.toml", "--deals", "24", "--plugin", "./mine.py", "--out", "runs/b", "--quiet"
    )
    assert done.exit_code == 0, done.stderr


# -------------------------------------------------------------------------------------- installed packages


@pytest.fixture
def installed(folder, monkeypatch):
    """Entry points of a package that is not there before: `mine`, and some that are wrong."""
    written(f"LOADED = True\n{PLAIN}\nWRONG = 3\n", "sisepai_elsewhere.py")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "sisepai_elsewhere", raising=False)
    points = [
        EntryPoint(name, f"sisepai_elsewhere:{value}", plugins_room.GROUP)
        for name, value in (
            ("mine", "Mine"),
            ("wrong", "WRONG"),
            ("gone", "Gone"),
            ("other", "Mine"),
            ("greedy", "Mine"),
        )
    ]
    monkeypatch.setattr(plugins_room, "entry_points", lambda group: points)
    yield
    sys.modules.pop("sisepai_elsewhere", None)


def test_an_installed_strategy_plays_by_its_name(installed, invoke):
    assert parse_entries("greedy", 4)[0][0].strategy is STRATEGIES["greedy"]
    assert "sisepai_elsewhere" not in sys.modules, "nothing is loaded that is not typed"
    command = (
        "simulate",
        "--strategies",
        "mine,greedy,greedy,greedy",
        "--deals",
        "24",
        "--out",
        "runs/one",
        "--quiet",
    )
    assert invoke(*command).exit_code == 0
    assert "sisepai_elsewhere" in sys.modules
    assert "name its file with --plugin" in one_line_error(invoke("replay", "runs/one", "--deal", "0"))
    assert invoke("replay", "runs/one", "--deal", "0", "--plugin", "mine").exit_code == 0


def test_wrong_installed_strategies(installed, invoke):
    for name, part in (
        ("wrong", "wrong: 3 is no Strategy"),
        ("gone", "gone: AttributeError: "),
        ("other", "other: its strategy is called 'mine'"),
        ("mime", "unknown strategy 'mime'; did you mean 'mine'? (known: clairvoyant, gone, greedy, "),
    ):
        assert part in one_line_error(invoke("simulate", "--strategies", name, "--deals", "24"))
    line = one_line_error(invoke("simulate", "--plugin", "greedy", "--deals", "24"))
    assert "greedy: a built-in strategy, no plug-in" in line
    assert "unknown plug-in 'mime'" in one_line_error(invoke("simulate", "--plugin", "mime", "--deals", "24"))


def test_a_file_may_not_lead_to_an_installed_strategy(installed, invoke):
    written('strategies = "mine"\n', "a.toml")
    assert "which the command line alone may name" in one_line_error(
        invoke("simulate", "a.toml", "--deals", "24")
    )
    assert "sisepai_elsewhere" not in sys.modules


def test_no_plugin_of_a_name(folder):
    with pytest.raises(InputError, match=r"nothing: no such plug-in; give a file ending in \.py"):
        load("nothing", ())
