"""docs/schema.md: its tables name the columns as they are, and its examples run."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from fakes import FakeSimulator, manifest

from sisepai.cards import EVENTS, OUTCOMES, WIN_BY
from sisepai.runs.directory import create
from sisepai.runs.execute import Progress, execute
from sisepai.runs.schema import deal_schema, event_schema

PAGE = (Path(__file__).parents[1] / "docs/schema.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
TYPES = {pa.uint8(): "u8", pa.uint16(): "u16", pa.uint64(): "u64"}


def type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}s"
    return "word" if pa.types.is_dictionary(kind) else TYPES[kind]


@pytest.mark.parametrize(("section", "schema"), [("deals", deal_schema), ("events", event_schema)])
def test_the_tables_name_the_columns(section, schema):
    table = PAGE.partition(f"## `{section}`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| ([^|]+) \|", table, flags=re.MULTILINE)
    assert rows == [
        (field.name, type_name(field.type), next(row[2] for row in rows if row[0] == field.name))
        for field in schema(manifest())
    ]
    for field in schema(manifest()):
        empty = next(row[2] for row in rows if row[0] == field.name)
        assert field.nullable == (not empty.startswith("never")), field.name


def test_the_page_lists_all_words():
    for words in (EVENTS, OUTCOMES, WIN_BY):
        assert " ".join(f"`{word}`" for word in words) in PAGE


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "runs").mkdir()
    execute(create(folder / "runs/0001", manifest()), FakeSimulator(), range(5), 2, Progress())
    return folder


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(example, {})
    assert capsys.readouterr().out


def test_there_is_an_example_for_each_reader():
    assert all(
        any(f"import {name}" in example for example in EXAMPLES) for name in ("polars", "pandas", "duckdb")
    )
