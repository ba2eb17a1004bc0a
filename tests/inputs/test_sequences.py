"""Texts from Python, and columns: their names, types and likely use."""

import datetime

import numpy as np
import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.inputs.columns import as_names, as_texts, guess, require
from syntf.inputs.sequences import as_texts as texts_of

TEXTS = ["A cat.", "", "Two dogs."]


def pandas_frame():
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    return pandas.DataFrame({"text": ["A cat.", None, "Two dogs."]})


def arrow_table():
    arrow = pytest.importorskip("pyarrow", reason="pip install pyarrow")
    return arrow.table({"text": ["A cat.", None, "Two dogs."]})


POLARS = pl.DataFrame({"text": ["A cat.", None, "Two dogs."]})
COLUMNS = {
    "list": lambda: ["A cat.", float("nan"), b"Two dogs."],
    "generator": lambda: iter(TEXTS),
    "array of one column": lambda: np.array(TEXTS, dtype=object)[:, None],
    "polars categories": lambda: POLARS["text"].cast(pl.Categorical),
    "polars frame": lambda: POLARS,
    "pandas strings": lambda: pandas_frame()["text"].astype("string"),
    "pandas frame": pandas_frame,
    "Arrow table": arrow_table,
    "Arrow column": lambda: arrow_table()["text"],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_one_column_gives_its_texts(kind):
    found = texts_of(COLUMNS[kind]())
    assert found.to_list() == TEXTS
    assert (found.dtype, found.name) == (pl.String, "text")


def test_any_string_is_a_text():
    found = texts_of(["a\ud83d", "\0", b"\xff", None, np.str_("x")])
    assert found.to_list() == ["a?", "\0", "\ufffd", "", "x"]
    assert texts_of([]).to_list() == texts_of([None])[:0].to_list() == []


OTHERS = {
    "a text": lambda: "A cat.",
    "a dict": lambda: {"text": TEXTS},
    "labels": lambda: np.array([0, 1]),
    "lists": lambda: [["A", "cat"]],
    "polars": lambda: POLARS.with_columns(topic=pl.lit("pets")),
    "pandas without columns": lambda: pandas_frame()[[]],
    "a frame of labels": lambda: pl.DataFrame({"label": [1, 2]}),
    "Arrow": lambda: arrow_table().append_column("topic", [["a", "b", "c"]]),
    "three dimensions": lambda: np.array(TEXTS)[:, None, None],
    "lazy frame": lambda: POLARS.lazy(),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_column_of_texts_is_refused(kind):
    with pytest.raises(SyntfError, match=r"^expected "):
        texts_of(OTHERS[kind]())


def test_column_types_become_text_or_are_refused():
    columns = {
        "number": ([1, None], ["1", None]),
        "flag": ([True, None], ["true", None]),
        "day": ([datetime.date(2020, 1, 2), None], ["2020-01-02", None]),
        "none": ([None, None], [None, None]),
        "bytes": ([b"caf\xe9", b""], ["caf\ufffd", ""]),
    }
    for values, expected in columns.values():
        assert as_texts(pl.Series("a", values)).to_list() == expected
    never = pl.Series("a", [2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    for values in (never, pl.Series("a", [datetime.timedelta(1)]), pl.Series("a", [["x"]])):
        with pytest.raises(SyntfError, match=r"column 'a' holds \w+, not text"):
            as_texts(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([17, 3], ["17", "3"]), ([17.0, None, float("nan")], ["17", "", ""]),
     (["17", None], ["17", ""])],
)  # fmt: skip
def test_whole_numbers_are_the_same_name_in_columns_of_decimals(values, expected):
    assert as_names(pl.Series("id", values, strict=False)).to_list() == expected


@pytest.mark.parametrize("values", [[17.0, 2.5], [True, False], [2.0**53]])
def test_ambiguous_names_are_refused(values):
    with pytest.raises(SyntfError, match="column 'id' holds"):
        as_names(pl.Series("id", values))


def test_a_missing_column_is_suggested():
    require(["text", "id"], ["id", "text"])
    for column, existing, told in (
        (
            "topc",
            ["id", "topic"],
            "no column 'topc'; the columns are: id, topic; did you mean",
        ),
        ("größe", ["gr\ufffd\ufffde"], "check --input-format and --encoding"),
        ("text", ["a very long name of five words", "b"], "add a header row"),
        ("x", [str(i) for i in range(99)], "19, …"),
    ):
        with pytest.raises(SyntfError) as error:
            require([column], existing)
        assert told in str(error.value)


def test_the_use_of_columns_is_guessed():
    rows = {
        "id": ["1", "2", "3", "4"], "Sender": ["a", "a", "b", "c"], "body": ["x", "y", "x", "z"],
        "quote": ["so it is said"] * 4, "Topic": ["r", "s", "r", "s"], "score": [1.0] * 4,
    }  # fmt: skip
    frame = pl.DataFrame(rows)
    assert guess(frame) == {"text": "body", "label": "Topic", "author": "Sender"}
    assert guess(frame.drop("body", "Topic", "Sender")) == {
        "text": "quote",
        "label": None,
        "author": None,
    }
    assert guess(pl.DataFrame({"n": [1]})) == {"text": None, "label": None, "author": None}
