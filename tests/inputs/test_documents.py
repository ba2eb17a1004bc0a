"""Mails, pages and office files, alone and in folders; no content stops a run."""

import gzip
import io
import mailbox
import os
import random
import sys
import time
from email.message import EmailMessage

import pytest

from syntf.core.errors import SyntfError
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.html_text import html_to_text
from syntf.inputs.mail import read_message


def rows(place, columns=(), **reading):
    corpus = Corpus(place, "text", columns, Reading(**reading))
    return [row for batch in corpus.batches() for row in batch.rows()], corpus.notices


def found(folder, **reading):
    some, notices = rows(folder, ["path"], **reading)
    return {path: " ".join(text.split()) for text, path in some}, notices


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "mails"
    made.mkdir()
    return made


POISON = [
    *(f"Content-Type: text/plain; charset={one}\n\nb\xff" for one in (
        "idna", "undefined", "punycode", '"\0"', "zlib", "unicode_escape", "utf-16", "x" * 9999)),
    "".join(f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(1000)),
    "Content-Type: message/rfc822\n\n" * 1000,
    "Content-Type: multipart/related; start=\n\nx", "Content-Type: text/html; charset=idna\n\n<p>b",
    "Content-Transfer-Encoding: base64\n\n\xff=a", "Content-Transfer-Encoding: x-uuencode\n\nbegin",
    "Subject: =?idna?q?x?=\nFrom: =?undefined?b?eA==?=\n\nb", "Subject: " + "=?q?" * 999 + "\n\nb",
    "From: " + "(" * 2000 + "\n\nb", "Subject: " + "=?utf-8?q?x?= " * 100_000 + "\n\nb",
    "Date: -1\nFrom: <>@[\n\nb", "\0\n\n\0", ":\n\n", "\n\n\n",
]  # fmt: skip


@pytest.mark.parametrize("raw", POISON)
def test_a_poisoned_mail_is_a_document(folder, raw):
    raw = raw.encode("latin-1")
    (folder / "a.eml").write_bytes(b"Subject: x\n\nfirst")
    (folder / "b.eml").write_bytes(raw)
    (folder / "c.eml").write_bytes(b"Subject: y\n\nlast")
    some, notices = rows(folder, ["subject", "path"])
    assert [some[0], some[2]] == [("first", "x", "a.eml"), ("last", "y", "c.eml")]
    assert len(some) == 3
    assert notices == []
    separator = b"From a@b Thu Jan  1 00:00:00 2026\n"
    (folder.parent / "a.mbox").write_bytes(b"".join(separator + one + b"\n\n" for one in (
        b"\nfirst", raw, b"\nlast")))  # fmt: skip
    texts = [text for (text,) in rows(folder.parent / "a.mbox")[0]]
    assert (texts[0], texts[-1], len(texts)) == ("first\n", "last\n", 3)


@pytest.mark.parametrize(
    "charset", ["idna", "undefined", "punycode", "hex", "\0", "no-such", "utf-16", "unicode_escape"]
)
def test_a_page_may_declare_any_encoding(folder, charset):
    (folder / "a.html").write_bytes(f"<meta charset={charset}><p>b".encode() + b"\xff")
    (folder / "b.html").write_bytes(b"<p>last")
    texts, _ = found(folder)
    assert list(texts) == ["a.html", "b.html"]
    assert texts["b.html"] == "last"


def test_a_mail_gives_its_body_and_headers():
    both, html = EmailMessage(), EmailMessage()
    both["Subject"], both["From"], both["Date"] = "Grüße", "A <a@b.org>", "Thu, 1 Jan 2026 00:00:00"
    both.set_content("the plain part")
    both.add_alternative("<p>the <b>html</b> part</p>", subtype="html")
    html.set_content("<p>only <b>mark</b>up", subtype="html")
    assert read_message(bytes(both)) == ["the plain part\n", "Grüße", "A <a@b.org>",
                                         "Thu, 01 Jan 2026 00:00:00 -0000"]  # fmt: skip
    assert [one.strip() for one in read_message(bytes(html))] == ["only markup", "", "", ""]
    assert read_message(b"Content-Type: text/plain; charset=no-such\n\nodd \xff")[0] == "odd ÿ"


