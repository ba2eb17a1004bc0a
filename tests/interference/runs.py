"""Compare two runs whose inputs differ in the text of one document.

With the same entropy, everything but the answers of that document must be the same, except that
the answers of a pilot document may change the list of all others. A release is a function of its
answers, its kept columns and its guarantee: `verify` writes every file again from these and
compares it. So it is enough to compare those three, and everything around the files.
"""

import io
import json
import mailbox
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import polars as pl

from syntf import anonymize, read_release, verify
from syntf.core import entropy

SEPARATOR = "From someone@example.org Mon Jan  1 10:00:00 2024"
TEXTS = {
    "empty": "",
    "one word": "cat",
    "blank": " \t ",
    "a newline": "cat\ndog",
    "newlines": "\n\n\ncat\n\n",
    "a carriage return": "cat\rdog",
    "a Windows line": "cat\r\ndog\r\n",
    "other line ends": "cat\x0bdog\x0ccar\x85bus\u2028train\u2029",
    "the beginning of a message": f"cat\n\n{SEPARATOR}\nSubject: x\n\ndog\n",
    "From": "From here on\nFrom there\n>From quotes\n",
    "a content length": "Content-Length: 1\n\nContent-Length: 999999\n",
    "NUL": "cat\0dog\0",
    "a number": "17",
    "a large number": "9" * 5000,
    "infinity": "1e999",
    "true": "true",
    "null": "null",
    "NaN": "NaN",
    "a byte order mark": "\ufeffcat",
    "quotes": '"cat" ""dog"" "',
    "one quote": '"',
    "commas": "a," * 5000,
    "tabs": "cat\tdog\t" * 100,
    "JSON": '{"text": "cat", "id": [1, {"a": null}]}',
    "a JSON line": '"}\n{"id": "x", "text": "dog"}\n{"a": "',
    "a CSV row": 'cat"\n9,x,dog\n"',
    "markup": "<p>cat</p><script>",
    "mail": "Content-Type: multipart/mixed; boundary=x\n\n--x\n\ncat\n--x--\n",
    "a strange charset": 'Content-Type: text/plain; charset="idna"\n\ncat',
    "a formula": "=1+1",
    "other alphabets": "кошка 猫 قطة 🐈 é",
    "combining marks": "e\u0301" * 50,
    "a long word": "cat" * 5000,
    "many words": "cat dog car " * 500,
    "control characters": "\x1b[2J\x07\x7f",
}
"""Texts that once broke something, or might: by what they hold."""

OTHERS = ("car bus train", "bread and cheese", "", "music song piano", "The cat sat", "a red rose")


def write_csv(folder, rows):
    pl.DataFrame(rows).write_csv(folder / "in.csv")
    return folder / "in.csv"


def write_json_lines(folder, rows):
    lines = (json.dumps(row) for row in rows)
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "in.jsonl"


def write_parquet(folder, rows):
    pl.DataFrame(rows).write_parquet(folder / "in.parquet")
    return folder / "in.parquet"


def write_mbox(folder, rows):
    box = mailbox.mbox(folder / "in.mbox")
    for row in rows:
        message = mailbox.mboxMessage()
        message["Subject"] = str(row["label"])
        message.set_payload(row["text"].encode("utf-8", "replace"), "utf-8")
        message["From"] = "a@example.org"
        box.add(message)
    box.close()
    return folder / "in.mbox"


FORMATS = {
    "csv": (write_csv, "label"),
    "json lines": (write_json_lines, "label"),
    "parquet": (write_parquet, "label"),
    "mbox": (write_mbox, "subject"),
}


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of a run.

    error : what stopped it, if anything did.
    printed : standard output and error.
    files : names and modes of the files.
    dates : the time stamps inside archives.
    kept : the kept columns, in the order of the release.
    promise : the guarantee without digests that follow from answers.
    answers : the answers of each document, in the order of the release.
    pilot : which documents answered first.
    names : what is called what: pairs of a document's answers and the topic that it shows.
    verified : whether every file follows from the above.
    """

    error: str
    printed: str
    files: tuple
    dates: frozenset
    kept: tuple
    promise: str
    answers: tuple
    pilot: tuple
    names: frozenset
    verified: bool


def run(folder, texts, form, source=None, **options):
    """Make a release of texts in a format and describe everything that can be seen of it."""
    write, label = FORMATS[form]
    folder.mkdir(parents=True)
    path = write(
        folder,
        [{"label": f"l{place}", "text": text} for place, text in enumerate(texts)],
    )
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            anonymize(
                path, folder / "out", text="text", keep=[label], shuffle=True,
                source=source or entropy.Seeded(5), **options,
            )  # fmt: skip
        except Exception as error:
            return Outcome(
                repr(error), printed.getvalue(), (), frozenset(), (), "", (), (), frozenset(), False
            )
    release = read_release(folder / "out")
    promise = release.guarantee.as_dict()
    for name in ("files", "checksum"):
        del promise[name]
    promise["public"].pop("sharpened answers", None)
    promise["composition"] = promise["composition"][:1]
    archives = (folder / "out").glob("*.npz")
    dates = {entry.date_time for one in archives for entry in zipfile.ZipFile(one).infolist()}
    documents = release.documents
    if "answer" in documents.columns:
        answers, pilot = map(tuple, documents["answer"].to_list()), documents["pilot"].to_list()
        lists = pilot
        shown = zip(lists, documents["answer"].to_list(), documents["released_topic"], strict=True)
        names = {(first, tuple(own), name) for first, own, name in shown}
    else:
        answers = (tuple(zip(row.indices, row.data, strict=True)) for row in release.counts)
        pilot = [False] * len(documents)
        names = set()
    for one in (folder / "out").iterdir():
        assert abs(one.stat().st_mtime - time.time()) < 600, "a file has another time"
    return Outcome(
        error="",
        printed=printed.getvalue(),
        files=tuple(
            sorted((one.name, one.stat().st_mode) for one in (folder / "out").iterdir())
        ),
        dates=frozenset(dates),
        kept=tuple(documents[label].to_list()),
        promise=json.dumps(promise),
        answers=tuple(answers),
        pilot=tuple(pilot),
        names=frozenset(names),
        verified=verify(folder / "out").ok,
    )  # fmt: skip


def check(first, second, label):
    """Check that two outcomes differ at most in the answers of the document with this label."""
    for name in ("error", "printed", "files", "dates", "kept", "promise", "pilot", "verified"):
        assert getattr(first, name) == getattr(second, name), name
    assert first.error == ""
    assert first.verified
    if not any(first.pilot):  # with a pilot, other documents may have other lists
        names = first.names | second.names
        assert len(names) == len({name[:2] for name in names}), "one answer has two names"
    place = first.kept.index(label)
    for other in range(len(first.answers)):
        if other == place:
            continue
        if first.pilot[place] and not first.pilot[other]:
            continue  # the released answer of a pilot document may change the list of others
        assert first.answers[other] == second.answers[other], "another document's answers differ"


def differing_pairs(tmp_path, form, tried, place=1, **options):
    """Yield the outcomes of pairs of inputs that differ in the text of one document."""

    def texts(own):
        return [*OTHERS[:place], own, *OTHERS[place:]]

    first = run(tmp_path / "first", texts("The cat and the dog"), form, **options)
    for number, text in enumerate(tried):
        yield first, run(tmp_path / f"{number}", texts(text), form, **options)
