"""Counts as arrays: the same as SciPy's matrices of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack

from syntf.counts import Rows, matrix, narrow, stacked


def rows(values):
    made = csr_matrix(np.array(values, dtype=np.int32).reshape(len(values), 3))
    return Rows(made.data, made.indices, made.indptr, made.shape)


def test_a_matrix_shares_the_arrays_and_is_its_own():
    counts = rows([[0, 2, 1], [0, 0, 0]])
    made = matrix(counts)
    assert made.toarray().tolist() == [[0, 2, 1], [0, 0, 0]]
    assert np.shares_memory(made.data, counts.data)
    assert made.has_canonical_format
    assert matrix(made) is made


@given(st.lists(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=5)))
def test_stacked_parts_are_as_scipy_stacks_them(parts):
    found = stacked([rows(part) for part in parts], 3)
    expected = vstack(
        [csr_matrix((0, 3), dtype=np.int32), *(matrix(rows(part)) for part in parts)], format="csr"
    )
    for name in ("data", "indices", "indptr"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert getattr(found, name).dtype == np.int32
    assert found.shape == expected.shape


@pytest.mark.parametrize(("last", "kind"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_starts_are_narrow_where_they_fit(last, kind):
    found = narrow(np.array([0, last], dtype=np.int64))
    assert found.tolist() == [0, last]
    assert found.dtype == kind
