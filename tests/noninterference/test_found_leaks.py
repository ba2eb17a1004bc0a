"""Leaks around the mechanism that an attack on version 0.1 found, each as a test of its own.

In every test, two inputs differ in the text of one document. Everything but the counts of that
document must be the same.
"""

import json
import mailbox
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs.corpus import Corpus
from syntf.releases import draft as drafts
from syntf.releases.job import release

WORDS = "cat dog car train music river bread garden".split()


@pytest.fixture
def make(tmp_path, toy_vectors):
    """Make a seeded release from a file; return its folder."""

    def made(path, name, **options):
        given = {"vectors": toy_vectors, "vocabulary": WORDS, "length": 6, "insecure_seed": 1}
        release(path, tmp_path / name, **{**given, **options})
        return tmp_path / name

    return made


def rows(path, **options):
    given = {"undecodable": "replace", "max_bad_rows": 0.9, **options}
    corpus = Corpus([path], "text", ["id"], **given)
    return [row for frame in corpus for row in frame.frame().select("id", "text").rows()]


def lines(*values):
    return "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(values))


@pytest.mark.parametrize("other", [1, 2.5, True, None, "x", "1" * 5000])
def test_a_json_value_becomes_text_whatever_other_rows_hold(tmp_path, other):
    (tmp_path / "a.jsonl").write_text(lines(True, 17, 2.5, other))
    texts = [text for _, text in rows(tmp_path / "a.jsonl")]
    assert texts[:3] == ["true", "17", "2.5"]


def test_kept_json_values_do_not_depend_on_the_length_of_texts(tmp_path, make):
    """A long text ended a batch early, in which all values of a column were whole numbers."""
    for name, text in (("short", "cat"), ("long", "cat " * 10_000_000)):
        values = [1, 2, 3.5, 4]
        rows = [{"text": text if i == 1 else "dog", "n": n} for i, n in enumerate(values)]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        folder = make(path, name, keep=["n"])
        found = pl.read_parquet(folder / "documents.parquet")
        assert found["n"].to_list() == ["1", "2", "3.5", "4"]
    first, second = ((tmp_path / n / "documents.parquet").read_bytes() for n in ("short", "long"))
    assert first == second


def test_a_column_missing_from_some_json_rows_does_not_stop_a_run(tmp_path, make):
    """A long text ended a batch before the first row that has the column."""
    for name, text in (("short", "cat"), ("long", "cat " * 10_000_000)):
        path = tmp_path / f"{name}.jsonl"
        rows = [{"text": text}, {"text": "dog", "n": "one"}, {"text": "car"}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = pl.read_parquet(make(path, name, keep=["n"]) / "documents.parquet")
        assert found["n"].to_list() == [None, "one", None]


@pytest.mark.parametrize("native", [True, False])
def test_a_bare_carriage_return_makes_a_csv_row_broken(tmp_path, monkeypatch, native):
    """pandas writes such a field without quotes. It must not become two documents."""
    if not native:
        monkeypatch.setattr("syntf.inputs.formats.csv_rows._compiled", None)
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,cat\n2,dog\rcar\n3,a train\r\n4,"in\rquotes"\n')
    with pytest.raises(SyntfError, match=r"line 3 has a carriage return outside quotes"):
        rows(path)
    assert rows(path, bad_rows="skip") == [("1", "cat"), ("3", "a train"), ("4", "in\rquotes")]
    for row in (b"2,dog\r3,car", b'2\r,"dog\n3,car\n4,bus\n"', b'2,"dog"\n3,"car"x\n4,bus'):
        path.write_bytes(b"id,text\n1,cat\n" + row + b"\n5,bread\n")
        found = rows(path, bad_rows="skip")
        assert found[0] == ("1", "cat")
        assert found[-1] == ("5", "bread")
        if b"\r" in row:
            assert len(found) == 2
    path.write_bytes(b"id,text\n1,cat\n2,dog\r3,car\n4,bus\n")
    assert rows(path, bad_rows="skip") == [("1", "cat"), ("4", "bus")]


@pytest.mark.parametrize("encoding", ["iso2022_jp", "iso2022_kr", "hz", "utf-7"])
def test_encodings_with_shifts_are_refused(tmp_path, encoding):
    """A text that shifts, and does not shift back, would swallow the quote that ends it."""
    with pytest.raises(SyntfError, match="convert them to UTF-8"):
        Corpus([tmp_path], "text", [], encoding=encoding)


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "euc_kr", "big5", "utf-16-le"])
@given(raw=st.binary(max_size=6))
def test_undecodable_bytes_swallow_nothing_that_follows(tmp_path_factory, encoding, raw):
    raw = raw[: len(raw) // 2 * 2]  # whole units of UTF-16
    start, end = ('id,text\n1,"', '"\n2,"dog"\n')
    if any(sign in raw.decode(encoding, "replace") for sign in '"\n\r'):
        return
    path = tmp_path_factory.mktemp("encoded") / "a.csv"
    path.write_bytes(start.encode(encoding) + raw + end.encode(encoding))
    assert rows(path, encoding=encoding)[1:] == [("2", "dog")]


SEPARATOR = b"From someone@example.org Mon Jan  1 10:00:00 2024\n"


def bodies(path, **options):
    corpus = Corpus([path], "text", [], max_bad_rows=0.5, **options)
    return [text for frame in corpus for text in frame["text"]]


def test_a_body_line_that_begins_with_from_does_not_end_a_message(tmp_path):
    path = tmp_path / "a.mbox"
    body = b"cat\n\nFrom here on, dogs.\n"
    head = SEPARATOR + b"Subject: x\n"
    path.write_bytes(head + b"\n" + body + b"\n" + head + b"\ncar\n\n")
    with pytest.raises(SyntfError, match=r"line 6 begins with 'From ' and is no separator"):
        bodies(path)
    assert bodies(path, bad_rows="skip") == ["car\n"]
    length = b"Content-Length: %d\n" % len(body)
    path.write_bytes(head + length + b"\n" + body + b"\n" + head + b"\ncar\n\n")
    assert bodies(path) == [body.decode(), "car\n"]


def test_content_length_covers_what_looks_like_a_separator(tmp_path):
    path = tmp_path / "a.mbox"
    body = b"cat\n\n" + SEPARATOR + b"Subject: y\n\ndog\n"
    head = SEPARATOR + b"Content-Length: %d\n\n" % len(body)
    path.write_bytes(head + body + b"\n" + SEPARATOR + b"\ncar\n")
    assert bodies(path) == [body.decode(), "car\n"]


def test_quoted_from_lines_stay_in_their_message(tmp_path):
    box = mailbox.mbox(tmp_path / "a.mbox")
    box.add(f"Subject: x\n\ncat\n\n{SEPARATOR.decode()}\ndog\n".encode())
    box.add(b"Subject: y\n\ncar\n")
    box.close()
    assert len(bodies(tmp_path / "a.mbox")) == 2


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_null_text_is_an_empty_document(tmp_path, make, call, suffix):
    released = []
    for name, text in (("null", None), ("text", "cat")):
        path = tmp_path / f"{name}.{suffix}"
        frame = pl.DataFrame({"id": ["a", "b", "c"], "text": ["dog", text, "car"]})
        frame.write_ndjson(path) if suffix == "jsonl" else frame.write_parquet(path)
        folder = make(path, name, id="id", bad_rows="skip")
        released.append((folder / "documents.parquet").read_bytes())
    assert released[0] == released[1]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["z", "a", "m"])])
