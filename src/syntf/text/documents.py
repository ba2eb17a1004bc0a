"""Documents as lists of known terms, and the counts and idf weights derived from them.

A document is the list of its known terms, with one entry for each occurrence. Unknown words are
left out. A document without any known word has one entry: the term `empty`, whose number is the
number of input words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syntf.core import drawing
from syntf.core.counts import Counts, matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Documents:
    """The known terms of many documents: document d has ``terms[starts[d]:starts[d+1]]``."""

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1


def first_documents(documents: Documents, count: int) -> Documents:
    """Return the first `count` documents."""
    starts = documents.starts[: count + 1]
    return Documents(starts, documents.terms[: starts[-1]])


def batches(documents: Documents, count: int) -> Iterator[Documents]:
    """Yield all documents in order, `count` at a time."""
    for first in range(0, len(documents), count):
        starts = documents.starts[first : first + count + 1]
        yield Documents(starts - starts[0], documents.terms[starts[0] : starts[-1]])


def concatenate(parts: Sequence[Documents]) -> Documents:
    """Join several lists of documents into one, in order."""
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Documents(starts, np.concatenate([part.terms for part in parts]))


def repeat(documents: Documents, times: int) -> Documents:
    """Return the list of documents repeated this many times."""
    sizes = np.tile(np.diff(documents.starts), times)
    return Documents(np.concatenate([[0], np.cumsum(sizes)]), np.tile(documents.terms, times))


def _counts(documents: Documents, terms: int) -> Counts:
    """Count how often each document has each of the first `terms` terms."""
    known = documents.terms < terms
    ends = np.concatenate([[0], np.cumsum(known)])[documents.starts]
    return drawing.counted(ends, documents.terms[known], terms)


def term_frequencies(documents: Documents, terms: int) -> "csr_matrix":
    """Count how often each document has each of the first `terms` terms: its tf vector."""
    return matrix(_counts(documents, terms))


def document_frequency(documents: Documents, terms: int) -> NDArray[np.intp]:
    """Count in how many documents each term occurs."""
    return np.bincount(_counts(documents, terms).indices, minlength=terms)


def fitted_idf(frequency: NDArray[np.intp], documents: int) -> NDArray[np.float64]:
    """Return ln((1+N)/(1+df)) + 1 for each term, as scikit-learn defines it."""
    idf: NDArray[np.float64] = np.log((1 + documents) / (1 + frequency)) + 1
    return idf


def public_idf(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 + ln(1 + rank): the idf that a public list ordered by frequency implies (Zipf)."""
    idf: NDArray[np.float64] = 1 + np.log(1.0 + ranks)
    return idf
