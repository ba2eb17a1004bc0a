"""The encoder: one document at a time, the same integers with and without compiled code."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.codebook import encoder as encoder_module
from syntf.core import cache_store
from syntf.text import token_table
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


@pytest.mark.skipif(
    token_table.compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)
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


def encode_columns(codebook, vectors):
    """Encode the columns of a release by a new encoder, and tell whether the cache had them."""
    made = encoder_module.Encoder(codebook, vectors, cache=True)
    with pytest.MonkeyPatch.context() as patch:
        computed = []
        own = encoder_module.Encoder.word_vectors

        def word_vectors(self, rows):
            computed.append(True)
            return own(self, rows)

        patch.setattr(encoder_module.Encoder, "word_vectors", word_vectors)
        return made.column_vectors, not computed


def test_encoded_words_are_kept_in_the_cache(toy_encoder, empty_cache):
    arguments = toy_encoder.codebook, toy_encoder.vectors
    expected = toy_encoder.word_vectors(toy_encoder.columns)
    for known in (False, True):
        found, was_known = encode_columns(*arguments)
        assert (found == expected).all()
        assert (found.dtype, was_known) == (np.int16, known)
    (entry,) = empty_cache.iterdir()
    assert cache_store.clear() == 1
    assert not entry.exists()


def damaged(raw):
    """Change the last byte, and leave the checksum."""
    return raw[:-1] + bytes([raw[-1] ^ 1])


def of_another_size(raw):
    """Leave out a row, with a checksum that fits."""
    return sha256(raw[32:-16]).digest() + raw[32:-16]


@pytest.mark.parametrize(
    "change", [damaged, of_another_size, lambda raw: raw[:20], lambda raw: b""]
)
def test_a_wrong_entry_of_the_cache_is_not_used(toy_encoder, empty_cache, change):
    arguments = toy_encoder.codebook, toy_encoder.vectors
    expected, _ = encode_columns(*arguments)
    (entry,) = empty_cache.iterdir()
    entry.write_bytes(change(entry.read_bytes()))
    found, was_known = encode_columns(*arguments)
    assert not was_known
    assert (found == expected).all()
    assert encode_columns(*arguments)[1]  # it was stored again


def test_another_codebook_has_another_entry_in_the_cache(toy_encoder, empty_cache):
    other = replace(
        toy_encoder.codebook, word_centre=toy_encoder.codebook.word_centre + np.int16(9)
    )
    first, _ = encode_columns(toy_encoder.codebook, toy_encoder.vectors)
    second, was_known = encode_columns(other, toy_encoder.vectors)
    assert not was_known
    assert (first != second).any()


def test_nothing_is_cached_unless_it_is_asked_for(toy_encoder, empty_cache):
    """A receiver who verifies a release trusts no cache."""
    assert toy_encoder.column_vectors.any()
    assert not empty_cache.exists()


def test_nothing_is_cached_for_a_codebook_of_private_texts(toy_encoder, empty_cache):
    private = replace(toy_encoder.codebook, origin="private")
    assert encode_columns(private, toy_encoder.vectors)[1] is False
    assert not empty_cache.exists()


def test_many_words_are_encoded_like_single_ones(embedded_encoder):
    rows = embedded_encoder.columns[:1100]  # more than are encoded at once
    together = embedded_encoder.word_vectors(rows)
    for place in (0, 511, 512, 1099):
        alone = embedded_encoder.word_vectors(rows[place : place + 1])
        assert together[place].tolist() == alone[0].tolist()
