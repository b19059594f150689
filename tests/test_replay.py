"""``sisepai replay``: given decks, deals of a seed and of a run, what it says when the run disagrees, how it looks."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import one_line_error
from naive_deal import check_events
from rich.cells import cell_len

from sisepai.cards import CODES, MELDS
from sisepai.rules import load
from sisepai.runs.deal import options_of, winning_melds
from sisepai.runs.manifest import read_manifest
from sisepai.runs.replay import Replayer
from sisepai.runs.schema import deal_schema, deal_table, encode
from sisepai.runs.store import Store
from sisepai.strategies import parse_entries

FILES = ("deals.jsonl", "classic.jsonl", "ten-hu.jsonl")
DOCS = Path(__file__).parents[1] / "docs"

VARIANTS = [
    ("cardavia", {}), ("classic", {}), ("classic", {"lock_dealt_triples": True, "players": 2}),
    ("classic", {"colour_groups": "soldiers", "flowers": 5, "players": 3}), ("ten-hu", {}),
    ("ten-hu", {"lock_dealt_triples": True, "redeal": "always"}), ("cardavia", {"name": "own", "min_points": 9}),
]  # fmt: skip


def replayer(name="cardavia", strategies="greedy", seed=7, /, **options):
    rules = load(name).with_options(**options)
    entries, seats = parse_entries(strategies, rules.players)
    return Replayer(rules, entries, np.array([seats], np.uint8), seed)


def simulated(invoke, folder, *arguments):
    result = invoke("simulate", "--quiet", "--out", str(folder), *arguments)
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of 96 deals, 24 decks under the four rotations of two strategies."""
    from click.testing import CliRunner

    from sisepai.cli.main import cli

    folder = tmp_path_factory.mktemp("replay") / "run"
    arguments = ["--deals", "96", "--strategies", "greedy,random,random,random", "--seating", "rotate"]
    done = CliRunner().invoke(cli, ["simulate", "--quiet", "--out", str(folder), *arguments])
    assert done.exit_code == 0, done.stderr
    return folder


@pytest.fixture
def own(made, tmp_path):
    """A copy of that run that a test may change."""
    import shutil

    return shutil.copytree(made, tmp_path / "copy")


# Given decks


@pytest.mark.parametrize("name", FILES)
def test_the_example_deals_come_out_byte_for_byte(invoke, cases, name):
    path = cases / name
    result = invoke("replay", "--deck", str(path), "--strategies", "greedy", "--json")
    lines = path.read_text(encoding="utf-8")
    count = len(lines.splitlines())
    assert result.exit_code == 0
    assert result.stdout == lines
    assert result.stderr == f"{count} of {count} deals are as their lines say\n"


def line_of(**changes):
    """A deck of `classic` as a line, with some keys changed; None takes one away."""
    deal = replayer("classic").deal(3).to_dict() | changes
    return json.dumps({key: value for key, value in deal.items() if value is not None})


def test_a_deck_needs_five_keys_only(invoke):
    whole = invoke("replay", "--deck", "-", "--json", stdin=line_of()).stdout
    bare = line_of(
        events=None, winner=None, score=None, win_by=None, outcome=None, options=None, players=None
    )
    result = invoke("replay", "--deck", "-", "--json", stdin="\n" + bare + "\n\n")
    assert (result.stdout, result.stderr) == (whole, "")


def test_other_play_than_given_is_said(invoke):
    played = json.loads(line_of())
    events = [*played["events"][:5], *played["events"][6:]]
    text = "\n".join([line_of(), line_of(events=events), line_of(score=99), line_of(events=7)])
    result = invoke("replay", "--deck", "-", "--json", stdin=text)
    assert result.exit_code == 1
    assert len(set(result.stdout.splitlines())) == 1
    assert result.stderr.splitlines() == [
        "line 2: the events differ from those given, at step 5 after the deal",
        f"line 3: score is {played['score']}; given is 99",
        "line 4: the events differ from those given, at step 0 after the deal",
        "1 of 4 deals are as their lines say",
    ]
    for number, words in ((0, "as the line says"), (1, "the events differ")):
        result = invoke("replay", "--deck", "-", "--deal", str(number), stdin=text)
        assert words in result.stdout
        assert result.exit_code == number


def test_decks_of_several_rule_sets_keep_their_order(invoke):
    lines = [
        json.dumps(replayer(name, **options).deal(number).to_dict())
        for number in range(2)
        for name, options in VARIANTS
    ]
    result = invoke("replay", "--deck", "-", "--json", stdin="\n".join(lines))
    assert result.stdout.splitlines() == lines


