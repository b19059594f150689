"""The manifest: what a run was asked to be, its id, and the distrust with which it is read."""

import json

import pytest
from fakes import GREEDY, manifest

from sisepai.errors import InputError
from sisepai.rules import RuleSet, preset
from sisepai.runs.manifest import Manifest, PlannedEntry, differences, read_manifest


def write(folder, text) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_it_comes_back_as_it_was(tmp_path):
    one = manifest()
    write(tmp_path, one.to_json())
    again = read_manifest(tmp_path)
    assert again == one
    assert again.run_id == one.run_id
    assert again.to_json() == one.to_json()
    assert again.labels == ("greedy", "slow:n=2")


def test_the_run_id_is_the_hash_of_the_plan_alone():
    # Changes with the rules' keys or the schema, and then on purpose.
    assert manifest().run_id == manifest().run_id
    assert len(manifest().run_id) == 64
    ids = {
        manifest(**change).run_id
        for change in (
            {}, {"seed": 8}, {"deals": 2000}, {"events": False}, {"seating": "all"}, {"shard_deals": 480},
            {"seats": (1, 0, 0, 0)}, {"seating": "fixed"}, {"seating": "fixed", "match": 20},
            {"rules": preset("classic")},
            {"strategies": (GREEDY, PlannedEntry("slow", "slow", {}, "cd" * 16))},
            {"strategies": (GREEDY, PlannedEntry("slow:n=2", "slow", {"n": 2.0}, "ef" * 16))},
        )
    }  # fmt: skip
    assert len(ids) == 12


def test_numbers_up_to_the_last_digit():
    one = manifest(seed=2**64 - 1, deals=2**63 - 4)
    assert Manifest.from_dict(json.loads(one.to_json())) == one


BAD = {
    "schema": [None, 0, "1", True, 1.0, 2, 10**400],
    "rules": [None, [], "cardavia", {"players": 9}, {"no": 1}, {"players": "4"}, {"takes": 3}, {"points": {}}],
    "rules_digest": [None, "", "44", 5, "zz" * 32, "00" * 32],
    "strategies": [None, [], {}, [1], [{}] * 2, [{"label": "a"}] * 2, [None] * 5],
    "seats": [None, [], [0, 1], [0, 1, 1, 2], [0, 0, 0, 0], [0, 1, 1, -1], [0, 1, 1, 1.0], [0, 1, 1, True], "0111"],
    "seating": [None, "", "Rotate", 3, ["rotate"]],
    "seed": [None, -1, 2**64, 7.0, "7", True, 10**5000],
    "deals": [None, 0, -4, 1001, 2**63, 1e3, "1000"],
    "match": [None, -1, 7, 24_001, 24.0, "24", True],
    "events": [None, 0, 1, "true", []],
    "shard_deals": [None, 0, 23, 25, 24 * 10**7, "240", 240.0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key, values in BAD.items() for value in values],
    ids=lambda _: "",  # some numbers are too long to be written out
)
def test_a_wrong_value_is_refused_in_one_line_that_names_the_key(key, value):
    keys = {**manifest().to_dict(), key: value}
    with pytest.raises(InputError) as caught:
        Manifest.from_dict(keys)
    message = str(caught.value)
    assert key in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("label", ""), ("label", "a\x1b[2J"), ("label", "x" * 4001), ("label", 3), ("label", "slow:n=2"),
        ("name", None), ("params", []), ("params", {"a": [1]}), ("params", {"a": float("nan")}), ("params", {"": 1}),
        ("params", {"a": 10**30}), ("params", {"a": "\n"}), ("digest", "xyz"), ("digest", "AB" * 16), ("extra", 1),
    ],
)  # fmt: skip
def test_a_wrong_strategy_is_refused(key, value):
    keys = manifest().to_dict()
    keys["strategies"][0][key] = value
    with pytest.raises(InputError, match="strategies"):
        Manifest.from_dict(keys)


def test_keys_missing_and_unknown():
    for key in manifest().to_dict():
        keys = manifest().to_dict()
        del keys[key]
        with pytest.raises(InputError, match=key):
            Manifest.from_dict(keys)
    with pytest.raises(InputError, match="unknown key 'path'"):
        Manifest.from_dict({**manifest().to_dict(), "path": "../.."})


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "7", '"x"', "{}", b"\xff\xfe", "[" * 100_000, '{"schema": 1, "schema": 1}',
        '{"schema": NaN}', '{"schema": ' + "9" * 5000 + "}", " " * 1_000_001,
    ],
)  # fmt: skip
def test_what_is_no_manifest(tmp_path, text):
    write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/manifest.json: ")
    assert "\n" not in str(caught.value)


def test_what_is_no_run(tmp_path):
    with pytest.raises(InputError, match=r"is not a run: no such folder"):
        read_manifest(tmp_path / "none")
    with pytest.raises(InputError, match=r"is not a run: it has no readable manifest"):
        read_manifest(tmp_path)


def test_a_later_schema_is_told_apart_from_damage():
    with pytest.raises(InputError, match="this program reads version 1"):
        Manifest.from_dict({"schema": 2, "other": "keys"})


def test_differences_name_the_keys():
    one = manifest()
    assert differences(one, manifest()) == []
    assert differences(one, manifest(seed=8, deals=2000)) == ["seed: 7 / 8", "deals: 1000 / 2000"]
    rules = RuleSet(flowers=3)
    assert differences(one, manifest(rules=rules)) == ['rules: {"flowers": 5} / {"flowers": 3}']


def test_differences_show_what_differs_however_long_the_values():
    one, other = (
        manifest(strategies=(GREEDY, PlannedEntry("slow:n=2", "slow", {"n": 2.0}, digest)))
        for digest in ("ab" * 32, "ab" * 30 + "cdef")
    )
    assert differences(one, other) == [
        f'strategies: [{{"digest": "{"ab" * 32}"}}] / [{{"digest": "{"ab" * 30}cdef"}}]'
    ]
    one, other = (
        manifest(strategies=(GREEDY, PlannedEntry("x" * 150 + end, "slow", {}, "ab" * 8))) for end in "ab"
    )
    (line,) = differences(one, other)
    mine, its = line.removeprefix("strategies: ").split(" / ")
    assert mine != its
    assert len(line) < 200
