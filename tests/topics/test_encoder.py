"""The encoder: one document at a time, and the same integers everywhere."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from syntf.core import parallel
from syntf.text.reader import reader_for
from syntf.topics import encoder as encoder_module
from syntf.topics.encoder import Encoder, sums
from syntf.topics.integers import LENGTH

documents = arrays(np.int32, (7, 40), elements=st.sampled_from([0] * 20 + [1, 2, 3, 300]))


def as_counts(lists, words):
    """Count the words of documents that are lists of rows of the word vectors."""
    rows = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    columns = np.array([word for one in lists for word in one], dtype=np.int32)
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_matrix((ones, (rows, columns)), shape=(len(lists), words))


@given(documents)
def test_a_document_is_encoded_the_same_in_every_batch(toy_encoder, counts):
    together = toy_encoder.encode(csr_matrix(counts))
    for place, one in enumerate(counts):
        alone = toy_encoder.encode(csr_matrix(one[None]))
        assert together[place].tolist() == alone[0].tolist()
    assert (together.any(axis=1) == counts.any(axis=1)).all()


@given(documents)
def test_sums_are_exact_integers(toy_encoder, counts):
    """Floating point agrees with whole numbers of Python, at the largest weights, too."""
    book, matrix = toy_encoder.codebook, toy_encoder.vectors.matrix
    weights = np.full(40, 65_535, dtype=np.uint16) - np.arange(40, dtype=np.uint16)
    found = sums(csr_matrix(counts), weights, book.tf, matrix)
    expected = [
        [
            sum(
                int(book.tf[min(times, 255)]) * int(weights[word]) * int(matrix[word, place])
                for word, times in enumerate(row)
            )
            for place in range(matrix.shape[1])
        ]
        for row in counts.tolist()
    ]
    assert found.tolist() == expected


def test_the_integers_are_those_of_every_earlier_version(embedded_encoder):
    """The digest is what the compiled loops of 0.2.0 gave for the same counts."""
    lists = [
        [(d * d * 31 + i * i * 17 + d * i * 7) % (97 + d * 331) % 100_000 for i in range(d % 60)]
        for d in range(300)
    ]
    encoded = embedded_encoder.encode(as_counts(lists, 100_000))
    digest = sha256(encoded.astype("<i2").tobytes()).hexdigest()
    assert digest == "9d3f251c4d9affd3cca14df169d9e381612f6b62e29095c4685e2647f9a5248d"


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_blocks_and_threads_do_not_change_a_bit(embedded_encoder, monkeypatch, threads):
    generator = np.random.default_rng(4)
    lists = [generator.integers(0, 100_000, 30).tolist() for _ in range(60)]
    counts = as_counts(lists, 100_000)
    expected = embedded_encoder.encode(counts)
    monkeypatch.setattr(parallel, "cores", lambda: threads)
    for step, dimensions in ((7, 3), (60, 100)):
        monkeypatch.setattr(encoder_module, "_STEP", step)
        monkeypatch.setattr(encoder_module, "_DIMENSIONS", dimensions)
        assert (embedded_encoder.encode(counts) == expected).all()
    assert (embedded_encoder.encode(counts.astype(np.int64)) == expected).all()
    assert (embedded_encoder.encode(counts[::-1])[::-1] == expected).all()


def test_many_words_are_encoded_like_single_ones(embedded_encoder):
    rows = embedded_encoder.columns[:1100]  # more than are encoded at once
    together = embedded_encoder.word_vectors(rows)
    for place in (0, 511, 512, 1099):
        alone = embedded_encoder.word_vectors(rows[place : place + 1])
        assert together[place].tolist() == alone[0].tolist()
    assert (embedded_encoder.column_vectors[:1100] == together).all()
    assert len(embedded_encoder.terms) == len(set(embedded_encoder.terms))


def with_own_words(encoder):
    """Return an encoder whose codebook has vectors of its own for three words."""
    book = encoder.codebook
    own = {
        "own_rows": np.array([3, 5, 8], dtype=np.int32),
        "own_weight": np.array([9, 1, 2], dtype=np.uint16),
        "own_vectors": np.array([[7, 1], [-3, 3], [1, 9]], dtype=np.int8),
        "own_centre": np.zeros(2, dtype=np.int16),
    }
    nodes = np.hstack([book.nodes, np.ones((7, 2), np.int8)])
    return Encoder(replace(book, nodes=nodes, **own), encoder.vectors)


@given(documents)
def test_own_vectors_of_words_stand_beside_the_others(toy_encoder, counts):
    encoder = with_own_words(toy_encoder)
    found = encoder.encode(csr_matrix(counts))
    first = toy_encoder.encode(csr_matrix(counts)).astype(float)
    known = counts[:, [3, 5, 8]].any(axis=1)
    for row, plain, has_own, full in zip(found.astype(float), first, known, counts, strict=True):
        assert has_own or not row[8:].any()
        if full.any():
            cosine = row[:8] @ plain / np.linalg.norm(row[:8]) / np.linalg.norm(plain)
            assert cosine > 0.999
            assert abs(np.linalg.norm(row) - LENGTH) < 8
        else:
            assert not row.any()
    alone = [encoder.encode(csr_matrix(one[None]))[0].tolist() for one in counts]
    assert alone == found.tolist()
    words = encoder.word_vectors(np.arange(40, dtype=np.int32))
    assert words[:, 8:].any(axis=1).nonzero()[0].tolist() == [3, 5, 8]


def test_topics_of_plain_sentences_are_found(embedded_encoder):
    """The nearest topic is about the same thing as the sentence."""
    from syntf.topics.lists import topic_list
    from syntf.topics.profiles import profiles

    reader = reader_for(words=embedded_encoder.vectors.words)
    texts = [
        "The goalie stopped every shot and the team won the playoff game in overtime.",
        "The rocket reached its orbit and the astronauts docked with the station.",
    ]
    topics = topic_list(embedded_encoder.codebook, 1000)
    _, names = profiles(topics, embedded_encoder)
    chosen = topics.targets(embedded_encoder.encode(reader.counts(pl.Series(texts))))[:, 0]
    sport = {"ball", "game", "goal", "playoff", "score", "scoring", "team", "win", "hockey"}
    assert set(names[chosen[0]].split(", ")) & sport
    flight = {"aircraft", "flight", "orbit", "rocket", "satellite", "shuttle", "space"}
    assert set(names[chosen[1]].split(", ")) & flight
