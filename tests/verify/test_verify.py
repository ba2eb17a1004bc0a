"""Verifying a release: everything that can be derived is derived, and forgeries are found."""

import io
import json
import os
import shutil
import zipfile
from dataclasses import fields, replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix, save_npz

from syntf.core import entropy
from syntf.privacy.guarantee import CHECKSUM, Guarantee, Public, UnknownFormat, checksum
from syntf.release.folder import FORMATS, read_release, texts
from syntf.release.report import render_readme, render_report
from syntf.release.verify import FAILED, NOT_CHECKED, PASSED, UNVERIFIABLE, _outcome, verify
from syntf.rows import Drawn, TopicRows, build
from syntf.settings import Settings

pytestmark = pytest.mark.usefixtures("small")

STEPS = [
    "guarantee.json", "files", "documents", "method", "answers", "loss and public data", "counts",
    "vocabulary.txt", "README.txt", "report.html",
]  # fmt: skip


def stated(folder):
    return Guarantee.from_json((folder / "guarantee.json").read_text())


def failed(result):
    """The names of the checks that failed."""
    assert not result.ok
    assert result.verdict == "failed"
    return [check.name for check in result.with_status(FAILED)]


def detail(result, name):
    return next(check.detail for check in result.checks if check.name == name)


@pytest.fixture(scope="module")
def original(make):
    return make()


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "release")


def rewritten(folder, seal, **changed):
    """A forger states other values, and writes every text for them as syntf would."""
    guarantee = seal(folder, **changed)
    release = read_release(folder)
    table = release.topics
    readme = render_readme(guarantee, release.documents.columns, release.format, listed=True)
    (folder / "README.txt").write_text(readme)
    (folder / "report.html").write_text(render_report(guarantee, table))
    seal(folder)


# Releases as syntf makes them


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"document_loss": 4.0, "shuffled": True},
        {"document_loss": 30.0},
        {"pilot": False, "most": 2},
        {"number": 1},
        {"number": 0},
        {"number": 19, "keep": ()},
        {"source": entropy.Seeded(3)},
        {"stop_words": frozenset({"cat"}), "morphology": "orth", "numbers": True},
        {"preset": "words", "length": 20},
        {"preset": "words", "length": 20, "max_size": 7, "weights": "tfidf"},
        {"preset": "paper", "length": 20, "number": 0},
        {"preset": "paper", "length": 20, "vocabulary": ["Cat", "dog", "Piano", "boat"]},
        {"preset": "words", "length": 20, "vocabulary": ["Cat", "dog", "Piano", "boat"]},
        {"preset": "paper", "length": 20, "fit_vocabulary": 1},
        {"preset": "words", "length": 20, "fit_vocabulary": 1, "max_size": 3},
    ],
    ids=str,
)
def test_a_release_is_verified(make, chosen):
    result = verify(make(**chosen))
    assert result.ok, result.checks
    done = [check.name for check in result.checks if check.status == PASSED]
    listed = chosen.get("preset") is None
    assert done == STEPS + (["topics.csv"] if listed else [])
    said = {check.name for check in result.with_status(UNVERIFIABLE)}
    assert {"draws", "texts"} <= said
    assert ("order" in said) == ("shuffled" in chosen)
    assert ("authors" in said) == ("most" in chosen)
    assert ("kept columns" in said) == ("keep" not in chosen)
    assert result.guarantee.private == ("source" not in chosen and "fit_vocabulary" not in chosen)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("chosen", [{}, {"preset": "words", "length": 20}], ids=["topics", "words"])
def test_every_format_is_verified(make, format, chosen):
    assert verify(make(format=format, **chosen)).ok


def test_synonyms_are_derived_again(make, toy_wordnet, monkeypatch):
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))
    for words in ({}, {"vocabulary": ["cat", "run"]}):
        folder = make(preset="paper", length=20, synsets=True, **words)
        assert verify(folder).ok
    monkeypatch.setenv("SYNTF_WORDNET", "nowhere")
    assert verify(folder).ok  # all output words are in vocabulary.txt
    assert verify(make(preset="paper", length=20, vocabulary=["cat"])).ok


