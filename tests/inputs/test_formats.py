"""Every format gives the same documents as CSV for the same table."""

import csv
import gzip
import io
import json
import re
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs import corpus as corpora
from syntf.inputs.corpus import Corpus, read
from syntf.inputs.formats import parquet


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("id", "text"), *rows])


def write_array(path, rows, indent=None):
    path.write_text(json.dumps([{"id": i, "text": text} for i, text in rows], indent=indent))


def table(rows):
    clean = [(i, text.encode("utf-8", "replace").decode()) for i, text in rows]
    return pl.DataFrame(clean, {"id": pl.String, "text": pl.String}, orient="row")


def write_sqlite(path, rows):
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mails (id TEXT, text TEXT)")
        connection.executemany("INSERT INTO mails VALUES (?, ?)", table(rows).rows())
    connection.close()


def write_xlsx(path, rows):
    openpyxl = pytest.importorskip("openpyxl", reason="pip install 'syntf[files]'")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("mails")
    for row in [("id", "text"), *rows]:
        sheet.append(row)
    book.save(path)


def write_zip(path, rows):
    inner = path.with_name("inner.csv")
    write_csv(inner, rows)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._inner.csv", b"")
        archive.write(inner, "folder/inner.csv")


def write_zst(path, rows):
    zstandard = pytest.importorskip("zstandard", reason="pip install 'syntf[files]'")
    inner = path.with_name("inner.csv")
    write_csv(inner, rows)
    half = len(inner.read_bytes()) // 2
    parts = (inner.read_bytes()[:half], inner.read_bytes()[half:])
    path.write_bytes(b"".join(zstandard.compress(part) for part in parts))


WRITERS = {
    "a.json": write_array,
    "b.json": lambda path, rows: write_array(path, rows, indent=2),
    "a.parquet": lambda path, rows: table(rows).write_parquet(path),
    "a.feather": lambda path, rows: table(rows).write_ipc(path, compression="lz4"),
    "a.arrow": lambda path, rows: table(rows).write_ipc(path),
    "a.sqlite": write_sqlite,
    "a.zip": write_zip,
    "a.csv.zip": write_zip,
    "a.csv.zst": write_zst,
    "a.xlsx": write_xlsx,
}
QUERIES = {"a.sqlite": {"query": "SELECT id, text FROM mails ORDER BY rowid"}}
TEXTS = st.text(
    st.sampled_from('ab",;|\n\r\t \0é猫🐈\ufeff\ud83d\udc00{}[]\\_x000D<&'), max_size=12
).filter(lambda text: "\ud83d\udc00" not in text)  # JSON reads these two as one letter
NOT_IN_EXCEL = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\r]|_x[0-9A-Fa-f]{4}_")


@pytest.fixture(autouse=True)
def without_trials(monkeypatch):
    monkeypatch.setattr(parquet, "survives", lambda path, batch, format: True)


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=7), st.sampled_from([2, 1000]))
@example(["", "", ""], 2)
@example(["\ufeffa", "a\r\nb", "a\rb", "x\0y", "\ud83d", "\\ud83d"], 2)
def test_a_table_gives_the_documents_of_the_csv_file(name, texts, batch):
    if name == "a.xlsx":
        texts = [NOT_IN_EXCEL.sub(" ", text) for text in texts]
    rows = [(f"{i:03}", text) for i, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "BATCH", batch)
        expected, path = Path(folder, "expected.csv"), Path(folder, name)
        write_csv(expected, rows)
        WRITERS[name](path, rows)
        found, wanted = (
            [row for frame in corpus for row in frame.frame().rows()]
            for corpus in (
                Corpus([path], "text", ["id"], undecodable="replace", **QUERIES.get(name, {})),
                Corpus([expected], "text", ["id"], undecodable="replace"),
            )
        )
    found, wanted = ([(i, text.replace("\ufffd\ufffd\ufffd", "?")) for text, i in rows]
                     for rows in (found, wanted))  # fmt: skip
    assert found == wanted


@pytest.mark.parametrize("raw", [
    '[{"text": "a"}, {"text": "canary"', '[{"text": "a"}] x', '[{"text": "a"} {"text": "b"}]',
    '[{"text": "a"},]', '"canary"', '[' * 100_000, '[{"text": "a"},\n\n{"text": canary}]',
])  # fmt: skip
def test_a_broken_array_is_refused_whatever_may_be_skipped(tmp_path, raw):
    (tmp_path / "a.json").write_text(raw)
    for bad_rows in ("stop", "skip"):
        with pytest.raises(SyntfError, match=r"line [13] is not well-formed JSON") as error:
            list(Corpus([tmp_path / "a.json"], "text", [], bad_rows=bad_rows))
        assert "canary" not in str(error.value)


