"""Releases of whole documents: the loss that was asked for, and one draw for each document."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import load_npz

from syntf import SynTF
from syntf.codebook import plan
from syntf.codebook.encoder import Encoded
from syntf.core import entropy
from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.pipeline.document import DocumentMechanism
from syntf.releases import document_run, draft
from syntf.releases.job import release


@pytest.fixture
def drawn(monkeypatch):
    """Counts the documents of every draw."""
    sizes = []

    def draw(self, encoded, entry_list, original=DocumentMechanism.draw):
        sizes.append(len(encoded))
        return original(self, encoded, entry_list)

    monkeypatch.setattr(DocumentMechanism, "draw", draw)
    return sizes


@pytest.mark.parametrize("loss", [4, 10, 12.5, 20, 45])
def test_a_release_promises_exactly_the_loss_that_was_asked_for(texts, tmp_path, loss):
    made = release(texts, tmp_path / "out", document_loss=loss, keep=["topic"])
    assert made.guarantee.loss_per_document == loss
    assert made.guarantee.private
    stated = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    assert stated["loss_per_document"] == loss
    assert stated["unit"] == "document"
    counts = load_npz(tmp_path / "out" / "vectors.npz")
    documents = pl.read_parquet(tmp_path / "out" / "documents.parquet")
    assert counts.shape[0] == documents.height == 240
    assert len(set(counts.sum(axis=1).ravel().tolist()[0])) == 1
    assert documents["labels"].str.len_chars().min() > 0


def test_topics_survive_at_a_loss_of_ten(texts, tmp_path):
    release(texts, tmp_path / "out", document_loss=10, keep=["topic"])
    documents = pl.read_parquet(tmp_path / "out" / "documents.parquet")
    for _, rows in documents.group_by("topic"):
        labels = rows["labels"]
        assert labels.value_counts()["count"].max() > 0.8 * len(labels)


def test_every_document_is_drawn_for_once(texts, tmp_path, small, drawn):
    made = release(texts, tmp_path / "out", document_loss=8)
    documents = pl.concat(
        pl.read_parquet(path) for path in sorted((tmp_path / "out").glob("documents*.parquet"))
    )
    assert made.guarantee.document.pilot == documents["pilot"].sum() == 30
    assert sum(drawn) == documents.height == 240


def test_a_resumed_run_keeps_the_pilot_and_draws_for_no_document_twice(
    texts, tmp_path, small, drawn, monkeypatch
):
    stopping = {"after": 2}

    def add(self, counts, documents, original=draft.Draft.add):
        original(self, counts, documents)
        stopping["after"] -= 1
        if stopping["after"] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(draft.Draft, "add", add)
    with pytest.raises(KeyboardInterrupt):
        release(texts, tmp_path / "out", document_loss=8)
    pilot = (tmp_path / ".out.partial" / document_run.PILOT_FILE).read_bytes()
    before = pl.read_parquet(tmp_path / ".out.partial" / "documents-00000.parquet")
    release(texts, tmp_path / "out", document_loss=8, resume=True)
    after = pl.read_parquet(tmp_path / "out" / "documents-00000.parquet")
    assert after.equals(before)
    assert document_run.Pilot.from_bytes(pilot).places.size == 30
    assert sum(drawn) == 240


def test_a_damaged_pilot_is_refused():
    pilot = document_run.Pilot(np.arange(3), np.zeros((3, 1), dtype=np.int64), 9)
    raw = bytearray(pilot.as_bytes())
    assert document_run.Pilot.from_bytes(bytes(raw)).documents == 9
    raw[-1] ^= 1
    with pytest.raises(SyntfError, match="damaged"):
        document_run.Pilot.from_bytes(bytes(raw))


def test_the_estimator_promises_exactly_the_loss_that_was_asked_for(texts):
    texts = pl.read_csv(texts)["text"][:12].to_list()
    synthetic = SynTF(document_loss=6)
    counts = synthetic.fit_transform(texts)
    assert counts.shape == (12, len(synthetic.get_feature_names_out()))
    assert synthetic.guarantee_.loss_per_document == 6
    assert len(synthetic.labels_) == 12
    assert synthetic.transform(["", "qwxyz"]).sum() == 2 * counts[0].sum()


@pytest.mark.parametrize(
    ("rows", "options", "told"),
    [(240, {}, True), (40, {}, False), (240, {"pilot": False}, False)],
    ids=["many", "few", "no pilot wanted"],
)
def test_standard_input_that_is_too_long_for_a_pilot_is_told(
    texts, tmp_path, monkeypatch, small, rows, options, told
):
    monkeypatch.setattr(plan, "PILOT_FROM", 45)
    with texts.open("rb") as whole:
        lines = whole.readlines()[: rows + 1]
    (tmp_path / "stdin.csv").write_bytes(b"".join(lines))
    with (tmp_path / "stdin.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        made = release("-", tmp_path / "out", document_loss=10, input_format="csv", **options)
    assert made.guarantee.document.pilot == 0
    assert any("more than 50 documents" in notice for notice in made.input_notices) == told
    made = release(texts, tmp_path / "file", document_loss=10)
    assert made.guarantee.document.pilot > 0
    assert not made.input_notices


def encoded_numbers(numbers):
    """Encode each number as a vector of that number."""
    vectors = np.asarray(numbers, dtype=np.int16).reshape(-1, 1)
    own = vectors[:, 0].astype(np.int32)
    return Encoded(vectors, Rows(own, own * 0, np.arange(len(own) + 1), (len(own), 1)))


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_the_sample_holds_the_documents_at_its_places(monkeypatch, batch):
    """Documents that lost their slots are dropped on the way, more than once."""
    monkeypatch.setattr(document_run, "SAMPLE", 8)
    sample = document_run.Sample(entropy.Seeded(3))
    for start in range(0, 500, batch):
        chosen = sample.choose(min(batch, 500 - start))
        sample.keep(encoded_numbers(start + chosen))
        encoded = sample.encoded()
        assert encoded.vectors[:, 0].tolist() == sample.places.tolist()
        assert np.asarray(encoded.counts.data).tolist() == sample.places.tolist()
        assert len(set(sample.places.tolist())) == min(8, sample.seen)
        assert sum(map(len, sample._parts)) <= 2 * 8 + 8 + batch
    assert sample.places.max() > 250


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_the_sample_may_be_encoded_later_than_it_is_chosen(monkeypatch, batch):
    """While one batch is encoded, the next is chosen, and encoded documents are dropped."""
    monkeypatch.setattr(document_run, "SAMPLE", 8)
    at_once, later = (document_run.Sample(entropy.Seeded(3)) for _ in range(2))
    waiting = None
    for start in range(0, 500, batch):
        chosen = [sample.choose(min(batch, 500 - start)) for sample in (at_once, later)]
        at_once.keep(encoded_numbers(start + chosen[0]))
        if waiting is not None:
            later.keep(waiting)
        waiting = encoded_numbers(start + chosen[1])
    later.keep(waiting)
    assert later.places.tolist() == at_once.places.tolist()
    for sample in (at_once, later):
        assert sample.encoded().vectors[:, 0].tolist() == sample.places.tolist()
