"""Vectors of integers: lengths, exact products, and the order of equals."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntf.codebook.integers import LENGTH, nearest, nearest_several, products, stretch

rows = arrays(np.int64, (3, 5), elements=st.integers(-(2**50), 2**50))


@given(rows)
def test_stretched_rows_have_the_common_length_and_the_same_direction(wide):
    stretched = stretch(wide)
    for before, after in zip(wide.tolist(), stretched.tolist(), strict=True):
        if not any(before):
            assert not any(after)
            continue
        assert abs(np.linalg.norm(after) - LENGTH) < 5
        cosine = np.dot(before, np.array(after, dtype=float)) / (
            np.linalg.norm(np.array(before, dtype=float)) * np.linalg.norm(after)
        )
        assert cosine > 0.999


@given(rows | arrays(np.int64, (2, 3), elements=st.integers(-9, 9)), st.sampled_from([10, 2048]))
def test_stretching_is_exact(wide, length):
    """Floats give the same numbers as whole numbers without a limit."""
    for row, found in zip(wide.tolist(), stretch(wide, length).tolist(), strict=True):
        shift = max(map(abs, row)).bit_length() - 20
        cut = [value >> shift if shift > 0 else value << -shift for value in row]
        norm = max(1, isqrt(sum(value * value for value in cut)))
        assert found == [(2 * value * length + norm) // (2 * norm) for value in cut]
    assert (stretch(wide.astype(np.float64), length) == stretch(wide, length)).all()


def test_products_are_exact_integers():
    generator = np.random.default_rng(5)
    left = stretch(generator.integers(-99, 99, (50, 100)))
    right = stretch(generator.integers(-99, 99, (70, 100)))
    assert (products(left, right) == left.astype(np.int64) @ right.astype(np.int64).T).all()
    order = generator.permutation(100)
    assert (products(left[:, order], right[:, order]) == products(left, right)).all()


def test_the_first_of_equals_is_nearest():
    entries = stretch(np.array([[1, 0], [1, 0], [0, 1]]))
    assert nearest(stretch(np.array([[5, 0], [0, 2], [0, 0]])), entries).tolist() == [0, 2, 0]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_several_nearest_agree_with_a_full_sort(count):
    generator = np.random.default_rng(count)
    documents = stretch(generator.integers(-3, 4, (300, 4)))
    entries = stretch(generator.integers(-3, 4, (8, 4)))
    exact = documents.astype(np.int64) @ entries.astype(np.int64).T
    expected = [sorted(range(8), key=lambda e, row=row: (-row[e], e))[:count] for row in exact]
    assert nearest_several(documents, entries, count).tolist() == expected


@pytest.mark.parametrize(("entries", "count"), [(256, 20), (700, 1), (700, 20), (2000, 300)])
def test_the_best_of_many_entries_are_those_of_a_full_sort(entries, count):
    """Many entries are compared in groups first; equal products keep the order of entries."""
    random = np.random.default_rng(entries + count)
    documents = random.integers(-3, 4, (300, 5)).astype(np.int16)  # more than one block
    many = random.integers(-3, 4, (entries, 5)).astype(np.int16)
    expected = np.argsort(-products(documents, many), axis=1, kind="stable")[:, :count]
    assert (nearest_several(documents, many, count) == expected).all()


def test_the_nearest_of_several_blocks_are_found():
    random = np.random.default_rng(5)
    documents = random.integers(-9, 10, (2500, 4)).astype(np.int16)
    prototypes = random.integers(-9, 10, (30, 4)).astype(np.int16)
    assert (nearest(documents, prototypes) == products(documents, prototypes).argmax(1)).all()
