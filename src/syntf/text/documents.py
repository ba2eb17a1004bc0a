"""Documents as compositions θ: the distribution over known terms that a document's words give.

A document is kept as the list of its known terms, one entry an occurrence: drawing an
entry uniformly is drawing from θ of the tf vector, drawing it in proportion to the idf
of its term is drawing from θ of the tf-idf vector. Unknown words are left out before θ
is formed; a document without any known word is one occurrence of `empty`.

*Guarantee.* None is needed here. By the paper's lemma on randomised preprocessing, how
the input of the mechanism is chosen does not change the loss of the mechanism.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syntf.core import drawing
from syntf.core.counts import matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Documents:
    """Known terms of many documents: those of document d are ``terms[starts[d]:starts[d+1]]``."""

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1


def beginning(documents: Documents, count: int) -> Documents:
    """The first `count` documents."""
    starts = documents.starts[: count + 1]
    return Documents(starts, documents.terms[: starts[-1]])


def parted(documents: Documents, count: int) -> Iterator[Documents]:
    """All documents in their order, `count` at once."""
    for first in range(0, len(documents), count):
        starts = documents.starts[first : first + count + 1]
        yield Documents(starts - starts[0], documents.terms[starts[0] : starts[-1]])


def joined(parts: Sequence[Documents]) -> Documents:
    """The documents of several readings, one after the other."""
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Documents(starts, np.concatenate([part.terms for part in parts]))


def repeated(documents: Documents, times: int) -> Documents:
    """The same documents, all of them again and again."""
    sizes = np.tile(np.diff(documents.starts), times)
    return Documents(np.concatenate([[0], np.cumsum(sizes)]), np.tile(documents.terms, times))


def term_frequencies(documents: Documents, terms: int) -> "csr_matrix":
    """How often each document has each of the first `terms` terms: its tf vector."""
    known = documents.terms < terms
    ends = np.concatenate([[0], np.cumsum(known)])[documents.starts]
    return matrix(drawing.counted(ends, documents.terms[known], terms))


def document_frequency(documents: Documents, terms: int) -> NDArray[np.intp]:
    """In how many documents each term occurs."""
    return np.bincount(term_frequencies(documents, terms).indices, minlength=terms)


def fitted_idf(frequency: NDArray[np.intp], documents: int) -> NDArray[np.float64]:
    """ln((1+N)/(1+df)) + 1 for each term, as scikit-learn defines it."""
    idf: NDArray[np.float64] = np.log((1 + documents) / (1 + frequency)) + 1
    return idf


def public_idf(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 + ln(1 + rank): by Zipf's law, the idf that a public list's order of frequency implies."""
    idf: NDArray[np.float64] = 1 + np.log(1.0 + ranks)
    return idf
