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

from syntf.core import drawing, entropy
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


def draw_terms(
    documents: Documents,
    length: int,
    source: entropy.Source,
    weights: NDArray[np.float64] | None = None,
    *,
    systematic: bool = False,
) -> NDArray[np.int32]:
    """`length` terms of each document, drawn from its θ: an array (documents, length).

    With `weights`, one a term, θ is that of the weighted counts. Draws are independent, or
    `systematic`: at `length` equal steps through θ from a random first one, so that each term
    comes as often as its share of θ says, up to one time. Reads eight bytes a draw, or a
    document, whatever the documents are, and a document's terms depend on it alone.
    """
    length = int(length)  # one of NumPy's 32 bits would make a product that wraps around
    bits = entropy.words(source, len(documents) * (1 if systematic else length))
    # In whole units, so that no document's sum depends on those before it.
    units = None if weights is None else np.maximum(1, np.rint(weights * 2.0**20)).astype(np.int64)
    drawn = drawing.terms(
        documents.starts, documents.terms, bits, length, units, systematic=systematic
    )
    return _terms(documents, length, bits, units, systematic) if drawn is None else drawn


def _terms(
    documents: Documents,
    length: int,
    bits: NDArray[np.uint64],
    units: NDArray[np.int64] | None,
    systematic: bool,
) -> NDArray[np.int32]:
    """The terms that these bits draw: what the compiled loop repeats."""
    draws = (bits >> np.uint64(11)) * 2.0**-53
    if systematic:
        draws = (np.arange(length) + draws[:, None]) / length
    draws = draws.reshape(len(documents), length)
    first, last = documents.starts[:-1, None], documents.starts[1:, None] - 1
    if units is None:
        places = first + (draws * (last - first + 1)).astype(np.int64)
    else:
        upto = np.concatenate([[0], np.cumsum(units[documents.terms])])
        low, high = upto[first], upto[last + 1]
        points = low + (draws * (high - low)).astype(np.int64)
        places = np.searchsorted(upto, points, side="right") - 1
    return documents.terms[np.clip(places, first, last)]


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
