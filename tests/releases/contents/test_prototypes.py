"""The readable part of a release of whole documents: labels, counts, and their estimates."""

import csv
from math import exp

import numpy as np
import polars as pl
import pytest

from syntf.core import tables
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft
from syntf.releases.contents.prototypes import released_counts, summarize
from syntf.releases.contents.writers import prototypes_csv
from syntf.releases.job import release


def read_prototypes(folder):
    with (folder / "prototypes.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_documents(folder):
    return pl.concat(map(pl.read_parquet, sorted(folder.glob("documents*.parquet"))))


def test_prototypes_are_counted_and_corrected_for_the_noise(texts, tmp_path):
    release(texts, tmp_path / "out", document_loss=4, keep=["topic"])
    documents = read_documents(tmp_path / "out")
    assert documents.columns == ["document", "topic", "prototypes", "labels"]
    times = {}
    for (prototype,), label in documents.select("prototypes", "labels").iter_rows():
        times[prototype, label] = times.get((prototype, label), 0) + 1
    rows = read_prototypes(tmp_path / "out")
    assert {(int(row["prototype"]), row["label"]): int(row["released"]) for row in rows} == times
    assert {row["list"] for row in rows} == {"general"}
    entries = DocumentAnonymizer.build(Settings.from_preset(document_loss=4.0)).mechanism(240)
    count = entries.plan.entries
    kept = (exp(4) - 1) / (exp(4) + count - 1)  # the share of answers that are not noise
    for row in rows:
        released = int(row["released"])
        chance = (1 - kept) / count
        found = (released - 240 * chance) / kept
        assert float(row["estimate"]) == pytest.approx(found, abs=0.06)
        true, shown = min(max(found, 0), 240), kept + chance
        variance = true * shown * (1 - shown) + (240 - true) * chance * (1 - chance)
        assert float(row["standard_error"]) == pytest.approx(variance**0.5 / kept, abs=0.06)
    released = [int(row["released"]) for row in rows]
    assert released == sorted(released, reverse=True)


@pytest.mark.parametrize("loss", [8, 20])
def test_prototypes_follow_from_the_documents_of_a_release(texts, tmp_path, small, loss):
    """Also if the run was interrupted, and if most documents answered from a sharpened list."""
    stop = [True]

    def add(self, counts, documents, original=draft.Draft.add):
        original(self, counts, documents)
        if stop and self.documents >= 120:
            stop.clear()
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draft.Draft, "add", add)
        with pytest.raises(KeyboardInterrupt):
            release(texts, tmp_path / "out", document_loss=loss)
        release(texts, tmp_path / "out", document_loss=loss, resume=True)
    documents = read_documents(tmp_path / "out")
    assert documents.columns == ["document", "pilot", "prototypes", "labels"]
    rows = read_prototypes(tmp_path / "out")
    for name, pilot in (("general", True), ("sharpened", False)):
        mine = documents.filter(pl.col("pilot") == pilot)
        expected = mine["prototypes"].explode().value_counts()
        found = {int(r["prototype"]): int(r["released"]) for r in rows if r["list"] == name}
        assert found == dict(expected.iter_rows())
    assert rows[0]["list"] == "sharpened"


def test_a_receiver_can_compute_the_prototypes_again(texts, tmp_path, small):
    """The lists follow from the pilot's rows; the file follows from the lists and the rows."""
    release(texts, tmp_path / "out", document_loss=8)
    documents = read_documents(tmp_path / "out")
    mechanism = DocumentAnonymizer.build(Settings.from_preset(document_loss=8.0)).mechanism(240)
    answers = documents.filter("pilot")["prototypes"].explode().to_numpy().astype(np.int64)
    sharpened = mechanism.sharpen(answers.reshape(-1, 1))
    counts = released_counts(tables.from_polars(documents), mechanism.general, sharpened)
    again = prototypes_csv(summarize(mechanism, sharpened, counts))
    assert again == (tmp_path / "out" / "prototypes.csv").read_bytes()


@pytest.mark.parametrize("name", ["pilot", "prototypes", "labels"])
def test_a_kept_column_cannot_replace_a_column_of_the_release(tmp_path, name):
    pl.DataFrame({"text": ["a b"], name: ["x"]}).write_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=f"a column '{name}' of its own"):
        release(tmp_path / "t.csv", tmp_path / "out", document_loss=8, keep=[name])
