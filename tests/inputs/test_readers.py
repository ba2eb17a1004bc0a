import csv
import datetime
import io
import json
import os
import sys
from pathlib import Path

import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.inputs import columns, corpus, files
from syntf.inputs.columns import require, texts
from syntf.inputs.corpus import read

ROWS = [
    ("007", "plain words, with a comma"),
    ("008", 'she said "no", twice'),
    ("009", "two\nlines\n\nand a gap"),
    ("010", "naïve café — 猫 🐈"),
    ("011", ""),
    ("012", None),
]
TEXTS = [text or "" for _, text in ROWS]


def separated(rows, delimiter):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("id", "text"), *rows])
    return buffer.getvalue().encode()


def json_lines(rows):
    return "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows).encode()


def parquet(rows):
    buffer = io.BytesIO()
    ids, values = zip(*rows, strict=True)
    pl.DataFrame({"id": ids, "text": values}).write_parquet(buffer)
    return buffer.getvalue()


WRITERS = {
    "csv": lambda rows: separated(rows, ","),
    "tsv": lambda rows: separated(rows, "\t"),
    "jsonl": json_lines,
    "ndjson": json_lines,
    "parquet": parquet,
    "CSV": lambda rows: separated(rows, ","),
}


def put(folder, name, raw):
    path = folder / name
    path.write_bytes(raw)
    return path


def refusal(path, **options):
    with pytest.raises(SyntfError) as caught:
        read(path, **options)
    return str(caught.value)


@pytest.mark.parametrize("suffix", WRITERS)
def test_all_formats_give_the_same_rows(tmp_path, suffix):
    frame = read(put(tmp_path, f"rows.{suffix}", WRITERS[suffix](ROWS)))
    assert frame.columns == ["id", "text"]
    assert texts(frame, "text") == TEXTS
    assert texts(frame, "id") == ["007", "008", "009", "010", "011", "012"]


def test_a_path_may_be_a_string(tmp_path):
    path = put(tmp_path, "rows.csv", WRITERS["csv"](ROWS))
    assert texts(read(str(path)), "text") == TEXTS


def test_many_rows_with_newlines_inside_quotes_stay_in_order(tmp_path):
    rows = [(str(i), f'a,\n"{i}"\n\nb') for i in range(20_000)]
    frame = read(put(tmp_path, "rows.csv", separated(rows, ",")))
    assert frame["id"].to_list() == [i for i, _ in rows]
    assert texts(frame, "text") == [text for _, text in rows]


def test_every_column_of_a_csv_is_kept_as_written(tmp_path):
    raw = b"id,n,flag,when,text\n007,1.50,TRUE,2020-01-01,x\n1e3, 2,NA,null,y\n"
    frame = read(put(tmp_path, "rows.csv", raw))
    assert set(frame.dtypes) == {pl.String}
    assert frame.rows() == [
        ("007", "1.50", "TRUE", "2020-01-01", "x"),
        ("1e3", " 2", "NA", "null", "y"),
    ]


def test_a_late_value_of_another_type_does_not_matter(tmp_path):
    rows = [(str(i), str(i)) for i in range(2_000)] + [("last", "words")]
    assert texts(read(put(tmp_path, "rows.csv", separated(rows, ","))), "text")[-1] == "words"
    lines = b'{"text": 1}\n' * 2_000 + b'{"text": "words"}\n{"text": true}\n{"text": 2.5}\n{}\n'
    found = texts(read(put(tmp_path, "rows.jsonl", lines)), "text")
    assert found[0] == "1"
    assert found[-4:] == ["words", "true", "2.5", ""]


def test_rows_without_a_text_are_still_documents(tmp_path):
    raw = b'{"text": "a"}\n\n{"id": 1}\n{"text": null}\n'
    assert texts(read(put(tmp_path, "a.jsonl", raw)), "text") == ["a", "", ""]
    assert texts(read(put(tmp_path, "b.jsonl", b'{"text": null}\n' * 3)), "text") == [""] * 3


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("rows.csv", b'id,text\n1,first\n2,b\xffd\n3,"q\xc3"\n4,last\n'),
        ("rows.tsv", b'id\ttext\n1\tfirst\n2\tb\xffd\n3\t"q\xc3"\n4\tlast\n'),
        (
            "rows.jsonl",
            b'{"text": "first"}\n{"text": "b\xffd"}\n{"text": "q\xc3"}\n{"text": "last"}\n',
        ),
    ],
)
def test_bytes_that_are_not_utf8_are_refused_or_replaced(tmp_path, name, raw):
    path = put(tmp_path, name, raw)
    line = 2 if name.endswith("jsonl") else 3
    assert refusal(path, undecodable="stop") == (
        f"cannot read {path}: line {line} is not utf-8; it is probably cp1252: add --encoding "
        "cp1252, or replace such bytes with --undecodable replace"
    )
    frame = read(path, undecodable="replace")
    assert texts(frame, "text") == ["first", "b\ufffdd", "q\ufffd", "last"]


