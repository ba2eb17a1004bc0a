"""Verifying a release: any changed byte is found, and any field that can be derived is derived."""

import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from hashlib import sha256
from math import nextafter

import numpy as np
import polars as pl
import pytest
from arro3.core import DataType, Field, Schema, Table
from arro3.io import write_parquet
from forging import failed, forge, stated, status
from scipy.sparse import csr_matrix

from syntf.cli import main, output
from syntf.cli.commands import verify as command
from syntf.core import cache_store, entropy, tables
from syntf.core.errors import SyntfError
from syntf.inputs.formats import parquet
from syntf.mechanism.exponential import table_key
from syntf.mechanism.rating import WithEmptyDocument
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import CHECKSUM, ORIGINS, Guarantee, Language
from syntf.releases import draft as drafts
from syntf.releases.contents import folder as release_folder
from syntf.releases.contents.readme import render_readme
from syntf.releases.contents.writers import WRITERS
from syntf.report.table_summary import summarize_table
from syntf.vectors.word_vectors import WordVectors
from syntf.verification import files, parquet_file, table, texts
from syntf.verification.guarantee_file import read_guarantee, valid_fields
from syntf.verification.result import (
    CHECKS,
    FAILED,
    NOT_CHECKED,
    OK,
    UNVERIFIABLE,
    VerificationResult,
)
from syntf.verification.verify import AUTHOR_FIELDS, verify

TEXTS = ["The cat and the dog run.", "", "A piano on a boat, a song.", "bread and cheese"]
LENGTH = 20


@pytest.fixture(scope="module")
def make(toy_vectors, toy_words, tmp_path_factory):
    """A release of four texts; what is not given is of the toy vectors and all their words."""

    def made(format="npz", source=entropy.system, kept=("topic",), **chosen):
        given = {"vectors": toy_vectors, "vocabulary": toy_words, "length": LENGTH, **chosen}
        anonymizer = Anonymizer.build(Settings(**given), TEXTS, source=source)
        documents = {"document": range(len(TEXTS)), **{name: list("abca") for name in kept}}
        folder = tmp_path_factory.mktemp("made") / "release"
        drafts.write(
            folder, anonymizer.anonymize(TEXTS), anonymizer.vocabulary.outputs,
            tables.from_polars(pl.DataFrame(documents)), anonymizer.guarantee(kept_columns=kept),
            summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=LENGTH),
            format=format,
        )  # fmt: skip
        return folder

    return made


@pytest.fixture(scope="module")
def original(make):
    return make(neighbours=2, loss=4.0)


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "release")


@pytest.fixture
def check(toy_vectors):
    return lambda folder: verify(folder, vectors=lambda: toy_vectors)


def forge_readme(folder, guarantee):
    """The README that goes with a forged guarantee."""
    columns = pl.read_parquet_schema(folder / "documents.parquet").names()
    (folder / "README.txt").write_text(render_readme(guarantee, len(TEXTS), columns))
    forge(folder)


def forge_report(folder, result):
    """The report that goes with a forged guarantee, by a forger who has all that it takes."""
    made = texts.render_report_again(stated(folder), *result.table, result.sparsity)
    (folder / "report.html").write_text(made, encoding="utf-8")
    forge(folder)


@pytest.mark.parametrize(
    "chosen",
    [
        {"neighbours": 2, "loss": 4.0},
        {"neighbours": None, "epsilon": 20.0},
        {"neighbours": None, "loss": 3.0},
        {"neighbours": 1, "vocabulary": ["Cat", "dog", "Piano", "boat"]},
        {"neighbours": None, "vocabulary": ["Cat", "dog", "Piano", "boat"], "spelling": 0.0},
        {"neighbours": None, "vocabulary": None},
        {"neighbours": None, "vocabulary": None, "max_size": 7},
        {"neighbours": 3, "vocabulary": None, "max_size": 7},
        {"neighbours": None, "vocabulary": None, "fit_vocabulary": True, "min_df": 1},
        {"neighbours": 1, "vocabulary": None, "fit_vocabulary": True, "min_df": 1, "kept": ()},
        {"weights": "tfidf", "idf": "fitted", "draws": "systematic"},
        {"source": entropy.Seeded(3), "stop_words": frozenset({"cat"}), "morphology": "orth"},
    ],
)  # fmt: skip
def test_a_release_is_verified(make, check, chosen):
    result = check(make(**chosen))
    assert result.verified
    assert [check.name for check in result.checks] == [*CHECKS, "draws of the counts", *SENDER_SAYS]
    assert (result.documents, result.guarantee.length) == (len(TEXTS), LENGTH)


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_every_format_is_verified(make, check, format):
    assert check(make(format, neighbours=2, loss=4.0)).verified


