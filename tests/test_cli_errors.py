"""Whatever goes wrong on the command line ends in one plain line and the right exit code."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from conftest import one_line_error
from hypothesis import given
from hypothesis import strategies as st

from sisepai.cli.boundary import guard
from sisepai.cli.params import COUNT, SEED, Choice, whole_number
from sisepai.errors import InputError, Interrupted, SisepaiError, unknown_name

LARGEST = 2**63 - 1


# Numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("1e6", 10**6),
        ("1E+6", 10**6),
        ("1_000_000", 10**6),
        ("2.5e3", 2500),
        ("1000000.0", 10**6),
        ("10e-1", 1),
        (" 12 ", 12),
        ("+3", 3),
        ("007", 7),
        (str(LARGEST), LARGEST),
        ("9.223372036854775807e18", LARGEST),
    ],
)
def test_numbers_as_people_write_them(text, value):
    assert whole_number(text, 1, LARGEST) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0.5", "not a whole number"),
        ("1.5e0", "not a whole number"),
        ("1e-3", "not a whole number"),
        ("-5", "too small"),
        ("0", "too small"),
        ("0e9999", "too small"),
        ("-1e9999", "too small"),
        ("1e30", "too large"),
        ("1e9999", "too large"),
        (str(LARGEST + 1), "too large"),
        ("9" * 5000, "too large"),
        ("nan", "not a number"),
        ("inf", "not a number"),
        ("x", "not a number"),
        ("", "not a number"),
        ("1__0", "not a number"),
        ("_1", "not a number"),
        ("1e", "not a number"),
        ("0x10", "not a number"),
        ("1e99999", "1e99999 is too large"),
        ("1e-99999", "not a whole number"),
        ("١", "not a number"),
    ],
)
def test_numbers_that_are_refused(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        whole_number(text, 1, LARGEST)
    assert len(str(caught.value)) < 150


@given(st.integers(0, 2**64 - 1))
def test_every_seed_is_read_exactly(seed):
    assert SEED.convert(str(seed), None, None) == seed
    digits = str(seed)
    assert SEED.convert(f"{digits[0]}.{digits[1:] or 0}e{len(digits) - 1}", None, None) == seed


def test_the_ends_of_the_ranges():
    assert SEED.convert("18446744073709551615", None, None) == 2**64 - 1
    for text in ("-1", "18446744073709551616", "2**64", "x"):
        with pytest.raises(click.BadParameter):
            SEED.convert(text, None, None)
    with pytest.raises(click.BadParameter):
        COUNT.convert("0", None, None)


# What a user types


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["simulat"], ["unknown command 'simulat'", "did you mean 'simulate'?"]),
        (["zzz"], ["unknown command 'zzz'", "known: analyze"]),
        (["--versio"], ["No such option '--versio'", "--version"]),
        (["rules", "--jsn"], ["sisepai rules: ", "--jsn", "--json"]),
        (["rules", "clasic"], ["unknown rule set 'clasic'", "did you mean 'classic'?", "cardavia"]),
        (["rules", "a", "b"], ["sisepai rules: ", "unexpected extra argument"]),
        (["rules", ""], ["unknown rule set ''"]),
        (["rules", "", "--json"], ["unknown rule set ''"]),
        (["rules", "x" * 5000], ["unknown rule set 'xxx", "...", "known: cardavia"]),
        (["rules", "a\x1b[2J\nb"], [r"unknown rule set 'a\x1b[2J\nb'"]),
        (["info", "a\x1b[2J" + "b" * 200], [r"a\x1b[2Jbbb", "b... is not a run"]),
        (["analyze", "-", "Kr"], ["'-' reads hands from standard input"]),
        (["analyze", "Kr", "--exposed", "pair: ErEx"], ["--exposed 'pair: ErEx': unknown card 'Ex'"]),
        (["analyze"], ["sisepai analyze: Missing argument 'HAND...'"]),
        (["analyze", "Kr", "--rules"], ["sisepai: ", "'--rules' requires an argument"]),
        (["analyze", "Kr", "--rules", "ten"], ["unknown rule set 'ten'", "ten-hu"]),
        (["simulate", "--deals", "0.5"], ["'--deals'", "0.5 is not a whole number"]),
        (["simulate", "--deals", "-5"], ["'--deals'", "-5 is too small; the least is 1"]),
        (["simulate", "--deals", "nan"], ["'--deals'", "'nan' is not a number"]),
        (["simulate", "--deals", "1e30"], ["'--deals'", "1e30 is too large"]),
        (["simulate", "--seed", "-1"], ["'--seed'", "-1 is too small; the least is 0"]),
        (["simulate", "--seed", "x"], ["'--seed'", "'x' is not a number"]),
        (["simulate", "--seed", "18446744073709551616"], ["'--seed'", "too large"]),
        (["simulate", "--seating", "rotated"], ["'--seating'", "did you mean 'rotate'?"]),
    ],
)
def test_wrong_words(invoke, arguments, parts):
    line = one_line_error(invoke(*arguments))
    for part in parts:
        assert part in line


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["Kx"], "unknown card 'Kx' at position 1"),
        (["KrAr", "Qg"], "unknown card 'Qg' at position 6"),
        (["PgPgPgPgPg"], "too many Pg: 5, and a pack has 4"),
        (["FFFFFF"], "too many F: 6, and a pack has 5"),
        ([""], "the hand is empty"),
        ([" , "], "the hand is empty"),
        (["KrAr" * 4 + "KgAg" * 4 + "KyAyEyEwEgEr"], "22 cards"),
        (["Kr", "--exposed", "triple"], "--exposed 'triple': write the kind, a colon and the cards"),
        (["Kr", "--exposed", "tripel: ErErEr"], "unknown meld 'tripel'; did you mean 'triple'?"),
        (["Kr", "--exposed", "triple: ErErEx"], "unknown card 'Ex' at position 6"),
        (["Kr", "--exposed", "triple: ErErEg"], "triple"),
        (["Kr", "--exposed", "pair:"], "pair"),
        (["ErEr", "--exposed", "triple: ErErEr"], "too many Er: 5, and a pack has 4"),
    ],
)
def test_wrong_hands(invoke, arguments, part):
    assert part in one_line_error(invoke("analyze", *arguments))


def test_a_wrong_hand_on_standard_input_is_named_by_its_line(invoke):
    line = one_line_error(invoke("analyze", "-", stdin="Kr Ar Er\n\nKr Ax\n"))
    assert "standard input, line 3: unknown card 'Ax' at position 4" in line
    assert "no hand" in one_line_error(invoke("analyze", "-", stdin="\n"))
    assert "line 1" in one_line_error(invoke("analyze", "-", stdin=b"\xff\xfe"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
@pytest.mark.parametrize("words", ["analyze -", "replay --deck -", "replay --deck /dev/zero"])
def test_a_line_without_an_end(words):
    script = f'"{sys.executable}" -m sisepai {words} < /dev/zero'
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False, timeout=60)
    assert "line 1: longer than 1,000,000 bytes" in one_line_error(done)


def test_no_standard_input_at_all():
    script = f'"{sys.executable}" -m sisepai analyze - <&-'
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False)
    assert "holds no hand" in one_line_error(done)


def test_a_choice_names_the_nearest():
    with pytest.raises(click.BadParameter, match=r"^'al' is not one of fixed, all; did you mean 'all'\?$"):
        Choice(["fixed", "all"]).convert("al", None, None)


def test_an_unknown_name_lists_the_known_ones():
    assert str(unknown_name("meld", "Pear", ["pair", "quad"])) == (
        "unknown meld 'Pear'; did you mean 'pair'? (known: pair, quad)"
    )
    assert str(unknown_name("meld", "zzz", ["quad", "pair"])) == "unknown meld 'zzz'; known: pair, quad"


# The boundary


def raising(error: BaseException):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("no such\nthing"), 2, "sisepai: no such thing"),
        (SisepaiError("part 3 is damaged"), 1, "sisepai: part 3 is damaged"),
        (Interrupted("stopped; go on with: x"), 130, "sisepai: stopped; go on with: x"),
        (KeyboardInterrupt(), 130, "sisepai: stopped"),
        (click.Abort(), 130, "sisepai: stopped"),
        (click.UsageError("no\n\tsuch"), 2, "sisepai: no such"),
        (OSError(errno.ENOSPC, "No space left", "a/b"), 1, "sisepai: a/b: No space left"),
        (OSError(errno.ENOSPC, "No space left"), 1, "sisepai: standard output: No space left"),
        (OSError(errno.EMFILE, "Too many open files"), 1, "sisepai: Too many open files"),
        (PermissionError(errno.EACCES, "Permission denied", "a"), 2, "sisepai: a: Permission denied"),
        (OSError(errno.EROFS, "Read-only file system", "a"), 2, "sisepai: a: Read-only file system"),
        (OSError("from a library"), 1, "sisepai: from a library"),
    ],
)
def test_exceptions_become_one_line(error, code, line, capsys):
    assert guard(raising(error)) == code
    assert capsys.readouterr() == ("", line + "\n")


def test_the_command_that_goes_on_stays_whole(capsys):
    error = SisepaiError("a" * 100)
    error.go_on = f"sisepai simulate --out {'b' * 200}"
    assert guard(raising(error)) == 1
    assert (
        capsys.readouterr().err == f"sisepai: {'a' * 77}.... To go on: sisepai simulate --out {'b' * 200}\n"
    )


def test_a_bug_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        guard(lambda: 1 / 0)


def test_debug_shows_the_traceback(run):
    assert "Traceback" in run("rules", "clasic", SISEPAI_DEBUG="1").stderr
    assert "Traceback" not in run("rules", "clasic").stderr


# Pipes, full disks, encodings: as processes of their own

WRITERS = [
    ["--help"],
    ["--version"],
    ["rules"],
    ["rules", "--json"],
    ["analyze", "KrArEr"],
    ["simulate", "--help"],
]


@pytest.mark.parametrize("arguments", WRITERS, ids=" ".join)
def test_a_closed_pipe_ends_silently(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "sisepai", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 1


def test_a_pipe_closed_at_both_ends_is_silent_too():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sisepai", "nonsense"], stdout=writer, stderr=writer, check=False
    )
    os.close(writer)
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", WRITERS, ids=" ".join)
def test_a_full_disk_under_stdout(arguments):
    command = [sys.executable, "-m", "sisepai", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "sisepai: standard output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("closing", "code", "line"),
    [
        (">&-", 1, "sisepai: standard output: Bad file descriptor\n"),
        ("2>&-", 0, ""),
        (">&- 2>&-", 1, ""),
    ],
)
@pytest.mark.parametrize("words", ["rules", "rules --json"])
def test_what_has_nowhere_to_go_is_no_success(words, closing, code, line):
    script = f'"{sys.executable}" -m sisepai {words} {closing}'
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, line)


@pytest.mark.parametrize("arguments", WRITERS, ids=" ".join)
def test_an_ascii_terminal_gets_readable_text(run, arguments):
    done = run(*arguments, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.isascii()
    assert "?" not in done.stdout


def test_glyphs_where_they_can_be_shown(run):
    assert "Kr帥" in run("analyze", "KrArEr", PYTHONIOENCODING="utf-8").stdout
    assert "帥" not in run("analyze", "KrArEr", PYTHONIOENCODING="utf-8", NO_COLOR="1").stdout


def test_colours_only_where_they_are_wanted(run):
    red = "\x1b[31m"
    assert red in run("analyze", "KrArEr", FORCE_COLOR="1", NO_COLOR="", TERM="xterm").stdout
    assert red not in run("analyze", "KrArEr", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout
    assert "\x1b" not in run("analyze", "KrArEr").stdout


def test_bytes_that_are_no_text_in_an_argument():
    command = [sys.executable, "-m", "sisepai", "rules", os.fsdecode(b"\xff\xfe")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
