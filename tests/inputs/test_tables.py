"""Tables of every format give the same documents, and no text changes another document."""

import csv
import io
import json
import re
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs import separated, tables
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.separated import find_delimiter

SEPARATOR = "From someone@example.org Mon Jan  1 10:00:00 2024"
TEXTS = [
    "", "cat", " \t ", "cat\ndog", "\n\n\ncat\n\n", "cat\rdog", "\r\r\n\r", "cat\r\ndog\r\n",
    "cat\x0bdog\x0ccar\x85bus\u2028train\u2029", f"cat\n\n{SEPARATOR}\nSubject: x\n\ndog\n",
    "From here on\nFrom there\n>From quotes\n", "Content-Length: 1\n\nContent-Length: 999999\n",
    "cat\0dog\0", "cat \ud83d dog", "\udc00\ud800", "\udcff\r", "\\ud83d \\n \\", "17", "1.0",
    "9" * 5000, "1e999", "true", "null", "NaN", "\ufeffcat", '"cat" ""dog"" "', '"', "a," * 1000,
    "cat\tdog\t" * 100, '{"text": "cat", "id": [1, {"a": null}]}',
    '"}\n{"id": "x", "text": "dog"}\n{"a": "', 'cat"\n9,x,dog\n"', "<p>cat</p><script>",
    "=1+1", "кошка 猫 قطة 🐈 é", "\x1b[2J\x07\x7f",
]  # fmt: skip
"""Texts that once broke something, or might."""

ANY_TEXT = st.sampled_from(TEXTS) | st.text(
    st.sampled_from('ab",;|\n\r\t \0é猫🐈\ufeff\ud83d\udc00{}[]\\_x000D<&'), max_size=12
)


def clean(text):
    return text.encode("utf-8", "replace").decode()


def write_csv(path, rows, delimiter=",", end="\n"):
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([("id", "text"), *rows])


def write_lines(path, rows):
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in rows))


def write_array(path, rows):
    path.write_text(json.dumps([{"id": i, "text": text} for i, text in rows], indent=1))


def frame(rows):
    schema = {"id": pl.String, "text": pl.String}
    return pl.DataFrame([(i, clean(text)) for i, text in rows], schema, orient="row")


def write_sqlite(path, rows):
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mails (id TEXT, text TEXT)")
    connection.executemany("INSERT INTO mails VALUES (?, ?)", frame(rows).rows())
    connection.commit()
    connection.close()


def write_excel(path, rows):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("mails")
    for row in [("id", "text"), *rows]:
        cells = [openpyxl.cell.WriteOnlyCell(sheet, value) for value in row]
        cells[1].data_type = "s"  # no formulas
        sheet.append(cells)
    book.save(path)


def write_zip(path, rows):
    write_csv(path.with_name("inner.csv"), rows, ";")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._inner.csv", b"")
        archive.write(path.with_name("inner.csv"), "folder/inner.csv")


def write_zst(path, rows):
    write_csv(path.with_name("inner.csv"), rows, end="\r\n")
    raw = path.with_name("inner.csv").read_bytes()
    half = len(raw) // 2
    path.write_bytes(zstandard.compress(raw[:half]) + zstandard.compress(raw[half:]))


WRITERS = {
    "a.csv": write_csv,
    "b.csv": lambda path, rows: write_csv(path, rows, "|", "\r\n"),
    "a.tsv": lambda path, rows: write_csv(path, rows, "\t"),
    "a.jsonl": write_lines,
    "a.json": write_array,
    "a.parquet": lambda path, rows: frame(rows).write_parquet(path),
    "a.feather": lambda path, rows: frame(rows).write_ipc(path, compression="lz4"),
    "a.sqlite": write_sqlite,
    "a.zip": write_zip,
    "a.csv.zst": write_zst,
    "a.xlsx": write_excel,
}
SQLITE = Reading(query="SELECT id, text FROM mails ORDER BY rowid")
NOT_IN_EXCEL = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff\r]|_x[0-9A-Fa-f]{4}_")