def test_a_binary_column_is_decoded_with_replacement(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"text": [b"caf\xc3\xa9", b"caf\xe9", None, b"", b"nul\0"]}).write_parquet(path)
    assert texts(read(path), "text") == ["café", "caf\ufffd", "", "", "nul\0"]


def test_half_a_surrogate_pair_in_json_is_replaced(tmp_path):
    raw = b'{"text": "first"}\n{"text": "a \\ud83d b"}\n{"text": "\\ud83d\\ude00"}\n'
    found = texts(read(put(tmp_path, "rows.jsonl", raw)), "text")
    assert [found[0], found[2]] == ["first", "😀"]
    assert found[1][:2] + found[1][-2:] == "a  b"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("rows.csv", b'id,text\n1,a\0b\n2,"c\0"\n3,last\n'),
        ("rows.tsv", b'id\ttext\n1\ta\0b\n2\t"c\0"\n3\tlast\n'),
        ("rows.jsonl", b'{"text": "a\\u0000b"}\n{"text": "c\\u0000"}\n{"text": "last"}\n'),
    ],
)
def test_nul_bytes_are_kept(tmp_path, name, raw):
    assert texts(read(put(tmp_path, name, raw)), "text") == ["a\0b", "c\0", "last"]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("rows.csv", b"text,id\nhello,1\n"),
        ("rows.csv", b'"text",id\nhello,1\n'),
        ("rows.tsv", b"text\tid\nhello\t1\n"),
        ("rows.jsonl", b'{"text": "hello", "id": "1"}\n'),
    ],
)
def test_a_byte_order_mark_is_not_part_of_the_first_column_name(tmp_path, name, raw):
    frame = read(put(tmp_path, name, b"\xef\xbb\xbf" + raw))
    assert frame.columns == ["text", "id"]
    assert frame.rows() == [("hello", "1")]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("rows.csv", b'id,text\r\n1,one\r\n2,"two\r\nlines"\r\n'),
        ("rows.tsv", b'id\ttext\r\n1\tone\r\n2\t"two\r\nlines"\r\n'),
        ("rows.jsonl", b'{"text": "one"}\r\n{"text": "two\\r\\nlines"}\r\n\r\n'),
    ],
)
def test_windows_line_ends(tmp_path, name, raw):
    frame = read(put(tmp_path, name, raw))
    assert frame.columns[-1] == "text"
    assert texts(frame, "text") == ["one", "two\r\nlines"]


def test_json_lines_are_ended_by_newlines_only(tmp_path):
    raw = '{"text": "a\u2028b\u0085c"}\n{"text": "d"}'.encode()
    assert texts(read(put(tmp_path, "rows.jsonl", raw)), "text") == ["a\u2028b\u0085c", "d"]


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "a*.tsv"])
def test_a_file_name_with_wildcards_is_one_file(tmp_path, name):
    tab = "\t" if name.endswith("tsv") else ","
    other = put(tmp_path, f"a1.{name[-3:]}", f"id{tab}text\n1{tab}other\n".encode())
    path = put(tmp_path, name, f"id{tab}text\n1{tab}mine\n".encode())
    assert texts(read(path), "text") == ["mine"]
    assert texts(read(other), "text") == ["other"]