def test_categories_are_released_as_text(tmp_path, make, kind):
    """The order of categories is that of the input, which a shuffled release must not show."""
    path = tmp_path / "a.parquet"
    nested = pl.Series("tags", [["m"], ["a", "z"], []], dtype=pl.List(kind))
    topic = pl.Series("topic", ["m", "a", "z"], dtype=kind)
    pl.DataFrame([pl.Series("text", ["cat", "dog", "car"]), topic, nested]).write_parquet(path)
    folder = make(path, "out", keep=["topic", "tags"], shuffle=True)
    found = pl.read_parquet(folder / "documents.parquet")
    assert found.schema == {"document": pl.Int64, "topic": pl.String, "tags": pl.List(pl.String)}
    assert sorted(found["topic"]) == ["a", "m", "z"]


def test_the_documents_file_does_not_show_where_batches_ended(tmp_path, make, monkeypatch):
    """Batches end by bytes: their ends tell the lengths of texts."""
    for name, text in (("short", "cat"), ("long", "cat " * 3_000_000)):
        path = tmp_path / f"{name}.csv"
        rows = "".join(f"{i},{text if i == 40 else 'dog'}\n" for i in range(100))
        path.write_text("id,text\n" + rows)
        make(path, name, id="id")
    first, second = ((tmp_path / n / "documents.parquet").read_bytes() for n in ("short", "long"))
    assert first == second


@pytest.mark.parametrize("draws", ["independent", "systematic"])
def test_other_counts_do_not_depend_on_the_length_of_a_text(tmp_path, make, monkeypatch, draws):
    """Batches end by bytes. With the same entropy, all other documents have the same draws."""
    monkeypatch.setattr("syntf.mechanism.neighbourhood.NeighbourhoodMechanism.batch_draws", 60)
    monkeypatch.setattr("syntf.releases.drawing_groups.WAITING_TERMS", 1000)
    monkeypatch.setattr(drafts, "SHARD", 25)
    found = []
    for name, text in (("short", "cat"), ("long", "cat " * 3_000_000)):
        path = tmp_path / f"{name}.csv"
        rows = "".join(f"{i},{text if i == 14 else 'dog'}\n" for i in range(60))
        path.write_text("id,text\n" + rows)
        folder = make(path, name, format="text", draws=draws, neighbours=2, loss=2)
        parts = sorted(folder.glob("vectors*.txt"))
        found.append([line for part in parts for line in part.read_text().splitlines()])
    assert len(found[0]) == 60
    assert [i for i in range(60) if found[0][i] != found[1][i]] in ([], [14])


def test_broken_rows_are_told_on_standard_error(tmp_path, call):
    """Which rows are broken, and in which line of the file, can depend on texts."""
    path = tmp_path / "a.csv"
    path.write_text("text\ncat\na,b\n")
    Path(tmp_path / "terms.txt").write_text("\n".join(WORDS))
    options = ["--vocabulary", tmp_path / "terms.txt", "--bad-rows", "skip", "--length", 5]
    options += ["--max-bad-rows", 0.5]
    for more in ([], ["--json"]):
        code, out, err = call(
            "anonymize", path, *options, "--out", tmp_path / f"r{len(more)}", *more
        )
        assert code == 0
        assert "broken row" not in out.replace(str(tmp_path), "")
        assert "1 broken row was left out" in err
        assert "line 3 has too many fields" in err


@pytest.mark.parametrize("raw", [b"dog \xff", b"a,b,c"], ids=["bytes", "row"])
def test_a_text_that_stops_a_run_leaves_no_release(tmp_path, call, raw):
    """The owner learns on standard error that a text cannot be read. Nobody else learns it."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\ncat\n" * 40 + raw + b"\n")
    code, out, err = call("anonymize", path, "--preset", "words", "--undecodable", "stop",
                          "--out", tmp_path / "release")  # fmt: skip
    assert (code, out) == (2, "")
    assert "line 81 " in err
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]
