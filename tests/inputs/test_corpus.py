"""Files of any kind and number, a batch at a time; broken rows located, never quoted."""

import bz2
import gzip
import io
import lzma
import mailbox
import os
import subprocess
import sys
from email.message import EmailMessage

import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.inputs import corpus as corpora
from syntf.inputs.corpus import Corpus

ROWS = [("1", "first"), ("2", "second, with a comma"), ("3", 'third "quoted"\nover two lines'),
        ("4", "viérde ✓"), ("5", "")]  # fmt: skip


def frame():
    return pl.DataFrame(ROWS, schema=["id", "text"], orient="row")


def csv_bytes(separator=","):
    return frame().write_csv(separator=separator, quote_style="non_numeric").encode()


def jsonl_bytes():
    return frame().write_ndjson().encode()


def all_rows(corpus):
    return [row for batch in corpus for row in batch.frame().rows()]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(
    ("name", "raw"),
    [("a.csv", csv_bytes()), ("a.tsv", csv_bytes("\t")), ("a.jsonl", jsonl_bytes())],
)
def test_compressed_files_give_the_same_rows(tmp_path, small_batches, name, raw, compress):
    ends = {bytes: "", gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}
    path = tmp_path / (name + ends[compress])
    path.write_bytes(compress(raw))
    corpus = Corpus([path], "text", ["id"])
    assert all_rows(corpus) == [(text, id) for id, text in ROWS]
    assert [batch.height for batch in corpus] == [2, 2, 1]
    assert corpus.bytes_read == corpus.size == path.stat().st_size


def test_parquet_is_read_in_batches_and_keeps_types(tmp_path, small_batches):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": ["a", "b", "c"], "n": [1, 2, 3]}).write_parquet(path)
    batches = list(Corpus([path], "text", ["n"]))
    assert [batch["n"].to_list() for batch in batches] == [[1, 2], [3]]
    assert batches[0]["n"].dtype == pl.Int64


def test_several_files_and_patterns_are_one_corpus(tmp_path, small_batches):
    for i in range(3):
        (tmp_path / f"part{i}.csv").write_text(f"id,text\n{i},t{i}\n")
    (tmp_path / "more.jsonl").write_text('{"id": "9", "text": "t9"}\n')
    corpus = Corpus([str(tmp_path / "part*.csv"), tmp_path / "more.jsonl"], "text", ["id"])
    assert list(corpus.texts()) == ["t0", "t1", "t2", "t9"]
    assert [batch.height for batch in corpus] == [2, 2]
    assert list(corpus.texts()) == ["t0", "t1", "t2", "t9"]  # and again


def test_an_existing_file_wins_over_a_pattern(tmp_path):
    (tmp_path / "a[1].csv").write_text("text\nright\n")
    (tmp_path / "a1.csv").write_text("text\nwrong\n")
    assert list(Corpus([tmp_path / "a[1].csv"], "text").texts()) == ["right"]


