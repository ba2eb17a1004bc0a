"""The codebook of opinions: polarity of words, levels of documents."""

import numpy as np
import pytest

from syntf import SynTF
from syntf.codebook.codebook import Codebook
from syntf.codebook.opinions import BLAME, LEVELS, PRAISE, opinion_codebook, word_polarity
from syntf.core.errors import SyntfError
from syntf.vectors.word_vectors import WordVectors


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