def test_synonyms_are_unverifiable(make, check, toy_wordnet, monkeypatch):
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))
    for vocabulary in (None, ["cat", "run"]):
        result = check(make(neighbours=None, vocabulary=vocabulary, synsets=True))
        assert result.verified
        assert status(result)["public words"] == UNVERIFIABLE


def flipped(raw, mask):
    """The bytes with each of them changed in turn."""
    for place in range(len(raw)):
        yield raw[:place] + bytes([raw[place] ^ mask]) + raw[place + 1 :]


@pytest.mark.parametrize("mask", [1 << bit for bit in range(8)])
def test_every_flipped_bit_of_the_guarantee_is_refused(original, mask):
    raw = (original / "guarantee.json").read_bytes()
    assert read_guarantee(raw)
    for changed in flipped(raw, mask):
        with pytest.raises(SyntfError):
            read_guarantee(changed)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("guarantee.json", "guarantee.json"),
        ("vocabulary.txt", "files"),
        pytest.param("README.txt", "files", marks=pytest.mark.slow),
        ("vectors.npz", "files"),
        ("documents.parquet", "files"),
    ],
)
def test_every_flipped_byte_of_a_release_is_caught(copy, check, name, where, trust):
    path = copy / name
    raw = path.read_bytes()
    assert check(copy).verified
    for changed in flipped(raw, 0x01):
        path.write_bytes(changed)
        result = check(copy)
        assert not result.verified  # nothing is checked if the changed byte is in the version
        first = next(check for check in result.checks if check.status in (FAILED, NOT_CHECKED))
        assert first.name == where
        trust["changed bytes of a release caught"] += 1


@pytest.mark.parametrize("added", [b" ", b"\n", b"\t", b"0", b","])
def test_every_added_or_removed_byte_of_the_guarantee_is_caught(original, added):
    raw = (original / "guarantee.json").read_bytes()
    for place in range(len(raw) + 1):
        for changed in (raw[:place] + added + raw[place:], raw[:place] + raw[place + 1 :]):
            if changed != raw:
                with pytest.raises(SyntfError):
                    read_guarantee(changed)


def test_a_flipped_bit_of_the_vectors_is_found(original, toy_vectors):
    matrix = toy_vectors.matrix.copy()
    matrix[17, 3] ^= 1
    changed = WordVectors(toy_vectors.words, matrix)
    assert failed(verify(original, vectors=lambda: changed)) == ["vectors"]


FORGED = {
    "language": (Language("en", "sha256:" + "0" * 64), "consistency"),
    "mechanism": ("exponential-int62/1", "table"),
    "epsilon": (nextafter(8.0, 9), "table"),
    "neighbours": (3, "table"),
    "spelling": (nextafter(0.3, 1), "table"),
    "length": (LENGTH - 1, "counts"),
    "vocabulary_size": (41, "vocabulary.txt"),
    "inputs": ("outputs", "consistency"),
    "input_size": (41, "table"),
    "loss_ratio": ("54", "loss per word"),
    "loss_per_document": (nextafter(80.0, 0), "loss per document"),
    "provenance": (dict.fromkeys(ORIGINS, "fitted"), "consistency"),
    "supplied": (["vocabulary"], "vectors"),
    "seeded": (True, "consistency"),
    "kept_columns": (["other"], "documents"),
    "digest": ("sha256:" + "0" * 64, "table"),
    "vocabulary_digest": ("sha256:" + "0" * 64, "vocabulary.txt"),
    "vectors_digest": ("sha256:" + "0" * 64, "vectors"),
    "private": (False, "consistency"),
    "files": ({}, "files"),
    "synsets": (True, "consistency"),
    "analyzer": ("spacy:en_core 3", "consistency"),
}
"""Another value that the field could have, and the check that sees it is not so."""

