"""CSV and TSV: the compiled loop and the csv module give the same rows, faults and refusals."""

import csv
import io
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs.encodings import UTF_8
from syntf.inputs.formats import csv_rows

compiled = pytest.mark.skipif(csv_rows._compiled is None, reason="built without a compiler")

BYTES = [b'"', b",", b"\n", b"\r", b"\t", b"a", b" ", b"\0", b"\xff", "é".encode(), "猫".encode()]
PIECES = [*BYTES, b"\r\n", b'""', b'","', b'"\n"', b"a,a\n", b"\xef\xbb\xbf", b"\xf0\x9f"]


@contextmanager
def changed(**values):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(csv_rows, name, value)
        yield


def outcome(raw, *, delimiter=",", most=1000, skip=True):
    """Names, rows and faults of a file, or its refusal."""
    faults, frames = [], []

    def broken(line, what):
        faults.append((line, what))
        if not skip:
            raise SyntfError(f"{line} {what}")

    try:
        for frame in csv_rows.frames(
            io.BytesIO(raw),
            delimiter=delimiter, name="it", encoding=UTF_8, most=most, broken=broken,
        ):  # fmt: skip
            assert frame.height <= most
            frames.append(frame.frame())
    except SyntfError as error:
        return str(error), faults
    rows = [row for frame in frames for row in frame.rows()]
    return {tuple(frame.columns) for frame in frames}, rows, faults


def both(raw, **options):
    fast = outcome(raw, **options)
    with changed(_compiled=None):
        assert fast == outcome(raw, **options)
    return fast


@compiled
@settings(max_examples=600)
@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.sampled_from([3, 4, 7, 1 << 20]),
    st.sampled_from([1, 3, 1000]),
    st.booleans(),
)
@example(b'\xef\xbb\xbf"a",b\r\n"x\r\n""y""","\xf0\x9f"\r\n', 3, 1, False)
@example(b"a\r\n\xef\xbb\xbfb\nc,c\n\xef\xbb\xbfd\n", 1 << 20, 1000, True)
@example(b'a,b\n"\r",1\n2\n', 1 << 20, 1000, True)
def test_any_bytes_give_the_same_rows_with_and_without_the_loop(raw, block, most, skip):
    with changed(BLOCK=block):
        both(raw, most=most, skip=skip)


FIELDS = st.text(st.sampled_from('ab",\n\r\t é猫\0🐈'), max_size=8)


@compiled
@settings(max_examples=300)
@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(FIELDS, min_size=n, max_size=n))),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([",", "\t"]),
    st.sampled_from([5, 64, 1 << 20]),
    st.integers(0, 10_000),
    st.sampled_from([b"", b'"', b",", b"\n", b"\r", b"x"]),
)
def test_written_rows_are_read_back_and_an_inserted_byte_is_treated_alike(
    rows, end, quoting, delimiter, block, place, more
):
    width = len(rows[0]) if rows else 2
    header = [f"column {i}" for i in range(width)]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows])
    raw = buffer.getvalue().encode()
    with changed(BLOCK=block):
        names, found, faults = both(raw, delimiter=delimiter)
        assert names == {tuple(header)}
        if quoting == csv.QUOTE_ALL:
            assert found == [tuple(row) for row in rows]
            assert not faults
        else:  # some versions write a lone \r without quotes, which makes a row broken
            left = iter(found)
            assert all(tuple(row) in left for row in rows if "\r" not in "".join(row))
            assert len(found) + len(faults) <= len(rows)
        place %= len(raw) + 1
        both(raw[:place] + more + raw[place:], delimiter=delimiter)


@compiled
def test_the_loop_reads_all_rows_of_a_plain_file(monkeypatch):
    raw = b'id,text\r\n1,"a ""b"", c\nd"\r\n\r\n2,e"f\n3,\n'
    monkeypatch.setattr(csv_rows.csv, "reader", lambda lines, **_: Refusing(lines))
    assert outcome(raw) == (
        {("id", "text")},
        [("1", 'a "b", c\nd'), ("2", 'e"f'), ("3", "")],
        [],
    )


class Refusing:
    """In place of the csv module: it may be asked for the end alone."""

    line_num = 0

    def __init__(self, lines):
        self.lines = lines

    def __next__(self):
        assert list(self.lines) == []
        raise StopIteration


@compiled
def test_line_numbers_continue_after_a_broken_row():
    raw = b'a,b\n"1\r\n2\r3",x\r\n\n4\n5,y\n6,"z"z\n'
    assert outcome(raw) == (
        {("a", "b")},
        [("1\r\n2\r3", "x"), ("5", "y")],
        [(5, "has too few fields: 1 instead of 2"), (7, "has a quote in the wrong place")],
    )
    both(raw)


@compiled
def test_the_loop_gives_up_on_very_long_rows():
    with changed(BLOCK=8, LONGEST_ROW=16):
        both(b'a,b\n1,2\n"' + b"x" * 200 + b'",3\n4,5\n')
        told, _ = both(b'a,b\n1,2\n"' + b"x" * 200)
    assert told == "cannot read it: the quote opened in line 3 is not closed"


@compiled
@pytest.mark.parametrize(
    "wrong",
    [(), (b"",), (b"", 0, True, ",", 0), ("text", 0, True, ",", 0, 1), (b"", 0, True, "", 0, 1)],
)
def test_the_loop_refuses_wrong_arguments(wrong):
    with pytest.raises(TypeError):
        csv_rows._compiled.rows(*wrong)