def test_decks_are_numbered_by_their_place_in_the_file(invoke):
    """The streams of a strategy follow the number of the deck, whatever rules stand before it in the file."""
    some = [(name, options) for name, options in VARIANTS if "redeal" not in options]
    lines = [
        json.dumps(replayer(name, "random", **options).deal(place).to_dict())
        for place, (name, options) in enumerate([*some, *some, some[0], some[0]])
    ]
    result = invoke("replay", "--deck", "-", "--strategies", "random", "--json", stdin="\n".join(lines))
    assert result.stdout.splitlines() == lines
    assert result.stderr == f"{len(lines)} of {len(lines)} deals are as their lines say\n"


SOME = "Kr Ar Er"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("", "standard input holds no deck; write one a line"),
        ("{", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ('"\udcff"'.encode("utf-8", "surrogateescape"), "line 1: not JSON"),
        ("3", "line 1: not a JSON object"),
        ("{}", "line 1: the key 'rules' is missing"),
        (line_of(stock=None), "the key 'stock' is missing"),
        (line_of(rules="clasic"), "unknown rule set 'clasic'; did you mean 'classic'?"),
        (line_of(rules=7), "rules = 7: must be the name of a rule set"),
        (line_of(options=[]), "options = []: must be an object"),
        (line_of(options={"flower": 1}), "unknown rule key 'flower'"),
        (line_of(options={"flowers": 9}), "flowers = 9: must be a whole number from 0 to 5"),
        (line_of(options={"takes": {"draw_drawer": 3}}), "takes: "),
        (line_of(players=5), "players = 5: must be a whole number from 2 to 4"),
        (line_of(players=3), "hands: must be a list of 3, one a seat"),
        (line_of(dealer=4), "dealer = 4: must be a seat from 0 to 3"),
        (line_of(dealer=True), "dealer = true: must be a seat"),
        (line_of(hands=SOME), "hands: must be a list of 4"),
        (line_of(hands=[SOME] * 4), "hands[0] has 3 cards; seat 0 is dealt 20 under classic"),
        (line_of(hands=[3] * 4), "hands[0] = 3: must be cards in one text"),
        (line_of(hands=["Kx"] * 4), "hands[0]: unknown card 'Kx' at position 1"),
        (line_of(stock=SOME), "stock has 3 cards; the rest of the 112 of classic is 31"),
        (line_of(stock="Kr" * 31), "too many Kr: 3"),
        (line_of(stock=json.loads(line_of())["stock"][:-2] + "F"), "too many F: 1, and the pack of classic has 0"),
    ],
)  # fmt: skip
def test_a_wrong_deck_is_refused(invoke, line, part):
    assert part in one_line_error(invoke("replay", "--deck", "-", "--json", stdin=line))


def test_the_dealer_has_a_card_more_and_the_line_is_named(invoke, tmp_path):
    deal = json.loads(line_of())
    wrong = line_of(dealer=(deal["dealer"] + 1) % 4)
    path = tmp_path / "decks.jsonl"
    path.write_text(f"{line_of()}\n\n{wrong}\n")
    line = one_line_error(invoke("replay", "--deck", str(path)))
    assert f"{path}, line 3: hands[" in line
    assert "dealt 2" in line


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "which deal?"),
        (["--deal", "x"], "'x' is not a number"),
        (["--deal", "-1"], "too small"),
        (["--deal", "0", "--rules", "clasic"], "did you mean 'classic'?"),
        (["--deal", "0", "--strategies", "greed"], "did you mean 'greedy'?"),
        (["--deal", "0", "--strategies", "greedy,greedy"], "2 entries for 4 seats"),
        (["--deal", "0", "--seating", "al"], "did you mean 'all'?"),
        (["RUN", "--deal", "96"], "has 96 deals; the last is number 95"),
        (["RUN", "--deal", "0", "--seed", "7"], "--seed does not go with a RUN"),
        (["RUN", "--deck", "-"], "RUN does not go with --deck"),
        (["--deck", "-", "--rules", "classic"], "--rules does not go with --deck"),
        (["--deck", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
        (["nowhere", "--deal", "0"], "nowhere is not a run"),
    ],
)
def test_wrong_words(invoke, made, arguments, part):
    words = [str(made) if word == "RUN" else word for word in arguments]
    assert part in one_line_error(invoke("replay", *words))


def test_a_deck_out_of_the_file(invoke):
    line = one_line_error(invoke("replay", "--deck", "-", "--deal", "1", stdin=line_of()))
    assert "standard input has 1 decks; the last is number 0" in line


# Deals of a seed


@pytest.mark.parametrize("strategies", ["greedy", "random"])
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_the_winners_melds_are_those_of_the_row(name, options, strategies):
    """The melds add up to the score, are counted as in the row, and hold the whole hand."""
    player = replayer(name, strategies, **options)
    won = 0
    for number in range(25):
        deal = player.deal(number)
        melds = [meld for meld, _ in winning_melds(deal)]
        if deal.winner is None:
            assert melds == []
            continue
        won += 1
        kinds = Counter(meld.kind for meld in melds)
        assert sum(meld.points for meld in melds) == deal.score
        assert [kinds[kind] for kind in MELDS] == deal.row["melds"][0].tolist()
        assert sum(len(meld.cards) for meld in melds) == 21
    assert won or strategies == "random"