def rows_of(path, reading=None):
    given = SQLITE if path.suffix == ".sqlite" else Reading()
    corpus = Corpus(path, "text", ["id"], reading or given)
    return [(i, text or "") for batch in corpus.batches() for text, i in batch.rows()]


def written(name, texts, batch=1000):
    """Write texts, and return what is read."""
    rows = [(f"{i:03}", text) for i, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BATCH", batch)
        patch.setattr(separated, "BLOCK", batch)
        path = Path(folder, name)
        WRITERS[name](path, rows)
        return rows_of(path)


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=25)
@given(st.lists(ANY_TEXT, min_size=1, max_size=7), st.sampled_from([2, 1000]))
@example(TEXTS, 2)
@example(["", "", ""], 1000)
def test_every_format_gives_back_what_was_written(name, texts, batch):
    if name == "a.xlsx":
        texts = [NOT_IN_EXCEL.sub(" ", text)[:30_000] for text in texts]
    if "json" in name:
        texts = [text.replace("\ud83d\udc00", "") for text in texts]  # read as one letter
    found = written(name, texts, batch)
    assert found == [(f"{i:03}", clean(text)) for i, text in enumerate(texts)]


def filter_rows(patch, keep):
    whole = tables.frames
    for module in ("separated", "json_rows", "excel"):
        patch.setattr(
            f"syntf.inputs.{module}.frames", lambda header, rows: whole(header, filter(keep, rows))
        )


def drop_empty_texts(patch):
    """Leave out documents without a text."""
    filter_rows(patch, lambda row: row[1])


def drop_repeated_texts(patch):
    """Leave out a document with the text of one before it."""
    known = []
    filter_rows(patch, lambda row: known.append(row[1]) or row[1] not in known[:-1])


def end_rows_at_returns(patch):
    patch.setattr(csv, "reader", lambda lines, **options: CsvReader(lines, **options))


class CsvReader:
    """A reader of CSV that begins another row at a carriage return or a newline, in quotes too."""

    def __init__(self, lines, delimiter, strict=False):
        self.line_num, self.delimiter = 0, delimiter
        self.rows = iter("".join(lines).replace("\udcff", "\n").splitlines())

    def __iter__(self):
        return self

    def __next__(self):
        self.line_num += 1
        return [field.strip('"') for field in next(self.rows).split(self.delimiter)]


@pytest.mark.parametrize("leak", [None, drop_empty_texts, drop_repeated_texts, end_rows_at_returns])
def test_one_text_changes_no_other_document(leak, monkeypatch):
    """And the comparison finds programs with a leak built in."""
    different = 0
    for name in ("a.csv", "a.jsonl", "a.xlsx"):
        seen = set()
        for text in ("cat", "", "dog", "17", "a\nb", "cat " * 2000):
            with monkeypatch.context() as patch:
                if leak:
                    leak(patch)
                rows = written(name, ["dog", text, "car"], 3)
            seen.add(str([rows[:1], len(rows), rows[2:]]))
        different += len(seen) > 1
    assert bool(different) == (leak is not None)


# CSV as people write it


def read_csv(raw, **reading):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.csv").write_bytes(raw)
        corpus = Corpus(Path(folder, "a.csv"), "text", None, Reading(**reading))
        found = [row for batch in corpus.batches() for row in batch.rows()]
        return found, [notice.removeprefix(f"{folder}/a.csv") for notice in corpus.notices]