def test_supplied_data_are_asked_for(make, toy_vectors, toy_codebook, tmp_path):
    toy_codebook.save(tmp_path / "own.npz")
    replace(toy_codebook, spread=toy_codebook.spread + 1).save(tmp_path / "other.npz")
    given = {"vectors": toy_vectors, "codebook": tmp_path / "own.npz"}
    folder = make(**given)
    result = verify(folder)
    assert result.verdict == "not checked"
    assert "supplied vectors: give the file by --vectors" in detail(result, "method")
    assert verify(folder, vectors=toy_vectors).verdict == "not checked"
    result = verify(folder, **given)
    assert result.ok
    assert "word vectors, topics" in detail(result, "public data")
    other = {**given, "codebook": tmp_path / "other.npz"}
    assert failed(verify(folder, **other)) == ["loss and public data"]
    assert verify(folder, **{**given, "codebook": folder / "README.txt"}).verdict == "not checked"
    matrix = toy_vectors.matrix.copy()
    matrix[17, 3] ^= 1
    changed = type(toy_vectors)(toy_vectors.words, matrix)
    assert not verify(folder, **{**given, "vectors": changed}).ok


def test_a_private_codebook_is_verified_as_not_private(
    make, seal, toy_codebook, toy_vectors, tmp_path
):
    replace(toy_codebook, origin="private").save(tmp_path / "own.npz")
    given = {"vectors": toy_vectors, "codebook": tmp_path / "own.npz"}
    folder = make(**given)
    result = verify(folder, **given)
    assert result.ok
    assert not result.guarantee.private
    public = {name: replace(one, origin="supplied") for name, one in stated(folder).public.items()}
    seal(folder, public=public)
    assert failed(verify(folder, **given)) == ["loss and public data"]


# Forged guarantees


def test_no_changed_byte_of_a_release_is_verified(copy):
    raw = (copy / "guarantee.json").read_bytes()
    for place in range(0, len(raw), 7):
        text = raw[:place] + bytes([raw[place] ^ 1 << place % 8]) + raw[place + 1 :]
        (copy / "guarantee.json").write_bytes(text)
        assert _outcome(lambda: str(stated(copy)))[0] != PASSED
    (copy / "guarantee.json").write_bytes(raw)
    for name in stated(copy).files:
        before = (copy / name).read_bytes()
        for place in range(0, len(before), 1 + len(before) // 5):
            changed = before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :]
            (copy / name).write_bytes(changed)
            assert failed(verify(copy)) == ["files"]
        (copy / name).write_bytes(before)
    assert verify(copy).ok


FORGED = {
    "version": "0.3.0.1",
    "kind": "corpus",
    "loss_per_document": 9.99,
    "delta": 1e-9,
    "adjacency": "added or removed",
    "loss_if_replaced": 9.0,
    "composition": [],
    "settings": {},
    "supplied": ["vocabulary"],
    "public": {},
    "documents": 39,
    "kept_columns": ["author"],
    "entropy": "atoms of the universe, CERTIFIED: at most 0.10",
    "files": {},
}
"""Another value of each field that can be derived, or that has a known wording."""

CLAIMED = {"shuffled", "documents_per_author", "loss_per_author"}
"""Fields that no receiver can know to be wrong."""


@pytest.mark.parametrize("name", FORGED)
def test_an_edited_field_is_found(copy, seal, name):
    assert getattr(stated(copy), name) != FORGED[name]
    if name == "entropy":
        rewritten(copy, seal, entropy=FORGED[name])
    else:
        seal(copy, **{name: FORGED[name]})
    assert not verify(copy).ok
    if name not in ("version", "kind", "entropy"):
        assert failed(verify(copy))


