"""Encode documents as vectors of integers, each document by itself.

A document becomes the sum of the vectors of its known words, weighted by how much each word says
about a topic and by 1 + log of its occurrences. The direction of the sum is centred and whitened
with public statistics. No step looks at another document, and every number is an integer.

*Guarantee.* None is needed. The loss of :mod:`syntf.mechanism.response` holds whatever the target
of a document is, as long as it is found from this document and public knowledge alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.codebook.codebook import Codebook
from syntf.codebook.integers import Vectors, stretch
from syntf.core import drawing
from syntf.core.counts import Counts, Rows, stack, take
from syntf.core.errors import SyntfError
from syntf.text.documents import Documents
from syntf.vectors.word_vectors import WordVectors

_compiled = native.load("_encoding")

_FINE = 2048  # the length at which the centres of a codebook are given
_STEP = 1 << 12  # documents encoded at once
_MOST_OCCURRENCES = 255

COLUMNS = 16_000
"""The most frequent output words, which are the columns of a release."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Encoded documents: their vectors, and how often each has which word.

    vectors : int16, documents × dimensions; zeros for a document without a known word.
    counts : documents × words, the numbers of occurrences.
    """

    vectors: Vectors
    counts: Counts

    def __len__(self) -> int:
        return len(self.vectors)

    def at(self, places: NDArray[np.intp]) -> "Encoded":
        """Return the documents at these places, in this order."""
        return Encoded(self.vectors[places], take(self.counts, places))

    def without_counts(self) -> "Encoded":
        """Return the vectors alone, which is all that a list of topics looks at."""
        empty = np.zeros(0, dtype=np.int32)
        ends = np.zeros(len(self) + 1, dtype=np.int64)
        return Encoded(self.vectors, Rows(empty, empty, ends, self.counts.shape))


def join(parts: Sequence[Encoded]) -> Encoded:
    """Join encoded documents, one part after the other."""
    width = parts[0].counts.shape[1]
    vectors = np.concatenate([part.vectors for part in parts])
    return Encoded(vectors, stack([part.counts for part in parts], width))


@dataclass(frozen=True, eq=False)
class Encoder:
    """Encodes documents with the numbers of a codebook and the word vectors it was made for."""

    codebook: Codebook
    vectors: WordVectors

    def __post_init__(self) -> None:
        if self.codebook.vectors_digest != self.vectors.digest:
            raise SyntfError(
                "the codebook was made for other word vectors: build it again with these vectors"
            )
        words, size = len(self.codebook.weight), len(self.codebook.centre)
        if (words, size) != self.vectors.matrix.shape:
            raise SyntfError(
                f"the codebook is for {words:,} word vectors of {size} dimensions, but there are "
                f"{len(self.vectors.words):,} of {self.vectors.matrix.shape[1]}: build it again"
            )

    def encode(self, documents: Documents) -> Encoded:
        """Encode documents whose terms are rows of the word vectors; other terms are ignored."""
        known = documents.terms < len(self.vectors.words)
        ends = np.concatenate([[0], np.cumsum(known, dtype=np.int64)])[documents.starts]
        counts = drawing.counted(ends, documents.terms[known], len(self.vectors.words))
        vectors = np.zeros((len(documents), self.codebook.dimensions), dtype=np.int16)
        starts = np.asarray(counts.indptr, dtype=np.int64)
        for first in range(0, len(documents), _STEP):
            last = min(first + _STEP, len(documents))
            own = slice(starts[first], starts[last])
            vectors[first:last] = self._vectors(
                starts[first : last + 1] - own.start, counts.indices[own], counts.data[own]
            )
        return Encoded(vectors, counts)

    def word_vectors(self, rows: NDArray[np.int32]) -> Vectors:
        """Return the encoded vectors of single words, given as rows of the word vectors."""
        book = self.codebook
        single = np.asarray(self.vectors.matrix[rows], dtype=np.int64)
        weighted = single * np.maximum(book.weight[rows], 1)[:, None].astype(np.int64)
        return self._beside(self._project(weighted, book.word_centre), self._own_words(rows))

    @property
    def columns(self) -> NDArray[np.int32]:
        """The rows of the word vectors that are the columns of a release, in order."""
        return self.codebook.outputs[:COLUMNS]

    @cached_property
    def column_vectors(self) -> Vectors:
        """The encoded vectors of the words that are the columns of a release."""
        return self.word_vectors(self.columns)

    def _vectors(
        self, starts: NDArray[np.int64], words: NDArray[np.int32], times: NDArray[np.int32]
    ) -> Vectors:
        book = self.codebook
        total = sums(starts, words, times, book.weight, book.tf, self.vectors.matrix)
        first = stretch(self._project(total, book.centre) - book.common.astype(np.int64))
        found = self._beside(first, self._own_documents(starts, words, times))
        found[np.diff(starts) == 0] = 0
        return found

    def _project(self, total: NDArray[np.int64], centre: NDArray[np.int16]) -> Vectors:
        """Centre and whiten the direction of each row."""
        centred = stretch(total, _FINE).astype(np.float64) - centre
        return stretch((centred @ self.codebook.whiten.astype(np.float64)).astype(np.int64))

    def _own_documents(
        self, starts: NDArray[np.int64], words: NDArray[np.int32], times: NDArray[np.int32]
    ) -> Vectors | None:
        """Encode documents with the codebook's own word vectors, if it has any."""
        book = self.codebook
        if not len(book.own_rows):
            return None
        place = np.searchsorted(book.own_rows, words)
        found = book.own_rows[np.minimum(place, len(book.own_rows) - 1)] == words
        ends = np.concatenate([[0], np.cumsum(found, dtype=np.int64)])[starts]
        total = sums(
            ends, place[found].astype(np.int32), times[found],
            book.own_weight, book.tf, book.own_vectors,
        )  # fmt: skip
        found_vectors = stretch(stretch(total, _FINE).astype(np.int64) - book.own_centre)
        found_vectors[~total.any(axis=1)] = 0  # a document without such a word has no direction
        return found_vectors

    def _own_words(self, rows: NDArray[np.int32]) -> Vectors | None:
        book = self.codebook
        if not len(book.own_rows):
            return None
        place = np.minimum(np.searchsorted(book.own_rows, rows), len(book.own_rows) - 1)
        found = book.own_rows[place] == rows
        return stretch(np.where(found[:, None], book.own_vectors[place].astype(np.int64), 0))

    @staticmethod
    def _beside(first: Vectors, second: Vectors | None) -> Vectors:
        return first if second is None else stretch(np.hstack([first, second]).astype(np.int64))


def sums(
    starts: NDArray[np.int64],
    words: NDArray[np.int32],
    times: NDArray[np.int32],
    weights: NDArray[np.uint16],
    occurrences: NDArray[np.uint8],
    vectors: NDArray[np.int8],
) -> NDArray[np.int64]:
    """Add up, for each document, the vectors of its words times two public integer weights."""
    documents, width = len(starts) - 1, vectors.shape[1]
    total = np.zeros((documents, width), dtype=np.int64)
    arguments = (
        np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(words, np.int32),
        np.ascontiguousarray(times, np.int32), np.ascontiguousarray(weights, np.uint16),
        np.ascontiguousarray(occurrences, np.uint8), np.ascontiguousarray(vectors, np.int8),
    )  # fmt: skip
    if _compiled is not None and _compiled.sums(*arguments, total, width):
        return total
    total[:] = 0
    factors = occurrences[np.minimum(times, _MOST_OCCURRENCES)].astype(np.int64) * weights[words]
    for document in range(documents):
        own = slice(starts[document], starts[document + 1])
        total[document] = factors[own] @ vectors[words[own]].astype(np.int64)
    return total
