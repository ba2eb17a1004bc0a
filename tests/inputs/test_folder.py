"""Folders: documents by their names alone; hidden files, links and other files are left out."""

import gzip
import io
import os
from email.message import EmailMessage
from importlib.util import find_spec

import pytest

from syntf.core.errors import SyntfError
from syntf.inputs.corpus import Corpus
from syntf.inputs.formats import document_files
from syntf.inputs.formats.html_text import html_to_text


def texts(folder, **options):
    corpus = Corpus([folder], "text", ["path"], **options)
    found = {
        path: " ".join(text.split()) for frame in corpus for text, path in frame.frame().rows()
    }
    return found, corpus.notices


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "mails"
    made.mkdir()
    return made


def test_files_are_read_by_their_kind(folder):
    message = EmailMessage()
    message["Subject"] = "not in the text"
    message.set_content("the café", charset="latin-1")
    page = "<meta charset=cp1252><title>T</title><script>no</script><p>a<b>b</b> &eacute;é"
    (folder / "a.eml").write_bytes(bytes(message))
    (folder / "b.html").write_bytes(page.encode("cp1252"))
    (folder / "c.txt").write_bytes(b"\xef\xbb\xbfplain <b>text")
    (folder / "d.txt.gz").write_bytes(gzip.compress(b"packed"))
    (folder / "e.eml.gz").write_bytes(gzip.compress(b"Subject: x\n\nbody"))
    (folder / "51121").write_text("a newsgroup message")
    found, notices = texts(folder)
    assert found == {
        "51121": "a newsgroup message",
        "a.eml": "the café",
        "b.html": "T ab éé",
        "c.txt": "plain <b>text",
        "d.txt.gz": "packed",
        "e.eml.gz": "body",
    }
    assert notices == []


