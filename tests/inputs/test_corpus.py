"""A corpus: files of any kind and number, in one pass, with errors that say what to do."""

import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from fuzz.readers import TARGETS, damaged
from syntf.core.errors import SyntfError
from syntf.core.extras import MissingPackage
from syntf.inputs import corpus as corpora
from syntf.inputs import tables
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.places import Place


def texts(*inputs, text="text", **reading):
    batches = Corpus(inputs, text, [], Reading(**reading)).batches()
    return [one for batch in batches for one in batch[text]]


def refusal(*inputs, text="text", columns=(), **reading):
    with pytest.raises(SyntfError) as caught:
        list(Corpus(inputs, text, columns, Reading(**reading)).batches())
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def small_batches(monkeypatch):
    for module in (corpora, tables):
        monkeypatch.setattr(module, "BATCH", 2)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_bytes_are_counted_while_they_are_read(tmp_path, small_batches, pack):
    ends = {bytes: "", gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}
    path = tmp_path / f"a.csv{ends[pack]}"
    path.write_bytes(pack(b"text,id\na,1\nb,2\nc,3\n"))
    corpus = Corpus(path, "text", ["id"])
    assert [batch.rows() for batch in corpus.batches()] == [[("a", "1"), ("b", "2")], [("c", "3")]]
    assert corpus.bytes_read == corpus.size == path.stat().st_size


def test_the_first_rows_are_looked_at_and_not_lost(tmp_path, small_batches):
    (tmp_path / "a.csv").write_text("text\na\nb\nc\nd\ne\n")
    corpus = Corpus(tmp_path / "a.csv")
    assert corpus.head(3)["text"].to_list() == ["a", "b", "c"]
    assert corpus.head(1)["text"].to_list() == ["a"]
    assert [batch["text"].to_list() for batch in corpus.batches()] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.arrow"])
def test_a_file_that_changes_after_the_first_batch_gives_no_document_twice(
    tmp_path, small_batches, monkeypatch, name
):
    monkeypatch.setattr("syntf.inputs.separated.BLOCK", 10)
    writers = {"a.csv": pl.DataFrame.write_csv, "a.parquet": pl.DataFrame.write_parquet,
               "a.jsonl": pl.DataFrame.write_ndjson, "a.arrow": pl.DataFrame.write_ipc}  # fmt: skip
    rows = pl.DataFrame({"text": [f"document {i}" for i in range(5000)]})
    writers[name](rows, tmp_path / name)
    opened, really_open = [], Place.open
    monkeypatch.setattr(Place, "open", lambda place: opened.append(place) or really_open(place))
    corpus = Corpus(tmp_path / name)
    corpus.head(1)
    writers[name](rows.reverse(), tmp_path / "new")
    os.replace(tmp_path / "new", tmp_path / name)
    assert pl.concat(list(corpus.batches())).equals(rows)
    assert len(opened) <= 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    """So nothing is read twice: what was read from a pipe is gone."""
    os.mkfifo(tmp_path / "pipe.csv")
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_text, args=("text\na\nb\n",))
    writer.start()
    corpus = Corpus(tmp_path / "pipe.csv")
    assert corpus.size == 0
    assert corpus.head(1).height == 1
    assert [one for batch in corpus.batches() for one in batch["text"]] == ["a", "b"]
    writer.join()


