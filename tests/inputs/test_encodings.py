"""Delimiters and encodings: found in the header line alone, or suggested, never guessed."""

import gzip
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs import encodings
from syntf.inputs.corpus import Corpus
from syntf.inputs.formats import csv_rows
from syntf.inputs.formats.csv_rows import find_delimiter


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("id;text", ";"),
        ("id\ttext", "\t"),
        ("id|text", "|"),
        ("id,text", ","),
        ("text", ","),
        ("id,a;text", ","),
        ('"a, b, c, d";text', ";"),
        ('a|"b', ","),
        ('a;"b,c,d', ","),
        ("a, b; c; d", ";"),
    ],
)
def test_the_header_line_decides_about_the_delimiter(header, found):
    assert find_delimiter(header) == found


@pytest.mark.parametrize("delimiter", list(csv_rows.DELIMITERS))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_every_delimiter_is_read_in_every_encoding(tmp_path, delimiter, encoding):
    rows = ["\n", "id,text", '1,"café; a, b|c\td"', "2,b", ""]
    raw = "\r\n".join(row.replace(",", delimiter, 1) for row in rows).encode(encoding)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(raw))
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    corpus = Corpus([tmp_path / "a.csv.gz"], "text", ["id"], encoding=name)
    found = [row for frame in corpus for row in frame.frame().select("id", "text").rows()]
    assert found == [("1", "café; a, b|c\td"), ("2", "b")]


@given(st.text('a;,|\t"\n', max_size=30), st.text('a;,|\t"\n', max_size=30))
def test_no_row_changes_the_delimiter(first, second):
    found = set()
    for rows in (first, second):
        file = io.BytesIO(("a;b;c,d\n" + rows).encode())
        found.add(find_delimiter(csv_rows._first_line(file, "utf-8-sig")[0]))
    assert found == {";"}


@pytest.mark.parametrize(
    ("given", "row"), [(";", "1;a,b"), ("tab", "1\ta,b"), ("\\t", "1\ta,b"), ("^", "1^a,b")]
)
def test_a_given_delimiter_wins_over_the_header(tmp_path, given, row):
    separator = row[1]
    (tmp_path / "a.csv").write_text(f"id{separator}text,and,more\n{row}\n")
    corpus = Corpus([tmp_path / "a.csv"], "text,and,more", delimiter=given)
    assert list(corpus.texts()) == ["a,b"]


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é", "\0"])
def test_an_impossible_delimiter_is_refused(tmp_path, delimiter):
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(SyntfError, match="a delimiter is one ASCII character"):
        Corpus([tmp_path / "a.csv"], delimiter=delimiter)


def test_a_delimiter_needs_a_csv_file(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(SyntfError, match="--delimiter is for CSV files"):
        Corpus([tmp_path / "a.jsonl"], delimiter=";")


@pytest.mark.parametrize(
    ("raw", "given", "suggested"),
    [
        ("text\ncafé\n".encode("latin-1"), "utf-8", "--encoding cp1252"),
        ("text\nnaïve – café\n".encode("cp1252"), "utf-8", "--encoding cp1252"),
        ("text\ncafé\n".encode(), "ascii", "--encoding utf-8"),
        ("text\ncafé\n".encode("utf-16-be"), "utf-8", "--encoding utf-16-be"),
        (("text\n" + "кошка " * 9 + "\n").encode("cp1251"), "utf-8", "such as --encoding cp1251"),
    ],
)
@pytest.mark.parametrize("block", [1, 1 << 18])
def test_the_likely_encoding_is_suggested(tmp_path, monkeypatch, raw, given, suggested, block):
    monkeypatch.setattr(encodings, "_BUFFER", block)
    (tmp_path / "a.csv").write_bytes(raw)
    with pytest.raises(SyntfError, match="cannot read") as error:
        list(Corpus([tmp_path / "a.csv"], "text", encoding=given, undecodable="stop"))
    if block > 1:
        assert suggested in str(error.value)
    assert "--undecodable replace" in str(error.value)


def test_the_encoding_that_was_given_is_not_suggested_again():
    with pytest.raises(SyntfError, match="such as --encoding cp1251"):
        encodings.decode("text\n".encode("utf-16-le") + b"x", "utf-16-le", "it", "stop")


@given(
    st.lists(st.binary(max_size=5), max_size=6),
    st.sampled_from(["utf-8-sig", "utf-16-le", "cp1252", "shift_jis"]),
    st.sampled_from([1, 3, 1 << 18]),
)
def test_a_file_is_refused_exactly_if_it_cannot_be_decoded(parts, codec, buffer):
    raw = b"\n".join(parts)
    try:
        raw.decode(codec)
        expected = raw
    except UnicodeDecodeError:
        expected = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "_BUFFER", buffer)
        try:
            found = encodings.decodable(io.BytesIO(raw), codec, "it").read()
        except SyntfError:
            found = None
    assert found == expected


def test_utf_16_without_a_mark_is_suggested_by_the_header(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,id\nb,1\n".encode("utf-16-le"))
    with pytest.raises(SyntfError, match="looks like UTF-16: add --encoding utf-16-le"):
        list(Corpus([tmp_path / "a.csv"], "text", undecodable="stop"))


@given(st.integers(0, 300), st.integers(0, 3))
def test_the_line_of_undecodable_bytes_is_right(before, block):
    raw = b"text\n" + "é\n".encode() * before + b"\xe9\n" + b"x\n" * 5
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "_BUFFER", [1, 2, 7, 1 << 18][block])
        Path(folder, "a.csv").write_bytes(raw)
        with pytest.raises(SyntfError, match=rf": line {before + 2} is not utf-8"):
            list(Corpus([Path(folder, "a.csv")], "text", undecodable="stop"))


def test_undecodable_bytes_of_a_column_are_refused_or_replaced(tmp_path):
    import polars as pl

    pl.DataFrame({"text": [b"caf\xe9", b"a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SyntfError, match="column 'text' holds bytes that are not UTF-8"):
        list(Corpus([tmp_path / "a.parquet"], "text", undecodable="stop"))
    replaced = Corpus([tmp_path / "a.parquet"], "text", undecodable="replace")
    assert list(replaced.texts()) == ["caf\ufffd", "a"]


@pytest.mark.parametrize("undecodable", ["replace", "stop"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.json"])
def test_a_byte_order_mark_names_the_encoding(tmp_path, name, encoding, undecodable):
    content = "text\ncafé\n" if "csv" in name else '{"text": "café"}\n'
    raw = content.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    corpus = Corpus([tmp_path / name], "text", undecodable=undecodable)
    assert list(corpus.texts()) == ["café"]
    (notice,) = corpus.notices
    assert notice.endswith(f"{name} is read as {encoding}, by its byte order mark")


def test_the_first_of_plain_lines_cannot_name_an_encoding(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfea bus\na train\n")
    corpus = Corpus([tmp_path / "a.txt"], "text", format="lines")
    assert list(corpus.texts()) == ["\ufffd\ufffda bus", "a train"]