@pytest.mark.parametrize("undecodable", ["replace", "stop"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_tells_the_encoding_of_its_own_document(folder, codec, undecodable):
    page = "<meta charset=cp1252><p>a caf&eacute; é"
    (folder / "a.txt").write_bytes("\ufeffthe café".encode(codec))
    (folder / "b.txt").write_text("the café", encoding="utf-8")
    (folder / "c.html").write_bytes(f"\ufeff{page}".encode(codec))
    (folder / "d.txt.gz").write_bytes(gzip.compress("\ufeffthe café".encode(codec)))
    found, notices = texts(folder, undecodable=undecodable)
    assert found == {
        "a.txt": "the café", "b.txt": "the café", "c.html": "a café é", "d.txt.gz": "the café",
    }  # fmt: skip
    assert notices == []
    corpus = Corpus([folder / "a.txt"], "text", undecodable=undecodable)
    assert list(corpus.texts()) == ["the café"]


def test_an_encoding_that_was_given_wins_over_a_byte_order_mark(folder):
    (folder / "a.txt").write_bytes(b"\xff\xfea cat")
    assert texts(folder, encoding="cp1252")[0] == {"a.txt": "ÿþa cat"}


def test_a_damaged_marked_document_is_replaced_or_refused(folder):
    (folder / "a.txt").write_bytes("\ufeffa cat".encode("utf-16-le") + b"x")
    assert texts(folder)[0] == {"a.txt": "a cat\ufffd"}
    with pytest.raises(SyntfError, match=r"line 1 is not utf-16; it begins with the byte order"):
        texts(folder, undecodable="stop")


def test_hidden_files_links_and_other_files_are_left_out(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (folder / "a.txt").write_text("a")
    (folder / "b.txt").write_text("b")
    (folder / "sub").mkdir()
    (folder / "sub" / "c.txt").write_text("c")
    (folder / ".git").mkdir()
    (folder / ".git" / "d.txt").write_text("d")
    (folder / ".DS_Store").write_bytes(b"e")
    os.symlink(outside / "secret.txt", folder / "link.txt")
    os.symlink(outside, folder / "sub" / "linked")
    os.symlink(folder / "a.txt", folder / "again.txt")
    (folder / "photo.PNG").write_bytes(b"f")
    (folder / "table.csv").write_bytes(b"text\ng\n")
    found, notices = texts(folder)
    assert found == {"a.txt": "a", "b.txt": "b", "sub/c.txt": "c"}
    assert notices == [f"left out of the folder {folder}: 1 .csv, 1 .png, 3 links"]


@pytest.mark.parametrize(("inside", "pattern"), [("", "*.csv.gz"), ("deep", "**/*.csv.gz")])
def test_a_folder_of_tables_is_refused_with_the_right_command(folder, inside, pattern):
    (folder / inside).mkdir(exist_ok=True)
    for name in ("a", "b"):
        (folder / inside / f"{name}.csv.gz").write_bytes(gzip.compress(b"text\ncat\n"))
    (folder / "readme.txt").write_text("what this is")
    with pytest.raises(SyntfError) as error:
        texts(folder)
    assert f"give them as '{folder}/{pattern}', in quotes" in str(error.value)
    assert list(Corpus([f"{folder}/{pattern}"], "text").texts()) == ["cat", "cat"]


def test_a_folder_without_documents_is_refused(folder):
    (folder / "photo.png").write_bytes(b"f")
    with pytest.raises(SyntfError, match=r"holds no documents; left out of .*: 1 \.png"):
        texts(folder)


def test_documents_without_their_extra_are_left_out_or_refused(folder, monkeypatch):
    (folder / "a.txt").write_text("a")
    (folder / "b.pdf").write_bytes(b"%PDF-")
    monkeypatch.setattr(document_files, "find_spec", lambda name: None)
    found, notices = texts(folder)
    assert found == {"a.txt": "a"}
    assert notices[0].endswith("1 .pdf (pip install 'syntf[files]' reads .pdf and .docx)")
    with pytest.raises(SyntfError, match=r"a PDF file needs pip install 'syntf\[files\]'"):
        texts(folder / "b.pdf")


def pdf(words):
    """A PDF file with one line of text, written by hand."""
    stream = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj%s endobj\n" % (number, content)
    start = len(made)
    made += b"xref\n0 6\n0000000000 65535 f \n"
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    return made + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start


@pytest.mark.skipif(
    not (find_spec("pypdf") and find_spec("docx")), reason="pip install 'syntf[files]'"
)
def test_pdf_and_word_files_are_read_and_damaged_ones_are_broken(folder):
    from docx import Document

    document = Document()
    document.add_paragraph("first words")
    document.add_table(1, 2).cell(0, 1).text = "in a table"
    document.add_paragraph("last words")
    buffer = io.BytesIO()
    document.save(buffer)
    (folder / "a.docx").write_bytes(buffer.getvalue())
    (folder / "b.pdf").write_bytes(pdf("words of a page"))
    found, _ = texts(folder)
    assert found == {
        "a.docx": "first words in a table last words", "b.pdf": "words of a page"
    }  # fmt: skip
    for name, kind in (("c.docx", "Word"), ("c.pdf", "PDF")):
        (folder / name).write_bytes(b"canary")
        with pytest.raises(
            SyntfError, match=f"{name}: it is not a {kind} file, or damaged"
        ) as error:
            texts(folder)
        assert "canary" not in str(error.value)
        assert len(texts(folder, bad_rows="skip", max_bad_rows=0.4)[0]) == 2
        (folder / name).unlink()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<br>b<p>c</p>d", "a b c d"),
        ("<i>w</i>ord &lt;b&gt; &#233; &nosuch;", "word <b> é &nosuch;"),
        ("<style>x</style><SCRIPT>y</SCRIPT>z", "z"),
        ("<!-- hidden -->a<![CDATA[b]]>", "a"),
        ("a <b unfinished", "a <b unfinished"),
        ("a <!-- unfinished > b", "a <!-- unfinished > b"),
        ("a < b", "a < b"),
        ("<p>a<![broken[ b>", "a"),
        ("", ""),
    ],
)
def test_html_becomes_text(markup, text):
    assert " ".join(html_to_text(markup).split()).startswith(text)


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<!-- > ", "<![ > ", "<?", "<script", "<a b='", "&"]
)
def test_long_malformed_pages_take_linear_time(piece):
    """Searching to the end of the page for every piece would take hours."""
    assert "end" in html_to_text(piece * 300_000 + "> end")


def test_an_undecodable_file_is_named(folder):
    (folder / "a.txt").write_text("a")
    (folder / "b.txt").write_bytes(b"line\ncaf\xe9")
    with pytest.raises(SyntfError, match=r"b\.txt: line 2 is not utf-8; .*--encoding cp1252"):
        texts(folder, undecodable="stop")
    assert texts(folder, encoding="cp1252")[0]["b.txt"] == "line café"
