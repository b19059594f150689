"""Rule sets of one's own: files and options, read or refused in one line; prints; docs/rule-sets.md."""

import json
import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import one_line_error
from hypothesis import given
from hypothesis import strategies as st

from sisepai.cards import MELDS
from sisepai.errors import InputError
from sisepai.rules import PRESETS, RuleSet, differences, load, preset, spelled
from sisepai.rules.rulefile import MAX_BYTES, to_toml
from sisepai.rules.ruleset import KEYS, MAX_POINTS, POINT_KEYS, POINTS, TABLES, TAKES
from sisepai.runs.deal import options_of
from sisepai.runs.manifest import read_manifest

PAGE = (Path(__file__).parents[1] / "docs" / "rule-sets.md").read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a rule file into the current folder and return what `--rules` would be given."""
    monkeypatch.chdir(tmp_path)

    def to(content: str | bytes, name: str = "own.toml") -> str:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return to


# Any rule set that may be


def points():
    return st.tuples(st.integers(0, MAX_POINTS), st.integers(0, MAX_POINTS))


@st.composite
def rule_sets(draw):
    flags = [name for name, key in KEYS.items() if key.allowed == "true or false"]
    kinds = st.sets(st.sampled_from(MELDS)).map(tuple)
    takes = {place: draw(kinds) for place in TAKES}
    return RuleSet(
        name=draw(st.sampled_from([*PRESETS, "own", "a b#'\"\\c", "四色牌"])),
        players=draw(st.integers(2, 4)),
        flowers=draw(st.integers(0, 5)),
        hand_size=draw(st.integers(4, 20)),
        redeal=draw(st.sampled_from(["never", "always"])),
        colour_groups=draw(st.sampled_from(["soldiers", "any"])),
        min_points=draw(st.integers(0, 100)),
        undrawn=draw(st.integers(0, 30)),
        takes={**takes, "draw_drawer": ("single", *takes["draw_drawer"])},
        points={kind: draw(points()) for kind in POINT_KEYS},
        **{flag: draw(st.booleans()) for flag in flags},
    )


@given(rule_sets())
def test_what_is_written_is_read_back(tmp_path_factory, rules):
    path = tmp_path_factory.mktemp("rules") / "written.toml"
    path.write_text(to_toml(rules), encoding="utf-8")
    again = load(str(path))
    assert again == rules.with_options(name="written")
    assert again.digest() == rules.digest()


@given(rule_sets())
def test_a_spelling_is_understood(rules):
    if rules.name in PRESETS:
        assert load(spelled(rules)) == rules
    else:
        assert spelled(rules) == rules.name


@given(rule_sets(), rule_sets())
def test_differences_are_what_the_digest_sees(one, other):
    found = differences(one, other)
    assert (not found) == (one.digest() == other.digest())
    assert {key: (b, a) for key, (a, b) in found.items()} == differences(other, one)
    assert "name" not in found


# Files


@pytest.mark.parametrize("name", PRESETS)
def test_the_printed_file_is_the_preset(invoke, write, name):
    text = invoke("rules", name, "--toml").stdout
    assert load(write(text, f"{name}.toml")) == preset(name)
    own = load(write(text, "own.toml"))
    assert (own.name, own.digest()) == ("own", preset(name).digest())
    assert invoke("rules", "own.toml", "--toml").stdout.count("\n") == text.count("\n")


@pytest.mark.parametrize("name", PRESETS)
def test_the_printed_file_explains_every_key(invoke, name):
    text = invoke("rules", name, "--toml").stdout
    flat = " ".join(text.replace("\n#", " ").split())
    for entry in (*KEYS, *TAKES, *POINTS):
        assert re.search(rf"^(# )?{entry} = |^\[{entry}\]$", text, re.MULTILINE), entry
    for key in (*KEYS.values(), *TAKES.values(), *POINTS.values()):
        assert key.meaning in flat
    for name in set(KEYS) - set(TABLES):
        assert KEYS[name].allowed[1:] in flat
    assert text.isascii()


def test_keys_that_are_left_out_are_those_of_the_base(write):
    assert load(write("")) == preset("cardavia").with_options(name="own")
    own = load(write('base = "classic"\nname = "ours"\nplayers = 3\n[points]\nflower = 2\ntriple = [3, 2]\n'
                     '[takes]\ndraw_others = []\ndiscard_others = "quad"\n'))  # fmt: skip
    classic = preset("classic")
    assert own == classic.with_options(
        name="ours",
        players=3,
        points={**classic.points, "flower": (2, 2), "triple": (3, 2)},
        takes={**classic.takes, "draw_others": (), "discard_others": ("quad",)},
    )


def test_where_a_file_may_lie(write, tmp_path):
    (tmp_path / "rules").mkdir()
    for name in ("rules/no-ending", "rules/ends.toml", "with space.toml", "with:colon.toml"):
        assert load(write("flowers = 1", name)).flowers == 1
        assert load(str(tmp_path / name)).flowers == 1
    assert load(write("\ufeffflowers = 2\r\n")).flowers == 2
    assert load("own.toml:players=2:flowers=4") == load("own.toml").with_options(players=2, flowers=4)


WRONG = {
    'base = "clasic"': "unknown base 'clasic'; did you mean 'classic'?",
    "base = 3": "base = 3: must be one of cardavia, classic, ten-hu",
    'flower = 2': "unknown rule key 'flower'; did you mean 'flowers'?",
    '"a\\nb" = 2': "unknown rule key 'a\\nb'",
    "name = ''": 'name = "": must be 1 to 60 printable characters',
    "name = 'a\u0085b'": 'name = "a\\u0085b": must be 1 to 60 printable characters',
    "flowers = 6": "flowers = 6: must be a whole number from 0 to 5",
    "flowers = true": "flowers = true: must be a whole number",
    "flowers = 2.0": "flowers = 2.0: must be a whole number",
    "flowers = nan": "flowers = NaN: must be a whole number",
    "flowers = 1979-05-27": 'flowers = "1979-05-27": must be a whole number',
    "flowers = '''\n2\n'''": 'flowers = "2\\n": must be a whole number',
    "flowers = 0x" + "f" * 9000: "flowers = a value too large to show: must be a whole number",
    "players = 5": "players = 5: must be a whole number from 2 to 4; more than four would need a larger pack",
    "players = 1": "players = 1: must be",
    "hand_size = 21": "hand_size = 21: must be a whole number from 4 to 20",
    "dealer_leads = 1": "dealer_leads = 1: must be true or false",
    'redeal = "alway"': 'redeal = "alway": must be "never" or "always"',
    "redeal = ['never']": 'redeal = ["never"]: must be',
    "min_points = -1": "min_points = -1: must be a whole number from 0 to 100",
    "undrawn = 41": "undrawn = 41: must be",
    "base = 'classic'\nundrawn = 31": "hand_size = 20: 4 players and 31 undrawn cards leave nothing to draw",
    "points = 3": "points = 3: must be a table",
    "takes = ['quad']": 'takes = ["quad"]: must be a table',
    "points.flour = 3": "unknown key of points 'flour'; did you mean 'flower'?",
    "points.flower = 13": "points.flower = 13: must be two whole numbers from 0 to 12",
    "points.flower = [1, 2, 3]": "points.flower = [1, 2, 3]: must be two whole numbers",
    "points.flower = [true, 1]": "points.flower = [true, 1]: must be two whole numbers",
    "points.flower = {a = 1}": 'points.flower = {"a": 1}: must be two whole numbers',
    "points" + ".a" * 5000 + " = 1": "unknown key of points 'a'",
    "points.flower" + ".a" * 5000 + " = 1": "points.flower = a value too large to show: must be",
    "takes.draw_nex = []": "unknown key of takes 'draw_nex'; did you mean 'draw_next'?",
    "takes.draw_next = 'quads'": 'takes.draw_next = "quads": must be a list of single, pair',
    "takes.draw_next = [['quad']]": 'takes.draw_next = [["quad"]]: must be a list of single, pair',
    "takes.draw_drawer = ['quad']": 'takes.draw_drawer = ["quad"]: must hold single',
}  # fmt: skip
NO_TOML = {
    "players = 3\nflowers =": "own.toml, line 2: ",
    "players = 3\nplayers = 4\n": "own.toml, line 2: Cannot overwrite a value",
    b"# fine\nname = '\xff'": "own.toml, line 2: not UTF-8 text",
    "flowers = " + "[" * 50_000: "own.toml: nested too deeply",
    "flowers = " + "9" * 9000: "own.toml: Exceeds the limit",
    "#" * (MAX_BYTES + 1): "own.toml: too large; such a file has at most 100,000 bytes",
}


@pytest.mark.parametrize(("content", "part"), WRONG.items(), ids=lambda text: text[:30])
def test_a_wrong_value_is_told_with_key_and_file(invoke, write, content, part):
    line = one_line_error(invoke("rules", write(content)))
    assert line.startswith("sisepai: own.toml: ")
    assert part in line
    assert len(line) < 500


@pytest.mark.parametrize(("content", "part"), NO_TOML.items(), ids=lambda text: str(text)[:30])
def test_what_is_no_toml_is_told_with_its_line(invoke, write, content, part):
    line = one_line_error(invoke("rules", write(content)))
    assert part in line
    assert len(line) < 200


def test_what_is_no_file(invoke, write, tmp_path):
    write("")
    for text, reason in {
        "none.toml": "none.toml: No such file or directory",
        "./classic": "classic: No such file or directory",
        str(tmp_path): "Is a directory",
        "nul\0.toml": "is no path",
    }.items():
        assert reason in one_line_error(invoke("rules", text))
    if Path("/dev/zero").exists():
        assert "too large" in one_line_error(invoke("rules", "/dev/zero"))


@given(
    st.text() | st.sampled_from(["classic", "own.toml", "x/y"]).flatmap(lambda a: st.text().map(a.__add__))
)
def test_any_text_loads_or_is_refused(text):
    with suppress(InputError):
        load(text)


# Options


def test_options_behind_a_name():
    classic = preset("classic")
    assert load("classic:flowers=5:players=3") == classic.with_options(flowers=5, players=3)
    assert load("classic:lock_dealt_triples=true:redeal=always") == classic.with_options(
        lock_dealt_triples=True, redeal="always"
    )
    assert load("classic:name=7").name == "7"
    own = load("classic:points.flower=2:points.triple=3/2:takes.draw_others=:takes.draw_next=quad,pair")
    assert (own.points["flower"], own.points["triple"], own.points["pair"]) == ((2, 2), (3, 2), (0, 0))
    assert (own.takes["draw_others"], own.takes["draw_next"]) == ((), ("pair", "quad"))
    assert spelled(load("ten-hu:players=2:flowers=0")) == "ten-hu:players=2"


def test_the_options_of_the_example_deals(cases):
    for name in ("deals", "classic", "ten-hu"):
        for line in (cases / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            deal = json.loads(line)
            options = {"players": deal["players"], **deal["options"]}
            written = (f"{key}={str(value).lower()}" for key, value in options.items())
            text = ":".join([deal["rules"], *written])
            rules = load(text)
            assert rules == preset(deal["rules"]).with_options(**options)
            assert options_of(rules) == (deal["rules"], deal["options"])
            assert rules.players == deal["players"]


WRONG_OPTIONS = {
    "clasic:flowers=5": "unknown rule set 'clasic'; did you mean 'classic'?",
    "classic:flowers": "'flowers' is no option; write key=value",
    "classic:": "'' is no option",
    "classic:flowers=": 'flowers = "": must be a whole number from 0 to 5',
    "classic:flowers=six": 'flowers = "six": must be a whole number from 0 to 5',
    "classic:flowers=6": "flowers = 6: must be a whole number from 0 to 5",
    "classic:flowers=99999999999": 'flowers = "99999999999": must be',
    "classic:flower=5": "unknown rule key 'flower'; did you mean 'flowers'?",
    "classic:=5": "unknown rule key ''",
    "classic:base=ten-hu": "unknown rule key 'base'",
    "classic:flowers=1:flowers=2": "flowers is given twice",
    "classic:points.pair=1:points.pair=2": "points.pair is given twice",
    "classic:points=3": "'points' is a table; give its entries, as in points.general=",
    "classic:points.pair=1/2/3": "points.pair = [1, 2, 3]: must be two whole numbers",
    "classic:takes.draw_next=quads": 'takes.draw_next = ["quads"]: must be a list of',
    "classic:players.more=3": "unknown rule key 'players.more'; did you mean 'players'?",
    "classic:players=5": "more than four would need a larger pack, which is not there yet",
    "classic:hand_size=20:undrawn=35": "leave nothing to draw from a pack of 112",
}


@pytest.mark.parametrize(("text", "part"), WRONG_OPTIONS.items())
def test_a_wrong_option_is_told(invoke, text, part):
    line = one_line_error(invoke("rules", text))
    assert part in line
    assert text.startswith("clasic") or f"rules '{text}'" in line


# The commands


def test_everywhere_a_rule_set_is_named(invoke, write, tmp_path):
    write('base = "classic"\nplayers = 3\nflowers = 5\n[points]\nflower = 3\n')
    own = load("own.toml")
    hand = ("analyze", "F Kr PrPr", "--json", "--rules")
    assert json.loads(invoke(*hand, "own.toml").stdout)["points"] == 4
    assert json.loads(invoke(*hand, "classic:points.flower=5").stdout)["points"] == 6

    result = invoke("simulate", "--rules", "own.toml", "--deals", "300", "--out", "run", "--quiet")
    assert result.exit_code == 0, result.stderr
    assert read_manifest(tmp_path / "run").rules == own
    stored = json.loads(invoke("replay", "run", "--deal", "5", "--json").stdout)
    for text in ("own.toml", "classic:name=own:players=3:flowers=5:points.flower=3"):
        assert json.loads(invoke("replay", "--rules", text, "--deal", "5", "--json").stdout) == stored
    again = invoke("replay", "--deck", "-", stdin=json.dumps(stored))
    assert "as the line says" in again.stdout

    write("rules = 'classic:players=2'\ndeals = 100\nout = 'two'\n", "two.toml")
    assert invoke("simulate", "two.toml", "--quiet").exit_code == 0
    assert read_manifest(tmp_path / "two").rules == preset("classic").with_options(players=2)


def test_a_deal_with_options_says_the_preset_and_what_differs(invoke):
    deal = ("replay", "--deal", "3", "--json", "--rules")
    line = json.loads(invoke(*deal, "classic:players=3:flowers=5:redeal=always").stdout)
    told = (line["rules"], line["players"], line["options"])
    assert told == ("classic", 3, {"flowers": 5, "redeal": "always"})


def test_a_changed_file_does_not_resume_a_run(invoke, write):
    write("min_points = 5")
    simulate = ("simulate", "--deals", "100", "--rules", "own.toml", "--out", "run", "--quiet")
    assert invoke(*simulate).exit_code == 0
    write("min_points = 6")
    assert "min_points" in one_line_error(invoke(*simulate, "--resume"))


def test_a_rule_set_for_people(invoke, write):
    text = invoke("rules", write("base = 'classic'\nflowers = 5\n", "ours.toml")).stdout
    assert text.startswith(f"ours\n{load('ours.toml').digest()}\n")
    assert re.search(r"^flowers +5 ", text, re.MULTILINE)
    for name, key in KEYS.items():
        assert name in TABLES or key.meaning in text
    assert invoke("rules", "classic:flowers=5").stdout.startswith("classic:flowers=5\n")


def test_diff_tells_what_differs_and_nothing_else(invoke, write):
    write("base = 'classic'\nflowers = 5\ntakes.draw_others = []\npoints.triple = [3, 2]\n")
    text = invoke("rules", "diff", "classic", "own.toml").stdout
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    assert rows == [
        ["rule", "classic", "own.toml"],
        ["flowers", "0", "5"],
        ["takes.draw_others", "triple, quad", "nothing"],
        ["points.triple", "3/1", "3/2"],
    ]
    document = json.loads(invoke("rules", "diff", "classic", "own.toml", "--json").stdout)
    assert document == {
        "compared": [
            {"rules": "classic", "digest": preset("classic").digest()},
            {"rules": "own.toml", "digest": load("own.toml").digest()},
        ],
        "differences": {
            "flowers": [0, 5],
            "takes.draw_others": [["triple", "quad"], []],
            "points.triple": [[3, 1], [3, 2]],
        },
    }
    same = invoke("rules", "diff", "classic", "classic:flowers=0").stdout
    assert same == f"the same rules, digest {preset('classic').digest()[:12]}\n"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["diff"], "diff needs two rule sets"),
        (["diff", "classic"], "diff needs two rule sets"),
        (["diff", "classic", "ten-hu", "cardavia"], "diff needs two rule sets"),
        (["diff", "classic", "tenhu"], "did you mean 'ten-hu'?"),
        (["diff", "classic", "ten-hu", "--toml"], "--toml does not go with diff"),
        (["classic", "--toml", "--json"], "--toml and --json exclude each other"),
        (["--toml"], "--toml needs the rule set to start from"),
        (["classic", "ten-hu"], "unexpected extra argument (ten-hu)"),
    ],
)
def test_what_the_command_refuses(invoke, arguments, part):
    assert part in one_line_error(invoke("rules", *arguments))


# docs/rule-sets.md


def test_the_page_shows_what_the_commands_print(invoke, write):
    blocks = PAGE.split("```")[1::2]
    (own,) = (block.removeprefix("toml\n") for block in blocks if block.startswith("toml\n# house.toml"))
    write(own, "house.toml")
    shown = [block.removeprefix("console\n$ sisepai ") for block in blocks if block.startswith("console\n")]
    assert len(shown) > 2
    for block in shown:
        command, _, output = block.partition("\n")
        printed = invoke(*shlex.split(command)).output
        assert "\n".join(line.rstrip() for line in printed.splitlines()) + "\n" == output, command


def test_the_page_names_every_rule_of_the_command():
    assert "sisepai rules diff" in PAGE
    for name in (*KEYS, *TAKES, *POINTS):
        assert name in PAGE


def test_a_rule_set_cannot_be_changed():
    rules = preset("cardavia")
    with pytest.raises(TypeError):
        rules.takes["draw_next"] = ("quad",)
    with pytest.raises(TypeError):
        rules.points["flower"] = (9, 9)