def test_every_field_has_a_forgery():
    assert {each.name for each in fields(Guarantee)} == {*FORGED, *CLAIMED, "format"}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("name", "value"),
    [("mechanism", "magic/1"), ("answers", 4), ("draws", 2), ("loss", 0.1), ("ratio", "2"),
     ("digest", "sha256:" + "0" * 64)],
)  # fmt: skip
def test_an_edited_mechanism_is_found(copy, seal, place, name, value):
    parts = list(stated(copy).composition)
    assert getattr(parts[place], name) != value
    parts[place] = replace(parts[place], **{name: value})
    rewritten(copy, seal, composition=parts)
    assert failed(verify(copy)) == ["loss and public data"]


@pytest.mark.parametrize("name", ["word vectors", "topics", "answers", "sharpened answers"])
@pytest.mark.parametrize("change", [{"digest": "sha256:" + "0" * 64}, {"origin": "language"}])
def test_edited_public_data_are_found(copy, seal, name, change):
    public = dict(stated(copy).public)
    public[name] = replace(public[name], **change)
    rewritten(copy, seal, public=public)
    assert failed(verify(copy)) == ["loss and public data"]


def test_another_loss_is_found_wherever_it_is_stated(copy, seal):
    """The forger changes the setting, too; every other figure belongs to the true loss."""
    settings = stated(copy).settings
    rewritten(copy, seal, settings={**settings, "document_loss": 9.0})
    assert failed(verify(copy)) == ["loss and public data"]
    rewritten(copy, seal, settings={**settings, "document_loss": 1.0})
    assert failed(verify(copy)) == ["answers"]  # which come from a longer list
    rewritten(copy, seal, settings=settings)
    assert verify(copy).ok
    rewritten(copy, seal, loss_per_document=1.0, loss_if_replaced=1.0)
    assert failed(verify(copy)) == ["loss and public data"]


def test_claims_are_listed_as_unverifiable(copy, seal):
    rewritten(copy, seal, shuffled=True, documents_per_author=1, loss_per_author=10.0)
    result = verify(copy)
    assert result.ok
    assert {"order", "authors"} <= {check.name for check in result.with_status(UNVERIFIABLE)}


@pytest.mark.parametrize("name", ["files", "settings", "public"])
def test_the_order_of_names_is_not_free(copy, seal, name):
    """Guarantee.from_json alone cannot know it: the checksum does not depend on it."""
    before = getattr(stated(copy), name)
    seal(copy, **{name: dict(reversed(before.items()))})
    assert getattr(stated(copy), name) == before
    assert failed(verify(copy)) == ["loss and public data"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.txt", "loses at most 10.00", "loses at most 0.10"),
        ("README.txt", "Figures\n", "CERTIFIED\nFigures\n"),
        ("README.txt", "To check this release", "It need not be checked"),
        ("report.html", "</header>", "</header><p>CERTIFIED, at most 0.10</p>"),
        ("report.html", ".lead{", ".lead,.warn{display:none}.x{"),
        ("report.html", "default-src 'none'", "default-src 'self'"),
        ("topics.csv", "nothing known", "everything known"),
        ("vocabulary.txt", "cat\n", "Cat\n"),
    ],
)
def test_invented_wording_is_found(copy, seal, name, old, new):
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new), encoding="utf-8")
    seal(copy)
    assert failed(verify(copy)) == [name]


@pytest.mark.parametrize("version", ["0.3.9", "0.2.0", "0.3.0 CERTIFIED"])
def test_a_version_whose_wording_is_unknown_is_not_checked(copy, seal, version):
    rewritten(copy, seal, version=version)
    result = verify(copy)
    assert not result.ok
    assert result.verdict == "not checked"
    assert {check.status for check in result.checks} == {NOT_CHECKED}
    assert f"by syntf {version}: check it with that version" in detail(result, "guarantee.json")


