"""Vectors of integers: lengths, exact products, and the order of equals."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntf.topics.integers import LENGTH, nearest_in_turn, nearest_several, products, stretch

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


@pytest.mark.parametrize(("entries", "count"), [(8, 1), (8, 3), (8, 8), (700, 20), (300, 300)])
def test_several_nearest_agree_with_a_full_sort(entries, count):
    """Small numbers give many equal products: these keep the order of entries."""
    generator = np.random.default_rng(entries + count)
    documents = generator.integers(-3, 4, (300, 5)).astype(np.int16)  # more than one block
    many = generator.integers(-3, 4, (entries, 5)).astype(np.int16)
    exact = documents.astype(np.int64) @ many.astype(np.int64).T
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :count]
    assert (nearest_several(documents, many, count) == expected).all()


def slowly_in_turn(row, entries, count):
    """Find entries in turn with whole numbers of Python alone."""
    row, entries, found = row.tolist(), entries.tolist(), []
    for _ in range(count):
        others = [entry for entry in range(len(entries)) if entry not in found]
        part = {e: sum(a * b for a, b in zip(row, entries[e], strict=True)) for e in others}
        best = max(others, key=lambda entry: (part[entry], -entry))
        found.append(best)
        rest = [2 * LENGTH**2 * a - part[best] * b for a, b in zip(row, entries[best], strict=True)]
        row = stretch(np.array([rest]))[0].tolist()
    return found


@pytest.mark.parametrize("count", [1, 2, 5])
def test_entries_in_turn_agree_with_brute_force(count):
    generator = np.random.default_rng(count)
    documents = stretch(generator.integers(-2, 3, (60, 3)))
    entries = stretch(generator.integers(-2, 3, (9, 3)))  # some are equal
    found = nearest_in_turn(documents, entries, count)
    expected = [slowly_in_turn(row, entries, count) for row in documents]
    assert found.tolist() == expected
    assert all(len(set(row)) == count for row in expected)


def test_blocks_do_not_change_what_is_nearest():
    generator = np.random.default_rng(5)
    documents = stretch(generator.integers(-9, 10, (2500, 4)))
    entries = stretch(generator.integers(-9, 10, (30, 4)))
    together = nearest_in_turn(documents, entries, 3)
    assert (together[:, 0] == products(documents, entries).argmax(1)).all()
    for first in (0, 1023, 1024, 2499):
        alone = nearest_in_turn(documents[first : first + 1], entries, 3)
        assert alone.tolist() == together[first : first + 1].tolist()
