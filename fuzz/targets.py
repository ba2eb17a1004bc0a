"""Targets for fuzzing: one function for each part that reads input from outside.

A target writes bytes to a file and lets the program read them. The program must accept them or
raise a :class:`SyntfError` with a message of one line; anything else is a fault. Texts that the
program reads from the file are anonymised, and each must yield exactly n words.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, save_npz

from syntf import SynTF
from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.results import read_results
from syntf.evaluation.experiment.run_log import RunLog
from syntf.inputs import columns
from syntf.inputs import corpus as corpora
from syntf.inputs.formats import parquet
from syntf.releases import draft as drafts
from syntf.releases.contents.writers import write_documents
from syntf.text import token_table
from syntf.text.token_table import TokenTable
from syntf.text.tokenizer import Analyzer
from syntf.vectors import word_vectors
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary import wordnet
from syntf.vocabulary.vocabulary import Vocabulary

WORDS = ["cat", "dog", "car", "train", "music", "river", "bread", "garden"]
LENGTH = 7
ENCODINGS = ("utf-8", "utf-16", "utf-32", "latin-1", "cp1252", "gb18030", "shift_jis",
             "unicode_escape", "idna", "punycode", "ascii")  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader, and well-formed inputs that are damaged to test it."""

    name: str
    run: Callable[[bytes, Path], None]
    seeds: Sequence[bytes]


def vectors() -> WordVectors:
    """Return a small table of word vectors."""
    normal = np.random.default_rng(7).normal(size=(len(WORDS), 4))
    return WordVectors.quantize(list(WORDS), normal)


class Words:
    """A fitted transformer, made at its first use."""

    _transformer: SynTF | None = None

    @classmethod
    def check(cls, texts: Sequence[Any]) -> None:
        """Anonymise texts and check that each yields exactly n words."""
        if cls._transformer is None:
            cls._transformer = SynTF(
                length=LENGTH, vectors=vectors(), vocabulary=WORDS, loss=3
            ).fit([])
        counts = cls._transformer.transform(texts)
        assert counts.shape == (len(texts), len(WORDS))
        assert counts.dtype == np.int32
        assert counts.nnz == 0 or counts.data.min() > 0
        assert (np.asarray(counts.sum(axis=1)).ravel() == LENGTH).all()


