"""Fuzz the readers of inputs: ``python fuzz/readers.py [--inputs 3000] [--only csv]``.

A reader must read any bytes, or refuse them with a SyntfError whose message is one line. Hypothesis
damages well-formed files. The tests run the same targets with few inputs.
"""

import argparse
import bz2
import gzip
import io
import lzma
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.inputs.corpus import Corpus, Reading

TOKENS = [
    b"\0", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b"\t", b" ", b":", b"{", b"}", b"[", b"]",
    b"\\", b"\\ud800", b"\\u0000", b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[2J", b"\x1f\x8b", b"PK\x03\x04", b"null", b"true",
    b"NaN", b"-1", b"1e999", b"9" * 5000, b"=cmd()", b"From ", b"text", b"id", b"\n\n\n",
    b"[" * 2000, b"x" * 70_000, b"charset=idna", b"charset=undefined", b"--x\n",
    b"multipart/mixed; boundary=", "\u2028\x85\u0130".encode(),
]  # fmt: skip
"""Bytes that have a meaning in some format."""


@dataclass(frozen=True)
class Target:
    """A kind of file, and well-formed files that are damaged.

    names : the names of the file; the first byte of an input chooses one of them.
    """

    names: Sequence[str]
    seeds: Sequence[bytes]
    reading: Reading = field(default_factory=Reading)

    def try_input(self, raw: bytes) -> None:
        """Read these bytes, or let them be refused, and check how."""
        with tempfile.TemporaryDirectory(prefix="syntf-fuzz-") as folder:
            path = Path(folder, self.names[raw[0] % len(self.names) if raw else 0])
            path.write_bytes(raw[1:])
            told = ""
            try:
                corpus = Corpus(path, "text", None, self.reading)
                first = corpus.head(2)
                rows = pl.concat(list(corpus.batches()))
            except SyntfError as error:
                told = str(error)
        if told:
            assert len(told) < 1000
            assert "\n" not in told
        else:
            assert rows.height > 0
            assert first.equals(rows.head(2))
            assert rows.schema["text"] == pl.String


def damaged(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy for inputs: mostly well-formed files with edits, sometimes random bytes."""
    places = st.floats(0, 1, exclude_max=True)
    sizes = st.sampled_from([0, 1, 2, 4, 8, 50])
    pieces = st.sampled_from(TOKENS) | st.binary(max_size=8)
    edits = st.lists(
        st.tuples(
            st.sampled_from(["replace", "repeat", "truncate", "flip"]), places, sizes, pieces
        ),
        max_size=6,
    )
    chosen = st.builds(_edited, st.sampled_from(list(seeds)), edits)
    whole = chosen | chosen | st.binary(max_size=200)
    return st.builds(lambda first, rest: bytes([first]) + rest, st.integers(0, 255), whole)


def _edited(raw: bytes, edits: Sequence[tuple[str, float, int, bytes]]) -> bytes:
    for kind, place, size, piece in edits:
        at = int(place * (len(raw) + 1))
        if kind == "replace":
            raw = raw[:at] + piece + raw[at + size :]
        elif kind == "repeat":
            raw = raw[: at + size] + raw[at:]
        elif kind == "truncate":
            raw = raw[:at]
        elif at < len(raw):
            raw = raw[:at] + bytes([raw[at] ^ 1 << size % 8]) + raw[at + 1 :]
    return raw


def _file(write: Callable[[io.BytesIO], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


CSV = b'id,text\n1,"a cat, a dog"\n2,"two\nlines of ""music"""\n3,\n4,\xc3\xa9t\xc3\xa9 river\n'
JSONL = (
    b'{"id": 1, "text": "a cat"}\n{"id": 2, "text": "music \\ud83d\\ude00 \\u00e9"}\n'
    b'{"id": 3, "text": null}\n{"id": {"a": [1]}, "text": "train"}\n'
)
MAIL = (
    b"Subject: =?utf-8?q?caf=C3=A9?=\nFrom: a <a@b>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n"
    b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html;"
    b" charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\nPGI+ZG9nPC9iPg==\n--x--\n"
)
SEPARATOR = b"From a@b Thu Jan  1 00:00:00 2026\n"
PAGE = b"<meta charset=cp1252><p>a <b>cat</b> &eacute;<!-- x --><script>no</script>"


def _packed() -> list[bytes]:
    def zipped(file: io.BytesIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mails.csv", CSV)

    return [_file(zipped), gzip.compress(CSV), bz2.compress(CSV), lzma.compress(CSV)]


def _sheet(file: io.BytesIO) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (("id", "text"), (1, "a cat"), (2.5, None), (None, "music")):
        book.active.append(row)
    book.save(file)


def _word(file: io.BytesIO) -> None:
    from docx import Document

    document = Document()
    document.add_paragraph("first words")
    document.save(file)


def _database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE mails (id, text)")
    rows = [(1, "a cat"), (2.0, None), (None, b"caf\xe9"), ("x", 17)]
    connection.executemany("INSERT INTO mails VALUES (?, ?)", rows)
    connection.commit()
    raw = connection.serialize()
    connection.close()
    return raw


FRAME = pl.DataFrame({"id": [1, 2, 3], "text": ["a cat", None, "x" * 50]})
QUERY = Reading(query="SELECT id, text FROM mails")
TARGETS = {
    "csv": Target(["a.csv", "a.tsv"], [CSV, CSV.replace(b",", b"\t")]),
    "one column": Target(["a.csv"], [b'text\na cat\n\n"two\nlines"\n']),
    "encodings": Target(["a.csv"], [CSV.decode().encode("utf-16"), CSV.decode().encode("utf-32")]),
    "gb18030": Target(["a.csv"], [CSV.decode().encode("gb18030")], Reading(encoding="gb18030")),
    "json": Target(
        ["a.json", "a.jsonl"], [JSONL, b"[" + b",".join(JSONL.splitlines()) + b"]", b'["a", "b"]']
    ),
    "lines": Target(["a.txt"], [b"one\n\ntwo\r\n"], Reading(input_format="lines")),
    "mbox": Target(
        ["a.mbox"], [SEPARATOR + MAIL + b"\n" + SEPARATOR + b"Content-Length: 4\n\ncat\n"]
    ),
    "documents": Target(["a.eml", "a.html", "a.txt"], [MAIL, PAGE, b"\xff\xfea\0"]),
    "office": Target(["a.pdf", "a.docx"], [b"%PDF-1.4\n1 0 obj<<>>endobj", _file(_word)]),
    "excel": Target(["a.xlsx"], [_file(_sheet)]),
    "sqlite": Target(["a.sqlite"], [_database()], QUERY),
    "packed": Target(["a.csv.zip", "a.csv.gz", "a.csv.bz2", "a.csv.xz"], _packed()),
    "parquet": Target(["a.parquet"], [_file(FRAME.write_parquet)]),
    "arrow": Target(["a.arrow"], [_file(FRAME.write_ipc)]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=3000, help="inputs for each target")
    parser.add_argument("--only", default="", help="try only targets whose name starts with this")
    options = parser.parse_args()
    for name, target in TARGETS.items():
        if name.startswith(options.only):
            checked = settings(
                max_examples=options.inputs, deadline=None, database=None,
                phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
            )(given(damaged(target.seeds))(target.try_input))  # fmt: skip
            checked()
            print(f"{name:<12} {options.inputs:>7,} inputs, no fault", flush=True)


if __name__ == "__main__":
    main()