SENDER_SAYS = [
    one.name
    for one in fields(Guarantee)
    if one.metadata["unverifiable"] and one.name not in AUTHOR_FIELDS
]
"""What is stated of a release without a limit for authors."""

UNDERIVABLE = {"morphology": "orth", "weights": "topical", "draws": "systematic", "shuffled": True}
"""Other values that no receiver can know to be wrong."""


@pytest.mark.parametrize("name", sorted(FORGED))
def test_an_edited_field_is_found(copy, check, name):
    value, where = FORGED[name]
    assert stated(copy)[name] != value
    forge(copy, **{name: value})
    assert getattr(stated(copy), name) == value
    assert where in failed(check(copy))


@pytest.mark.parametrize("name", ["standard", "improved", "tight"])
@pytest.mark.parametrize("factor", [1 - 1e-9, 1 + 1e-9])
def test_an_edited_loss_is_found(copy, check, name, factor):
    losses = stated(copy).loss_per_word
    forge(copy, loss_per_word=replace(losses, **{name: getattr(losses, name) * factor}))
    result = check(copy)
    assert "loss per word" in failed(result)
    assert name in next(c.detail for c in result.checks if c.name == "loss per word")


@pytest.mark.parametrize("name", sorted(UNDERIVABLE))
def test_fields_that_cannot_be_derived_are_listed_as_unverifiable(copy, check, name):
    assert stated(copy)[name] != UNDERIVABLE[name]
    guarantee = forge(copy, **{name: UNDERIVABLE[name]})
    if name == "shuffled":
        assert failed(check(copy)) == ["README.txt"]
        forge_readme(copy, guarantee)
    assert failed(check(copy)) == ["report.html"]
    forge_report(copy, check(copy))
    result = check(copy)
    assert result.verified
    assert status(result)[name] == UNVERIFIABLE


def test_every_field_has_a_forgery():
    known = {field.name for field in fields(Guarantee)}
    elsewhere = {"loss_per_word", "version", "format", "template", "unit", "document"}
    elsewhere |= {"loss_per_author", "documents_per_author"}  # tests/releases/test_authors.py
    assert known == {*FORGED, *UNDERIVABLE, *elsewhere}
    assert set(valid_fields(2)) == known | {CHECKSUM}
    assert set(UNDERIVABLE) <= set(SENDER_SAYS)


def test_data_passed_off_as_embedded_is_found(copy, check):
    """Vectors and vocabulary passed off as the embedded ones, in README.txt too."""
    for supplied, where in ((["vectors"], "public words"), (["vocabulary"], "vectors")):
        forge_readme(copy, forge(copy, supplied=supplied))
        assert failed(check(copy)) == [where]


def test_a_seed_hidden_everywhere_is_unverifiable(make, check):
    folder = make(source=entropy.Seeded(1))
    forge_readme(folder, forge(folder, seeded=False, private=True))
    forge_report(folder, check(folder))
    result = check(folder)
    assert result.verified
    assert status(result)["seeded"] == UNVERIFIABLE


def test_a_readme_with_another_loss_is_found(copy, check):
    text = (copy / "README.txt").read_text()
    (copy / "README.txt").write_text(text.replace("80.00", "8.00"))
    forge(copy)
    assert failed(check(copy)) == ["README.txt"]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_counts_of_another_length_are_found(make, check, format):
    folder = make(format)
    suffix, writer = WRITERS[format]
    counts = np.zeros((len(TEXTS), 40), dtype=np.int32)
    counts[:, 3] = LENGTH
    counts[2, 5] = 1
    with (folder / f"vectors{suffix}").open("wb") as file:
        writer(file, csr_matrix(counts), stated_terms(folder), 0)
    forge(folder)
    assert failed(check(folder)) == ["counts"]


def test_true_counts_passed_off_as_drawn_are_found(make, check):
    """The table loses 0.01 per word, and the counts are those of the texts."""
    folder = make(neighbours=1, loss=0.01)
    assert check(folder).verified
    counts = np.zeros((len(TEXTS), 40), dtype=np.int32)
    counts[:, 3] = LENGTH
    with (folder / "vectors.npz").open("wb") as file:
        WRITERS["npz"][1](file, csr_matrix(counts), stated_terms(folder), 0)
    forge(folder)
    assert failed(check(folder)) == ["plausibility"]


