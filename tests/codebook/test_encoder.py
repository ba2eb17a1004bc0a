"""The encoder: one document at a time, the same integers with and without compiled code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.codebook import encoder as encoder_module
from syntf.text.documents import Documents

documents = st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=12)


def as_documents(lists):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return Documents(starts, np.array([term for one in lists for term in one], dtype=np.int32))


@given(documents)
def test_a_document_is_encoded_the_same_in_every_batch(toy_encoder, lists):
    together = toy_encoder.encode(as_documents(lists)).vectors
    for place, one in enumerate(lists):
        alone = toy_encoder.encode(as_documents([one])).vectors[0]
        assert together[place].tolist() == alone.tolist()


@given(documents)
def test_compiled_code_and_numpy_give_the_same_integers(toy_encoder, lists):
    compiled = toy_encoder.encode(as_documents(lists)).vectors
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder_module, "_compiled", None)
        assert (toy_encoder.encode(as_documents(lists)).vectors == compiled).all()


def test_a_document_without_a_known_word_is_zero(toy_encoder):
    unknown = len(toy_encoder.vectors.words)
    encoded = toy_encoder.encode(as_documents([[], [unknown], [0]])).vectors
    assert not encoded[:2].any()
    assert encoded[2].any()


def test_the_order_of_words_does_not_matter(toy_encoder):
    encoded = toy_encoder.encode(as_documents([[1, 2, 2, 9], [2, 9, 1, 2]])).vectors
    assert encoded[0].tolist() == encoded[1].tolist()


def test_documents_at_some_places_keep_their_counts(toy_encoder):
    encoded = toy_encoder.encode(as_documents([[1, 2, 2], [], [5], [6, 6, 7]]))
    some = encoded.at(np.array([3, 0]))
    assert some.counts.indptr.tolist() == [0, 2, 4]
    assert some.counts.indices.tolist() == [6, 7, 1, 2]
    assert some.counts.data.tolist() == [2, 1, 1, 2]
    assert (some.vectors == encoded.vectors[[3, 0]]).all()


def test_topics_of_plain_sentences_are_found(embedded_encoder):
    """The nearest entry of a list of words is about the same thing as the sentence."""
    from syntf.codebook.lists import topic_list
    from syntf.codebook.profiles import make_profiles
    from syntf.text.reader import look_up
    from syntf.text.token_table import cached_table
    from syntf.text.tokenizer import Analyzer

    words = embedded_encoder.vectors.words
    texts = [
        "The goalie stopped every shot and the team won the playoff game in overtime.",
        "The rocket reached its orbit and the astronauts docked with the station.",
    ]
    table = cached_table(Analyzer(), words)
    encoded = embedded_encoder.encode(look_up(texts, table, len(words)))
    topics = topic_list(embedded_encoder.codebook, 1000)
    chosen = topics.targets(encoded, embedded_encoder)[:, 0]
    labels = make_profiles(topics, embedded_encoder).labels
    sport = {"ball", "game", "goal", "playoff", "score", "scoring", "team", "win"}
    assert set(labels[chosen[0]].split(", ")) & sport
    flight = {"aircraft", "flight", "orbit", "rocket", "satellite", "shuttle", "space"}
    assert set(labels[chosen[1]].split(", ")) & flight