NOTHING = (None, None)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"id,text\n1,a\n2,b,c\n3,d\n", [("1", "a"), NOTHING, ("3", "d")]),
        (b"id,text\n1\n\n2,b\n", [NOTHING, ("2", "b")]),
        (b'id,text\n1,5" tall\n2,b\n3,c "x\n', [("1", '5" tall'), ("2", "b"), ("3", 'c "x')]),
        (b'id,text\n1,"a"b\n2,"c\nd"\n', [("1", "ab"), ("2", "c\nd")]),
        (b'id,text\n1,"open\n2,"c"\n3,d\n', [("1", "open"), ("2", "c"), ("3", "d")]),
        (b'id,text\n1,a\n2,"open\n3,d', [("1", "a"), ("2", "open"), ("3", "d")]),
        (b"id,text\n1,a\rb\n2,c\r\n", [("1", "a\rb"), ("2", "c")]),
        (b'id,text\n1,a\r2,"b\n"\n', [NOTHING]),
        (b'id,text\n1\r,"a\rb\nc"\n2,d\n', [("1\r", "a\rb\nc"), ("2", "d")]),
        (b"id,text\n1,a\0b\n2,\xff\n", [("1", "a\0b"), ("2", "\ufffd")]),
        (b"text\na, b\n\n\"c, d\"\n", [("a, b",), ("",), ("c, d",)]),
        (b"\xef\xbb\xbf\n\r\nid,text\n1,a\n", [("1", "a")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_every_row_that_can_be_delimited_is_a_document(raw, expected, block, monkeypatch):
    monkeypatch.setattr(separated, "BLOCK", block)
    found, notices = read_csv(raw)
    assert found == expected
    assert bool(notices) == (NOTHING in expected)


PIECES = [b'"', b",", b"\n", b"\r", b"\t", b"a", b" ", b"\0", b"\xff", "é".encode(), b"\r\n",
          b'""', b'","', b'"\n"', b"a,a\n", b"\xef\xbb\xbf", b"\xf0\x9f"]  # fmt: skip


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.sampled_from([1, 3, 7, 100])
)
def test_any_bytes_give_the_same_rows_wherever_blocks_end(raw, block):
    raw = b"id,text\n1,a\n" + raw
    whole = read_csv(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separated, "BLOCK", block)
        patch.setattr(tables, "BATCH", 2)
        assert read_csv(raw) == whole


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_well_formed_rows_are_those_of_the_csv_module(raw):
    """A second reading by the csv module alone, of all rows at once."""
    raw = raw.rstrip(b"\r")  # the csv module takes a return for the end of a line there
    text = (b"id,text\n" + raw).decode("utf-8", "replace")
    try:
        rows = list(csv.reader(io.StringIO(text, newline="\n"), strict=True))
    except csv.Error:
        return
    expected = [tuple(row) if len(row) == 2 else NOTHING for row in rows[1:] if row]
    if expected:
        assert read_csv(b"id,text\n" + raw)[0] == expected


def test_a_quote_that_is_never_closed_costs_one_row(monkeypatch):
    monkeypatch.setattr(separated, "LONGEST_ROW", 1 << 16)
    monkeypatch.setattr(separated, "BLOCK", 1 << 10)
    lines = b"".join(b"%d,the dog\n" % i for i in range(20_000))
    found, _ = read_csv(b'id,text\n0,"never closed\n' + lines)
    assert len(found) == 20_001
    assert found[0] == ("0", "never closed")


@pytest.mark.parametrize(
    ("header", "found"),
    [("id\ttext", "\t"), ("text", ","), ("id,a;text", ","), ('"a, b, c, d";text', ";"),
     ('a|"b', ","), ('a;"b,c,d', ","), ("a, b; c; d", ";")],
)  # fmt: skip
def test_the_header_line_decides_about_the_delimiter(header, found):
    assert find_delimiter(header) == found


@pytest.mark.parametrize(
    ("given", "row"), [(";", "1;a,b"), ("tab", "1\ta,b"), ("\\t", "1\ta,b"), ("^", "1^a,b")]
)
def test_a_given_delimiter_wins_over_the_header(given, row):
    raw = f"id{row[1]}text\n{row}\n".encode()
    assert read_csv(raw, delimiter=given)[0] == [("1", "a,b")]


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "euc_kr", "big5", "utf-16-le"])
@given(raw=st.binary(max_size=6))
def test_undecodable_bytes_swallow_nothing_that_follows(encoding, raw):
    raw = raw[: len(raw) // 2 * 2]  # whole units of UTF-16
    if not any(sign in raw.decode(encoding, "replace") for sign in '"\n\r'):
        start, end = ('id,text\n1,"', '"\n2,"dog"\n')
        found, _ = read_csv(start.encode(encoding) + raw + end.encode(encoding), encoding=encoding)
        assert found[1:] == [("2", "dog")]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_every_delimiter_is_read_in_every_encoding(delimiter, encoding):
    lines = ["\n", "id,text", '1,"café; a, b|c\td"', "2,b", ""]
    raw = "\r\n".join(line.replace(",", delimiter, 1) for line in lines).encode(encoding)
    found, notices = read_csv(raw, encoding="cp1252" if encoding == "cp1252" else "utf-8")
    assert found == [("1", "café; a, b|c\td"), ("2", "b")]
    marked = encoding in ("utf-16", "utf-32")
    assert [notice.endswith("by its byte order mark") for notice in notices] == [True] * marked


# JSON, Parquet, Excel, lines


def texts_of(path, **reading):
    batches = Corpus(path, "text", [], Reading(**reading)).batches()
    return [text for batch in batches for text in batch["text"]]


@pytest.mark.parametrize("other", ["1", "2.5", "true", "null", '"x"', "1" * 5000, "[" * 10**5, "x"])
def test_a_json_value_becomes_text_whatever_other_rows_hold(tmp_path, other):
    (tmp_path / "a.jsonl").write_text(
        '{"text": true}\n{"text": 17.0}\n\n{"text": 2.50}\n{"text": ' + other + '}\n{"id": 1}\n'
    )
    found = texts_of(tmp_path / "a.jsonl")
    assert found[:3] == ["true", "17", "2.5"]
    assert len(found) == 5
    assert found[4] is None


def test_no_depth_of_nested_json_stops_a_run(tmp_path):
    """Python can read some depths that it cannot write."""
    depths = [*range(1, 1200, 7), 10**5]
    lines = ['{"text": ' + "[" * depth + "]" * depth + "}" for depth in depths]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert len(texts_of(tmp_path / "a.jsonl")) == len(depths)


def test_a_column_may_begin_late_in_json_but_must_exist(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 1500 + '{"text": "b", "topic": "x"}\n')
    (rows,) = Corpus(path, "text", ["topic"]).batches()
    assert rows["topic"].to_list() == [None] * 1500 + ["x"]
    with pytest.raises(SyntfError, match="no column 'author'; the columns are: text"):
        list(Corpus(path, "text", ["author"]).batches())
    path.write_text('{"body": "a"}\n' * 2000 + "not even JSON")
    with pytest.raises(SyntfError, match=r"no column 'text'.*did you mean 'body'"):
        Corpus(path).head(1)


def test_strings_in_json_are_texts(tmp_path):
    (tmp_path / "a.json").write_text('["first", null, "", 17, {"text": "last"}]')
    (tmp_path / "b.jsonl").write_text('"first"\n"second"\n')
    assert texts_of(tmp_path / "a.json") == ["first", None, "", "17", "last"]
    assert texts_of(tmp_path / "b.jsonl") == ["first", "second"]
    (tmp_path / "c.json").write_text('{"text": "lines"}\n{"text": "may be called json"}')
    assert texts_of(tmp_path / "c.json") == ["lines", "may be called json"]


@pytest.mark.parametrize("raw", [
    '[{"text": "a"}, {"text": "canary"', '[{"text": "a"}] x', '"canary"', "[" * 100_000,
    '[{"text": "a"},\n\n{"text": canary}]',
])  # fmt: skip
def test_a_broken_array_is_refused_before_its_first_document(tmp_path, raw):
    (tmp_path / "a.json").write_text(raw)
    with pytest.raises(SyntfError, match=r"line [13] is not well-formed JSON") as error:
        Corpus(tmp_path / "a.json").head(1)
    assert "canary" not in str(error.value)


def test_parquet_keeps_types_but_not_the_order_of_categories(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH", 2)
    monkeypatch.setattr("syntf.inputs.corpus.BATCH", 2)
    kind = pl.Enum(["z", "a"])
    table = pl.DataFrame({"text": [b"caf\xc3\xa9", b"\xff", None], "n": [1, 2, 3], "": ["x"] * 3})
    table = table.with_columns(
        pl.Series("kind", ["a", "z", "a"], kind),
        pl.Series("tags", [["a"], [], None], pl.List(kind)),
    )
    table.write_parquet(tmp_path / "a.parquet")
    batches = list(Corpus(tmp_path / "a.parquet", "text", None).batches())
    assert [batch.height for batch in batches] == [2, 1]
    rows = pl.concat(batches)
    assert rows["text"].to_list() == ["café", "\ufffd", None]
    assert rows.columns == ["text", "n", "column_2", "kind", "tags"]
    assert rows.dtypes[1:] == [pl.Int64, pl.String, pl.String, pl.List(pl.String)]


def test_excel_cells_become_text_each_by_itself(tmp_path):
    import datetime

    book = openpyxl.Workbook()
    book.active.append(["id", "text", None])
    for value in (17, 17.0, 2.5, True, datetime.date(2026, 1, 2), None, "007"):
        book.active.append(["x", value])
    book.active.append(["y", "cell", "beyond"])
    book.create_sheet("other").append(["id"])
    book["other"].append(["from the other sheet"])
    book.save(tmp_path / "a.xlsx")
    corpus = Corpus(tmp_path / "a.xlsx")
    (rows,) = corpus.batches()
    assert rows["text"].to_list() == ["17", "17", "2.5", "true", "2026-01-02T00:00:00", None, "007",
                                      "cell"]  # fmt: skip
    assert "read the first of 2 sheets" in corpus.notices[0]
    with pytest.raises(SyntfError, match=r"no column 'text'; the columns are: id"):
        texts_of(tmp_path / "a.xlsx", sheet="other")
    with pytest.raises(SyntfError, match=r"has no sheet 'othr'; .*did you mean 'other'"):
        texts_of(tmp_path / "a.xlsx", sheet="othr")
    book.active.delete_rows(1)
    book.active.insert_rows(1)
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(SyntfError, match=r"names no columns: .*--sheet NAME reads another$"):
        Corpus(tmp_path / "b.xlsx").head()


def test_every_line_or_the_whole_file_is_a_document(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes("\xff one\r\n\ntwo\rand\u2028more\nthree".encode())
    whole = Corpus(path, "text", ["path"])
    (rows,) = whole.batches()
    assert rows.rows() == [("\xff one\r\n\ntwo\rand\u2028more\nthree", "notes.txt")]
    assert "add --input-format lines" in whole.notices[0]
    lines = ["\xff one", "", "two\rand\u2028more", "three"]
    assert texts_of(path, input_format="lines") == lines
    path.write_bytes(b"\xff\xfea bus\na train\n")  # the first text cannot name the encoding
    assert texts_of(path, input_format="lines") == ["\ufffd\ufffda bus", "a train"]


@pytest.mark.parametrize(
    "name", ["a.csv.zst", "a.zip", "a.xlsx", "a.feather", "a.sqlite", "a.parquet"]
)
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_a_file_cut_short_is_refused(tmp_path, name, part):
    WRITERS[name](tmp_path / name, [(str(i), f"canary {i} {i**9}") for i in range(3000)])
    raw = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(raw[: int(len(raw) * part)])
    with pytest.raises(SyntfError, match="cannot read") as error:
        rows_of(tmp_path / name)
    assert "canary" not in str(error.value)
