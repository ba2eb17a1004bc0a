"""How often each document has each term, as three arrays: those of SciPy's ``csr_matrix``.

SciPy's matrices take longer to import than a small release to make. So a release is made of
the arrays alone, and whoever is to calculate with them asks for the :func:`matrix`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


TAKEN = 1 << 12
"""Documents whose counts are moved at once: where they are takes more memory than they do."""


class Counts(Protocol):
    """What a release is made of. A ``csr_matrix`` is one too."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of terms."""

    @property
    def data(self) -> NDArray[Any]:
        """The counts, one document after the other."""

    @property
    def indices(self) -> NDArray[Any]:
        """The terms they are of."""

    @property
    def indptr(self) -> NDArray[Any]:
        """Where each document begins, and after the last one the end."""


@dataclass(frozen=True)
class Rows:
    """Counts whose terms are distinct and in order in each document.

    >>> rows = Rows(np.array([2, 1]), np.array([0, 3]), np.array([0, 0, 2]), (2, 4))
    >>> matrix(stacked([rows, rows], 4)).toarray().tolist()
    [[0, 0, 0, 0], [2, 0, 0, 1], [0, 0, 0, 0], [2, 0, 0, 1]]
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]


def stacked(parts: Sequence[Counts], width: int) -> Counts:
    """The documents of all parts, one after the other, over `width` terms."""
    if len(parts) == 1:
        return parts[0]
    none = np.empty(0, dtype=np.uint8)
    sizes = [np.diff(part.indptr) for part in parts]
    starts = np.concatenate([[0], np.cumsum(np.concatenate([none, *sizes]), dtype=np.int64)])
    return Rows(
        np.concatenate([none, *(part.data for part in parts)]),
        np.concatenate([none, *(part.indices for part in parts)]),
        narrow(starts),
        (len(starts) - 1, width),
    )


def compact(counts: Counts) -> Counts:
    """The same in as few bytes as hold it, for counts that wait until they are written."""
    return Rows(_least(counts.data), _least(counts.indices), counts.indptr, counts.shape)


def _least(array: NDArray[Any]) -> NDArray[Any]:
    most = array.max(initial=0)
    fitting = (kind for kind in (np.uint8, np.uint16) if most <= np.iinfo(kind).max)
    return array.astype(next(fitting, array.dtype))


def taken(counts: Counts, documents: NDArray[np.intp]) -> Counts:
    """Some of the documents, in this order."""
    sizes = np.diff(counts.indptr)[documents]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    shift = counts.indptr[documents] - starts[:-1]
    data, indices = (np.empty(starts[-1], array.dtype) for array in (counts.data, counts.indices))
    for first in range(0, len(documents), TAKEN):
        some = slice(first, first + TAKEN)
        own = slice(starts[first], starts[min(some.stop, len(documents))])
        places = np.arange(own.start, own.stop) + np.repeat(shift[some], sizes[some])
        data[own], indices[own] = counts.data[places], counts.indices[places]
    return Rows(data, indices, narrow(starts), (len(documents), counts.shape[1]))


def wide(kind: np.dtype[Any]) -> np.dtype[Any]:
    """What counts of a compact kind are released as: 32 bits with a sign, as SciPy has them."""
    return np.dtype(np.int32) if kind.kind == "u" else kind


def narrow(starts: NDArray[np.int64]) -> NDArray[Any]:
    """Where documents begin, in 32 bits if these are enough: as SciPy has it."""
    return starts if starts[-1] > np.iinfo(np.int32).max else starts.astype(np.int32)


def matrix(counts: Counts) -> "csr_matrix":
    """The same as a matrix, which shares its arrays unless they are compact."""
    from scipy.sparse import csr_matrix

    if not isinstance(counts, Rows):
        return counts
    data, indices = (
        array.astype(wide(array.dtype), copy=False) for array in (counts.data, counts.indices)
    )
    made = csr_matrix((data, indices, counts.indptr), shape=counts.shape)
    made.has_canonical_format = True
    return made