SEPARATOR = b"From someone@example.org Mon Jan  1 10:00:00 2024\n"


def bodies(path):
    return [text for (text,) in rows(path)[0]]


def test_only_a_separator_after_an_empty_line_begins_a_message(tmp_path):
    path = tmp_path / "a.mbox"
    inside = b"cat\n\nFrom here on, dogs.\n" + SEPARATOR + b"bird\n>" + SEPARATOR
    head = SEPARATOR + b"Subject: x\n"
    path.write_bytes(head + b"\n" + inside + b"\n" + head + b"\ncar\n\n" + SEPARATOR + SEPARATOR)
    assert bodies(path) == [inside.decode(), "car\n", "", ""]


@pytest.mark.parametrize("wrong", [-1, 2, 10**8])
def test_content_length_covers_separators_if_it_is_right(tmp_path, wrong):
    path = tmp_path / "a.mbox"
    body = b"cat\n\n" + SEPARATOR + b"Subject: y\n\ndog\n"
    head = SEPARATOR + b"Content-Length: %d\n\n" % len(body)
    path.write_bytes(head + body + b"\n" + SEPARATOR + b"\ncar\n")
    assert bodies(path) == [body.decode(), "car\n"]
    head = SEPARATOR + b"Content-Length: %d\n\n" % (len(body) + wrong)
    path.write_bytes(head + body + b"\n" + SEPARATOR + b"\ncar\n")
    assert bodies(path) == ["cat\n", "dog\n", "car\n"]


def test_an_mbox_gives_back_what_python_writes(tmp_path):
    """A text never becomes two messages, whatever lines it has: they are quoted."""
    random.seed(1)
    lines = ["From here", SEPARATOR.decode().strip(), "", ">From x", "Content-Length: 3", "cat"]
    texts = ["\n".join(random.choices(lines, k=6)) + "\n" for _ in range(50)]
    box = mailbox.mbox(tmp_path / "a.mbox")
    for text in texts:
        box.add(f"Subject: x\n\n{text}".encode())
    box.close()
    read = bodies(tmp_path / "a.mbox")
    assert [text.replace(">From ", "From ").strip() for text in read] == [
        text.replace(">From ", "From ").strip() for text in texts
    ]


def test_files_are_read_by_their_kind(folder):
    page = "<meta charset=cp1252><title>T</title><script>no</script><p>a<b>b</b> &eacute;é"
    (folder / "b.html").write_bytes(page.encode("cp1252"))
    (folder / "c.txt").write_bytes(b"\xef\xbb\xbfplain <b>text")
    (folder / "d.txt.gz").write_bytes(gzip.compress("\ufeffthe café".encode("utf-16-le")))
    (folder / "e.eml.gz").write_bytes(gzip.compress(b"Subject: x\n\nbody"))
    (folder / "51121").write_text("a newsgroup message")
    (folder / "empty.txt").write_bytes(b"")
    expected = {"51121": "a newsgroup message", "b.html": "T ab éé", "c.txt": "plain <b>text",
                "d.txt.gz": "the café", "e.eml.gz": "body", "empty.txt": ""}  # fmt: skip
    assert found(folder) == (expected, [])
    (folder / "f.txt").write_bytes(b"\xff\xfea cat")
    assert found(folder, encoding="cp1252")[0]["f.txt"] == "ÿþa cat"  # it was chosen