def test_members_of_an_array_that_are_no_objects_are_broken_rows(tmp_path):
    (tmp_path / "a.json").write_text('[{"text": 17.0},\n[1],\n{"text": true}, {"text": null}]')
    with pytest.raises(SyntfError, match="line 2 is not a JSON object"):
        list(Corpus([tmp_path / "a.json"], "text", []))
    corpus = Corpus([tmp_path / "a.json"], "text", [], bad_rows="skip", max_bad_rows=0.5)
    assert list(corpus.texts()) == ["17", "true", ""]
    assert corpus.skipped_rows == 1


@pytest.mark.parametrize("raw", ["", "[]", " [ ] \n"])
def test_an_empty_array_is_refused(tmp_path, raw):
    (tmp_path / "a.json").write_text(raw)
    with pytest.raises(SyntfError, match=r"a\.json is empty"):
        read(tmp_path / "a.json")


def test_json_lines_may_be_called_json(tmp_path):
    (tmp_path / "a.json").write_text('{"text": "a"}\n{"text": "b"}\n')
    assert list(Corpus([tmp_path / "a.json"], "text").texts()) == ["a", "b"]


def test_every_line_or_the_whole_file_is_a_document(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes("one\r\n\ntwo\rand\u2028more\nthree".encode())
    whole = Corpus([path], "text", ["path"])
    assert [row for frame in whole for row in frame.frame().rows()] == [
        ("one\r\n\ntwo\rand\u2028more\nthree", "notes.txt")
    ]
    assert whole.notices == [
        f"{path} is read as one document; if every line is one, add --input-format lines"
    ]
    lines = Corpus([path], "text", format="lines")
    assert list(lines.texts()) == ["one", "", "two\rand\u2028more", "three"]
    assert lines.notices == []


def test_text_files_of_a_pattern_are_documents(tmp_path):
    for name in ("b.txt", "a.eml", "c.html"):
        (tmp_path / name).write_text("Subject: x\n\n<p>body</p>")
    corpus = Corpus([str(tmp_path / "*.*")], "text", ["path"])
    found = {path: text.split() for frame in corpus for text, path in frame.frame().rows()}
    assert found == {"a.eml": ["<p>body</p>"], "b.txt": ["Subject:", "x", "<p>body</p>"],
                     "c.html": ["Subject:", "x", "body"]}  # fmt: skip


def test_an_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "text\na\n")
        archive.writestr("b.csv", "text\na\n")
    with pytest.raises(SyntfError, match="must hold one file, and it holds 2"):
        Corpus([tmp_path / "a.zip"])
    (tmp_path / "b.zip").write_bytes(b"PK nonsense")
    with pytest.raises(SyntfError, match="not a zip archive, or damaged"):
        Corpus([tmp_path / "b.zip"])