def result_or_refusal(work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what `work` returns, or None if it raises a SyntfError with a message of one line."""
    try:
        return work(*arguments, **options)
    except SyntfError as error:
        message = str(error)
        assert message
        assert len(message) < 1000
        assert "\n" not in message
        return None


def documents(inputs: Sequence[Path], **options: Any) -> None:
    """Read a corpus in small batches, as ``anonymize`` does, and anonymise all of it."""
    old, corpora.BATCH = corpora.BATCH, 3
    survives, parquet.survives = parquet.survives, Trials.survives
    try:
        result_or_refusal(_batches, inputs, **options)
        lenient = {"bad_rows": "skip", "max_bad_rows": 1, "undecodable": "replace"}
        result_or_refusal(_batches, inputs, **lenient, **options)
    finally:
        corpora.BATCH, parquet.survives = old, survives


def _batches(inputs: Sequence[Path], **options: Any) -> None:
    corpus = corpora.Corpus(inputs, "text", ["id"], **options)
    for frame in corpus:
        found = columns.texts(frame, "text")
        assert len(found) == frame.height > 0
        "".join(found).encode()  # no lone surrogate is left
        write_documents(io.BytesIO(), tables.of(frame.as_arrow()))
        Words.check(found)


class Trials:
    """Try Parquet files in another process, as the program does, but in one process for many files.

    A process that dies is replaced.
    """

    _process: subprocess.Popen[str] | None = None

    @classmethod
    def survives(cls, source: Path, batch: int, format: str = "parquet") -> bool:
        with source.open("rb"):
            pass
        if cls._process is None:
            command = [sys.executable, "-c", parquet.TRIAL.replace("__main__", "") + LOOP]
            pipe, silent = subprocess.PIPE, subprocess.DEVNULL
            cls._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=silent, text=True
            )
        answer = ""
        with suppress(OSError):
            print(source, batch, format, file=cls._process.stdin, flush=True)  # type: ignore[arg-type]
            answer = cls._process.stdout.readline()  # type: ignore[union-attr]
        if not answer:
            cls.end()
        return answer == "ok\n"

    @classmethod
    def end(cls) -> None:
        if cls._process is not None:
            cls._process.kill()
            cls._process.communicate()
            cls._process = None


LOOP = """
for line in sys.stdin:
    source, batch, format = line.strip().rsplit(" ", 2)
    try:
        read_all(source, int(batch), format)
    except BaseException:
        print("no", flush=True)
    else:
        print("ok", flush=True)
"""


def _corpus(suffix: str) -> Callable[[bytes, Path], None]:
    def run(raw: bytes, folder: Path) -> None:
        path = folder / f"input{suffix}"
        path.write_bytes(raw)
        documents([path])

    return run


def _encoded(raw: bytes, folder: Path) -> None:
    (folder / "input.csv").write_bytes(raw[1:])
    documents([folder / "input.csv"], encoding=ENCODINGS[raw[0] % len(ENCODINGS)] if raw else "")


def _compressed(raw: bytes, folder: Path) -> None:
    suffix = (".csv.gz", ".jsonl.bz2", ".tsv.xz")[raw[0] % 3 if raw else 0]
    _corpus(suffix)(raw[1:], folder)


def _many(raw: bytes, folder: Path) -> None:
    """Read several files of different formats."""
    paths = []
    for number, part in enumerate(raw.split(b"\n\n\n")[:4]):
        suffix = (".csv", ".jsonl", ".tsv")[part[0] % 3 if part else 0]
        paths.append(folder / f"part{number}{suffix}")
        paths[-1].write_bytes(part[1:])
    documents(paths)


def _folder(raw: bytes, folder: Path) -> None:
    """Read a folder with one file for each line: its name, a colon and its content."""
    inside = folder / "texts"
    inside.mkdir()
    for number, line in enumerate(raw.split(b"\n")[:8]):
        name, _, body = line.partition(b":")
        safe = name.replace(b"\0", b"").replace(b"/", b"")[:40] or b"x"
        path = os.path.join(os.fsencode(inside), b"%d" % number + safe)
        with open(path, "wb") as file:
            file.write(body)
    old, corpora.BATCH = corpora.BATCH, 3
    try:
        for undecodable in ("stop", "replace"):
            result_or_refusal(_folder_texts, inside, undecodable)
    finally:
        corpora.BATCH = old
    shutil.rmtree(inside)


def _folder_texts(folder: Path, undecodable: Any) -> None:
    for frame in corpora.Corpus([folder], "text", ["path"], undecodable=undecodable):
        Words.check(columns.texts(frame, "text"))


def _document(raw: bytes, folder: Path) -> None:
    """Read one file as a document of the kind that its first byte chooses."""
    suffix = (".html", ".eml", ".txt", ".pdf", ".docx")[raw[0] % 5 if raw else 0]
    path = folder / f"input{suffix}"
    path.write_bytes(raw[1:])
    for undecodable in ("stop", "replace"):
        result_or_refusal(_folder_texts, path, undecodable)


def _database(raw: bytes, folder: Path) -> None:
    (folder / "input.sqlite").write_bytes(raw)
    documents([folder / "input.sqlite"], query="SELECT id, text FROM mails")


def _vectors(suffix: str) -> Callable[[bytes, Path], None]:
    def run(raw: bytes, folder: Path) -> None:
        path = folder / f"vectors{suffix}"
        path.write_bytes(raw)
        made = result_or_refusal(WordVectors.read, path)
        if made is not None:
            assert made.matrix.shape[0] == len(made.words) == len(set(made.words)) > 0
            assert (np.abs(made.matrix.astype(int)).max(axis=1) == 127).all()
            made.digest  # noqa: B018

    return run


def _vocabulary(raw: bytes, folder: Path) -> None:
    path = folder / "terms.txt"
    path.write_bytes(raw)
    made = result_or_refusal(Vocabulary.read, path, vectors(), morphology="lemma")
    if made is not None:
        assert set(made.outputs) <= {form for word in WORDS for form in _forms(word)}


def _forms(word: str) -> set[str]:
    """Return the spellings whose lower case is the word."""
    found = {""}
    for letter in word:
        same = {
            chr(c) for c in (ord(letter), ord(letter.upper()), 0x212A) if chr(c).lower() == letter
        }
        found = {start + form for start in found for form in same}
    return found


def _wordnet(raw: bytes, folder: Path) -> None:
    for name in wordnet.FILES:
        (folder / name).write_bytes(raw if name == "data.adj" else SYNSET)
    result_or_refusal(wordnet.synonyms, WORDS, folder)


def _wordnet_zip(raw: bytes, folder: Path) -> None:
    home = folder / "corpora"
    home.mkdir(exist_ok=True)
    (home / "wordnet.zip").write_bytes(raw)
    old = {name: os.environ.get(name) for name in ("NLTK_DATA", "SYNTF_WORDNET")}
    os.environ["NLTK_DATA"] = str(folder)
    os.environ.pop("SYNTF_WORDNET", None)
    try:
        for place in wordnet.candidate_places():
            if str(place).startswith(str(folder)) and wordnet._is_wordnet(place):
                result_or_refusal(wordnet.synonyms, WORDS, place)
    finally:
        for name, value in old.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _cached(raw: bytes, folder: Path) -> None:
    """Read a cache entry that is damaged, or forged with a valid checksum: ignored, or usable."""
    path = folder / "entry.vectors"
    forged = raw[:1] == b"f"
    path.write_bytes(sha256(raw[1:]).digest() + raw[1:] if forged else raw)
    made = word_vectors._read_entry(path)
    assert made is None or len(made.words) == len(made.matrix)


def _tokens(raw: bytes, folder: Path) -> None:
    """Read a forged table of tokens: it is ignored, or it answers with valid input words."""
    made = TokenTable.from_bytes(np.frombuffer(raw, dtype=np.uint8), Analyzer(), WORDS)
    if made is not None and token_table.compiled is not None:
        for word in (*WORDS, "", "qwxyz", "é" * 40):
            assert -1 <= made.find(word) < len(WORDS)


def _draft(raw: bytes, folder: Path) -> None:
    """Resume the draft of an interrupted run: its state and its only shard."""
    draft = folder / ".out.partial"
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(folder / "out", ignore_errors=True)
    draft.mkdir()
    state, _, rest = raw.partition(b"\n")
    vectors, _, rows = rest.partition(SEPARATOR)
    (draft / "state.json").write_bytes(state)
    (draft / "vectors-00000.npz").write_bytes(vectors)
    (draft / "documents-00000.parquet").write_bytes(rows)
    result_or_refusal(_resumed, folder)
    assert not (folder / "out").exists() or (folder / "out" / "guarantee.json").exists()


def _resumed(folder: Path) -> None:
    with drafts.Draft(folder / "out", key="k", resume=True) as draft:
        assert draft.documents == sum(draft._rows) >= 0
        for shard, rows in enumerate(draft._rows):
            counts, documents = draft.read_shard(shard)
            assert counts.shape[0] == documents.num_rows == rows


def _log(raw: bytes, folder: Path) -> None:
    (folder / "runs.jsonl").write_bytes(raw)
    log = result_or_refusal(RunLog, folder / "runs.jsonl", "e")
    if log is not None:
        result_or_refusal(lambda: list(log.run_scores()))
        result_or_refusal(lambda: log.finished({"method": "syntf"}))


def _results(raw: bytes, folder: Path) -> None:
    (folder / "results.csv").write_bytes(raw)
    result_or_refusal(read_results, folder / "results.csv")


def _transform(raw: bytes, folder: Path) -> None:
    """Anonymise bytes, decoded bytes, and characters with these code points."""
    wide = "".join(map(chr, np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<u2").tolist()))
    Words.check([raw, raw.decode("utf-8", "surrogateescape"), raw.decode("latin-1"), wide, None])


CSV = b'id,text\n1,"a cat, a dog"\n2,"two\nlines of ""music"""\n3,\n4,\xc3\xa9t\xc3\xa9 river\n'
JSONL = (
    b'{"id": 1, "text": "a cat"}\n{"id": 2, "text": "music \\ud83d\\ude00 \\u00e9"}\n'
    b'{"id": 3, "text": null}\n{"id": 4, "text": "train"}\n{"id": 5, "text": "car"}\n'
)
MBOX = (
    b"From a@b Thu Jan  1 00:00:00 2026\nSubject: =?utf-8?q?caf=C3=A9?=\nFrom: a <a@b>\n"
    b"Date: Thu, 1 Jan 2026 00:00:00 +0000\nid: 1\n\nThe cat.\n\n"
    b"From c@d Thu Jan  1 00:00:00 2026\nMIME-Version: 1.0\nContent-Type: multipart/mixed; "
    b'boundary="x"\n\n--x\nContent-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding:'
    b" base64\n\nPGI+ZG9nPC9iPg==\n--x--\n"
)
GLOVE = b"cat 0.1 -0.2 0.3\ndog 1 2 3\ncaf\xc3\xa9 -1e-3 0.5 7\n"
SYNSET = b"00000000 03 s 02 cat 0 dog(p) 1 001 @ 00001740 n 0000 | x  \n"
SEPARATOR = b"\n<between>\n"


def _table(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _parquets() -> list[bytes]:
    plain = pl.DataFrame({"id": [1, 2, 3, 4], "text": ["a cat", None, "music", "x" * 50]})
    return [
        _table(plain),
        _table(plain.with_columns(pl.col("text").cast(pl.Binary))),
        _table(plain.with_columns(pl.col("text").cast(pl.Categorical))),
        _table(pl.DataFrame({"id": [[1]], "text": [{"a": 1}]})),
    ]


def _arrows() -> list[bytes]:
    plain = pl.DataFrame({"id": [1, 2, 3, 4], "text": ["a cat", None, "music", "x" * 50]})
    files = [io.BytesIO(), io.BytesIO()]
    plain.write_ipc(files[0])
    plain.write_ipc(files[1], compression="zstd")
    return [file.getvalue() for file in files]


def _excels() -> list[bytes]:
    try:
        from openpyxl import Workbook
    except ImportError:
        return [b"PK"]
    book, file = Workbook(), io.BytesIO()
    for row in (("id", "text"), (1, "a cat"), (2.5, None), (None, "music")):
        book.active.append(row)
    book.save(file)
    return [file.getvalue()]


def _databases() -> list[bytes]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE mails (id, text)")
    rows = [(1, "a cat"), (2.0, None), (None, b"caf\xe9"), ("x", 17)]
    connection.executemany("INSERT INTO mails VALUES (?, ?)", rows)
    connection.commit()
    return [connection.serialize()]


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _npzs() -> list[bytes]:
    numbers = np.arange(1.0, 7.0).reshape(2, 3)
    packed = io.BytesIO()
    np.savez_compressed(packed, words=np.array(["cat", "dog"]), vectors=numbers)
    return [
        _npz(words=np.array(["cat", "dog"]), vectors=numbers),
        _npz(words=np.array([b"cat", b"dog"]), vectors=numbers.astype(np.int16)),
        packed.getvalue(),
    ]


def _word2vec() -> bytes:
    one = np.array([1, 2, 3], dtype="<f4").tobytes()
    return b"2 3\ncat " + one + b"\ndog " + one + b"\n"


def _zips() -> list[bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("wordnet/", b"")
        for name in wordnet.FILES:
            archive.writestr(f"wordnet/{name}", SYNSET)
    return [file.getvalue()]


def _one_file_zips() -> list[bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mails.csv", CSV)
    return [file.getvalue()]


def _entries() -> list[bytes]:
    shape = np.array([2, 3], dtype="<i8").tobytes()
    about = json.dumps({"words": ["cat", "dog"], "notes": []}).encode()
    kept = shape + bytes(range(1, 7)) + about
    return [b"f" + kept, sha256(kept).digest() + kept]


def _token_tables() -> list[bytes]:
    if token_table.compiled is None:
        return [b""]
    tables = (TokenTable.build(Analyzer(), words) for words in (WORDS, WORDS[:1]))
    return [b"".join(part.tobytes() for part in table.to_arrays()) for table in tables]


def _drafts() -> list[bytes]:
    file = io.BytesIO()
    save_npz(file, csr_matrix(np.eye(3, 8, dtype=np.int32)))
    rows = _table(pl.DataFrame({"document": [0, 1, 2], "topic": ["a", "b", "c"]}))
    shard = file.getvalue(), rows
    state = {"key": "k", "packed": False, "rows": [3]}
    state["digests"] = [drafts.shard_digest(*shard)]
    return [json.dumps(state).encode() + b"\n" + SEPARATOR.join(shard)]


def _logs() -> list[bytes]:
    score = {"task": "utility", "model": "nb", "scenario": "", "attacker": "",
             "f1": 0.5, "precision": 0.5, "recall": 0.5}  # fmt: skip
    run = {"method": "syntf", "epsilon": 4.0, "length": 5, "spelling": 0.3, "morphology": "lemma",
           "synsets": False, "loss_per_word": 2.0, "run": 0, "tagger": "",
           "scores": [score]}  # fmt: skip
    return [b'{"experiment": "e"}\n' + json.dumps(run).encode() + b"\n"]


def _result_files() -> list[bytes]:
    head = ("method,task,scenario,model,attacker,epsilon,length,spelling,morphology,synsets,"
            "loss_per_word,runs,f1,f1_std,precision,recall")  # fmt: skip
    return [f"{head}\nsyntf,utility,,nb,,4.0,5,0.3,lemma,false,2.0,1,0.5,,0.5,0.5\n".encode()]


TARGETS = [
    Target("csv", _corpus(".csv"), [CSV]),
    Target("tsv", _corpus(".tsv"), [CSV.replace(b",", b"\t")]),
    Target("jsonl", _corpus(".jsonl"), [JSONL, b'{"id": {"a": [1]}, "text": "x"}\n' + JSONL]),
    Target("json array", _corpus(".json"), [b"[" + b",".join(JSONL.splitlines()) + b"]", JSONL]),
    Target("parquet", _corpus(".parquet"), _parquets()),
    Target("arrow", _corpus(".feather"), _arrows()),
    Target("excel", _corpus(".xlsx"), _excels()),
    Target("sqlite", _database, _databases()),
    Target("zip", _corpus(".zip"), _one_file_zips()),
    Target("documents", _document,
           [b"\0<p>a <b>cat</b>", b"\1" + MBOX.partition(b"\n")[2], b"\2a cat", b"\3%PDF-1.4",
            b"\4PK"]),
    Target("mbox", _corpus(".mbox"), [MBOX]),
    Target("encodings", _encoded, [bytes([i]) + CSV.decode().encode(name, "replace")
                                   for i, name in enumerate(ENCODINGS[:8])]),
    Target("compressed", _compressed,
           [b"\0" + gzip.compress(CSV), b"\1" + bz2.compress(JSONL), b"\2" + lzma.compress(CSV)]),
    Target("several files", _many, [b"\0" + CSV + b"\n\n\n\1" + JSONL]),
    Target("folder", _folder, [b"a.txt:a cat\nb\xff.txt:\xff\xfe\0\n:music"]),
    Target("vocabulary", _vocabulary,
           [b"cat\ndog\n", b"# syntf vocabulary\n# morphology: lemma\n# provenance: public\ncat"]),
    Target("vectors, GloVe", _vectors(".txt"), [GLOVE, gzip.compress(GLOVE)]),
    Target("vectors, word2vec text", _vectors(".vec"), [b"3 3\n" + GLOVE, b"1 2\ncat 1 2 \n"]),
    Target("vectors, word2vec binary", _vectors(".bin"), [_word2vec(), gzip.compress(_word2vec())]),
    Target("vectors, npz", _vectors(".npz"), _npzs()),
    Target("wordnet", _wordnet, [SYNSET]),
    Target("wordnet zip", _wordnet_zip, _zips()),
    Target("cache", _cached, _entries()),
    Target("tokens", _tokens, _token_tables()),
    Target("draft", _draft, _drafts()),
    Target("log", _log, _logs()),
    Target("results", _results, _result_files()),
    Target("transform", _transform, [b"a cat sat on the train", "été 猫".encode(), b"a " * 500]),
]  # fmt: skip