def test_hidden_contents_are_found(copy, check):
    for name in ("vectors.npz", "documents.parquet"):
        raw = (copy / name).read_bytes()
        (copy / name).write_bytes(raw + b"secret" if name == "vectors.npz" else raw)
        if name == "documents.parquet":
            pl.read_parquet(raw).write_parquet(copy / name, metadata={"secret": "text"})
        forge(copy)
        assert failed(check(copy)) == ["counts" if name == "vectors.npz" else "documents"]
        (copy / name).write_bytes(raw)


def test_a_table_that_takes_long_is_only_derived_on_request(copy, toy_vectors, monkeypatch):
    monkeypatch.setattr(table, "QUICK_WORK", 40 * 40 * 12 - 1)
    result = verify(copy, vectors=lambda: toy_vectors)
    assert (result.verified, result.verdict) == (False, "not checked")
    assert "--slow" in next(check.detail for check in result.checks if check.name == "table")
    assert verify(copy, vectors=lambda: toy_vectors, slow=True).verified


def test_the_work_of_a_hostile_guarantee_is_bounded(make, copy, toy_vectors, monkeypatch):
    """Every preset is derived unasked; 3,999 neighbours of 100,000 words are not."""
    for neighbours, size in ((1, 4000), (1, 3500), (0, 10_000)):
        assert 100_000 * size * (10 + neighbours) <= table.QUICK_WORK
    assert table.QUICK_WORK < 100_000 * 4000 * (10 + 3999)


def stated_terms(folder):
    return (folder / "vocabulary.txt").read_text().split()


@pytest.mark.parametrize(
    "terms",
    ["cat\ndog\n", "cat\ncat\n", "cat\n\n", "cat", "cat\r\n", "\n", "", "qwxyz\n", "\udc80\n"],
)
def test_another_vocabulary_is_found(copy, check, terms):
    raw = terms.encode("utf-8", "surrogateescape")
    (copy / "vocabulary.txt").write_bytes(raw)
    forge(copy, vocabulary_digest=f"sha256:{sha256(raw).hexdigest()}", vocabulary_size=1)
    assert set(failed(check(copy))) & {"vocabulary.txt", "public words", "table"}


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"document": range(4), "author": list("abca")}),
        pl.DataFrame({"document": range(4), "topic": list("abca"), "author": list("abca")}),
        pl.DataFrame({"topic": list("abca"), "document": range(4)}),
        pl.DataFrame({"document": range(1, 5), "topic": list("abca")}),
        pl.DataFrame({"document": [3, 1, 2, 0], "topic": list("abca")}),
        pl.DataFrame({"document": list("Bob!"), "topic": list("abca")}),
        pl.DataFrame({"document": [0.0, 1.0, 2.0, 3.0], "topic": list("abca")}),
        pl.DataFrame({"document": range(4)}),
    ],
)
def test_columns_that_were_not_kept_are_found(copy, check, frame):
    frame.write_parquet(copy / "documents.parquet")
    forge(copy)
    assert failed(check(copy)) == ["documents"]


def test_more_documents_than_counts_are_found(copy, check):
    frame = pl.DataFrame({"document": range(5), "topic": list("abcab")})
    frame.write_parquet(copy / "documents.parquet")
    forge(copy)
    assert failed(check(copy)) == ["counts", "README.txt"]


def test_a_file_with_too_many_documents_is_not_read(copy, check, monkeypatch):
    monkeypatch.setattr(files, "MOST_DOCUMENTS", 3)
    assert failed(check(copy)) == ["documents"]


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
def test_missing_added_and_irregular_files_are_found(copy, check):
    (copy / "notes.txt").write_text("x")
    assert failed(check(copy)) == ["files"]
    (copy / "notes.txt").unlink()
    (copy / "vectors.npz").rename(copy.parent / "elsewhere.npz")
    assert failed(check(copy)) == ["files"]
    (copy / "vectors.npz").symlink_to(copy.parent / "elsewhere.npz")
    assert failed(check(copy)) == ["files"]
    (copy / "vectors.npz").unlink()
    os.mkfifo(copy / "vectors.npz")  # to open it would be to wait for ever
    assert failed(check(copy)) == ["files"]
    (copy / "guarantee.json").unlink()
    os.mkfifo(copy / "guarantee.json")
    assert failed(check(copy)) == ["guarantee.json"]


