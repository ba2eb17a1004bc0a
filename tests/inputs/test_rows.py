"""Rows whose columns are series or lists behave as a frame with the same values does."""

import numpy as np
import polars as pl
import pytest

from syntf.inputs.rows import Rows, concatenate

TEXTS = ["a", "", "ç\n", "dd", "e"]
NUMBERS = pl.Series("n", [1, None, 3, 4, 5])


def rows(as_list):
    texts = list(TEXTS) if as_list else pl.Series("text", TEXTS)
    return Rows({"text": texts, "n": NUMBERS}, 5)


@pytest.fixture
def frame():
    return pl.DataFrame({"text": TEXTS, "n": NUMBERS})


@pytest.mark.parametrize("as_list", [True, False])
def test_rows_are_those_of_a_frame(frame, as_list):
    found = rows(as_list)
    assert found.frame().equals(frame)
    assert (found.columns, found.height, found.types) == (
        frame.columns, 5, [("text", "String"), ("n", "Int64")]
    )  # fmt: skip
    assert found["text"].equals(frame["text"])
    assert found[1:3].frame().equals(frame[1:3])
    assert found[3:].height == 2
    assert found[7:].height == 0
    places = np.array([4, 0, 0])
    assert found.at(places).frame().equals(frame[[4, 0, 0]])
    assert found.strings("text", places) == ["e", "a", "a"]
    assert found.strings("text") == TEXTS
    assert Rows.of(frame).frame().equals(frame)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_parts_are_joined_in_order(frame, first, second):
    joined = concatenate([rows(first)[:2], rows(second)[2:4], rows(first)[4:]])
    assert joined.frame().equals(frame)
    assert joined.height == 5
    assert isinstance(joined.values["text"], list) == (first and second)


def test_a_file_without_wanted_columns_still_has_rows():
    nothing = Rows({}, 3)
    assert (nothing[1:].height, concatenate([nothing, nothing]).height) == (2, 6)


def test_the_size_of_a_list_is_the_memory_of_its_strings():
    plain, wide = (Rows({"text": [text]}, 1).size for text in ("a" * 1000, "😀" * 1000))
    assert 1000 <= plain < 1100
    assert 4000 <= wide < 4100
    assert rows(False).size >= 6


def test_a_column_without_a_name_is_named_by_its_place():
    frame = pl.DataFrame({"text": ["a"], "": ["b"]})
    found = Rows.of(frame)
    assert found.columns == ["text", "column_1"]
    assert found["column_1"].name == "column_1"
