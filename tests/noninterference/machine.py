"""Inputs in every format, and releases made from them on one machine."""

import bz2
import csv
import gzip
import io
import json
import lzma
import mailbox
import sqlite3
import sys
import zipfile
from dataclasses import dataclass, replace
from email.message import EmailMessage
from itertools import groupby
from operator import itemgetter

import numpy as np
import polars as pl
import pytest
from pairs import Outcome, without_digests
from scipy.io import mmread
from scipy.sparse import csr_matrix, load_npz

from syntf.cli.app import main
from syntf.core import tables
from syntf.inputs import corpus
from syntf.inputs.formats import csv_rows, json_lines, mbox
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft, drawing_groups
from syntf.releases.contents import folder
from syntf.releases.job import release
from syntf.report.table_summary import summarize_table

WORDS = "cat dog car bus train music river bread garden".split()
SETTINGS = {"length": 5, "neighbours": 2, "loss": 2.0}


def separated(delimiter, terminator):
    def write(path, rows):
        file = io.StringIO(newline="")
        writer = csv.writer(
            file, delimiter=delimiter, lineterminator=terminator, quoting=csv.QUOTE_ALL
        )
        writer.writerows([["id", "topic", "text"], *rows])
        path.write_bytes(file.getvalue().encode("utf-8", "surrogatepass"))

    return write


def json_strings(path, rows):
    lines = [json.dumps({"id": i, "topic": topic, "text": text}) for i, topic, text in rows]
    path.write_text("".join(f"{line}\n" for line in lines))


def json_values(path, rows):
    """Each text as the JSON value that it spells, if it spells one that is no list or object.

    A value with a line break around it would end its line.
    """

    def spelt(text):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return json.dumps(text)
        as_string = isinstance(value, list | dict | str) or "\n" in text
        return json.dumps(text) if as_string else text

    lines = [
        f'{{"id": {json.dumps(i)}, "topic": {json.dumps(topic)}, "text": {spelt(text)}}}\n'
        for i, topic, text in rows
    ]
    path.write_text("".join(lines))


def parquet(path, rows):
    ids, topics, texts = zip(*rows, strict=True)
    clean = [text.encode("utf-8", "replace").decode() or None for text in texts]
    columns = {"id": ids, "topic": pl.Series(topics, dtype=pl.Categorical), "text": clean}
    pl.DataFrame(columns, schema_overrides={"text": pl.String}).write_parquet(path)


def binary_parquet(path, rows):
    ids, topics, texts = zip(*rows, strict=True)
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    pl.DataFrame({"id": ids, "topic": topics, "text": raw}).write_parquet(path)


def messages(rows):
    for i, topic, text in rows:
        head = f"Subject: {topic}\nDate: {i}\nFrom: a@example.org\n"
        body = text.encode("utf-8", "surrogatepass")
        yield f"{head}Content-Type: text/plain; charset=utf-8\n\n".encode() + body


def quoted_mbox(path, rows):
    path.unlink(missing_ok=True)
    box = mailbox.mbox(path)
    for message in messages(rows):
        box.add(message)
    box.close()


def measured_mbox(path, rows):
    written = []
    for message in messages(rows):
        head, body = message.split(b"\n\n", 1)
        body = body.rstrip(b"\n") + b"\n"
        length = f"\nContent-Length: {len(body)}\n\n".encode()
        separator = b"From a@example.org Mon Jan  1 10:00:00 2024\n"
        written.append(separator + head + length + body + b"\n")
    path.write_bytes(b"".join(written))


def encoded_mbox(path, rows):
    """Bodies in base64, which hide everything from the format."""
    path.unlink(missing_ok=True)
    box = mailbox.mbox(path)
    for i, topic, text in rows:
        message = EmailMessage()
        message["Subject"], message["Date"], message["From"] = topic, i, "a@example.org"
        message.set_content(text.encode("utf-8", "replace").decode(), cte="base64")
        box.add(message)
    box.close()


def json_array(path, rows):
    path.write_text(json.dumps([{"id": i, "topic": t, "text": x} for i, t, x in rows], indent=1))


def arrow(path, rows):
    ids, topics, texts = zip(*rows, strict=True)
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    pl.DataFrame({"id": ids, "topic": topics, "text": clean}).write_ipc(path)


def excel(path, rows):
    openpyxl = pytest.importorskip("openpyxl", reason="pip install 'syntf[files]'")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for i, topic, text in [("id", "topic", "text"), *rows]:
        legal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub(" ", text)[:32_767]
        cell = openpyxl.cell.WriteOnlyCell(sheet, legal.encode("utf-8", "replace").decode())
        cell.data_type = "s"  # no formulas
        sheet.append([i, topic, cell])
    book.save(path)


