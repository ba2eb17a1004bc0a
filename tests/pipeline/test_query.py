"""The vectors of plain queries: deterministic, free of noise, over the columns of a release."""

import numpy as np
import pytest

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.query import topic_queries
from syntf.pipeline.settings import Settings


def test_a_query_in_the_words_unit_is_its_row_of_the_mechanism_above_the_noise():
    words = ["cat", "dog", "car", "train", "bus"]
    synthetic = SynTF(preset="paper", vocabulary=words, length=5).fit([])
    anonymizer = synthetic._anonymizer
    mechanism = anonymizer.mechanism
    expected = np.zeros(5)
    for word, times in (("cat", 2), ("bus", 1)):
        weights = mechanism.weights(anonymizer.term(word))
        expected += times * (weights - weights.min()) / mechanism.total
    found = synthetic.query("a cat, a cat and a bus").toarray().ravel()
    np.testing.assert_allclose(found, expected)


def test_a_query_for_topics_is_the_profile_of_its_nearest_topic():
    anonymizer = DocumentAnonymizer.build(Settings.from_preset(document_loss=10.0))
    mechanism = anonymizer.single
    encoded = anonymizer.read(["the orbit of a spacecraft", "xqzv"])
    target = mechanism.general.targets(encoded.at(np.array([0])), mechanism.encoder)
    profile = mechanism.profiles(mechanism.general, target).rows(target, len(mechanism.terms))
    found = topic_queries(mechanism, mechanism.general, encoded)
    assert dict(zip(found[0].indices, found[0].data, strict=True)) == dict(
        zip(profile.indices, profile.data, strict=True)
    )
    assert found[1].nnz == 0


def test_a_query_for_word_sets_names_all_of_its_words():
    synthetic = SynTF(document_loss=40).fit([])
    terms = synthetic.get_feature_names_out()
    row = synthetic.query("bread, cheese, garlic, soup, football and hockey").toarray().ravel()
    assert {"bread", "cheese", "garlic", "soup", "football", "hockey"} <= set(terms[row >= 4])


@pytest.mark.parametrize("settings", [{"document_loss": 10}, {"document_loss": 40}, {"loss": 8}])
def test_queries_are_deterministic_and_need_a_known_word(settings):
    synthetic = SynTF(**settings)
    counts = synthetic.fit_transform(["The rocket reached its orbit.", "Add garlic."])
    first, second = (synthetic.query("a rocket in orbit") for _ in range(2))
    assert (first != second).nnz == 0
    assert (counts @ first.T).shape == (2, 1)
    for text in ("", "xqzv"):
        with pytest.raises(SyntfError, match="the query has no known word"):
            synthetic.query(text)