def test_a_folder_is_one_row_a_file_sorted_by_path(tmp_path):
    folder = tmp_path / "mails"
    (folder / "sub" / "deep").mkdir(parents=True)
    put(folder, "b.txt", "bé".encode())
    put(folder, "a.md", b"undecodable \xff\xfe, nul \0")
    put(folder, "empty", b"")
    put(folder / "sub", "c.txt", b"line one\r\nline two\n")
    put(folder / "sub" / "deep", "a.txt", b"deep")
    frame = read(folder, undecodable="replace")
    assert frame.columns == ["path", "text"]
    assert frame["path"].to_list() == ["a.md", "b.txt", "empty", "sub/c.txt", "sub/deep/a.txt"]
    assert texts(frame, "text") == [
        "undecodable \ufffd\ufffd, nul \0",
        "bé",
        "",
        "line one\r\nline two\n",
        "deep",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_a_file_name_that_is_not_utf8_does_not_stop_a_folder(tmp_path):
    folder = tmp_path / "mails"
    folder.mkdir()
    put(folder, "a.txt", b"first")
    with open(os.fsencode(folder) + b"/b\xff.txt", "wb") as file:
        file.write(b"second")
    frame = read(folder)
    assert texts(frame, "text") == ["first", "second"]
    assert frame["path"].to_list()[0] == "a.txt"


def test_an_empty_folder_is_refused(tmp_path):
    folder = tmp_path / "mails"
    (folder / "sub").mkdir(parents=True)
    assert refusal(folder) == f"the folder {folder} holds no documents"


def test_a_missing_file_is_refused(tmp_path):
    assert refusal(tmp_path / "none.csv") == f"no file or folder at {tmp_path / 'none.csv'}"


@pytest.mark.parametrize("name", ["mails.dat", "mails", "mails.gz", "mails.csv.rar"])
def test_an_unknown_suffix_is_refused_and_known_ones_are_listed(tmp_path, name):
    message = refusal(put(tmp_path, name, b"id,text\n1,a\n"))
    assert f"cannot tell the format of {name}" in message
    assert all(
        suffix in message
        for suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".md", ".log", ".zip")
    )


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.ndjson"])
def test_an_empty_file_is_refused(tmp_path, name):
    path = put(tmp_path, name, b"")
    assert refusal(path) == f"{path} is empty"


@pytest.mark.parametrize("raw", [b"\n\n", b"\r\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_a_file_of_blank_lines_is_refused(tmp_path, name, raw):
    assert str(tmp_path / name) in refusal(put(tmp_path, name, raw))


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.csv", b"id,text\n"),
        ("a.csv", b"id,text"),
        ("a.tsv", b"id\ttext\r\n"),
        ("a.parquet", None),
    ],
)
def test_a_header_without_rows_is_refused(tmp_path, name, raw):
    if raw is None:
        buffer = io.BytesIO()
        pl.DataFrame(schema={"id": pl.String, "text": pl.String}).write_parquet(buffer)
        raw = buffer.getvalue()
    path = put(tmp_path, name, raw)
    assert refusal(path) == f"{path} holds no rows"


@pytest.mark.parametrize(
    "line", [b'{"text": "canary"', b"canary", b"[1]", b'"canary"', b"null", b'{"text": }']
)
def test_a_line_that_is_not_a_json_object_is_located_but_not_quoted(tmp_path, line):
    raw = b'{"text": "a"}\n\n' + line + b'\n{"text": "b"}\n'
    path = put(tmp_path, "a.jsonl", raw)
    assert refusal(path).startswith(f"cannot read {path}: line 3 is not a JSON object (--bad-rows")
    assert "canary" not in refusal(path)


def test_json_that_is_nested_too_deeply_is_refused(tmp_path):
    raw = b'{"text": "a"}\n{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    path = put(tmp_path, "a.jsonl", raw)
    assert refusal(path).startswith(f"cannot read {path}: line 2 is not a JSON object (--bad-rows")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.csv", b"id,text\n1,a\n2,canary,canary\n3,c\n"),
        ("a.tsv", b"id\ttext\n1\ta\n2\tcanary\tcanary\n3\tc\n"),
        ("a.csv", b'id,text\n1,"canary\n2,b\n'),
        ("a.csv", b'id,text\n1,"canary" b\n2,b\n'),
        ("a.jsonl", b'{"text": "a"}\n{"text": ["canary"]}\n'),
        ("a.parquet", b"PAR1canary"),
    ],
)
def test_messages_about_broken_files_quote_no_text(tmp_path, name, raw):
    path = put(tmp_path, name, raw)
    try:
        message = str(texts(read(path), "text"))  # or read it all the same, if that can be done
        assert message.count("canary") == 1
    except SyntfError as error:
        message = str(error)
        assert message.startswith(f"cannot read {path}: ")
        assert "\n" not in message
        assert "canary" not in message


