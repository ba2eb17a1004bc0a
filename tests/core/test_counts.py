"""Counts as arrays: the same as SciPy's matrices of them."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack

from syntf.core.counts import Rows, compact, matrix, offsets, stack, take


def rows(values):
    made = csr_matrix(np.array(values, dtype=np.int32).reshape(len(values), 3))
    return Rows(made.data, made.indices, made.indptr, made.shape)


def test_a_matrix_shares_the_arrays_of_counts():
    counts = rows([[0, 2, 1], [0, 0, 0]])
    made = matrix(counts)
    assert made.toarray().tolist() == [[0, 2, 1], [0, 0, 0]]
    assert np.shares_memory(made.data, counts.data)
    assert made.has_canonical_format
    assert matrix(made) is made


ROWS = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=5)


@given(st.lists(ROWS))
def test_stacking_agrees_with_scipy(parts):
    found = stack([rows(part) for part in parts], 3)
    expected = vstack(
        [csr_matrix((0, 3), dtype=np.int32), *(matrix(rows(part)) for part in parts)], format="csr"
    )
    for name in ("data", "indices", "indptr"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert getattr(matrix(found), name).dtype == np.int32
    assert found.shape == expected.shape


@given(ROWS, st.data())
def test_taking_documents_agrees_with_scipy(values, data):
    order = data.draw(st.lists(st.integers(0, len(values) - 1) if values else st.nothing()))
    chosen = np.array(order, dtype=np.intp)
    with patch("syntf.core.counts.COPIED_DOCUMENTS", 2):
        found = take(compact(rows(values)), chosen)
    assert np.array_equal(matrix(found).toarray(), matrix(rows(values)).toarray()[chosen])
    assert found.shape == (len(order), 3)


@pytest.mark.parametrize(
    ("most", "width", "kinds"),
    [(255, 256, "BB"), (256, 256, "HB"), (9, 257, "BH"), (2**16, 2**16, "iH"), (1, 2**20, "Bi")],
)
def test_compact_counts_take_few_bytes_and_are_released_in_32_bits(most, width, kinds):
    made = csr_matrix(([1, most], ([0, 1], [3, width - 1])), shape=(2, width), dtype=np.int32)
    found = compact(made)
    assert (found.data.dtype.char, found.indices.dtype.char) == tuple(kinds)
    assert (matrix(found) != made).nnz == 0
    assert matrix(found).data.dtype == np.int32


@pytest.mark.parametrize(("last", "kind"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_offsets_have_32_bits_if_they_fit(last, kind):
    found = offsets(np.array([0, last], dtype=np.int64))
    assert found.tolist() == [0, last]
    assert found.dtype == kind