@pytest.mark.parametrize("name", ["../vectors.npz", "vectors-00001.npz", "vectors.exe", "a\nb"])
def test_names_that_no_release_has_are_refused(copy, check, name):
    named = dict(stated(copy).files)
    named[name] = named.pop("vectors.npz")
    forge(copy, files=named)
    assert failed(check(copy)) == ["files"]


@pytest.mark.parametrize("counts", ['["a"]', '"a"', "null", "3"])
def test_counts_of_another_kind_in_json_lines_are_refused(make, check, counts):
    folder = make("jsonl", neighbours=2, loss=4.0)
    path = folder / "vectors.jsonl"
    _, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join([f'{{"document": 0, "counts": {counts}}}\n', *others]))
    forge(folder)
    assert failed(check(folder)) == ["counts"]


def test_shards_are_checked_one_after_the_other(make, check, tmp_path):
    folder = make("jsonl", neighbours=2, loss=4.0)
    guarantee, terms = stated(folder), stated_terms(folder)
    seen = summarize_table(*check(folder).table, length=LENGTH)
    mechanism, _ = check(folder).table
    drawn = mechanism.sample(np.arange(9 * LENGTH).reshape(9, LENGTH) % 40)
    counts = csr_matrix([np.bincount(row, minlength=40) for row in drawn], dtype=np.int32)
    for format in sorted(WRITERS):
        with drafts.Draft(tmp_path / format) as draft:
            for shard in range(3):
                numbers = release_folder.row_numbers(3 * shard, 3)
                documents = tables.of({"document": numbers, "topic": tables.strings(list("abc"))})
                draft.add(counts[3 * shard : 3 * shard + 3], documents)
            draft.finish(terms, replace(guarantee, files={}), seen, format=format)
        result = check(tmp_path / format)
        assert result.verified
        assert result.documents == 9
    (tmp_path / "mtx" / "vectors-00001.mtx").write_bytes(
        (tmp_path / "mtx" / "vectors-00001.mtx").read_bytes().replace(b" 1.", b" 2.", 1)
    )
    forge(tmp_path / "mtx")
    assert failed(check(tmp_path / "mtx")) == ["counts"]


def test_other_vectors_are_asked_for(original):
    result = verify(original)
    assert failed(result) == ["vectors"]
    assert "--vectors" in next(c.detail for c in result.checks if c.name == "vectors")
    assert {status(result)[name] for name in CHECKS[9:]} == {NOT_CHECKED}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("epsilon", [0.0, -1.0, float("nan"), float("inf"), 8, True, "8.0", None]),
        ("spelling", [-0.1, 1.1, 0, float("nan")]),
        ("length", [0, 20.0, True, (1 << 20) + 1]),
        ("neighbours", [0, 2.0, True, "2"]),
        ("loss_ratio", ["1/2", "3/0", "1e9", "2/ 1", 54, "９"]),
        ("supplied", [["vectors", "vocabulary"], ["x"], ["vectors", "vectors"], "vectors"]),
        ("kept_columns", [["\ud800"], "topic", [1]]),
        ("provenance", [{}, {"vocabulary": "public"}]),
        ("digest", ["sha256:", "md5:" + "0" * 64, "sha256:" + "A" * 64]),
        ("private", [1, "true", None]),
        ("files", [{"a": "b"}, []]),
        ("analyzer", ["slow", "fast ", 1]),
    ],
)
def test_values_that_syntf_never_writes_are_refused(copy, name, values):
    for value in values:
        forge(copy, **{name: value}) if name != "files" else forge(copy, files=value)
        raw = (copy / "guarantee.json").read_bytes()
        with pytest.raises(SyntfError, match=f"{name} has a value that syntf never writes"):
            read_guarantee(raw)
        shutil.copy(copy.parent / "old.json", copy / "guarantee.json")


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 10**6, b'{"a": 1}'])
def test_other_json_is_refused(raw):
    with pytest.raises(SyntfError):
        read_guarantee(raw)


def test_edited_and_reformatted_records_have_different_messages(original):
    raw = (original / "guarantee.json").read_bytes()
    with pytest.raises(SyntfError, match="a field was changed"):
        read_guarantee(raw.replace(b'"length": 20', b'"length": 21'))
    with pytest.raises(SyntfError, match="bytes are not those"):
        read_guarantee(raw.replace(b'"length": 20', b'"length":20'))