def test_a_row_with_too_many_fields_is_refused(tmp_path):
    assert "too many fields" in refusal(put(tmp_path, "a.csv", b"id,text\n1,a\n2,b,c\n"))


def test_a_truncated_parquet_is_refused(tmp_path):
    path = put(tmp_path, "a.parquet", parquet(ROWS)[:-20])
    assert refusal(path).startswith(f"cannot read {path}: ")
    path = put(tmp_path, "b.parquet", b"")
    assert refusal(path).startswith(f"cannot read {path}: ")


def test_a_missing_column_lists_the_existing_ones(tmp_path):
    frame = read(put(tmp_path, "rows.csv", WRITERS["csv"](ROWS)))
    for attempt in (lambda: texts(frame, "body"), lambda: require(["text", "body"], frame.columns)):
        with pytest.raises(SyntfError, match=r"^no column 'body'; the columns are: id, text$"):
            attempt()
    require(["text", "id"], frame.columns)
    require([], frame.columns)


def test_names_of_columns_in_another_encoding_suggest_the_option():
    with pytest.raises(SyntfError, match=r"could not be decoded: name the encoding .* --encoding"):
        require(["größe"], ["nr", "text", "gr\ufffd\ufffde"])
    with pytest.raises(SyntfError) as refused:
        require(["größe"], ["nr", "text"])
    assert "encoding" not in str(refused.value)


@pytest.mark.parametrize("value", [["a", "b"], {"a": "b"}])
def test_a_nested_column_cannot_be_the_text(tmp_path, value):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"text": [value]}).write_parquet(path)
    frame = read(path)
    with pytest.raises(SyntfError, match=r"column 'text' holds .*, not text"):
        texts(frame, "text")
    lines = put(tmp_path, "rows.jsonl", json.dumps({"text": value}).encode())
    with pytest.raises(SyntfError, match=r"line 1 has a list or an object where the text should"):
        list(corpus.Corpus([lines], "text"))


def test_other_column_types_become_text_or_are_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame(
        {
            "number": [1, None],
            "flag": [True, None],
            "day": [datetime.date(2020, 1, 2), None],
            "kind": pl.Series(["a", None], dtype=pl.Categorical),
            "none": [None, None],
            "time": [datetime.timedelta(1), None],
        }
    ).write_parquet(path)
    frame = read(path)
    found = {name: texts(frame, name) for name in ("number", "flag", "day", "kind", "none")}
    assert found == {
        "number": ["1", ""],
        "flag": ["true", ""],
        "day": ["2020-01-02", ""],
        "kind": ["a", ""],
        "none": ["", ""],
    }
    with pytest.raises(SyntfError, match=r"column 'time' holds .*, not text"):
        texts(frame, "time")


@pytest.mark.parametrize("name", ["text", "who"])
def test_a_date_beyond_all_calendars_is_not_text(tmp_path, name):
    never = pl.Series(name, [2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame({"other": ["a"]}).with_columns(never).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(SyntfError, match=f"column '{name}' holds Date, not text"):
        texts(read(tmp_path / "in.parquet"), name)


def test_lone_surrogates_are_replaced_inside_lists_too(tmp_path):
    path = put(tmp_path, "a.jsonl", b'{"text": "cat", "tags": ["\\ud800", ["\\ud800"]]}\n')
    assert texts(read(path), "text") == ["cat"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([17, 3], ["17", "3"]),
        ([17.0, None], ["17", ""]),
        ([17.0, float("nan")], ["17", ""]),
        (["17", None], ["17", ""]),
    ],
)
def test_whole_numbers_are_the_same_name_in_columns_of_decimals(values, expected):
    assert columns.names(pl.DataFrame({"id": values}, strict=False), "id") == expected


@pytest.mark.parametrize("values", [[17.0, 2.5], [True, False], [2.0**53]])
def test_ambiguous_names_are_refused(values):
    with pytest.raises(SyntfError, match="column 'id' holds"):
        columns.names(pl.DataFrame({"id": values}), "id")


def test_an_input_given_twice_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("text\ncat\n")
    for twice in (["a.csv", "./a.csv"], ["a.csv", "*.csv"]):
        with pytest.raises(SyntfError, match="is given twice"):
            corpus.Corpus(twice)


def test_a_changed_file_of_a_folder_changes_its_stamps(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("cat")
    before = files.stamps(tmp_path)
    (tmp_path / "sub" / "b.txt").write_text("dog")
    assert files.stamps(tmp_path) != before