@pytest.mark.parametrize("name", ["a.csv.zip", "a.csv.zst", "a.xlsx", "a.feather", "a.sqlite"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_a_file_cut_short_is_refused(tmp_path, monkeypatch, name, part):
    monkeypatch.undo()  # try Arrow files in another process
    WRITERS[name](tmp_path / name, [(str(i), f"canary {i} {i**9}") for i in range(3000)])
    raw = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(raw[: int(len(raw) * part)])
    with pytest.raises(SyntfError, match="cannot read") as error:
        list(Corpus([tmp_path / name], "text", [], **QUERIES.get(name, {})))
    assert "canary" not in str(error.value)


def test_tables_that_need_a_plain_file_are_refused_compressed(tmp_path):
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(SyntfError, match="unpack it first"):
        Corpus([tmp_path / "a.parquet.gz"])


def test_a_sheet_without_the_column_says_that_others_were_not_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="pip install 'syntf[files]'")
    book = openpyxl.Workbook()
    book.active.append(["title"])
    book.active.append(["x"])
    book.create_sheet("mails").append(["text"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SyntfError, match=r"no column 'text'; .*--sheet NAME reads another$"):
        list(Corpus([tmp_path / "a.xlsx"], "text", []))
    book.active.delete_rows(1)
    book.active.insert_rows(1)
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(SyntfError, match="names no columns: remove the rows above the names"):
        list(Corpus([tmp_path / "b.xlsx"], "text", []))


@pytest.mark.parametrize("format", ["parquet", "arrow", "sqlite"])
def test_formats_that_need_a_file_are_refused_from_standard_input(format):
    with pytest.raises(SyntfError, match=f"a pipe cannot hold {format}: give the name of the file"):
        Corpus(
            ["-"], "text", format=format, query="SELECT text FROM a" if "sql" in format else None
        )


def test_names_as_long_as_texts_are_not_shown_but_may_be_names(tmp_path):
    (tmp_path / "a.csv").write_text("How satisfied are you with the service in total?,id\nwell,1\n")
    with pytest.raises(SyntfError, match=r"no column 'text'; .*, or check the name") as caught:
        list(Corpus([tmp_path / "a.csv"], "text", []))
    assert "satisfied" not in str(caught.value)


def test_only_text_files_are_said_to_have_lines(tmp_path):
    for name, advised in (("a.log", True), ("a.txt.gz", True), ("a.pdf", False), ("a.eml", False)):
        (tmp_path / name).write_bytes(b"x")
        (notice,) = Corpus([tmp_path / name], "text").notices
        assert "is read as one document" in notice
        assert ("--input-format lines" in notice) == advised


def test_excel_cells_become_text_each_by_itself(tmp_path):
    import datetime

    openpyxl = pytest.importorskip("openpyxl", reason="pip install 'syntf[files]'")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["id", "text", None])
    for value in (17, 17.0, 2.5, True, datetime.date(2026, 1, 2), None, "007", "=1+1"):
        sheet.append(["x", value])
    sheet.append([None, None])
    book.create_sheet("other").append(["text"])
    book["other"].append(["from the other sheet"])
    book.save(tmp_path / "a.xlsx")
    corpus = Corpus([tmp_path / "a.xlsx"], "text", ["id"])
    expected = ["17", "17", "2.5", "true", "2026-01-02T00:00:00", "", "007", "", ""]
    assert list(corpus.texts())[:7] == expected[:7]
    assert any("first of 2 sheets" in notice for notice in corpus.notices)
    other = Corpus([tmp_path / "a.xlsx"], "text", [], sheet="other")
    assert list(other.texts()) == ["from the other sheet"]
    with pytest.raises(SyntfError, match=r"has no sheet 'othr'; .*did you mean 'other'"):
        list(Corpus([tmp_path / "a.xlsx"], "text", [], sheet="othr"))


def test_a_sheet_with_cells_beyond_the_header_is_refused(tmp_path):
    write_xlsx(tmp_path / "a.xlsx", [("1", "a"), ("2", "b", "canary")])
    with pytest.raises(SyntfError, match="more cells than the first row has names"):
        list(Corpus([tmp_path / "a.xlsx"], "text", []))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"query": "SELECT 1"}, "--query is for databases"), ({"sheet": "a"}, "--sheet is for Excel")],
)
def test_options_that_no_input_can_use_are_refused(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(SyntfError, match=message):
        Corpus([tmp_path / "a.csv"], **options)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    import sys

    write_zst(tmp_path / "a.csv.zst", [("1", "a")])
    write_xlsx(tmp_path / "a.xlsx", [("1", "a")])
    for module, name in (("zstandard", "a.csv.zst"), ("openpyxl", "a.xlsx")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(SyntfError, match=r"needs pip install 'syntf\[files\]'"):
            list(Corpus([tmp_path / name], "text", []))


def test_several_formats_are_one_corpus(tmp_path):
    write_csv(tmp_path / "a.csv", [("1", "a")])
    write_array(tmp_path / "b.json", [("2", "b")])
    write_xlsx(tmp_path / "c.xlsx", [("3", "c")])
    buffer = io.BytesIO()
    table([("4", "d")]).write_ipc(buffer)
    (tmp_path / "d.feather").write_bytes(buffer.getvalue())
    corpus = Corpus([str(tmp_path / "*.*")], "text", ["id"])
    assert list(corpus.texts()) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("a.json", '{"mails": [{"text": "secret"}]}', "documents seem to be the list 'mails'"),
        (
            "a.json",
            '{"text": {"0": "secret"}, "id": {"0": 1}}',
            "as pandas does by orient='records'",
        ),
        ("a.json", '{"r1": {"text": "secret"}, "r2": {"text": "b"}}', "is one object, not a list"),
        ("a.json", '{"columns": ["text"], "data": [["secret"]]}', "is one object, not a list"),
        ("a.csv", "PK\x03\x04\r, secret\n", "an Excel file: add --input-format xlsx"),
        ("a.csv", "PAR1\r, secret\n", "a Parquet file: add --input-format parquet"),
        ("a.csv", "SQLite format 3\0\r, secret\n", "an SQLite file: add --input-format sqlite"),
        ("a.json", '[{"body": "secret"}]', "no column 'text'; the columns are: body"),
        ("a.csv", "sep=;\nid;text\n1;secret\n", "begins with a line that is for Excel"),
        ("a.xls", "secret", "save it as .xlsx"),
        ("a.msg", "secret", "save it as .eml"),
    ],
)
def test_files_that_cannot_be_read_say_what_to_do(tmp_path, name, raw, told):
    (tmp_path / name).write_text(raw)
    with pytest.raises(SyntfError, match=re.escape(told)) as caught:
        list(Corpus([tmp_path / name], "text", []))
    assert "secret" not in str(caught.value)