def test_an_unknown_format_is_not_checked(copy):
    record = json.loads((copy / "guarantee.json").read_text())
    record["format"] = 4
    del record[CHECKSUM]
    (copy / "guarantee.json").write_text(json.dumps({**record, CHECKSUM: checksum(record)}))
    assert verify(copy).verdict == "not checked"
    with pytest.raises(UnknownFormat):
        stated(copy)


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000, '{"format": 3}', "\udcff"])
def test_what_is_no_guarantee_fails(copy, text):
    (copy / "guarantee.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = verify(copy)
    assert result.guarantee is None
    assert not result.ok
    assert result.checks[0].status != PASSED


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
@pytest.mark.parametrize("name", ["vectors", "codebook", "vocabulary", "language", "stop_words"])
def test_no_file_that_a_release_names_is_opened(copy, seal, tmp_path, name):
    """Reading the pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    seal(copy, settings={**stated(copy).settings, name: str(tmp_path / "pipe")})
    assert failed(verify(copy)) == ["method"]


# Forged files


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
def test_missing_added_and_irregular_files_are_found(copy):
    for name in ("notes.txt", ".hidden", "croissant.json", "topics.csv.bak"):
        (copy / name).write_text("x")
        assert failed(verify(copy)) == ["files"]
        (copy / name).unlink()
    for name in ("vectors.npz", "README.txt", "guarantee.json"):
        away = copy.parent / "away"
        (copy / name).rename(away)
        check = "guarantee.json" if name == "guarantee.json" else "files"
        assert failed(verify(copy)) == [check]
        for make in (os.mkdir, os.mkfifo, lambda path, away=away: os.symlink(away, path)):
            make(copy / name)
            assert failed(verify(copy)) == [check]
            (copy / name).rmdir() if make is os.mkdir else (copy / name).unlink()
        away.rename(copy / name)
    assert verify(copy).ok


def test_files_of_another_kind_of_release_are_found(copy, seal):
    (copy / "counts.csv").write_text("document,term,count\n")
    seal(copy)
    assert failed(verify(copy)) == ["files"]
    (copy / "counts.csv").unlink()
    for name in ("documents.parquet", "README.txt"):
        seal(copy)
        named = {other: digest for other, digest in stated(copy).files.items() if other != name}
        seal(copy, files=named)
        assert failed(verify(copy)) == ["files"]
    (copy / "topics.csv").unlink()
    seal(copy)
    assert failed(verify(copy)) == ["documents"]


def write_documents(folder, seal, frame):
    frame.write_parquet(folder / "documents.parquet")
    seal(folder)


def test_pilot_rows_that_were_exchanged_are_found(copy, seal):
    """The sharpened list follows from what the pilot released, and from nothing else."""
    frame = pl.read_parquet(copy / "documents.parquet")
    pilot, answer = frame["pilot"].to_list(), frame["answer"].to_list()
    pairs = [
        (one, other) for one in range(40) for other in range(40)
        if pilot[one] and not pilot[other] and answer[one] != answer[other]
    ]  # fmt: skip
    for one, other in pairs[::50]:
        changed = list(pilot)
        changed[one], changed[other] = False, True
        write_documents(copy, seal, frame.with_columns(pl.Series("pilot", changed)))
        assert set(failed(verify(copy))) <= {"answers", "loss and public data"}
    write_documents(copy, seal, frame.with_columns(pl.Series("pilot", [True, *pilot[1:]]).not_()))
    assert failed(verify(copy))


def test_a_pilot_of_another_size_is_found(make, monkeypatch):
    """Everything is derived from it as it should be, but it is smaller than the plan says."""
    scheme = TopicRows.scheme
    monkeypatch.setattr(
        TopicRows, "scheme", lambda rows, number: replace(scheme(rows, number), pilot=3)
    )
    folder = make()
    assert verify(folder).ok
    monkeypatch.undo()
    assert failed(verify(folder)) == ["answers"]


def columns_of(frame):
    number = len(frame)
    answer, pilot = frame["answer"].to_list(), frame["pilot"].to_list()
    return {
        "answer out of the list": {"answer": [[99], *answer[1:]]},
        "negative answer": {"answer": [[-1], *answer[1:]]},
        "two answers": {"answer": [[0, 0], *answer[1:]]},
        "no answer": {"answer": [[], *answer[1:]]},
        "null in an answer": {"answer": [[None], *answer[1:]]},
        "null for answers": {"answer": [None, *answer[1:]]},
        "another answer": {"answer": [[(answer[0][0] + 1) % 4], *answer[1:]]},
        "another topic": {"released_topic": ["CERTIFIED"] * number},
        "no topic": {"released_topic": [None] * number},
        "no pilot": {"pilot": [False] * number},
        "one unknown pilot": {"pilot": [one or None for one in pilot]},
        "numbers from 1": {"document": list(range(1, number + 1))},
        "numbers out of order": {"document": list(range(number))[::-1]},
    }


CHANGES = [*columns_of(pl.DataFrame({"answer": [[0]], "pilot": [True]}))]


@pytest.mark.parametrize("change", CHANGES)
def test_changed_documents_are_found(copy, seal, change):
    frame = pl.read_parquet(copy / "documents.parquet")
    ((name, values),) = columns_of(frame)[change].items()
    column = pl.Series(name, values, dtype=frame.schema[name])
    write_documents(copy, seal, frame.with_columns(column))
    assert failed(verify(copy))


@pytest.mark.parametrize(
    "changed",
    [
        lambda frame: frame.with_columns(pl.lit("Bob").alias("author")),
        lambda frame: frame.drop("topic"),
        lambda frame: frame.select(sorted(frame.columns)),
        lambda frame: frame[:-1],
        lambda frame: pl.concat([frame, frame[:1]]),
        lambda frame: frame.with_columns(pl.col("answer").list.first()),
        lambda frame: frame.with_columns(pl.col("answer").cast(pl.List(pl.Float64))),
        lambda frame: frame.with_columns(pl.col("pilot").cast(pl.Int8)),
        lambda frame: frame.with_columns(pl.col("document").cast(pl.String)),
    ],
)
def test_documents_with_other_columns_are_found(copy, seal, changed):
    write_documents(copy, seal, changed(pl.read_parquet(copy / "documents.parquet")))
    assert failed(verify(copy))


def write_counts(folder, seal, counts, format):
    from syntf.release.folder import _write_counts

    with (folder / FORMATS[format]).open("wb") as file:
        _write_counts(file, counts, read_release(folder).terms, format)
    seal(folder)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", [None, "words"])
def test_changed_counts_are_found(make, seal, format, preset):
    folder = make(preset=preset, format=format, **({"length": 20} if preset else {}))
    right = read_release(folder).counts
    changed = right.copy()
    changed.data[3] += 1
    fewer = right.copy()
    fewer.data[:] = 1
    negative = right.copy()
    negative.data[:2] = [-1, right.data[0] + right.data[1] + 1]
    exchanged = right[::-1] if preset is None else right[:-1]
    for counts in (changed, fewer, negative, csr_matrix(exchanged), right * 0):
        write_counts(folder, seal, csr_matrix(counts), format)
        assert failed(verify(folder)) == ["counts"]
    write_counts(folder, seal, right, format)
    assert verify(folder).ok


def archive(path, arrays, *, pickle=False):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays:
            raw = io.BytesIO()
            np.lib.format.write_array(raw, np.asanyarray(array), allow_pickle=pickle)
            file.writestr(f"{name}.npy", raw.getvalue())


class Bomb:
    """Would create a file if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("preset", [None, "words"])
def test_hostile_archives_are_refused(make, seal, tmp_path, preset):
    copy = make(preset=preset, **({"length": 20} if preset else {}))
    path = copy / "vectors.npz"
    right = read_release(copy).counts
    parts = {
        "indices": right.indices, "indptr": right.indptr, "format": b"csr",
        "shape": right.shape, "data": right.data,
    }  # fmt: skip

    def refused(why="", **changed):
        seal(copy)
        result = verify(copy)
        assert failed(result) == ["counts"]
        assert why in detail(result, "counts")

    archive(path, [*parts.items(), ("hidden", np.arange(9))])
    refused("other arrays")
    archive(path, list(parts.items())[1:])
    refused("other arrays")
    zeros = np.zeros(10**8, dtype=np.int8)
    archive(path, {**parts, "data": zeros}.items())
    assert path.stat().st_size < 10**6
    refused("more entries")
    pickled = np.array([Bomb(tmp_path / "exploded")] * 3, dtype=object)
    archive(path, {**parts, "data": pickled}.items(), pickle=True)
    refused("ValueError")
    assert not (tmp_path / "exploded").exists()
    for change in (
        {"shape": (10**15, 40)}, {"shape": (40,)}, {"format": b"csc"}, {"format": b"dia"},
        {"indices": right.indices + 10**6}, {"indices": right.indices * 0 - 1},
        {"indptr": right.indptr[::-1]}, {"data": right.data.astype(float)},
        {"data": right.data[1:]},
    ):  # fmt: skip
        archive(path, {**parts, **change}.items())
        refused()
    archive(path, parts.items())
    seal(copy)
    assert verify(copy).ok
    save_npz(path, right)  # as another program packs the same numbers
    seal(copy)
    assert verify(copy).ok


def test_forged_sizes_in_an_archive_are_refused(copy, seal):
    """The size that an entry states is less than what it unpacks to, or the array claims more."""
    path = copy / "vectors.npz"
    raw = bytearray(path.read_bytes())
    entry = raw.index(b"PK\1\2")
    assert int.from_bytes(raw[entry + 24 : entry + 28], "little") > 100
    raw[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(raw)
    seal(copy)
    assert failed(verify(copy)) == ["counts"]
    header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000000,), }"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("indices", "indptr", "format", "shape", "data"):
            file.writestr(f"{name}.npy", b"\x93NUMPY\1\0\x76\0" + header.ljust(117) + b"\n")
    seal(copy)
    assert failed(verify(copy)) == ["counts"]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_too_many_rows_of_counts_are_not_read(make, seal, format):
    folder = make(format=format)
    frame = pl.DataFrame({"document": [0] * 10**5, "term": ["cat"] * 10**5, "count": [1] * 10**5})
    path = folder / FORMATS[format]
    frame.write_parquet(path) if format == "parquet" else frame.write_csv(path)
    seal(folder)
    assert failed(result := verify(folder)) == ["counts"]
    assert "than the answers give" in detail(result, "counts")