def test_files_with_other_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,a\n")
    (tmp_path / "b.csv").write_text("text,id\nb,2\n")
    with pytest.raises(SyntfError, match=r"b\.csv has other columns"):
        list(Corpus([tmp_path / "a.csv", tmp_path / "b.csv"]))
    assert list(Corpus([tmp_path / "a.csv", tmp_path / "b.csv"], "text", []).texts()) == ["a", "b"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize(("name", "raw"), [("a.csv", "text\ncafé naïve\n"),
                                           ("a.jsonl", '{"text": "café naïve"}\n')])  # fmt: skip
def test_other_encodings(tmp_path, encoding, name, raw):
    (tmp_path / name).write_bytes(raw.encode(encoding))
    assert list(Corpus([tmp_path / name], "text", encoding=encoding).texts()) == ["café naïve"]


def test_an_unknown_encoding_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(SyntfError, match="no encoding is called 'latin-99'"):
        Corpus([tmp_path / "a.csv"], encoding="latin-99")


def test_a_mailbox_gives_bodies_and_headers(tmp_path):
    plain, both, html = EmailMessage(), EmailMessage(), EmailMessage()
    plain["Subject"], plain["From"] = "Bins", "A <a@example.org>"
    plain.set_content("Please empty the bins, café.\n", charset="latin-1")
    both.set_content("the plain part")
    both.add_alternative("<p>the <b>html</b> part</p>", subtype="html")
    html.set_content("<p>only <b>markup</b></p>", subtype="html")
    box = mailbox.mbox(tmp_path / "mails.mbox")
    for message in (plain, both, html):
        box.add(message)
    box.add(b"Content-Type: text/plain; charset=no-such\nSubject: =?broken?=\n\nodd \xff bytes\n")
    box.close()
    found = pl.concat([rows.frame() for rows in Corpus([tmp_path / "mails.mbox"])])
    assert found.columns == ["text", "subject", "from", "date"]
    texts = [" ".join(text.split()) for text in found["text"]]
    assert texts == ["Please empty the bins, café.", "the plain part", "only markup", "odd ÿ bytes"]
    assert found["subject"][0] == "Bins"


def test_standard_input_is_read_once(tmp_path):
    script = (
        "from syntf.inputs.corpus import Corpus\n"
        "corpus = Corpus(['-'], 'text', format='csv')\n"
        "print(corpus.repeatable, list(corpus.texts()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="text\na\nb\n", capture_output=True, text=True
    )
    assert done.stdout == "False ['a', 'b']\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_refused_before_it_is_opened(tmp_path):
    """It could be read once only: its first lines would be gone when its rows are read."""
    os.mkfifo(tmp_path / "pipe.csv")
    for given in ("pipe.csv", "*.csv"):
        with pytest.raises(SyntfError, match=r"pipe\.csv is not a file.*standard input and give -"):
            Corpus([tmp_path / given], "text")


def test_standard_input_needs_a_format_and_must_be_the_only_input(tmp_path):
    with pytest.raises(SyntfError, match="--input-format"):
        Corpus(["-"])
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(SyntfError, match="must be the only input"):
        Corpus(["-", tmp_path / "a.csv"], format="csv")


BROKEN = [
    ("a.csv", "id,text\n1,a\n2,canary,canary\n3,c\n4\n", ["3 has too many", "5 has too few"]),
    ("a.csv", 'id,text\n1,"a\nb"\n2,"x" canary\n3,c\n', ["line 4 has a quote in the wrong place"]),
    ("a.jsonl", '{"text": "a"}\n{"text": "canary"\n\n[1]\n{"text": "c"}\n', ["line 2", "line 4"]),
    (
        "a.jsonl",
        '{"text": "a"}\n{"text": [1]}\n{"text": {}}\n{"text": "c"}\n',
        ["line 2", "line 3"],
    ),
]


@pytest.mark.parametrize(("name", "raw", "places"), BROKEN)
def test_the_first_broken_row_stops_the_run(tmp_path, name, raw, places):
    (tmp_path / name).write_text(raw)
    with pytest.raises(SyntfError, match="--bad-rows skip") as error:
        list(Corpus([tmp_path / name], "text", []))
    assert places[0] in str(error.value)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(("name", "raw", "places"), BROKEN)
def test_skipped_rows_are_counted_and_located(tmp_path, name, raw, places):
    (tmp_path / name).write_text(raw)
    corpus = Corpus([tmp_path / name], "text", [], bad_rows="skip", max_bad_rows=0.5)
    for _ in range(2):  # counted anew in every pass
        found = list(corpus.texts())
        assert (found[0][:1], found[-1], len(found)) == ("a", "c", 2)
        assert corpus.skipped_rows == len(corpus.skipped_places) == len(places)
        for place, told in zip(places, corpus.skipped_places, strict=True):
            assert place in told
            assert "canary" not in told


@pytest.mark.parametrize("bad_rows", ["stop", "skip"])
def test_a_null_is_an_empty_text_across_batches(tmp_path, small_batches, bad_rows):
    pl.DataFrame({"text": ["a", "b", None, "d"]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{}\n{"text": null}\n{"text": "d"}\n')
    for name, texts in (("a.parquet", ["a", "b", "", "d"]), ("a.jsonl", ["a", "", "", "d"])):
        corpus = Corpus([tmp_path / name], "text", [], bad_rows=bad_rows)
        assert list(corpus.texts()) == texts
        assert corpus.skipped_rows == 0


def test_an_unclosed_quote_is_never_skipped(tmp_path):
    (tmp_path / "a.csv").write_text('text\na\n"canary\n' + "b\n" * 1000)
    for bad_rows in ("stop", "skip"):
        with pytest.raises(SyntfError, match=r"quote opened in line 3 is not closed") as error:
            list(Corpus([tmp_path / "a.csv"], "text", bad_rows=bad_rows))
        assert "canary" not in str(error.value)


@pytest.mark.parametrize("cut", [-1, 30, 12])
def test_a_compressed_file_cut_short_is_refused(tmp_path, cut):
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb") as file:
        file.write(csv_bytes() * 50)
    (tmp_path / "a.csv.gz").write_bytes(buffer.getvalue()[:cut])
    with pytest.raises(SyntfError, match="cannot read"):
        list(Corpus([tmp_path / "a.csv.gz"], bad_rows="skip"))


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("text,text\na,b\n")
    with pytest.raises(SyntfError, match="two columns of the same name"):
        list(Corpus([tmp_path / "a.csv"]))


def test_the_first_batch_is_part_of_the_next_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)
    monkeypatch.setattr(corpora, "FIRST_ROWS", 2)
    path = tmp_path / "a.csv"
    path.write_text("text\na\nb\nc\nd\ne\nf,g\n")
    corpus = Corpus([path], "text", bad_rows="skip", max_bad_rows=0.2)
    corpus.read_first_texts(500)
    assert corpus.skipped_rows == 0
    for _ in range(2):
        assert list(corpus.texts()) == ["a", "b", "c", "d", "e"]
        assert corpus.skipped_rows == 1
    corpus.read_first_texts(500)
    corpus.read_first_texts(500)
    assert list(corpus.texts()) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("batch", [2, 3, 100])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_the_first_texts_do_not_depend_on_batches(tmp_path, monkeypatch, batch, count):
    monkeypatch.setattr(corpora, "BATCH", batch)
    monkeypatch.setattr(corpora, "FIRST_ROWS", count)
    path = tmp_path / "a.csv"
    texts = ["abc", "d", "efghi", "", "j"]
    path.write_text("".join(f"{text},\n" for text in ["text", *texts]))
    corpus = Corpus([path], "text")
    assert corpus.read_first_texts(3) == [text[:3] for text in texts][:count]
    assert list(corpus.texts()) == texts


def test_reading_the_first_batch_reports_broken_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\na,b\n")
    with pytest.raises(SyntfError, match="line 2 has too many fields"):
        Corpus([path], "text").read_first_texts(500)


@pytest.mark.parametrize("bad_rows", ["stop", "skip"])
@pytest.mark.parametrize(
    ("name", "raw", "advice"),
    [
        ("a.csv", '{"text": "a, b"}\n{"text": "c"}\n', "JSON lines: add --input-format jsonl"),
        ("a.jsonl", "id,text\n1,canary\n", "check its format"),
        ("a.jsonl", '[{"text": "canary"},\n{"text": 1}]\n', "add --input-format json"),
        ("a.csv", "text\ncanary,1\nb,2\nc\n", "say it with --delimiter"),
    ],
)
def test_a_wrong_format_is_named_instead_of_skipping_rows(tmp_path, name, raw, advice, bad_rows):
    (tmp_path / name).write_text(raw)
    with pytest.raises(SyntfError) as error:
        list(Corpus([tmp_path / name], "text", [], bad_rows=bad_rows))
    assert advice in str(error.value)
    assert "--bad-rows" not in str(error.value)
    assert "canary" not in str(error.value)


def test_a_wrong_format_is_told_after_a_part_of_a_long_file(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "TRIED_ROWS", 20)
    (tmp_path / "a.csv").write_text("text\n" + "a,b\n" * 10_000)
    with pytest.raises(SyntfError, match=r"line 2 has too many .*20 of 20 rows are broken"):
        list(Corpus([tmp_path / "a.csv"], "text"))
    (tmp_path / "a.csv").write_text("text\na,b\n" + "a\n" * 10_000)
    with pytest.raises(SyntfError, match=r"line 2 has too many .*--bad-rows skip leaves"):
        list(Corpus([tmp_path / "a.csv"], "text"))


@pytest.mark.parametrize(("good", "allowed"), [(9, True), (8, False)])
def test_the_share_of_skipped_rows_is_limited_in_every_file(tmp_path, good, allowed):
    (tmp_path / "a.csv").write_text("text\n" + "a\n" * 100)
    (tmp_path / "b.csv").write_text("text\n" + "a\n" * good + "b,c\n")
    corpus = Corpus([tmp_path / "a.csv", tmp_path / "b.csv"], "text", bad_rows="skip")
    if allowed:
        assert len(list(corpus.texts())) == 109
        return
    with pytest.raises(SyntfError, match=r"b\.csv: 1 of 9 rows are broken, and --max-bad-rows"):
        list(corpus.texts())


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_of_rows_is_between_0_and_1(tmp_path, share):
    with pytest.raises(SyntfError, match="from 0 to 1"):
        Corpus([tmp_path], max_bad_rows=share)


def test_a_file_without_a_readable_row_is_refused_whatever_may_be_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("text\na,b\n")
    with pytest.raises(SyntfError, match="all of its 1 rows are broken"):
        list(Corpus([tmp_path / "a.csv"], "text", bad_rows="skip", max_bad_rows=1))


@pytest.mark.parametrize("joined", ["topic,author", "topic, author", "author;topic"])
def test_names_of_columns_joined_by_commas_are_recognised(tmp_path, joined):
    (tmp_path / "a.csv").write_text("text,topic,author\na,b,c\n")
    with pytest.raises(SyntfError, match="--keep takes names with a space: ") as told:
        list(Corpus([tmp_path / "a.csv"], "text", [joined]))
    assert f"no column '{joined}'" in str(told.value)
    with pytest.raises(SyntfError, match="the columns are: text, topic, author"):
        list(Corpus([tmp_path / "a.csv"], "text", ["topic,sender"]))


def test_errors_about_columns_name_the_file_of_several(tmp_path):
    (tmp_path / "a.csv").write_text("body,id\na,1\n")
    (tmp_path / "b.csv").write_text("boddy,id\na,1\n")
    with pytest.raises(SyntfError, match=r"b\.csv: no column 'body'; .*did you mean 'boddy'"):
        list(Corpus([tmp_path / "a.csv", tmp_path / "b.csv"], "body", []))
    with pytest.raises(SyntfError, match=r"^no column 'text'; .* with --text$"):
        list(Corpus([tmp_path / "a.csv"], "text", []))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_column_without_a_name_can_be_kept_by_its_place(tmp_path, name):
    """pandas writes the index as such a column."""
    table = pl.DataFrame({"": ["7", "8"], "text": ["a", "b"], "topic": ["x", "y"]})
    path = tmp_path / name
    if name.endswith(".csv"):
        path.write_text(",text,topic\n7,a,x\n8,b,y\n")
    else:
        table.write_parquet(path)
    (rows,) = Corpus([path], "text", ["column_0"])
    assert rows["column_0"].to_list() == ["7", "8"]
    with pytest.raises(SyntfError, match="no column ''; the columns are: column_0, text, topic"):
        list(Corpus([path], "text", [""]))


def test_two_columns_without_a_name_have_different_names(tmp_path):
    (tmp_path / "a.csv").write_text("text,,\na,b,c\n")
    (rows,) = Corpus([tmp_path / "a.csv"], "text")
    assert rows.columns == ["text", "column_1", "column_2"]
