"""Tables of Arrow keep every value and type, and their files tell nothing but their values."""

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core import tables
from syntf.core.errors import SyntfError

COLUMNS = {
    "integers": pl.Series([1, None, -3], dtype=pl.Int64),
    "small": pl.Series([1, 2, 255], dtype=pl.UInt8),
    "floats": pl.Series([0.5, float("nan"), None]),
    "flags": pl.Series([True, None, False]),
    "strings": pl.Series(["a", None, "ç\n猫"]),
    "bytes": pl.Series([b"\xff", b"", None]),
    "dates": pl.Series([date(2026, 1, 2), None, date(1, 1, 1)]),
    "times": pl.Series([time(1, 2, 3), None, time(0)]),
    "moments": pl.Series([datetime(2026, 1, 2, 3, tzinfo=UTC), None, datetime(1970, 1, 1)]),
    "durations": pl.Series([timedelta(days=1), None, timedelta(0)]),
    "decimals": pl.Series([Decimal("1.50"), None, Decimal("-2.25")]),
    "lists": pl.Series([["a", None], None, []], dtype=pl.List(pl.String)),
    "arrays": pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int32, 2)),
    "structs": pl.Series([{"x": 1, "y": "a"}, {"x": None, "y": None}, {"x": 2, "y": ""}]),
    "nothing": pl.Series([None, None, None], dtype=pl.Null),
}


REFUSED = {
    "enums": pl.Series(["a"], dtype=pl.Enum(["a", "secret"])),
    "categories": pl.Series(["a"], dtype=pl.Categorical),
    "lists of enums": pl.Series([["a"]], dtype=pl.List(pl.Enum(["a", "secret"]))),
    "structs of enums": pl.Series([{"x": "a"}], dtype=pl.Struct({"x": pl.Enum(["a", "secret"])})),
    "large integers": pl.Series([1], dtype=pl.Int128),
    "arrays of no values": pl.Series([[]], dtype=pl.Array(pl.Int16, 0)),
    "structs without fields": pl.Series([{}], dtype=pl.Struct({})),
    "nul in a field": pl.Series([{"a\0b": 1}]),
    "nul in a name\0": pl.Series([1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_types_that_carry_more_than_values_or_end_the_process_are_refused(name):
    reason = "its name has a NUL" if "\0" in name else "of its type"
    with pytest.raises(SyntfError, match=f"cannot hold .* because {reason}"):
        tables.from_polars(pl.DataFrame({name: REFUSED[name]}))


@pytest.mark.parametrize("name", COLUMNS)
def test_values_and_types_of_an_input_reach_the_file(name):
    frame = pl.DataFrame({name: COLUMNS[name]})
    raw = tables.as_parquet(tables.from_polars(frame))
    found = pl.read_parquet(io.BytesIO(raw))
    assert found.equals(frame)
    assert found.schema == frame.schema


@pytest.mark.parametrize("name", COLUMNS)
def test_a_file_that_is_read_and_written_again_has_the_same_bytes(name):
    """verify depends on it; so does a run that is resumed."""
    raw = tables.as_parquet(tables.from_polars(pl.DataFrame({name: COLUMNS[name]})))
    assert tables.as_parquet(tables.from_parquet(raw)) == raw
    assert tables.as_parquet(tables.from_polars(pl.read_parquet(io.BytesIO(raw)))) == raw


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_are_taken_and_stored_in_temporary_files(name):
    frame = pl.DataFrame({name: COLUMNS[name]})
    places = np.array([2, 0, 2, 1])
    found = tables.taken(tables.from_polars(frame), places)
    assert pl.DataFrame(tables.from_stream(tables.as_stream(found))).equals(frame[places])


@given(ends=st.lists(st.integers(0, 20), max_size=4))
def test_a_file_does_not_tell_how_the_rows_were_divided(ends):
    """Batches of the input end by bytes, so they depend on the lengths of texts."""
    whole = tables.of(
        {"document": tables.numbers(np.arange(20)), "topic": tables.strings(list("abcd" * 5))}
    )
    borders = [0, *sorted(ends), 20]
    parts = [whole.slice(a, b - a) for a, b in pairwise(borders)]
    assert tables.as_parquet(tables.joined(parts), ["document"]) == tables.as_parquet(
        whole, ["document"]
    )


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1))))
def test_lists_of_any_lengths(values):
    made = tables.lists([np.array(some, dtype=np.int32) for some in values])
    assert made.to_pylist() == values
    flat = [number for some in values for number in some]
    assert tables.flat_lists(tables.of({"n": made}), "n").tolist() == flat