def sqlite(path, rows):
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mails (id, topic, text)")
    for i, topic, text in rows:
        number = int(text) if text.isdecimal() and len(text) < 18 else text
        value = number if number != text else text.encode("utf-8", "surrogatepass")
        connection.execute("INSERT INTO mails VALUES (?, ?, ?)", (i, topic, value))
    connection.commit()
    connection.close()


def one_file_zip(path, rows):
    inner = path.with_name("inner.csv")
    separated(";", "\n")(inner, rows)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "inner.csv")


def page_folder(path, rows):
    """Pages that hold a text as it is, markup and all."""
    path.mkdir(exist_ok=True)
    for i, _, text in rows:
        (path / f"{i}.html").write_bytes(text.encode("utf-8", "surrogatepass"))


def mail_folder(path, rows):
    path.mkdir(exist_ok=True)
    for (i, _, _), message in zip(rows, messages(rows), strict=True):
        (path / f"{i}.eml.gz").write_bytes(gzip.compress(message, mtime=0))


def text_folder(path, rows):
    """Texts in UTF-8; those that begin with a byte order mark are in UTF-16."""
    path.mkdir(exist_ok=True)
    for i, _, text in rows:
        codec = "utf-16-le" if text.startswith("\ufeff") else "utf-8"
        (path / f"{i}.txt").write_bytes(text.encode(codec, "surrogatepass"))


@dataclass(frozen=True)
class Format:
    """How to write an input, what its file is called, and which columns it has beside the text."""

    write: object
    name: str
    id: str = "id"
    topic: str = "topic"
    query: str | None = None


INPUTS = {
    "csv": Format(separated(",", "\n"), "a.csv"),
    "csv, Windows": Format(separated(",", "\r\n"), "a.csv"),
    "csv with semicolons": Format(separated(";", "\r\n"), "a.csv"),
    "csv with bars": Format(separated("|", "\n"), "a.csv"),
    "tsv": Format(separated("\t", "\n"), "a.tsv"),
    "json lines": Format(json_strings, "a.jsonl"),
    "json lines of values": Format(json_values, "a.ndjson"),
    "parquet": Format(parquet, "a.parquet"),
    "parquet of bytes": Format(binary_parquet, "a.parquet"),
    "mbox": Format(quoted_mbox, "a.mbox", "date", "subject"),
    "mbox with lengths": Format(measured_mbox, "a.mbox", "date", "subject"),
    "mbox in base64": Format(encoded_mbox, "a.mbox", "date", "subject"),
    "folder": Format(text_folder, "texts", "path", "path"),
    "folder of pages": Format(page_folder, "pages", "path", "path"),
    "folder of mails": Format(mail_folder, "mails", "path", "path"),
    "json array": Format(json_array, "a.json"),
    "excel": Format(excel, "a.xlsx"),
    "arrow": Format(arrow, "a.feather"),
    "csv in a zip": Format(one_file_zip, "a.zip"),
    "sqlite": Format(sqlite, "a.sqlite", query="SELECT id, topic, text FROM mails"),
}

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def compressible(name):
    plain = ("parquet", "folder", "arrow", "excel", "sqlite", "csv in a zip")
    return not name.startswith(plain)


READ_COUNTS = {
    ".npz": lambda path, terms: load_npz(path),
    ".mtx": lambda path, terms: csr_matrix(mmread(path)),
    ".svmlight": lambda path, terms: from_pairs(
        [
            [(int(column) - 1, int(count)) for column, count in pairs(line.split()[1:])]
            for line in path.read_text().splitlines()
        ],
        len(terms),
    ),
    ".jsonl": lambda path, terms: from_pairs(
        [
            [(terms.index(term), count) for term, count in json.loads(line)["counts"].items()]
            for line in path.read_text().splitlines()
        ],
        len(terms),
    ),
    ".txt": lambda path, terms: from_pairs(
        [
            [(terms.index(word), 1) for word in line.split()]
            for line in path.read_text().splitlines()
        ],
        len(terms),
    ),
    ".csv": lambda path, terms: from_pairs(
        [
            [(terms.index(term), count) for _, term, count in rows]
            for _, rows in groupby(pl.read_csv(path).rows(), key=itemgetter(0))
        ],
        len(terms),
    ),
    ".parquet": lambda path, terms: from_pairs(
        [
            [(terms.index(term), count) for term, count in zip(*row, strict=True)]
            for row in pl.read_parquet(path).select("terms", "counts").rows()
        ],
        len(terms),
    ),
}


def pairs(fields):
    return (field.split(":") for field in fields)


