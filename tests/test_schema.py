"""The columns of a run: what stands in them, how four readers see them, and that the bytes are always the same."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import FakeSimulator, manifest

from sisepai.cards import CODES, EVENTS, MELDS, NONE, OUTCOMES, WIN_BY
from sisepai.runs.schema import deal_schema, deal_table, encode, event_schema, event_table

MANIFEST = manifest()
FIRST, COUNT = 240, 120
WORDS = {"outcome": OUTCOMES, "win_by": WIN_BY, "win_card": CODES, "winner_strategy": MANIFEST.labels}


@pytest.fixture(scope="module")
def chunk():
    return FakeSimulator().play(FIRST, COUNT, events=True)


@pytest.fixture(scope="module")
def files(chunk, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    deals = deal_table(MANIFEST, chunk.rows, FIRST)
    events = event_table(MANIFEST, chunk.events, chunk.event_counts, FIRST)
    (folder / "deals.parquet").write_bytes(encode(deal_schema(MANIFEST), [deals]))
    (folder / "events.parquet").write_bytes(encode(event_schema(MANIFEST), [events[:50], events[50:]]))
    return folder


def none(value):
    return None if value == NONE else int(value)


def word(words, value):
    return None if value == NONE else words[value]


def expected_deal(row, deal):
    deck, seating = divmod(deal, 4)
    winner = none(row["winner"])
    return {
        "deal": deal, "deck": deck, "seating": seating, "match": None, "round": None, "dealer": row["dealer"],
        "redeals": row["redeals"], "outcome": OUTCOMES[row["outcome"]], "winner": winner,
        # Seat 0 of the plan is greedy, the others are slow; seating k moves greedy to seat k.
        "winner_strategy": None if winner is None else MANIFEST.labels[winner != seating],
        "win_by": word(WIN_BY, row["win_by"]), "from_seat": none(row["from_seat"]),
        "win_card": word(CODES, row["win_card"]), "score": row["score"], "draws": row["draws"],
        "takes": row["takes"], "discards": row["discards"],
        **{f"melds_{kind}": row["melds"][place] for place, kind in enumerate(MELDS)},
        **{f"dealt_deadwood_{seat}": none(row["dealt_deadwood"][seat]) for seat in range(4)},
        **{f"end_deadwood_{seat}": none(row["end_deadwood"][seat]) for seat in range(4)},
    }  # fmt: skip


def expected_events(chunk):
    at = 0
    for place, count in enumerate(chunk.event_counts):
        for step, event in enumerate(chunk.events[at : at + count]):
            yield {
                "deal": FIRST + place, "step": step, "event": EVENTS[event["event"]], "seat": none(event["seat"]),
                "card": word(CODES, event["card"]), "meld": word(MELDS, event["meld"]),
                "with": [CODES[card] for card in event["with"] if card != NONE], "score": none(event["score"]),
            }  # fmt: skip
        at += count


def test_deals_say_what_the_rows_say(files, chunk):
    expected = [expected_deal(row, FIRST + place) for place, row in enumerate(chunk.rows)]
    assert pq.read_table(files / "deals.parquet").to_pylist() == expected
    assert pl.read_parquet(files / "deals.parquet").to_dicts() == expected
    assert list(expected[0]) == deal_schema(MANIFEST).names


def test_events_say_what_the_rows_say(files, chunk):
    expected = list(expected_events(chunk))
    assert pq.read_table(files / "events.parquet").to_pylist() == expected
    assert pl.read_parquet(files / "events.parquet").to_dicts() == expected
    assert list(expected[0]) == event_schema(MANIFEST).names


def test_types_are_the_smallest_sensible(files):
    schema = pq.read_schema(files / "deals.parquet").remove_metadata()
    words = pa.dictionary(pa.int8(), pa.string())
    types = {name: pa.uint8() for name in schema.names}
    types |= {
        "deal": pa.uint64(),
        "deck": pa.uint64(),
        "match": pa.uint64(),
        "round": pa.uint16(),
        "redeals": pa.uint16(),
    }
    types |= dict.fromkeys(WORDS, words)
    assert {field.name: field.type for field in schema} == types


def test_words_are_numbers_too_in_every_file(files):
    for group in range(2):
        table = pq.ParquetFile(files / "events.parquet").read_row_group(group)
        for name, words in {"event": EVENTS, "card": CODES, "meld": MELDS}.items():
            assert table[name].chunk(0).dictionary.to_pylist() == list(words)
        assert table["with"].chunk(0).values.dictionary.to_pylist() == list(CODES)


def test_polars_reads_words_as_enums(files):
    schema = pl.scan_parquet(files / "deals.parquet").collect_schema()
    assert {name: schema[name] for name in WORDS} == {name: pl.Enum(words) for name, words in WORDS.items()}
    events = pl.scan_parquet(files / "events.parquet").collect_schema()
    assert events["event"] == pl.Enum(EVENTS)
    assert events["with"] == pl.List(pl.Enum(CODES))


def test_polars_compares_words_by_number(files, chunk):
    """Pushed down to the file or not: statistics of words by spelling must not hide rows."""
    deals = pl.scan_parquet(files / "deals.parquet")
    late = deals.filter(pl.col("win_card") > "Ag").collect()
    assert len(late) == int(
        ((chunk.rows["win_card"] > CODES.index("Ag")) & (chunk.rows["win_card"] != NONE)).sum()
    )
    assert (
        deals.filter(pl.col("win_card") > "Ag")
        .collect()
        .equals(deals.collect().filter(pl.col("win_card") > "Ag"))
    )


def test_pandas_reads_words_as_categories(files, chunk):
    deals = pd.read_parquet(files / "deals.parquet")
    assert list(deals["win_by"].cat.categories) == list(WIN_BY)
    won = chunk.rows["win_by"] != NONE
    assert deals["win_by"].cat.codes[won].tolist() == chunk.rows["win_by"][won].tolist()
    assert deals["score"].sum() == chunk.rows["score"].sum()
    events = pd.read_parquet(files / "events.parquet")
    assert [list(cards) for cards in events["with"]] == [event["with"] for event in expected_events(chunk)]


def test_duckdb_reads_them(files, chunk):
    wins = duckdb.sql(
        f"select count(*), sum(score) from '{files}/deals.parquet' where outcome = 'win'"
    ).fetchall()[0]
    assert wins == ((chunk.rows["outcome"] == 0).sum(), chunk.rows["score"].sum())
    cards = duckdb.sql(f"""select "with" from '{files}/events.parquet' order by deal, step""").fetchall()
    assert [row[0] for row in cards] == [event["with"] for event in expected_events(chunk)]


@pytest.mark.parametrize("name", ["deals", "events"])
def test_every_file_says_what_it_belongs_to(files, name):
    metadata = pq.read_metadata(files / f"{name}.parquet").metadata
    assert metadata[b"sisepai.run_id"] == MANIFEST.run_id.encode()
    assert metadata[b"sisepai.schema"] == b"1"
    assert metadata[b"sisepai.rules_digest"] == MANIFEST.rules.digest().encode()


def test_the_same_rows_give_the_same_bytes(files, chunk):
    again = encode(deal_schema(MANIFEST), [deal_table(MANIFEST, chunk.rows.copy(), FIRST)])
    assert again.to_pybytes() == (files / "deals.parquet").read_bytes()


def test_columns_do_not_depend_on_what_is_in_them():
    for rows in (FakeSimulator().play(0, 0).rows, FakeSimulator().play(0, 3).rows):
        assert deal_table(MANIFEST, rows, 0).schema.equals(deal_schema(MANIFEST), check_metadata=True)
    nothing = event_table(
        MANIFEST, FakeSimulator().play(0, 1, events=True).events[:0], np.zeros(4, np.uint16), 0
    )
    assert nothing.schema.equals(event_schema(MANIFEST), check_metadata=True)
    assert len(nothing) == 0


def test_numbers_beyond_32_bits():
    first = 2**63 - 1 - 48
    table = deal_table(MANIFEST, FakeSimulator().play(0, 24).rows, first)
    read = pq.read_table(pa.BufferReader(encode(deal_schema(MANIFEST), [table])))
    assert read["deal"].to_pylist() == list(range(first, first + 24))
    assert read["deck"].to_pylist() == [deal // 4 for deal in range(first, first + 24)]