@pytest.mark.parametrize("shape", [(0, 3), (4, 1), (4, 3)])
def test_rows_of_a_matrix_become_lists(shape):
    values = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    assert tables.lists(values).to_pylist() == values.tolist()


def test_a_table_without_rows():
    empty = tables.of({"document": tables.numbers(np.arange(0)), "topic": tables.strings([])})
    again = tables.from_parquet(tables.as_parquet(tables.joined([empty, empty]), ["document"]))
    assert (again.num_rows, again.column_names) == (0, ["document", "topic"])
    assert tables.taken(again, np.arange(0)).num_rows == 0


def test_numbers_of_documents_take_hardly_any_space():
    numbers = tables.of({"document": tables.numbers(np.arange(1 << 16))})
    assert len(tables.as_parquet(numbers, ["document"])) < 4000
    assert tables.from_parquet(tables.as_parquet(numbers, ["document"])).num_rows == 1 << 16


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_in_ascending_order_may_have_any_type(name):
    """verify writes whatever an untrusted file has under this name, and arro3 panics at some."""
    frame = pl.DataFrame({name: COLUMNS[name]})
    raw = tables.as_parquet(tables.from_polars(frame), ascending=[name])
    assert pl.read_parquet(io.BytesIO(raw)).equals(frame)


def test_a_file_names_the_library_and_its_version():
    raw = tables.as_parquet(tables.of({"topic": tables.strings(["a"])}))
    assert tables.CREATED_BY.encode() in raw
    assert set(pl.read_parquet_metadata(io.BytesIO(raw))) == {"ARROW:schema"}


DAYS = (date.max - date(1970, 1, 1)).days
ZONED = pl.Datetime("us", "Europe/Berlin")
BEYOND = {
    "date": pl.Series([0, DAYS + 1], dtype=pl.Int32).cast(pl.Date),
    "infinity": pl.Series([-(2**31)], dtype=pl.Int32).cast(pl.Date),
    "time stamp": pl.Series([(DAYS + 1) * 86_400_000]).cast(pl.Datetime("ms")),
    "local time": pl.Series([(DAYS + 1) * 86_400_000_000 - 1]).cast(ZONED),
    "duration": pl.Series([2**63 - 1]).cast(pl.Duration("ms")),
    "list": pl.Series([[DAYS + 1], []], dtype=pl.List(pl.Int32)).cast(pl.List(pl.Date)),
    "structure": pl.Series([{"a": DAYS + 1}]).cast(pl.Struct({"a": pl.Date})),
}
KNOWN = {
    "dates": pl.Series([date.min, date.max, None]),
    "time stamps": pl.Series([datetime.min, datetime.max]),
    "universal": pl.Series([datetime(9999, 12, 31, tzinfo=UTC)]),
    "durations": pl.Series([timedelta.max.days * 86_400_000]).cast(pl.Duration("ms")),
    "nothing": pl.Series([None], dtype=pl.Date),
    "lists": pl.Series([[time.max], [], None]),
}


@pytest.mark.parametrize("name", BEYOND)
def test_dates_that_python_does_not_have_are_refused(name):
    with pytest.raises(SyntfError, match="holds a date outside the years 1 to 9999"):
        tables.require_dates(BEYOND[name])


@pytest.mark.parametrize("name", KNOWN)
def test_dates_that_python_has_are_accepted(name):
    tables.require_dates(KNOWN[name])
    assert len(KNOWN[name].to_list())
