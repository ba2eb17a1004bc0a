"""Verifying a release of whole documents: lists, loss and rows are derived, and forgeries found."""

import shutil
from dataclasses import fields, replace
from math import nextafter

import numpy as np
import polars as pl
import pytest
from forging import failed, forge, stated, status
from machine import READ_COUNTS

from syntf.codebook import lists, plan
from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.core import entropy, tables
from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import DocumentUnit, Guarantee, Language
from syntf.releases import document_run, draft
from syntf.releases.contents.readme import render_readme
from syntf.releases.contents.writers import WRITERS, write_documents
from syntf.releases.job import release
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader
from syntf.verification import document_rows, document_unit
from syntf.verification.noise_floor import check_noise, least_chance, log_tail
from syntf.verification.result import DOCUMENT_CHECKS, NOT_CHECKED, OK, UNVERIFIABLE
from syntf.verification.verify import verify

TEXTS = ["cat dog mouse", "", "car bus train road", "bread and cheese", "a song on the piano"]
DOCUMENTS = 120


@pytest.fixture(scope="module", autouse=True)
def small(toy_codebook):
    """The toy codebook in place of the embedded one, and a pilot from 100 documents on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "PILOT_FROM", 100)
        patch.setattr(plan, "PILOT_SHARE", plan.Fraction(1, 4))
        embedded = replace(toy_codebook, origin="embedded")
        patch.setattr(Codebook, "embedded", classmethod(lambda cls: embedded))
        yield


@pytest.fixture(scope="module")
def make(toy_vectors, tmp_path_factory):
    """A release of 120 short texts by the job, with the toy vectors and the toy codebook."""

    def made(format="npz", texts=TEXTS, number=DOCUMENTS, *, codebook=None, **chosen):
        place = tmp_path_factory.mktemp("made")
        rows = [(texts[i % len(texts)], "abc"[i % 3]) for i in range(number)]
        pl.DataFrame(rows, schema=["text", "topic"], orient="row").write_csv(place / "in.csv")
        names = {field.name for field in fields(Settings)}
        of_settings = {name: chosen.pop(name) for name in list(chosen) if name in names}
        options = {"document_loss": 4.0, "vectors": toy_vectors, **of_settings}
        settings = Settings.from_preset("document", codebook=codebook, **options)

        def build(settings, *, source=entropy.system, stages=None):
            book = Codebook.embedded() if codebook is None else Codebook.read(codebook)
            reader = WordReader(Analyzer(), toy_vectors.words)
            return DocumentAnonymizer(settings, reader, Encoder(book, toy_vectors), source)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DocumentAnonymizer, "build", build)
            release(
                place / "in.csv", place / "release", keep=["topic"], format=format,
                settings=settings, **chosen,
            )  # fmt: skip
        return place / "release"

    return made


@pytest.fixture(scope="module")
def original(make):
    return make()


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "release")


@pytest.fixture
def check(toy_vectors):
    return lambda folder, **more: verify(folder, vectors=lambda: toy_vectors, **more)


def read(folder):
    return pl.read_parquet(folder / "documents.parquet")


def write(folder, frame):
    with (folder / "documents.parquet").open("wb") as file:
        write_documents(file, tables.from_polars(frame))
    forge(folder)


def changed(frame, column, row, value):
    """The frame with another value in one row."""
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values, dtype=frame.schema[column]))


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"document_loss": 10.0},
        {"document_loss": 12.5},
        {"document_loss": 45.0},
        {"document_loss": 100.0, "number": 7},
        {"pilot": False},
        {"pilot": False, "document_loss": 31.0},
        {"number": 1},
        {"number": 99},
        {"shuffle": True},
        {"id": "topic"},
        {"insecure_seed": 3},
        {"stop_words": frozenset({"cat"}), "morphology": "orth", "numbers": True},
    ],
)
def test_a_release_of_documents_is_verified(make, check, chosen):
    result = check(make(**chosen))
    assert result.verified, result.checks
    assert [check.name for check in result.checks][: len(DOCUMENT_CHECKS)] == list(DOCUMENT_CHECKS)
    assert result.documents == chosen.get("number", DOCUMENTS)
    assert result.guarantee.loss_per_document == chosen.get("document_loss", 4.0)
    assert result.guarantee.private is ("insecure_seed" not in chosen)


@pytest.mark.parametrize("format", sorted(WRITERS))
@pytest.mark.parametrize("loss", [4.0, 45.0])
def test_every_format_is_verified(make, check, format, loss):
    assert check(make(format, document_loss=loss)).verified


def test_shards_and_a_pilot_from_a_sample_are_verified(make, check, monkeypatch):
    """More documents than the sample holds: the input is read twice and written in shards."""
    monkeypatch.setattr(draft, "SHARD", 50)
    monkeypatch.setattr(document_run, "SAMPLE", 40)
    monkeypatch.setattr(plan, "PILOT_MOST", 25)
    for more in ({}, {"shuffle": True}, {"format": "jsonl"}):
        folder = make(**more)
        assert len(list(folder.glob("documents-*.parquet"))) == 3
        result = check(folder)
        assert result.verified, result.checks
        assert stated(folder).document.pilot == 25


def test_shards_without_a_document_of_the_pilot_are_verified(make, check, monkeypatch):
    monkeypatch.setattr(draft, "SHARD", 50)
    monkeypatch.setattr(document_run, "SAMPLE", 40)
    monkeypatch.setattr(plan, "PILOT_MOST", 1)
    for loss in (4.0, 45.0):
        result = check(make(number=101, document_loss=loss))
        assert result.verified, result.checks


def test_a_resumed_release_is_verified(make, check, monkeypatch, toy_vectors):
    monkeypatch.setattr(draft, "SHARD", 50)
    monkeypatch.setattr(document_run, "SAMPLE", 40)
    monkeypatch.setattr(plan, "PILOT_MOST", 25)
    left = [1]
    written = draft.Draft.add

    def add(self, counts, documents):
        written(self, counts, documents)
        if left and left.pop():
            raise KeyboardInterrupt

    monkeypatch.setattr(draft.Draft, "add", add)
    stopped = []
    original_release = release

    def resumed(*args, **more):
        with pytest.raises(KeyboardInterrupt):
            original_release(*args, **more)
        stopped.append(True)
        return original_release(*args, resume=True, **more)

    monkeypatch.setitem(make.__globals__, "release", resumed)
    result = check(make())
    assert stopped
    assert result.verified, result.checks


def test_a_supplied_codebook_is_asked_for(make, check, toy_codebook, tmp_path):
    toy_codebook.write(tmp_path / "own")
    folder = make(codebook=tmp_path / "own")
    result = check(folder)
    assert result.verdict == "not checked"
    assert "--codebook" in next(c.detail for c in result.checks if c.name == "codebook")
    result = check(folder, codebook=tmp_path / "own")
    assert result.verified
    assert status(result)["codebook"] == UNVERIFIABLE
    other = replace(toy_codebook, spread=toy_codebook.spread + 1)
    other.write(tmp_path / "other")
    assert failed(check(folder, codebook=tmp_path / "other")) == ["codebook"]
    assert failed(check(folder, codebook=folder / "README.txt")) == ["codebook"]


def test_a_private_codebook_is_verified_as_not_private(make, check, toy_codebook, tmp_path):
    replace(toy_codebook, origin="private").write(tmp_path / "own")
    folder = make(codebook=tmp_path / "own")
    result = check(folder, codebook=tmp_path / "own")
    assert result.verified
    assert not result.guarantee.private
    document = replace(stated(folder).document, codebook_origin="supplied")
    public = {**stated(folder).provenance, "vocabulary": "public"}
    forge(folder, document=document, provenance=public, private=True)
    assert "codebook" in failed(check(folder, codebook=tmp_path / "own"))


FORGED_UNIT = {
    "kind": ("words", "plan"),
    "draws": (2, "consistency"),
    "loss_per_draw": (nextafter(4.0, 0), "plan"),
    "entries": (3, "lists"),
    "size": (2, "plan"),
    "pilot": (29, "plan"),
    "sharpened_entries": (3, "plan"),
    "sharpened_size": (2, "plan"),
    "encoder": ("another", "codebook"),
    "codebook": ("sha256:" + "0" * 64, "codebook"),
    "codebook_origin": ("supplied", "consistency"),
    "general": ("sha256:" + "0" * 64, "lists"),
    "sharpened": ("sha256:" + "0" * 64, "lists"),
}
"""Another value of each field of `document`, and a check that does not pass with it."""

FORGED = {
    "unit": ("words", "guarantee.json"),
    "language": (Language("en", "sha256:" + "0" * 64), "consistency"),
    "mechanism": ("exponential-int62/1", "loss per document"),
    "epsilon": (nextafter(4.0, 0), "consistency"),
    "neighbours": (1, "consistency"),
    "spelling": (0.1, "consistency"),
    "length": (2, "consistency"),
    "synsets": (True, "consistency"),
    "weights": ("tf", "consistency"),
    "draws": ("systematic", "consistency"),
    "vocabulary_size": (39, "vocabulary.txt"),
    "inputs": ("outputs", "consistency"),
    "input_size": (41, "codebook"),
    "loss_ratio": ("54", "loss per document"),
    "loss_per_document": (nextafter(4.0, 0), "consistency"),
    "document": (None, "guarantee.json"),
    "supplied": ([], "vectors"),
    "seeded": (True, "consistency"),
    "kept_columns": (["other"], "documents"),
    "digest": ("sha256:" + "0" * 64, "loss per document"),
    "vocabulary_digest": ("sha256:" + "0" * 64, "vocabulary.txt"),
    "vectors_digest": ("sha256:" + "0" * 64, "vectors"),
    "private": (False, "consistency"),
    "analyzer": ("spacy:en_core 3", "consistency"),
}
"""Another value of each field, and a check that does not pass with it."""


@pytest.mark.parametrize("name", FORGED_UNIT)
def test_an_edited_field_of_the_unit_is_found(copy, check, name):
    value, where = FORGED_UNIT[name]
    before = stated(copy).document
    assert getattr(before, name) != value
    forge(copy, document=replace(before, **{name: value}))
    result = check(copy)
    assert not result.verified
    assert status(result)[where] != OK


@pytest.mark.parametrize("name", FORGED)
def test_an_edited_field_is_found(copy, check, name):
    value, where = FORGED[name]
    assert stated(copy)[name] != value
    forge(copy, **{name: value})
    result = check(copy)
    assert where in failed(result)


def test_every_field_has_a_forgery():
    assert {field.name for field in fields(DocumentUnit)} == set(FORGED_UNIT)
    elsewhere = {
        "format", "version", "template", "files", "provenance", "morphology", "shuffled",
        "loss_per_word", "loss_per_author", "documents_per_author",
    }  # fmt: skip
    assert {field.name for field in fields(Guarantee)} == {*FORGED, *elsewhere}


@pytest.mark.parametrize("loss", [3.0, 5.0])
def test_another_loss_throughout_the_guarantee_is_found(copy, check, loss):
    """The forger states another loss in every field, but the lists belong to the true one."""
    unit = stated(copy).document
    response = ResponseMechanism(unit.entries, loss=loss)
    forge(
        copy, epsilon=loss, loss_per_document=loss, document=replace(unit, loss_per_draw=loss),
        loss_ratio=str(response.ratio), digest=f"sha256:{response.digest}",
    )  # fmt: skip
    assert not check(copy).verified


def place(frame, pilot):
    """A row of the pilot, or one of the others."""
    return frame["pilot"].to_list().index(pilot)


def another(frame, row, size):
    """Another prototype of a list of this size."""
    return [(frame["prototypes"][row][0] + 1) % size]


ROWS = {
    "a prototype of another document": (
        lambda f, u: changed(f, "prototypes", place(f, False),
                             another(f, place(f, False), u.sharpened_entries)),
        "counts",
    ),
    "a prototype of the pilot": (
        lambda f, u: changed(f, "prototypes", place(f, True), another(f, place(f, True), 4)),
        "lists",
    ),
    "a prototype that is not in the list": (
        lambda f, u: changed(f, "prototypes", place(f, False), [u.sharpened_entries]),
        "lists",
    ),
    "a prototype below 0": (lambda f, u: changed(f, "prototypes", 0, [-1]), "lists"),
    "two prototypes": (lambda f, u: changed(f, "prototypes", 0, [0, 1]), "documents"),
    "no prototype": (lambda f, u: changed(f, "prototypes", 0, []), "lists"),
    "a missing prototype": (lambda f, u: changed(f, "prototypes", 0, [None]), "lists"),
    "a missing list": (lambda f, u: changed(f, "prototypes", 0, None), "lists"),
    "a label": (lambda f, u: changed(f, "labels", 0, f["labels"][0] + " "), "counts"),
    "a missing label": (lambda f, u: changed(f, "labels", 0, None), "counts"),
    "a pilot document too few": (
        lambda f, u: changed(f, "pilot", place(f, True), False), "lists",
    ),
    "a pilot document too many": (
        lambda f, u: changed(f, "pilot", place(f, False), True), "lists",
    ),
    "a pilot flag that is missing": (
        lambda f, u: changed(f, "pilot", place(f, False), None), "lists",
    ),
    "flags as numbers": (lambda f, u: f.with_columns(pl.col("pilot").cast(pl.Int8)), "lists"),
    "prototypes as wide numbers": (
        lambda f, u: f.with_columns(pl.col("prototypes").cast(pl.List(pl.Int64))), "lists",
    ),
    "no pilot column": (lambda f, u: f.drop("pilot"), "documents"),
    "one more column": (lambda f, u: f.with_columns(extra=pl.lit(1)), "documents"),
    "one more document": (lambda f, u: pl.concat([f, f[:1]]), "documents"),
    "the last document left out": (lambda f, u: f[:-1], "plan"),
}  # fmt: skip
"""Changes of documents.parquet, and a check that each of them fails."""


@pytest.mark.parametrize("name", ROWS)
def test_a_changed_row_is_found(copy, check, name):
    change, where = ROWS[name]
    frame = read(copy)
    write(copy, change(frame, stated(copy).document))
    result = check(copy)
    assert where in failed(result), result.checks


def test_pilot_rows_exchanged_with_others_are_found(original, copy, check):
    """The number of pilot rows stays right, but another list follows from them.

    The others have few different prototypes, so that never as many rows released each as before.
    """
    frame = read(original)
    prototypes = frame["prototypes"].to_list()
    pilots = [row for row in range(frame.height) if frame["pilot"][row]]
    others = [row for row in range(frame.height) if not frame["pilot"][row]]
    others.sort(key=prototypes.__getitem__)
    flags = frame["pilot"].to_list()
    for one, other in zip(pilots, others, strict=False):
        flags[one], flags[other] = False, True
    write(copy, frame.with_columns(pl.Series("pilot", flags)))
    assert "lists" in failed(check(copy)) or "counts" in failed(check(copy))


def test_a_row_changed_in_all_files_but_the_side_files_is_found(make, check, toy_vectors):
    """A forger who changes prototype, label and counts together must change the side files too."""
    folder = make(pilot=False)
    frame = read(folder)
    labels = dict(zip(frame["prototypes"].list.first(), frame["labels"], strict=True))
    row, other = 0, next(one for one in labels if one != frame["prototypes"][0][0])
    twin = frame["prototypes"].to_list().index([other])
    frame = changed(changed(frame, "prototypes", row, [other]), "labels", row, labels[other])
    with np.load(folder / "vectors.npz") as arrays:
        indptr, indices, data = arrays["indptr"], arrays["indices"], arrays["data"]
    own = slice(indptr[twin], indptr[twin + 1])
    lengths = np.diff(indptr)
    lengths[row] = own.stop - own.start
    counts = Rows(
        np.concatenate([data[own], data[indptr[1] :]]),
        np.concatenate([indices[own], indices[indptr[1] :]]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        (frame.height, 40),
    )
    with (folder / "vectors.npz").open("wb") as file:
        WRITERS["npz"][1](file, counts, [], 0)
    write(folder, frame)
    assert failed(check(folder)) == ["prototypes.csv"]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_counts_of_other_prototypes_are_found(make, check, format):
    """Two rows with different prototypes are exchanged in the file of counts."""
    folder = make(format)
    suffix, writer = WRITERS[format]
    found = check(folder)
    assert found.verified
    frame = read(folder)
    differing = next(
        row for row in range(frame.height)
        if frame["labels"][row] != frame["labels"][0]
    )  # fmt: skip
    terms = (folder / "vocabulary.txt").read_text().split()
    order = np.arange(frame.height)
    order[[0, differing]] = differing, 0
    counts = READ_COUNTS[suffix](folder / f"vectors{suffix}", terms).astype(np.int32)[order]
    with (folder / f"vectors{suffix}").open("wb") as file:
        writer(file, counts, terms, 0)
    forge(folder)
    assert failed(check(folder)) == ["counts"]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("prototypes.csv", "prototypes.csv"),
        ("README.txt", "README.txt"),
        ("report.html", "report.html"),
        ("vocabulary.txt", "vocabulary.txt"),
    ],
)
def test_a_changed_side_file_is_found(copy, check, name, where):
    text = (copy / name).read_text()
    for other in (text + "\n", text.replace("1", "2", 1) if "1" in text else text + "x\n"):
        (copy / name).write_text(other)
        forge(copy)
        assert where in failed(check(copy))


@pytest.mark.parametrize("name", ["prototypes.csv", "documents.parquet", "vectors.npz"])
def test_a_flipped_bit_of_a_file_is_found(copy, check, name, trust):
    raw = (copy / name).read_bytes()
    for byte in range(0, len(raw), max(1, len(raw) // 60)):
        (copy / name).write_bytes(raw[:byte] + bytes([raw[byte] ^ 1]) + raw[byte + 1 :])
        assert failed(check(copy)) == ["files"]
        trust["changed bytes of a release caught"] += 1


@pytest.mark.parametrize("name", ["documents.parquet", "vectors.npz"])
def test_hidden_bytes_are_found(copy, check, name):
    raw = (copy / name).read_bytes()
    if name == "documents.parquet":
        pl.read_parquet(raw).write_parquet(copy / name, metadata={"secret": "text"})
    else:
        (copy / name).write_bytes(raw + b"secret")
    forge(copy)
    assert failed(check(copy)) == ["documents" if name == "documents.parquet" else "counts"]


def test_a_missing_or_added_side_file_is_found(copy, check):
    (copy / "prototypes.csv").unlink()
    forge(copy)
    assert failed(check(copy)) == ["files"]


def test_true_topics_passed_off_as_drawn_are_found(make, check, monkeypatch):
    """A program that releases every target unchanged, at a loss at which noise is certain."""
    monkeypatch.setattr(ResponseMechanism, "sample", lambda self, rows, **more: np.asarray(rows))
    folder = make(texts=["cat dog"], pilot=False, document_loss=2.0)
    assert failed(check(folder)) == ["plausibility"]
    folder = make(texts=["cat dog"], document_loss=2.0)
    assert "plausibility" in failed(check(folder))


HOSTILE = {
    "loss_per_document": {"epsilon": 1e300, "loss_per_document": 1e300},
    "length": {"length": 1 << 20},
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("unit", [{"draws": 1 << 20}, {"size": 1 << 61},
                                  {"sharpened_entries": (1 << 40) - 1}])  # fmt: skip
def test_a_hostile_guarantee_derives_nothing(copy, check, name, unit, monkeypatch):
    for function in ("topic_list", "word_list", "sharpened_topics", "sharpened_words"):
        monkeypatch.setattr(lists, function, lambda *_, **__: pytest.fail("a list was derived"))
    forge(copy, document=replace(stated(copy).document, **unit), **HOSTILE[name])
    result = check(copy)
    assert not result.verified
    assert status(result)["plan"] != OK


def test_prototypes_beyond_what_the_guarantee_allows_are_not_read(copy, check, monkeypatch):
    """A small file can hold millions of equal numbers: they are counted, not unpacked."""
    many = read(copy).with_columns(pl.lit([0] * 1_000_000, pl.List(pl.Int32)).alias("prototypes"))
    write(copy, many)
    assert (copy / "documents.parquet").stat().st_size < 1 << 24
    monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: pytest.fail("the file was read"))
    assert failed(check(copy)) == ["documents"]


def test_long_work_is_done_only_on_request(copy, check, monkeypatch):
    for module, name in ((document_unit, "QUICK_WORK"), (document_rows, "MOST_ENTRIES")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 0)
            result = check(copy)
            assert result.verdict == "not checked"
            assert "--slow" in next(c for c in result.checks if c.status == NOT_CHECKED).detail
            assert check(copy, slow=True).verified


@pytest.mark.parametrize("loss", [1.0, 10.0, 20.0, 45.0, 400.0])
@pytest.mark.parametrize("near", [False, True])
def test_the_work_of_every_ordinary_release_is_done_unasked(loss, near):
    """The embedded codebook and codebooks of 10,000 topics and 200 dimensions."""
    made = plan.make_plan(loss, 10**6, near=near, leaves=10_000 if near else 4096)
    entries = max(made.entries, made.sharpened_entries)
    work = entries * 16_000
    if made.kind == "topics":
        work += (20_000 if near else 8191) * entries * lists.ROUNDS
    else:
        work += made.entries * min(made.entries, made.pilot * made.draws * made.size)
    assert work * (200 if near else 100) <= document_unit.QUICK_WORK


def test_the_receiver_reads_what_cannot_be_proved(original, check):
    found = {check.name: check.detail for check in check(original).checks}
    assert found["draws of the prototypes"].startswith("from these lists, once")
    assert found["pilot"] == "chosen at random, and drawn before all other documents"
    assert not {"weights", "draws", "synsets"} & {*found}


def test_a_readme_with_another_loss_is_found(copy, check):
    guarantee = stated(copy)
    other = replace(guarantee, loss_per_document=3.0)
    text = render_readme(other, DOCUMENTS, read(copy).columns)
    (copy / "README.txt").write_text(text)
    forge(copy)
    assert failed(check(copy)) == ["README.txt"]


# The test for missing noise


def entry_list(size, entries):
    none = np.zeros(0, np.int32)
    return lists.EntryList("topics", np.zeros((entries, 2), np.int16), none, size)


@pytest.mark.parametrize(("size", "entries"), [(1, 4), (2, 5), (3, 6), (1, 1)])
@pytest.mark.parametrize("loss", [0.5, 3.0, 12.0])
def test_the_least_chance_of_an_entry_is_exact(size, entries, loss):
    """Compared with all answers of all rows."""
    found = entry_list(size, entries)
    response = ResponseMechanism(found.answers, loss=loss)
    holds = np.zeros((found.answers, entries))
    for answer in range(found.answers):
        holds[answer, found.entries(np.array([answer]))[0]] = 1
    chances = [response.weights(row) / response.total @ holds for row in range(found.answers)]
    assert least_chance(found, response) <= np.min(chances) * (1 + 1e-12)
    if found.answers > entries or size == 1 < entries:
        assert least_chance(found, response) == pytest.approx(np.min(chances))


@pytest.mark.parametrize(("trials", "chance"), [(5, 0.3), (20, 0.01), (40, 0.9)])
def test_the_tail_bound_holds_for_every_number_of_hits(trials, chance):
    from scipy.stats import binom

    for hits in range(trials + 1):
        assert np.exp(log_tail(trials, chance, hits)) >= binom.cdf(hits, trials, chance) - 1e-12


@pytest.mark.parametrize(("size", "entries", "loss"), [(1, 20, 4.0), (2, 12, 5.0), (1, 400, 10.0)])
def test_drawn_prototypes_pass_whatever_the_documents_are(size, entries, loss):
    found = entry_list(size, entries)
    response = ResponseMechanism(found.answers, loss=loss)
    for seed in range(20):
        targets = np.full(5000, seed % found.answers)
        answers = response.sample(targets, source=entropy.Seeded(seed))
        counts = np.bincount(found.entries(answers).ravel(), minlength=entries)
        assert check_noise([(found, response, counts)])


@pytest.mark.parametrize(("size", "entries", "loss"), [(1, 20, 4.0), (2, 12, 5.0), (1, 400, 10.0)])
def test_prototypes_without_noise_are_refused(size, entries, loss):
    found = entry_list(size, entries)
    response = ResponseMechanism(found.answers, loss=loss)
    counts = np.zeros(entries, np.int64)
    counts[:size] = 20_000
    with pytest.raises(SyntfError, match="noise"):
        check_noise([(found, response, counts)])