def test_a_field_twice_or_in_another_order_is_refused(original):
    raw = (original / "guarantee.json").read_bytes()
    twice = raw.replace(b'  "private": true', b'  "private": false,\n  "private": true')
    found = json.loads(raw)
    other = {name: found[name] for name in sorted(found)}
    for changed in (twice, json.dumps(other, indent=2).encode() + b"\n"):
        assert json.loads(changed) == found
        with pytest.raises(SyntfError, match="bytes are not those"):
            read_guarantee(changed)


def test_an_unknown_field_is_refused(original):
    found = json.loads((original / "guarantee.json").read_bytes())
    with pytest.raises(SyntfError, match="fields were added or are missing: 'signed'"):
        read_guarantee(json.dumps({**found, "signed": True}, indent=2).encode())


def test_a_forged_cache_is_found_by_the_receiver(make, check, toy_vectors, empty_cache):
    """Extremes of a table that claim a smaller loss than it has, with a checksum that fits."""
    honest = Anonymizer.build(Settings(vectors=toy_vectors, vocabulary=toy_vectors.words))
    mechanism = honest.mechanism
    low = mechanism.extremes.low.copy()
    low[int(np.argmax(mechanism.extremes.high / low))] *= 2
    numbers = np.concatenate([mechanism.extremes.sums, low, mechanism.extremes.high])
    raw = numbers.astype("<i8").tobytes()
    assert isinstance(mechanism.rating, WithEmptyDocument)
    entry = empty_cache / f"{table_key(mechanism.rating, mechanism.epsilon)}.table"
    assert entry.is_file()
    entry.write_bytes(sha256(raw).digest() + raw)
    deceived = Anonymizer.build(Settings(vectors=toy_vectors, vocabulary=toy_vectors.words))
    assert deceived.mechanism.loss < mechanism.loss
    folder = make()
    assert stated(folder).loss_per_word.tight == deceived.mechanism.loss
    assert failed(check(folder)) == ["table"]


@pytest.mark.parametrize("neighbours", [None, 2])
def test_no_cache_is_read_and_nothing_is_written(make, check, neighbours, monkeypatch, tmp_path):
    folder = make(neighbours=neighbours)
    before = {path: path.stat() for path in folder.iterdir()}
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "cache"))
    for name in ("read", "mapped", "store"):
        monkeypatch.setattr(cache_store, name, lambda *_: pytest.fail("the cache was asked"))
    folder.chmod(0o500)
    assert check(folder).verified
    folder.chmod(0o700)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == {
        path: found.st_mtime_ns for path, found in before.items()
    }
    assert not list(tmp_path.iterdir())


WATCHED = """
import os
import sys
seen = []
def watch(event, arguments):
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
    if writes and (arguments[0] == os.devnull or isinstance(arguments[0], int)):
        return  # no file, or the pipe to a process: what is open was seen when it was opened
    if writes or event.startswith(("socket.", "pickle.", "subprocess.", "tempfile.", "os.mkdir")):
        seen.append((event, arguments))
sys.addaudithook(watch)
"""

VERIFIED = """
from syntf.cli import main
try:
    main()
finally:
    from syntf.verification.parquet_file import ARRO3_TRIAL, MOST_MEMORY
    trial = [sys.executable, "-P", "-c", ARRO3_TRIAL, str(MOST_MEMORY)]
    trials = [one for one in seen if one[0] == "subprocess.Popen" and one[1][1] == trial]
    assert len(trials) == 1, seen
    assert seen == trials, seen
"""

TRIED = """
exec(sys.argv.pop(1), {"__name__": "__main__"})
assert not seen, seen
"""


def test_verifying_opens_no_file_for_writing_no_socket_and_no_pickle(
    original, toy_vectors, tmp_path, python, monkeypatch
):
    """What the interpreter itself reports of it. The one process that it starts tries Parquet."""
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "cache"))
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    command = [python, "-B", "-c", WATCHED + VERIFIED, "verify", original, "--vectors", path]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1].startswith("Verified: ")


