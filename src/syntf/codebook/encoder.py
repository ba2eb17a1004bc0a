"""Encode documents as vectors of integers, each document by itself.

A document becomes the sum of the vectors of its known words, weighted by how much each word says
about a topic and by 1 + log of its occurrences. The direction of the sum is centred and whitened
with public statistics. No step looks at another document, and every number is an integer.

*Guarantee.* None is needed. The loss of :mod:`syntf.mechanism.response` holds whatever the target
of a document is, as long as it is found from this document and public knowledge alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.codebook.codebook import Codebook
from syntf.codebook.integers import CENTRE_LENGTH, LENGTH, Vectors, stretch
from syntf.codebook.text_encoder import TextEncoder
from syntf.core import cache_store, drawing
from syntf.core.counts import Counts, Rows, stack, take
from syntf.core.errors import SyntfError
from syntf.core.parallel import for_each_block
from syntf.core.progress import Advance
from syntf.text.documents import Documents
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors

_compiled = native.load("_encoding")

_STEP = 512  # documents or words encoded at once, so that their numbers stay in the cache
_SCHEME = "syntf encoded words 1"  # change it whenever the same word has another encoded vector
_MOST_OCCURRENCES = 255
_COMPARED = 4  # words by which a text encoder is recognised
_LEAST_SIMILAR = 0.95

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
    """Encodes documents with the numbers of a codebook and the word vectors it was made for.

    text_encoder : the encoder that the codebook was built with, if a person supplied one. Without
        it such a codebook can still be shown and verified, but no document can be encoded.
    cache : whether :attr:`column_vectors` may be read from the cache and written to it.
    """

    codebook: Codebook
    vectors: WordVectors
    text_encoder: TextEncoder | None = None
    cache: bool = False

    def __post_init__(self) -> None:
        book, matrix = self.codebook, self.vectors.matrix
        if book.vectors_digest != self.vectors.digest:
            raise SyntfError(
                "the codebook was made for other word vectors: build it again with these vectors"
            )
        words, size = len(book.weight), len(book.centre)
        if (words, matrix.shape[1] if book.encoder else size) != matrix.shape:
            raise SyntfError(
                f"the codebook is for {words:,} word vectors of {size} dimensions, but there are "
                f"{len(self.vectors.words):,} of {matrix.shape[1]}: build it again"
            )
        if self.text_encoder is not None:
            self._check_text_encoder(self.text_encoder)

    def encode_texts(
        self,
        texts: Sequence[str],
        reader: WordReader,
        progress: Advance | None = None,
        term_of: Mapping[Any, int] | None = None,
    ) -> Encoded:
        """Encode texts, each by itself; `reader` finds their known words, see its `read`."""
        documents = reader.read(texts, progress, term_of)
        if not self.codebook.encoder:
            return self.encode(documents)
        if self.text_encoder is None:
            raise SyntfError(
                f"the codebook was built with the encoder {self.codebook.encoder}: supply it, too"
            )
        rows = self.text_encoder.rows(texts, self.codebook.dimensions)
        return Encoded(self.from_grid(rows), self._counts(documents))

    def encode(self, documents: Documents) -> Encoded:
        """Encode documents whose terms are rows of the word vectors; other terms are ignored."""
        counts = self._counts(documents)
        vectors = np.zeros((len(documents), self.codebook.dimensions), dtype=np.int16)
        starts = np.asarray(counts.indptr, dtype=np.int64)

        def encode_block(block: slice) -> None:
            own = slice(starts[block.start], starts[block.stop])
            ends = starts[block.start : block.stop + 1] - own.start
            vectors[block] = self._vectors(ends, counts.indices[own], counts.data[own])

        for_each_block(encode_block, len(documents), _STEP)
        return Encoded(vectors, counts)

    def word_vectors(self, rows: NDArray[np.int32]) -> Vectors:
        """Return the encoded vectors of single words, given as rows of the word vectors."""
        book = self.codebook
        if book.encoder:
            return self._own_words(rows)
        found = np.empty((len(rows), len(book.centre)), dtype=np.int16)

        def encode_block(block: slice) -> None:
            some = rows[block]
            single = np.asarray(self.vectors.matrix[some], dtype=np.int64)
            weighted = single * np.maximum(book.weight[some], 1)[:, None].astype(np.int64)
            found[block] = self._project(weighted, book.word_centre)

        for_each_block(encode_block, len(rows), _STEP)
        own = self._own_words(rows) if len(book.own_rows) else None
        return self._beside(found, own)

    def from_grid(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the encoded vectors of documents, from what a text encoder gives for them."""
        book = self.codebook
        found = stretch(self._project(rows, book.centre) - book.common.astype(np.int64))
        found[~rows.any(axis=1)] = 0
        return found

    def words_from_grid(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the encoded vectors of single words, from what a text encoder gives for them."""
        found = self._project(rows, self.codebook.word_centre)
        found[~rows.any(axis=1)] = 0
        return found

    @property
    def columns(self) -> NDArray[np.int32]:
        """The rows of the word vectors that are the columns of a release, in order."""
        return self.codebook.outputs[:COLUMNS]

    @cached_property
    def terms(self) -> list[str]:
        """The words that are the columns of a release."""
        return [self.vectors.words[row] for row in self.columns.tolist()]

    @cached_property
    def column_vectors(self) -> Vectors:
        """The encoded vectors of the words that are the columns of a release.

        A codebook that was built from texts which are not public leaves nothing in the cache.
        """
        if not self.cache or self.codebook.origin == "private":
            return self.word_vectors(self.columns)
        key = sha256(f"{_SCHEME}\n{self.codebook.digest}\n{self.vectors.digest}".encode())
        path = cache_store.folder() / f"{key.hexdigest()}.encoded"
        shape = (len(self.columns), self.codebook.dimensions)
        raw = cache_store.mapped(path)
        if raw is not None and len(raw) == 2 * shape[0] * shape[1]:
            return np.asarray(raw.view("<i2").reshape(shape), dtype=np.int16)
        found = self.word_vectors(self.columns)
        cache_store.store(path, np.ascontiguousarray(found, dtype="<i2").data)
        return found

    def _vectors(
        self, starts: NDArray[np.int64], words: NDArray[np.int32], times: NDArray[np.int32]
    ) -> Vectors:
        book = self.codebook
        total = sums(starts, words, times, book.weight, book.tf, self.vectors.matrix)
        centre, common = self._means(starts, words)
        first = stretch(self._project(total, centre) - common.astype(np.int64))
        found = self._beside(first, self._own_documents(starts, words, times))
        found[np.diff(starts) == 0] = 0
        return found

    def _means(
        self, starts: NDArray[np.int64], words: NDArray[np.int32]
    ) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Return the mean of public documents and the direction that all documents share."""
        return self.codebook.centre, self.codebook.common

    def _project(self, total: NDArray[np.int64], centre: NDArray[np.int16]) -> Vectors:
        """Centre and whiten the direction of each row."""
        centred = stretch(total, CENTRE_LENGTH).astype(np.float64) - centre
        return stretch(centred @ self.codebook.whiten.astype(np.float64))

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
        found_vectors = stretch(stretch(total, CENTRE_LENGTH).astype(np.int64) - book.own_centre)
        found_vectors[~total.any(axis=1)] = 0  # a document without such a word has no direction
        return found_vectors

    def _own_words(self, rows: NDArray[np.int32]) -> Vectors:
        """Return the codebook's own vectors of words; zeros for a word that has none."""
        book = self.codebook
        place = np.minimum(np.searchsorted(book.own_rows, rows), len(book.own_rows) - 1)
        found = book.own_rows[place] == rows
        return stretch(np.where(found[:, None], book.own_vectors[place].astype(np.int64), 0))

    def _counts(self, documents: Documents) -> Counts:
        """Count the known words of each document."""
        known = documents.terms < len(self.vectors.words)
        ends = np.concatenate([[0], np.cumsum(known, dtype=np.int64)])[documents.starts]
        return drawing.counted(ends, documents.terms[known], len(self.vectors.words))

    def _check_text_encoder(self, given: TextEncoder) -> None:
        """Refuse an encoder that is not the one that the codebook was built with."""
        book = self.codebook
        if book.encoder != given.name:
            built = f"with the encoder {book.encoder}" if book.encoder else "for word vectors"
            raise SyntfError(
                f"the codebook was built {built}, not with {given.name}: build one with the same "
                "encoder, by syntf codebook build --encoder"
            )
        sample = book.outputs[:_COMPARED]
        rows = given.rows([self.vectors.words[row] for row in sample.tolist()], book.dimensions)
        now, then = self.words_from_grid(rows), self._own_words(sample)
        similar = np.einsum("ij,ij->i", now.astype(np.float64), then.astype(np.float64))
        if (similar < _LEAST_SIMILAR * LENGTH * LENGTH).any() and now.any() | then.any():
            raise SyntfError(
                f"the encoder {given.name} gives other vectors than when the codebook was built: "
                "build the codebook again"
            )

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
