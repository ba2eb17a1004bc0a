"""The codebook of opinions: polarity of words, levels of documents."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from syntf import Settings, SynTF
from syntf.audit import audit
from syntf.codebook.codebook import Codebook
from syntf.codebook.opinions import BLAME, LEVELS, PRAISE, opinion_codebook, word_polarity
from syntf.core.errors import SyntfError
from syntf.pipeline.document import DocumentAnonymizer
from syntf.releases.job import release
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.result import FAILED, OK
from syntf.verification.verify import verify


@pytest.fixture(scope="module")
def vectors():
    return WordVectors.embedded()


@pytest.fixture(scope="module")
def file(vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("codebook") / "opinions.codebook"
    opinion_codebook(vectors).write(path)
    return path


def test_words_that_are_not_seeds_have_the_right_polarity(vectors):
    polarity = dict(zip(vectors.words, word_polarity(vectors).tolist(), strict=False))
    good = "lovely exquisite stellar admirable joyful".split()
    bad = "useless nasty disgusting dismal sloppy".split()
    assert not {*good, *bad} & {*PRAISE, *BLAME}
    assert all(polarity[word] > 0.1 for word in good)
    assert all(polarity[word] < -0.1 for word in bad)
    assert max(map(abs, polarity.values())) == 1
    assert np.median(np.abs(list(polarity.values()))) < 0.25


def test_the_file_can_be_read_and_has_a_level_for_each_leaf(file):
    book = Codebook.read(file)
    assert int(book.leaves.sum()) == LEVELS
    names = {label for label, leaf in zip(book.labels, book.leaves, strict=True) if leaf}
    assert names == {f"{side} {n}" for side in ("negative", "positive") for n in range(1, 17)}


def test_documents_are_ordered_by_their_opinion(file):
    synthetic = SynTF(document_loss=30, codebook=file).fit([])
    texts = ["A superb, brilliant and wonderful film.", "An awful, boring and pointless mess."]
    _, labels = synthetic.transform_with_labels(texts * 3)
    assert all(label.startswith("positive 1") for label in labels[::2])
    assert all(label.startswith("negative 1") for label in labels[1::2])


def test_a_level_of_a_document_is_the_mean_polarity_of_its_words(file, vectors):
    """The angle of an encoded document follows from the integers of the codebook."""
    synthetic = SynTF(document_loss=10, codebook=file).fit([])
    anonymizer = synthetic._anonymizer
    encoded = anonymizer.read(["excellent excellent terrible"])
    book = anonymizer.encoder.codebook
    total = np.zeros(2)
    for word, times in (("excellent", 2), ("terrible", 1)):
        row = vectors.words.index(word)
        total += float(book.tf[times]) * float(book.own_weight[row]) * book.own_vectors[row]
    x, y = encoded.vectors[0, -2:].astype(float)
    assert np.arctan2(x, y) == pytest.approx(np.arctan2(*total), abs=2e-3)
    assert not encoded.vectors[0, :-2].any()


def test_vectors_of_another_language_are_refused(toy_vectors):
    with pytest.raises(SyntfError, match="word vectors of English"):
        opinion_codebook(toy_vectors)


# The embedded codebook and the preset

DIGEST = "d56ac4999034516b16df3618d061508dea8dc57c2c7a2ece9550cd7b5adc0c1c"
REVIEWS = ["A superb, brilliant and wonderful film.", "An awful, boring and pointless mess."]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A release with the preset."""
    place = tmp_path_factory.mktemp("sentiment")
    pl.DataFrame({"text": REVIEWS * 3}).write_csv(place / "reviews.csv")
    release(place / "reviews.csv", place / "release", settings=Settings.from_preset("sentiment"))
    return place / "release"


def described_tree(book, node=0):
    """Return the labels of a node and of all nodes below it; two siblings have no order."""
    child = int(book.child[node])
    below = frozenset(described_tree(book, one) for one in (child, child + 1) if child)
    return book.labels[node], int(book.points[node]), int(book.spread[node]), below


def test_the_embedded_codebook_is_the_one_that_the_command_makes(vectors):
    """The computation uses floating point, so another machine may round a number differently.

    The levels of a group lie symmetrically around its middle, so rounding also decides which half
    of the group comes first.
    """
    embedded, made = Codebook.read("syntf:opinions"), opinion_codebook(vectors)
    embedded.check("opinions.zip")
    assert (embedded.digest, embedded.origin, embedded.is_near) == (DIGEST, "embedded", True)
    assert (described_tree(embedded), embedded.made_from) == (described_tree(made), made.made_from)
    assert len(set(made.labels)) == len(made.labels) == 2 * LEVELS - 1
    place = {label: number for number, label in enumerate(made.labels)}
    made = replace(made, nodes=made.nodes[[place[label] for label in embedded.labels]])
    for name in ("nodes", "own_rows", "own_weight", "own_vectors", "tf", "weight"):
        found, expected = (getattr(book, name).astype(np.int64) for book in (embedded, made))
        assert np.abs(found - expected).max() <= 1
    assert len(np.setxor1d(embedded.outputs, made.outputs)) <= 4


def test_a_release_with_the_preset_verifies_without_a_file(released):
    found = verify(released)
    assert found.verified
    (codebook,) = (check for check in found.checks if check.name == "codebook")
    assert (codebook.status, codebook.detail) == (OK, "32 prototypes, embedded in syntf")
    guarantee = json.loads((released / "guarantee.json").read_text())
    assert guarantee["document"]["codebook"] == f"sha256:{DIGEST}"
    assert (guarantee["supplied"], guarantee["private"]) == ([], True)
    assert pl.read_csv(released / "prototypes.csv")["label"].str.contains(r"tive \d").all()


def test_a_release_with_a_changed_codebook_does_not_verify(released, monkeypatch):
    book = Codebook.opinions()
    weight = book.own_weight.copy()
    weight[0] += 1
    other = replace(book, own_weight=weight)
    monkeypatch.setattr(Codebook, "opinions", classmethod(lambda cls: other))
    found = verify(released)
    assert not found.verified
    assert [check.name for check in found.with_status(FAILED)] == ["codebook"]


def test_the_preset_is_the_default_with_another_codebook():
    chosen = Settings.from_preset("sentiment", document_loss=6)
    assert (chosen.document_loss, chosen.codebook, chosen.supplied) == (6, "syntf:opinions", [])
    assert Settings.from_preset("sentiment", codebook="my.codebook").supplied == ["codebook"]
    assert Settings.from_preset(codebook=Path("syntf:opinions")).supplied == []


@pytest.mark.parametrize(
    "other", [{"language": "fr"}, {"vectors": "my.vec"}, {"encoder": "model2vec:folder"}]
)
def test_the_preset_is_refused_for_other_vectors(other):
    with pytest.raises(SyntfError, match=f"leave out {next(iter(other))}"):
        Settings.from_preset("sentiment", **other)


def test_the_preset_has_no_pilot():
    anonymizer = DocumentAnonymizer.build(Settings.from_preset("sentiment"))
    plan = anonymizer.mechanism(20_000).plan
    assert (plan.kind, plan.entries, plan.pilot, plan.draws) == ("topics", LEVELS, 0, 1)


@pytest.mark.slow
def test_the_preset_passes_the_audit():
    subject = DocumentAnonymizer.build(Settings.from_preset("sentiment", document_loss=3))
    results = list(audit(subject, draws=50_000, quick=True))
    assert [result.faults for result in results] == [[]] * len(results)
    limits = {result.check: result.limits for result in results if result.limits}
    assert limits == {
        "release": ["one group of draws alone cannot show entropy that is used again"]
    }