def test_damaged_documents_are_empty_ones(folder):
    from docx import Document

    document = Document()
    document.add_paragraph("first words")
    document.add_table(1, 2).cell(0, 1).text = "in a table"
    buffer = io.BytesIO()
    document.save(buffer)
    (folder / "a.docx").write_bytes(buffer.getvalue())
    (folder / "b.docx").write_bytes(buffer.getvalue()[:-100])
    (folder / "c.pdf").write_bytes(b"%PDF-1.4 canary")
    (folder / "d.txt").write_bytes(b"caf\xe9")
    texts, notices = found(folder)
    assert texts == {
        "a.docx": "first words in a table",
        "b.docx": "",
        "c.pdf": "",
        "d.txt": "caf\ufffd",
    }
    assert notices == [
        "damaged or encrypted PDF and Word files, which are documents with an empty text: 2"
    ]


def test_hidden_files_links_and_other_files_are_left_out(folder, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "sub").mkdir()
    (folder / ".git").mkdir()
    for name in ("a.txt", "b.txt", "sub/c.txt", ".git/d.txt", ".DS_Store", "photo.PNG", "t.csv"):
        (folder / name).write_text(name)
    os.symlink(tmp_path / "secret.txt", folder / "link.txt")
    os.symlink(tmp_path, folder / "sub" / "linked")
    os.symlink(folder / "a.txt", folder / "again.txt")
    texts, notices = found(folder)
    assert list(texts) == ["a.txt", "b.txt", "sub/c.txt"]
    assert notices == [f"left out of the folder {folder}: 1 .csv, 1 .png, 3 links"]
    size = sum((folder / name).stat().st_size for name in texts)
    assert Corpus(folder).size == size


@pytest.mark.parametrize("inside", ["", "deep"])
def test_a_folder_of_tables_is_refused_with_the_right_pattern(folder, inside):
    (folder / inside).mkdir(exist_ok=True)
    for name in ("a", "b"):
        (folder / inside / f"{name}.csv.gz").write_bytes(gzip.compress(b"text\ncat\n"))
    (folder / "readme.txt").write_text("what this is")
    with pytest.raises(SyntfError) as error:
        Corpus(folder)
    assert f"give them as '{folder}/**/*.csv.gz', in quotes" in str(error.value)
    assert [text for (text,) in rows(f"{folder}/**/*.csv.gz")[0]] == ["cat", "cat"]


def test_folders_without_documents_or_without_the_extra(folder, monkeypatch):
    (folder / "photo.png").write_bytes(b"f")
    with pytest.raises(SyntfError, match=r"holds no documents, but 1 \.png"):
        Corpus(folder)
    (folder / "b.pdf").write_bytes(b"%PDF-")
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(SyntfError, match=r"b\.pdf needs pypdf, .*install the extra 'files'"):
        Corpus(folder)


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on Linux only")
def test_a_file_name_that_is_not_utf8_does_not_stop_a_folder(folder):
    with open(os.fsencode(folder) + b"/b\xff.txt", "wb") as file:
        file.write(b"second")
    assert found(folder) == ({"b\ufffd.txt": "second"}, [])


@pytest.mark.parametrize(
    ("markup", "text"),
    [("a<br>b<p>c</p>d", "a b c d"), ("<i>w</i>ord &lt;b&gt; &#233; &no;", "word <b> é &no;"),
     ("<style>x</style><SCRIPT>y</SCRIPT>z", "z"), ("<!-- hidden -->a<![CDATA[b]]>", "a"),
     ("a <b unfinished", "a <b unfinished"), ("a < b", "a < b"), ("<p>a<![broken[ b>", "a"),
     ("a <!-- unfinished > b", "a <!-- unfinished > b"), ("", "")],
)  # fmt: skip
def test_html_becomes_text(markup, text):
    assert " ".join(html_to_text(markup).split()).startswith(text)


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<!-- > ", "<![ > ", "<?", "<script", "<a b='", "&"]
)
def test_long_malformed_pages_take_linear_time(piece):
    """Searching to the end of the page for every piece would take hours."""
    start = time.monotonic()
    assert "end" in html_to_text(piece * 300_000 + "> end")
    assert time.monotonic() - start < 60
