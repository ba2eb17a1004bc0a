"""No document adds a longer vector than is claimed, however extreme it is; sums are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from syntf.corpus import sums
from syntf.corpus.sums import FIRST_LENGTH, WORDS_LENGTH, Block, first_sum, words_sum

D = 8
NOTHING = csr_matrix((1, 40), dtype=np.int32)


def length(vector):
    """The squared length of integers, exactly."""
    return sum(int(number) ** 2 for number in vector)


def alone(vector, label=0, labels=3, add=first_sum):
    """What one document adds to the first sum."""
    encoded = np.array([vector], dtype=np.int16)
    return add([Block(np.array([label]), encoded, NOTHING)], labels, len(vector))


def extreme_vectors():
    """Vectors of int16 that an encoder may give, and far longer ones."""
    random = np.random.default_rng(5)
    yield from ([0] * D, [1] + [0] * (D - 1), [-32768] * D, [32767] * D, [2000] + [0] * (D - 1))
    yield from ([707] * D, [1, -1] * (D // 2), [2000, 1] + [0] * (D - 2), [0] * (D - 1) + [-32768])
    for size in (2, 20, 500, 2000, 32767):
        yield from random.integers(-size, size + 1, (100, D)).tolist()
    for few in range(1, D):  # equal numbers come nearest to the bound of the triangle
        yield from random.permuted([[2000] * few + [0] * (D - few)] * 5, axis=1).tolist()


def longest(add):
    """The longest vector that any extreme document adds, of all labels."""
    vectors = list(extreme_vectors())
    return max(length(alone(one, i % 3, add=add)) for i, one in enumerate(vectors))


def test_no_document_adds_more_than_the_bound_to_the_first_sum():
    assert 0.99 * FIRST_LENGTH < longest(first_sum) <= FIRST_LENGTH


@given(arrays(np.int16, D))
def test_any_vector_keeps_the_bound_and_its_length_is_computed_exactly(vector):
    found = length(alone(vector))
    assert found <= FIRST_LENGTH
    assert found == sums.first_lengths(sums.checked_sides(vector[None]))[0]


def test_every_small_vector_keeps_the_bound():
    grid = np.stack(np.meshgrid(*[np.arange(-4, 5)] * 4), axis=-1).reshape(-1, 4)
    assert sums.first_lengths(sums.checked_sides(grid.astype(np.int16))).max() <= FIRST_LENGTH


def broken_rounding(encoded):
    """Clip in floating point, then round to the nearest integer, and check nothing."""
    wide = encoded.astype(float)
    norms = np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-9)
    return np.rint(wide * np.minimum(sums.SIDE / norms, 1)).astype(np.int64)


def test_clipping_in_floats_without_a_check_is_found(monkeypatch):
    monkeypatch.setattr(sums, "checked_sides", broken_rounding)
    assert longest(first_sum) > FIRST_LENGTH


def test_the_check_catches_what_rounding_lets_pass(monkeypatch):
    monkeypatch.setattr(sums, "rounded_sides", broken_rounding)
    assert longest(first_sum) <= FIRST_LENGTH


def test_products_off_the_diagonal_at_the_root_of_two_are_found(monkeypatch):
    monkeypatch.setattr(sums, "OFF_DIAGONAL", 8)
    assert longest(first_sum) <= FIRST_LENGTH  # documents are left out
    monkeypatch.setattr(sums, "checked_sides", sums.rounded_sides)
    assert longest(first_sum) > FIRST_LENGTH


def test_a_document_without_a_known_word_adds_its_count_alone():
    added = alone([0] * D, label=1)
    assert added[1] == sums.COUNT
    assert np.count_nonzero(added) == 1


def test_a_document_without_a_place_among_the_labels_adds_nothing():
    assert not alone([2000] * D, label=-1).any()
    assert not words_sum(
        [Block(np.array([-1]), None, csr_matrix(np.ones((1, 40))))], 3, np.arange(40)
    ).any()


def blocks_of(corpus, batch):
    own = np.array([("animals", "music", "cars").index(label) for label in corpus.labels])
    for start in range(0, len(own), batch):
        part = slice(start, start + batch)
        yield Block(own[part], corpus.encoded[part], corpus.counts[part])


def depends_on_batches(add, corpus):
    whole = add(list(blocks_of(corpus, 10_000)), 3, D)
    return any((add(list(blocks_of(corpus, size)), 3, D) != whole).any() for size in (1, 7, 100))


def test_sums_do_not_depend_on_batches(corpus_of):
    corpus = corpus_of(300)
    assert not depends_on_batches(first_sum, corpus)
    columns = np.arange(5, 30, dtype=np.int32)
    whole = words_sum(blocks_of(corpus, 10_000), 3, columns)
    for size in (1, 7, 100):
        assert (words_sum(blocks_of(corpus, size), 3, columns) == whole).all()


def test_sums_of_floats_are_found(corpus_of):
    def rounded(blocks, labels, dimensions):
        parts = [first_sum([block], labels, dimensions).astype(np.float32) for block in blocks]
        return sum(parts[1:], parts[0])

    assert depends_on_batches(rounded, corpus_of(300))


def test_the_first_sum_is_that_of_a_plain_loop(corpus_of):
    corpus = corpus_of(40)
    counts, directions, moments = sums.first_parts(first_sum(blocks_of(corpus, 9), 3, D), 3, D)
    sides = sums.checked_sides(corpus.encoded) / sums.SIDE
    own = np.concatenate([block.labels for block in blocks_of(corpus, 40)])
    for label in range(3):
        assert counts[label] == (own == label).sum()
        assert directions[label] == pytest.approx(sides[own == label].sum(axis=0))
    assert moments == pytest.approx(sides.T @ sides)


def test_too_many_documents_do_not_overflow(monkeypatch):
    monkeypatch.setattr(sums, "_MOST", 3 * sums.DIRECTION * sums.SIDE)
    block = Block(np.zeros(2, dtype=np.int64), np.zeros((2, D), dtype=np.int16), NOTHING)
    first_sum([block], 1, D)
    with pytest.raises(OverflowError):
        first_sum([block, block], 1, D)


@given(st.lists(st.integers(0, 39), max_size=60), st.lists(st.integers(0, 39), unique=True))
def test_no_document_adds_more_than_the_bound_to_the_sum_of_words(words, columns):
    columns = np.array(sorted(columns), dtype=np.int32)
    # Words may even stand in a matrix several times.
    counts = csr_matrix((np.ones(len(words), dtype=np.int32), words, [0, len(words)]), (1, 40))
    found = words_sum([Block(np.array([1]), None, counts)], 2, columns)
    assert length(found) <= WORDS_LENGTH
    assert not found[: len(columns)].any()
    assert set(np.flatnonzero(found) - len(columns)) <= set(range(len(columns)))


def test_many_words_come_near_to_the_bound():
    counts = csr_matrix(np.ones((1, 100_000), dtype=np.int32))
    added = sums.word_parts(counts, np.arange(0, 100_000, 90, dtype=np.int32)).data
    assert 0.98 * WORDS_LENGTH < length(added) <= WORDS_LENGTH
    assert (np.diff(sums.word_rarity(np.arange(1000, dtype=np.int32))) >= 0).all()