@pytest.mark.parametrize(("name", "options"), VARIANTS[:-1])
def test_the_json_is_a_legal_deal(name, options):
    """The slow reference follows every event from the hands and the stock of the line, redeals included."""
    player = replayer(name, "random", **options)
    redealt = 0
    for number in range(60 if "redeal" in options else 20):
        line = json.loads(json.dumps(player.deal(number).to_dict()))
        decks = [*line.get("annulled", []), line]
        first, *later = [(deck["hands"], deck["stock"]) for deck in decks]
        keys = (line["rules"], line["players"], line["options"], line["dealer"])
        checked = check_events(*keys, *first, line["events"], redeals=later)
        assert (checked.winner, checked.score) == (line["winner"], line["score"])
        redealt += len(later)
    assert redealt or "redeal" not in options


def test_a_redealt_deal_can_be_played_from_its_last_deck(invoke):
    player = replayer("ten-hu", redeal="always")
    deal = next(deal for deal in map(player.deal, range(200)) if len(deal.decks) > 1)
    line = deal.to_dict()
    result = invoke("replay", "--deck", "-", "--json", stdin=json.dumps(line))
    again = json.loads(result.stdout)
    assert result.stderr == ""
    assert again["events"] == [event.to_dict() for event in deal.last_round()]
    assert {**line, "events": []} == {**again, "events": [], "annulled": line["annulled"]}
    text = invoke("replay", "--deck", "-", stdin=json.dumps({**line, **line["annulled"][0]})).stdout
    assert text.count("strategy") == 2
    assert "dealt again" in text


def test_options_are_told_from_the_preset():
    assert options_of(load("classic").with_options(players=2)) == ("classic", {})
    assert options_of(load("ten-hu").with_options(flowers=3)) == ("ten-hu", {"flowers": 3})
    assert options_of(load("cardavia").with_options(name="own")) == ("cardavia", {"name": "own"})


def test_the_farthest_deal(invoke):
    far = ("--seed", str(2**64 - 1), "--deal", str(2**63 - 1))
    line = json.loads(invoke("replay", *far, "--json").stdout)
    cards = Counter(" ".join([*line["hands"], line["stock"]]).split())
    assert cards == {code: 5 if code == "F" else 4 for code in CODES}


# Deals of a run


def test_every_deal_of_a_run_is_as_stored(invoke, made):
    for number in (0, 1, 2, 3, 50, 95):
        result = invoke("replay", str(made), "--deal", str(number))
        assert result.exit_code == 0
        assert result.stdout.endswith("\nthe stored row is the same\n")
    options = ("--strategies", "greedy,random,random,random", "--seating", "rotate", "--deal", "50", "--json")
    assert invoke("replay", *options).stdout == invoke("replay", str(made), "--deal", "50", "--json").stdout
    assert invoke("replay", *options, "--seed", "8").stdout != invoke("replay", *options).stdout


def change(folder, number, column, value):
    """Store another value in a row of a run, with a receipt that fits."""
    store = Store(folder, read_manifest(folder))
    rows = Replayer.of(store.manifest).simulator.play(0, store.manifest.deals).rows
    rows[column][number] = value
    table = deal_table(store.manifest, rows, 0)
    store.write("deals", 0, encode(deal_schema(store.manifest), [table]), len(rows))


def refused(invoke, folder, number=17):
    """What is said of a deal that is not as stored; it is shown all the same."""
    for how in ([], ["--json"]):
        result = invoke("replay", str(folder), "--deal", str(number), *how)
        assert result.exit_code == 1
        assert len(result.stderr.splitlines()) == 1
        assert len(result.stdout) > 500
    return result.stderr


def test_a_row_that_differs_is_told_with_its_columns(invoke, own):
    change(own, 17, "draws", 99)
    line = refused(invoke, own)
    assert f"{own}: deal 17 is not as stored (stored / played again): draws 99 / " in line
    assert "is as its receipt says" in line
    assert invoke("replay", str(own), "--deal", "16").exit_code == 0


def test_another_version_is_not_called_damage(invoke, own):
    change(own, 17, "draws", 99)
    log = own / "log.jsonl"
    text = log.read_text()
    log.write_text(text.replace('"sisepai": "', '"sisepai": "0.0.'))
    assert "that is no damage: the run was made by another version of the program (sisepai 0.0." in refused(
        invoke, own
    )
    log.write_text('{"versions": 3}\n[]\n{"versions": {"sisepai": "\\u001b[31m"}}\n')
    assert "is as its receipt says" in refused(invoke, own)
    manifest = own / "manifest.json"
    digest = read_manifest(own).strategies[1].digest
    manifest.write_text(manifest.read_text().replace(digest, "0" * 64))
    change(own, 17, "draws", 99)
    assert "another version of the strategy 'random'" in refused(invoke, own)