def from_pairs(rows, width):
    """Counts of documents that are given as lists of a column and a count."""
    dense = np.zeros((len(rows), width), dtype=np.int32)
    for i, row in enumerate(rows):
        for column, count in row:
            dense[i, column] += count
    return csr_matrix(dense)


SIZES = [
    {},
    {
        (corpus, "SIZE"): 40, (corpus, "BATCH"): 2, (draft, "SHARD"): 3, (csv_rows, "BLOCK"): 16,
        (json_lines, "SIZE"): 30, (mbox, "SIZE"): 30, (drawing_groups, "WAITING_TERMS"): 3,
        (NeighbourhoodMechanism, "batch_draws"): 10,
    },
    {
        (corpus, "SIZE"): 25, (draft, "SHARD"): 4, (drawing_groups, "WAITING_TERMS"): 1,
        (NeighbourhoodMechanism, "batch_draws"): 15,
    },
]  # fmt: skip
"""Sizes of batches, blocks, shards and drawings: small ones end within a few documents."""


class Machine:
    """Makes releases on one machine, in process."""

    def __init__(self, folder, vectors):
        self.folder = folder
        self._options = {"vectors": vectors, "vocabulary": WORDS, **SETTINGS}
        built = Anonymizer.build(Settings.from_preset(**self._options))
        self._table = summarize_table(built.mechanism, built.vocabulary, length=SETTINGS["length"])

    def write(self, name, rows, suffix=""):
        """Write an input of a format; return its path."""
        format = INPUTS[name]
        self._query = format.query
        path = self.folder / format.name
        format.write(path, rows)
        if not suffix:
            return path
        compressed = path.with_name(path.name + suffix)
        compressed.write_bytes(COMPRESS[suffix](path.read_bytes()))
        return compressed

    def run(self, path, sizes=0, **options):
        """Make a release, and return what can be seen of it."""
        out = self.folder / "out"
        with pytest.MonkeyPatch.context() as patch:
            for (module, constant), value in SIZES[sizes].items():
                patch.setattr(module, constant, value)
            made = release(
                path, out, force=True, insecure_seed=11, jobs=1,
                query=self._query, **options, **self._options,
            )  # fmt: skip
        found = self.outcome(out)
        self.guarantee = made.guarantee
        return found

    def outcome(self, out, status=0, output=""):
        """Read what can be seen of a release."""
        content = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
        derived = ("vectors", "guarantee.json", "croissant.json", "report.html")
        sealed = {name: raw for name, raw in content.items() if name.startswith(derived)}
        files = {name: raw for name, raw in content.items() if name not in sealed}
        rows = []
        for path in sorted(out.glob("vectors*")):
            counts = READ_COUNTS[path.suffix](path, WORDS)
            rows += [tuple(row) for row in counts.toarray().tolist()]
        return Outcome(status, output, files, rows, sealed)

    def rebuilt(self, first, second, place, format):
        """Write a release again from the first outcome, with one row of the second."""
        rows = list(first.rows)
        rows[place] = second.rows[place]
        target = self.folder / "rebuilt"
        target.mkdir()
        documents = [
            tables.from_parquet(raw)
            for name, raw in first.files.items()
            if name.startswith("documents") and name.endswith(".parquet")
        ]
        shards, start = [], 0
        for table in documents:
            own = np.array(rows[start : start + table.num_rows], dtype=np.int32)
            shards.append((csr_matrix(own.reshape(table.num_rows, len(WORDS))), table))
            start += table.num_rows
        names = folder.shard_names(len(shards))
        written = folder.write_shards(
            target, zip(names, shards, strict=True), WORDS, numbered=False, format=format
        )
        guarantee = replace(self.guarantee, files={})
        folder.write_all(target, names, written, WORDS, guarantee, self._table, format)
        again = {path.name: path.read_bytes() for path in target.iterdir()}
        for path in target.iterdir():
            path.unlink()
        target.rmdir()
        return again

    def command(self, path, capsys, *arguments):
        """Run the command in this process; return what can be seen of it."""
        out = self.folder / "out"
        terms = self.folder / "terms.txt"
        terms.write_text("\n".join(WORDS))
        options = [
            "--vocabulary", str(terms), "--length", "5", "--loss", "2", "--insecure-seed", "11",
            "--force", "--jobs", "1", "--out", str(out),
        ]  # fmt: skip
        options += ["--query", self._query] if self._query else []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["syntf", "anonymize", str(path), *options, *arguments])
            with pytest.raises(SystemExit) as end:
                main()
        output = capsys.readouterr().out
        if "--json" in arguments:
            output = without_digests(output)
        return self.outcome(out, end.value.code, output)