@pytest.mark.parametrize(
    "trial",
    [
        [parquet.TRIAL, "0", "parquet"],
        [parquet_file.ARRO3_TRIAL, str(parquet_file.MOST_MEMORY)],
    ],
)
def test_the_process_that_tries_parquet_opens_no_file_for_writing_and_no_socket(
    original, python, trial
):
    command = [python, "-B", "-c", WATCHED + TRIED, *trial]
    paths = str(original / "documents.parquet")
    ended = subprocess.run(command, input=paths, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(ended.stdout.splitlines()) == 1


def run(folder, vectors, *, as_json=False):
    """Run the command; returns its exit code."""
    return command.command.callback(folder, vectors, None, False, False, as_json, True)


def vectors_file(toy_vectors, path):
    np.savez(path, words=toy_vectors.words, vectors=toy_vectors.matrix.astype(np.float32))
    return path


def test_the_command_fits_a_terminal(original, toy_vectors, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(output.screen(), "width", 80)
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    assert run(original, path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[-2].startswith("Verified: this table loses at most 4.0000 per word and 80.00")


def test_the_command_ends_with_the_losses(original, toy_vectors, tmp_path, capsys):
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    assert run(original, path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("ok ") for line in lines) == len(CHECKS) - 1
    assert lines[-1] == (
        "Verified: this table loses at most 4.0000 per word and 80.00 per document. That these "
        "counts were drawn from it cannot be proved."
    )
    assert lines[-2] == f"checksum {stated(original)[CHECKSUM]}"
    assert any(line.split() == ["shuffled", "no"] for line in lines)


def test_the_command_fails_without_the_vectors(original, capsys):
    assert run(original, None) == 1
    out = capsys.readouterr().out
    assert "FAILED" in out
    assert out.splitlines()[-1].startswith("NOT VERIFIED: 1 of the checks failed, 6 were")


def test_the_command_as_json(original, toy_vectors, tmp_path, capsys):
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    assert run(original, path, as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["private"], found["documents"]) == (True, True, 4)
    assert (found["loss_per_word"]["tight"], found["loss_per_document"]) == (4.0, 80.0)
    assert {check["status"] for check in found["checks"]} == {OK, UNVERIFIABLE}
    assert run(original, None, as_json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["loss_per_word"], found["private"]) == (False, None, None)


def test_a_release_marked_not_private_is_verified_as_marked(make, toy_vectors, tmp_path, capsys):
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    folder = make(source=entropy.Seeded(1), neighbours=2, loss=4.0)
    assert run(folder, path) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Verified as marked: NOT PRIVATE (this table loses at most 4.0000 per word and 80.00 per "
        "document). That these counts were drawn from it cannot be proved."
    )


def test_column_names_cannot_control_the_terminal(make, check, capsys):
    folder = make(kept=("a\x1b[2J\nb", "[red]c[/]"), neighbours=2, loss=4.0)
    result = check(folder)
    assert result.verified
    command.show(result)
    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    assert "a?[2J?b, [red]c[/]" in " ".join(out.split())


def test_exit_codes(original, toy_vectors, tmp_path, monkeypatch, capsys):
    path = vectors_file(toy_vectors, tmp_path / "vectors.npz")
    for code, arguments in (
        (0, [original, "--vectors", path]),
        (0, [original, "--vectors", path, "--json", "--quiet"]),
        (1, [original]),
        (2, [tmp_path]),
        (2, [original, "--vectors", tmp_path / "missing"]),
    ):
        monkeypatch.setattr(sys, "argv", ["syntf", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
        assert capsys.readouterr().err.count("\n") == (code == 2)


def test_a_folder_without_a_guarantee_is_refused(tmp_path):
    with pytest.raises(SyntfError, match=r"no guarantee\.json"):
        run(tmp_path, None)
    (tmp_path / "guarantee.json").write_text("{}")
    with pytest.raises(SyntfError, match="there is no file of word vectors"):
        run(tmp_path, tmp_path / "missing.txt")


def test_the_preset_words_is_verified_without_other_files(words_synthetic, tmp_path):
    anonymizer = words_synthetic._anonymizer
    drafts.write(
        tmp_path / "out", anonymizer.anonymize(TEXTS), anonymizer.vocabulary.outputs,
        tables.from_polars(pl.DataFrame({"document": range(len(TEXTS))})), anonymizer.guarantee(),
        summarize_table(
            anonymizer.mechanism, anonymizer.vocabulary, length=anonymizer.settings.length
        ),
    )  # fmt: skip
    result = verify(tmp_path / "out")
    assert result.verified
    assert {status(result)[name] for name in CHECKS} == {OK}


def by_arro3(frame):
    file = io.BytesIO()
    write_parquet(tables.from_polars(frame), file, created_by=tables.CREATED_BY)
    return file.getvalue()


def test_the_numbers_of_documents_cannot_be_a_kept_column(make, tmp_path):
    """A column of that name is written with an encoding that strings do not have."""
    release = shutil.copytree(make(), tmp_path / "release")
    path = release / "documents.parquet"
    path.write_bytes(by_arro3(pl.read_parquet(path).with_columns(pl.col("document").cast(str))))
    forge(release, kept_columns=["document", "topic"])
    assert failed(verify(release)) == ["guarantee.json"]


def test_a_library_that_panics_ends_in_a_failed_check():
    class PanicException(BaseException):
        """What a library in Rust raises; each has its own."""

    def check(error):
        raise error

    result = VerificationResult()
    assert result.attempt("documents", check, PanicException("x")) is None
    assert [(one.status, one.detail) for one in result.checks] == [
        (FAILED, "cannot be read (PanicException)")
    ]
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            result.attempt("documents", check, error())


@pytest.mark.parametrize("format", ["npz", "parquet"])
@pytest.mark.parametrize("place", [12, 92])
def test_a_file_that_makes_polars_abort_is_refused(make, tmp_path, toy_vectors, format, place):
    """One changed bit in the header of a page makes it ask for more memory than there is."""
    release = shutil.copytree(make(format), tmp_path / "release")
    path = release / "documents.parquet"
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    path.write_bytes(raw)
    forge(release, card=False)
    result = verify(release, vectors=lambda: toy_vectors)
    assert failed(result) == ["documents"]
    assert "cannot be read: it is damaged" in result.with_status(FAILED)[0].detail


def test_counts_that_polars_cannot_read_are_refused(make, tmp_path, toy_vectors):
    release = shutil.copytree(make("parquet"), tmp_path / "release")
    path = release / "vectors.parquet"
    raw = path.read_bytes()
    path.write_bytes(raw[:30] + bytes([raw[30] ^ 0xFF]) + raw[31:])
    forge(release, card=True)
    result = verify(release, vectors=lambda: toy_vectors)
    assert failed(result) == ["counts"]


@pytest.mark.parametrize(
    "program",
    [
        [parquet.TRIAL, "0", "parquet"],
        [parquet_file.ARRO3_TRIAL, str(parquet_file.MOST_MEMORY)],
    ],
)
def test_one_process_tries_all_files_until_one_ends_it(make, tmp_path, program):
    good = make() / "documents.parquet"
    bad = tmp_path / "a\nname ç*"
    raw = bytearray(good.read_bytes())
    raw[12] ^= 1
    bad.write_bytes(raw)
    for paths, read in (([good, good], 2), ([good, bad, good], 1), ([bad], 0)):
        assert len(parquet.try_files(paths, *program)) == read


def test_only_types_without_room_for_other_things_are_read_without_polars(tmp_path):
    """A name inside a list, or metadata, would be written again and compared as equal."""
    path, text = tmp_path / "x.parquet", tables.strings(["a"])
    hidden_name = DataType.large_list(Field("hidden", DataType.int32()))
    for field, values, simple in (
        (Field("x", tables.STRING), text, True),
        (Field("x", tables.STRING, metadata={"hidden": "text"}), text, False),
        (Field("x", tables.STRING, nullable=False), text, False),
        (Field("x", tables.INTEGER_LIST), tables.lists(np.ones((1, 2), np.int32)), True),
        (Field("x", hidden_name), tables.lists(np.ones((1, 2), np.int32)).cast(hidden_name), False),
        (Field("x", DataType.binary()), text.cast(DataType.binary()), False),
    ):
        table = Table.from_arrays([values], schema=Schema([field]))
        write_parquet(table, path, created_by=tables.CREATED_BY)
        assert tables.has_simple_columns(path) is simple
    table = Table.from_arrays(
        [text], schema=Schema([Field("x", tables.STRING)], metadata={"a": "b"})
    )
    write_parquet(table, path, created_by=tables.CREATED_BY)
    assert not tables.has_simple_columns(path)