def test_a_damaged_shard_is_named(invoke, own):
    path = own / "deals" / "000000" / "part-000000000.parquet"
    change(own, 17, "draws", 99)
    receipt = path.with_name("_part-000000000.json")
    receipt.write_text(receipt.read_text().replace('"sha256": "', '"sha256": "0'))
    assert f"{path} is damaged: its SHA-256 is not that of its receipt" in refused(invoke, own)
    for content in (path.read_bytes()[:-9], b"PAR1", b""):
        path.write_bytes(content)
        assert f"{path} cannot be read: " in refused(invoke, own)


def test_shards_of_other_runs_are_named(invoke, own, tmp_path):
    path = own / "deals" / "000000" / "part-000000000.parquet"
    manifest = read_manifest(own)
    rows = Replayer.of(manifest).simulator.play(0, 24).rows
    path.write_bytes(encode(deal_schema(manifest), [deal_table(manifest, rows, 0)]))
    assert "is damaged: it has 24 deals instead of 96" in refused(invoke, own)
    table = deal_table(manifest, rows, 0).drop_columns(["deck"])
    path.write_bytes(encode(table.schema, [table]))
    assert "is damaged: it holds other columns than the run" in refused(invoke, own)


def test_a_deal_that_is_not_stored_yet(invoke, own):
    (own / "deals" / "000000" / "_part-000000000.json").unlink()
    result = invoke("replay", str(own), "--deal", "5")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("\nnot stored yet: nothing to compare with\n")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"name": "bold"}, "strategy 'greedy' of the run cannot be played: it is not built in"),
        (
            {"params": {"risk": 1}},
            "strategy 'greedy' of the run cannot be played: it has no parameter 'risk'",
        ),
    ],
)
def test_a_strategy_that_is_not_known_here(invoke, own, change, part):
    path = own / "manifest.json"
    keys = json.loads(path.read_text())
    keys["strategies"][0] |= change
    path.write_text(json.dumps(keys))
    assert part in one_line_error(invoke("replay", str(own), "--deal", "0"))


# For people


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(("rules", "number"), [("cardavia", 3), ("classic", 3), ("ten-hu", 5)])
def test_every_width_holds_every_card(invoke, monkeypatch, width, rules, number):
    monkeypatch.setenv("COLUMNS", str(width))
    text = invoke("replay", "--deal", str(number), "--rules", rules).stdout
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    deal = replayer(rules).deal(number)
    dealt = text[: text.index("turn ")].split("stock")[0]
    for code, count in Counter(CODES[card] for hand in deal.deck.hands for card in hand).items():
        assert dealt.count(code) == count
    assert len(re.findall(r"^ +\d+ +\d+ +\d  draw ", text, re.MULTILINE)) == deal.row["draws"][0]
    assert f"{deal.score} points" in text or deal.winner is None


def test_a_drawn_deal(invoke):
    player = replayer("cardavia", "random")
    number = next(n for n in range(20) if player.deal(n).winner is None)
    text = invoke("replay", "--deal", str(number), "--strategies", "random").stdout
    assert "drawn: nobody won before the stock ran out" in text
    assert "score" not in text


def test_an_ascii_terminal_and_no_colour(run):
    deal = ("replay", "--deal", "3")
    done = run(*deal, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "?" not in done.stdout
    assert "\x1b[31m" not in run(*deal, NO_COLOR="1", FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[31m" in run(*deal, NO_COLOR="", FORCE_COLOR="1", TERM="xterm").stdout


def test_closed_pipes_and_no_standard_input(tmp_path):
    path = tmp_path / "decks.jsonl"
    path.write_text(line_of() + "\n")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "sisepai", "replay", "--deck"]
    done = subprocess.run([*command, str(path)], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.stderr, done.returncode) == (b"", 1)
    script = f'"{sys.executable}" -m sisepai replay --deck - <&-'
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False)
    assert "holds no deck" in one_line_error(done)


def test_the_page_shows_what_the_program_prints(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    blocks = (DOCS / "replay.md").read_text(encoding="utf-8").split("```")[1::2]
    shown = [block.partition("\n")[2] for block in blocks if block.startswith("console")]
    assert shown
    for block in shown:
        command, _, output = block.partition("\n")
        printed = invoke(*command.removeprefix("$ sisepai ").split()).stdout
        assert "\n".join(line.rstrip() for line in printed.splitlines()) + "\n" == output
