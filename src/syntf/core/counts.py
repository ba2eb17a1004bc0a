"""Sparse counts, documents × terms, as the three arrays of SciPy's ``csr_matrix``.

Importing SciPy's matrices takes longer than making a small release. So a release is made from the
arrays alone; code that calculates with counts converts them with :func:`matrix`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


COPIED_DOCUMENTS = 1 << 12
"""Documents copied at once: the positions of their counts take more memory than the counts."""


class Counts(Protocol):
    """Counts in compressed sparse rows. A ``csr_matrix`` has these attributes too."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and of terms."""

    @property
    def data(self) -> NDArray[Any]:
        """The counts above 0, one document after the other."""

    @property
    def indices(self) -> NDArray[Any]:
        """The term that each count belongs to."""

    @property
    def indptr(self) -> NDArray[Any]:
        """Where each document begins in the other arrays, followed by where the last one ends."""


@dataclass(frozen=True)
class Rows:
    """Counts in which the terms of each document are distinct and in order.

    >>> rows = Rows(np.array([2, 1]), np.array([0, 3]), np.array([0, 0, 2]), (2, 4))
    >>> matrix(stack([rows, rows], 4)).toarray().tolist()
    [[0, 0, 0, 0], [2, 0, 0, 1], [0, 0, 0, 0], [2, 0, 0, 1]]
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]


def stack(parts: Sequence[Counts], width: int) -> Counts:
    """Join the documents of all parts, one after the other, over `width` terms."""
    if len(parts) == 1:
        return parts[0]
    empty = np.empty(0, dtype=np.uint8)
    sizes = [np.diff(part.indptr) for part in parts]
    starts = np.concatenate([[0], np.cumsum(np.concatenate([empty, *sizes]), dtype=np.int64)])
    return Rows(
        np.concatenate([empty, *(part.data for part in parts)]),
        np.concatenate([empty, *(part.indices for part in parts)]),
        offsets(starts),
        (len(starts) - 1, width),
    )


def compact(counts: Counts) -> Counts:
    """Copy counts into the smallest integer types, to keep them until they are written."""
    return Rows(
        _smallest_type(counts.data), _smallest_type(counts.indices), counts.indptr, counts.shape
    )


def _smallest_type(array: NDArray[Any]) -> NDArray[Any]:
    largest = array.max(initial=0)
    fitting = (kind for kind in (np.uint8, np.uint16) if largest <= np.iinfo(kind).max)
    return array.astype(next(fitting, array.dtype))


def take(counts: Counts, documents: NDArray[np.intp]) -> Counts:
    """Return these documents, in this order."""
    sizes = np.diff(counts.indptr)[documents]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    shift = counts.indptr[documents] - starts[:-1]
    data, indices = (np.empty(starts[-1], array.dtype) for array in (counts.data, counts.indices))
    for first in range(0, len(documents), COPIED_DOCUMENTS):
        some = slice(first, first + COPIED_DOCUMENTS)
        own = slice(starts[first], starts[min(some.stop, len(documents))])
        places = np.arange(own.start, own.stop) + np.repeat(shift[some], sizes[some])
        data[own], indices[own] = counts.data[places], counts.indices[places]
    return Rows(data, indices, offsets(starts), (len(documents), counts.shape[1]))


def released_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the integer type that counts are released as: SciPy's signed 32 bits."""
    return np.dtype(np.int32) if kind.kind == "u" else kind


def offsets(starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return where documents begin, in 32 bits if they suffice: the type that SciPy uses."""
    return starts if starts[-1] > np.iinfo(np.int32).max else starts.astype(np.int32)


def matrix(counts: Counts) -> "csr_matrix":
    """Convert counts to a SciPy matrix. It shares the arrays unless these are compact."""
    from scipy.sparse import csr_matrix

    if not isinstance(counts, Rows):
        return counts
    data, indices = (
        array.astype(released_type(array.dtype), copy=False)
        for array in (counts.data, counts.indices)
    )
    converted = csr_matrix((data, indices, counts.indptr), shape=counts.shape)
    converted.has_canonical_format = True
    return converted