def test_files_that_are_not_what_they_are_called_are_found(copy, seal):
    for name, where in (("documents.parquet", "documents"), ("vectors.npz", "counts")):
        before = (copy / name).read_bytes()
        for raw in (b"", b"PAR1", before[: len(before) // 2], before[::-1], b"\0" * 1000):
            (copy / name).write_bytes(raw)
            seal(copy)
            assert failed(verify(copy)) == [where]
        (copy / name).write_bytes(before)


def test_a_vocabulary_with_other_terms_is_found(make, seal):
    folder = make(preset="words", length=20, vocabulary=["cat", "dog", "piano", "boat"])
    for terms in ("cat\ndog\n", "cat\ndog\npiano\nboat\nqwxyz\n", "cat\n\n", "", "\udc80\n",
                  "dog\ncat\npiano\nboat\n", "cat\ndog\npiano\nboat"):  # fmt: skip
        (folder / "vocabulary.txt").write_bytes(terms.encode("utf-8", "surrogateescape"))
        seal(folder)
        assert not verify(folder).ok


def test_a_fitted_vocabulary_cannot_be_called_public(make, seal):
    folder = make(preset="words", length=20, fit_vocabulary=1)
    public = {
        name: Public(one.digest, "embedded" if name != "vocabulary" else "supplied")
        for name, one in stated(folder).public.items()
    }
    seal(folder, public=public)
    assert failed(verify(folder)) == ["loss and public data"]


def test_texts_need_nothing_but_what_is_released(original):
    """What is compared is made from the other files alone: no text can be in it."""
    release = read_release(original)
    first = build(Settings()).scheme(len(release.documents))
    answers, pilot = np.array(release.documents["answer"].to_list()), release.documents["pilot"]
    rest = first.sharpen(answers[pilot.to_numpy()])
    drawn = Drawn(answers, pilot.to_numpy(), first, rest)
    for name, text in texts(drawn, release.documents, release.guarantee, "npz").items():
        assert (original / name).read_text(encoding="utf-8") == text