def test_standard_input_is_read(tmp_path):
    script = (
        "from syntf.inputs.corpus import Corpus, Reading\n"
        "corpus = Corpus('-', reading=Reading('csv'))\n"
        "print(corpus.size, corpus.head(1)['text'][0], [len(one) for one in corpus.batches()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="text\na\nb\n", capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("0 a [2]\n", "")


def test_closing_ends_everything(tmp_path, small_batches):
    (tmp_path / "a.csv").write_text("text\n" + "a\n" * 10)
    corpus = Corpus(tmp_path / "a.csv")
    corpus.head(1)
    corpus.close()
    assert sum(batch.height for batch in corpus.batches()) == 2


def test_several_formats_and_patterns_are_one_corpus(tmp_path):
    for i in range(3):
        (tmp_path / f"part{i}.csv").write_text(f"id,text\n{i},t{i}\n")
    (tmp_path / "more.jsonl").write_text('{"id": "9", "text": "t9"}\n')
    (tmp_path / "note.txt").write_text("t10")
    (tmp_path / "a[1].csv").write_text("text\nright\n")
    (tmp_path / "a1.csv").write_text("text\nwrong\n")
    found = [str(tmp_path / "part*.csv"), tmp_path / "more.jsonl"]
    corpus = Corpus(found, "text", ["id"])
    (batch,) = corpus.batches()
    assert batch.rows() == [("t0", "0"), ("t1", "1"), ("t2", "2"), ("t9", "9")]
    assert corpus.bytes_read == corpus.size
    assert texts(*found, tmp_path / "note.txt") == ["t0", "t1", "t2", "t9", "t10"]
    assert texts(tmp_path / "a[1].csv") == ["right"]  # a file of this name wins over the pattern


def test_single_documents_of_a_pattern_are_one_table(tmp_path):
    for name in ("b.txt", "a.eml", "c.html"):
        (tmp_path / name).write_text("Subject: x\n\n<p>body</p>")
    (batch,) = Corpus(str(tmp_path / "*.*"), "text", None).batches()
    found = {path: (text.split(), subject) for path, text, subject, *_ in batch.rows()}
    assert found == {"a.eml": (["<p>body</p>"], "x"), "c.html": (["Subject:", "x", "body"], None),
                     "b.txt": (["Subject:", "x", "<p>body</p>"], None)}  # fmt: skip


def test_inputs_with_other_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,a\n")
    pl.DataFrame({"id": [1], "text": ["b"]}).write_parquet(tmp_path / "b.parquet")
    both = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    assert "b.parquet: its columns, or their types" in refusal(*both, columns=None)
    assert texts(*both) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.jsonl", "\n\r\n", "a.jsonl is empty"),
        ("a.json", " [ ] \n", "a.json is empty"),
        ("a.csv", "text\n", "a.csv holds no rows"),
        ("a.mbox", "\n", "a.mbox holds no rows"),
        ("a.csv", "title,body\nsecret,secret\n", "no column 'text'; the columns are: title, body; "
         "did you mean 'body'? Name the column of the texts with --text"),
        ("a.csv", "How satisfied are you with the service in total?,id\nsecret,1\n",
         "no column 'text'; the first line looks like data, not column names: add a header row"),
        ("a.csv", "secret of six words in all,secret of six words in all\nb,c\n", "the same name"),
        *(("a.csv", raw, "check --input-format and --encoding") for raw in (
            "te\ufffd,gr\ufffd\nb,c\n", "a\rsecret\r\nb", "PK\x03\x04, secret\nb",
            '{"a": "secret"}\nb', "t\0e\0x\0t\0\n\0secret")),
        ("a.jsonl", "id,text\n1,secret\n", "line 1 is not JSON"),
        ("a.json", '{"mails": [{"text": "secret"}]}', "is one object, not a list of objects"),
        ("a.json", '{"text": {"0": "secret"}}', "as pandas does by orient='records'"),
        ("a.mbox", "secret", "its first line is no separator of an mbox file"),
        ("a.parquet", "PAR1secret", "it is not a Parquet file, or damaged"),
        ("a.arrow", "secret", "it is not an Arrow file (Feather version 2), or damaged"),
        ("a.xlsx", "secret", "it is not an Excel file (.xlsx), or damaged"),
        ("a.zip", "secret", "it is no zip archive, damaged, or locked"),
        ("a.csv.gz", "secret", "it is cut short or not compressed so"),
        ("a.csv.zst", "secret", "it is cut short or not compressed so"),
        ("a.dat", "secret", "cannot tell the format of a.dat: say it with --input-format"),
        ("a.parquet.gz", "secret", "give a file, unpacked"),
    ],
)  # fmt: skip
def test_containers_that_cannot_be_read_say_what_to_do(tmp_path, name, raw, told):
    (tmp_path / name).write_text(raw)
    message = refusal(tmp_path / name)
    assert told in message.replace(f"{tmp_path}/", "")
    assert "secret" not in message


def test_errors_name_the_file_of_several(tmp_path):
    (tmp_path / "a.csv").write_text("body,id\na,1\n")
    (tmp_path / "b.csv").write_text("boddy,id\na,1\n")
    message = refusal(tmp_path / "a.csv", tmp_path / "b.csv", text="body")
    assert re.search(r"b\.csv: no column 'body'; .*did you mean 'boddy'", message)


@pytest.mark.parametrize(
    ("inputs", "options", "told"),
    [
        (["none.csv"], {}, "no file or folder at none.csv"),
        (["*.jsonl"], {}, "no file matches"),
        (["a.csv", "./a.csv"], {}, "is given twice"),
        (["a.csv", "*.csv"], {}, "is given twice"),
        (["a.csv", "-"], {}, "must be the only input"),
        (["-"], {}, "say what standard input holds"),
        (["-"], {"input_format": "parquet"}, "cannot read parquet from standard input"),
        (["a long text " * 50], {}, "give paths, not texts"),
        (["mysql://me:secret@h"], {}, "an address begins with s3://"),
        ([], {}, "there is no input"),
        (["a.csv"], {"input_format": "cvs"}, "input_format must be csv or"),
        (["a.csv"], {"query": "SELECT 1"}, "--query is for databases"),
        (["a.jsonl"], {"delimiter": ";"}, "--delimiter is for CSV files"),
        *((["a.csv"], {"delimiter": one}, "one ASCII character") for one in ("", ";;", '"', "é")),
        *((["a.csv"], {"encoding": one}, "convert the files to UTF-8") for one in (
            "latin-99", "base64", "idna", "hz", "utf-7")),
        (["a.csv"], {"encoding": "utf-16"}, "it is not utf-16"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(tmp_path, monkeypatch, inputs, options, told):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("text\na\n")
    if inputs == ["a.jsonl"]:
        Path("a.jsonl").write_text('"a"')
    message = refusal(*inputs, **options)
    assert told in message
    assert "secret" not in message


def test_an_archive_must_hold_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "text\na\n")
        archive.writestr("b.csv", "text\na\n")
    assert "must hold one file, and it holds 2" in refusal(tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("module", "name"),
    [("zstandard", "a.csv.zst"), ("openpyxl", "a.xlsx"), ("pypdf", "a.pdf")],
)
def test_a_missing_extra_is_named(tmp_path, monkeypatch, module, name):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackage, match=rf"needs {module}, .*install the extra 'files'"):
        texts(tmp_path / name)


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {"parquet", "arrow"}))
def test_any_bytes_are_read_or_refused_in_one_line(name):
    """The targets of fuzz/readers.py; polars may print about a damaged Parquet file."""
    settings(max_examples=40)(given(damaged(TARGETS[name].seeds))(TARGETS[name].try_input))()


def test_columns_can_be_looked_at_before_the_text_is_chosen(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"who": "ann", "body": "so it is"}\n')
    head = Corpus(tmp_path / "a.jsonl", None, None).head()
    assert head.to_dicts() == [{"who": "ann", "body": "so it is"}]
