"""Weights of topicality: the formula, the embedded table, and vectors of one's own."""

import numpy as np
import pytest

from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import (
    HALF_WEIGHT_RANK,
    OTHER_WEIGHT,
    names_something,
    topical_weights,
    weigh,
)


def test_nouns_and_unknown_words_may_name_something():
    found = names_something(["engine", "run", "quickly", "blorpx", "beautiful", "ibm"])
    assert found.tolist() == [True, True, False, True, False, True]


def test_weights_without_lengths_depend_on_rank_and_part_of_speech():
    words = ["engine", "quickly", "blorpx"]
    expected = [
        1 / (1 + HALF_WEIGHT_RANK),
        OTHER_WEIGHT * 2 / (2 + HALF_WEIGHT_RANK),
        3 / (3 + HALF_WEIGHT_RANK),
    ]
    assert weigh(words).tolist() == pytest.approx(expected)


def test_weights_grow_with_the_square_of_the_length():
    words = [f"blorp{i}" for i in range(400)]
    ranks = np.arange(1.0, 401)
    usual = 3 + np.log(10 + ranks)  # within the fitted family, so it is found exactly
    lengths = usual.copy()
    plain = weigh(words, lengths)
    assert plain == pytest.approx(ranks / (ranks + HALF_WEIGHT_RANK))
    doubled = weigh(words, 2 * lengths)
    assert doubled == pytest.approx(plain)  # only what is unusual for the rank counts
    lengths[200] *= 1.5
    assert weigh(words, lengths)[200] == pytest.approx(plain[200] * 1.5**2, rel=0.02)


def test_the_embedded_weights_follow_the_formula(embedded):
    weights = topical_weights(embedded)
    assert weights.shape == (len(embedded.words),)
    assert (weights > 0).all()
    some = np.arange(0, len(embedded.words), 997)
    naming = names_something([embedded.words[i] for i in some])
    ranks = some + 1.0
    base = ranks / (ranks + HALF_WEIGHT_RANK)
    relative = weights[some] / np.where(naming, base, OTHER_WEIGHT * base)
    assert (relative > 0).all()
    assert 0.8 < np.median(relative) < 1.2  # squares of length over usual length
    assert not np.allclose(relative, 1)


def test_other_vectors_are_weighed_by_their_order(toy_vectors):
    assert topical_weights(toy_vectors).tolist() == weigh(toy_vectors.words).tolist()


def test_a_copy_of_the_embedded_vectors_is_no_longer_the_embedded_table(embedded):
    cut = WordVectors(embedded.words[:50], embedded.matrix[:50])
    assert not cut.is_embedded
    assert topical_weights(cut).shape == (50,)


def test_topical_words_are_drawn_more_often(toy_vectors):
    words = list(toy_vectors.words)
    settings = Settings(
        vectors=toy_vectors, vocabulary=words, weights="topical", epsilon=300.0, length=4000,
        spelling=0.0, stop_words=frozenset(),
    )  # fmt: skip
    made = Anonymizer.build(settings)
    assert made.weights is not None
    assert made.weights[-1] == 1  # the document without a known word
    counts = made.anonymize(["cat swim"]).toarray()[0]
    first, second = words.index("cat"), words.index("swim")
    share = made.weights[first] / (made.weights[first] + made.weights[second])
    assert counts[first] / 4000 == pytest.approx(share, abs=0.06)


def test_a_text_without_any_topical_word_still_gives_its_words(toy_vectors):
    settings = Settings(
        vectors=toy_vectors, vocabulary=list(toy_vectors.words), weights="topical", length=9
    )
    counts = Anonymizer.build(settings).anonymize(["", "qqzz", "cat"])
    assert counts.sum(axis=1).ravel().tolist() == [[9, 9, 9]]
