"""Encode documents as vectors of integers, each document by itself.

A document becomes the sum of the vectors of its known words, weighted by how much each word says
about a topic and by 1 + log of its occurrences. The direction of the sum is centred and whitened
with public statistics. No step looks at another document, and every number is an integer.

*Guarantee.* None is needed. The loss of :mod:`syntf.mechanism.response` holds whatever the target
of a document is, as long as it is found from this document and public knowledge alone.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from syntf.core.errors import SyntfError
from syntf.core.parallel import in_blocks
from syntf.topics.codebook import Codebook
from syntf.topics.integers import CENTRE_LENGTH, LENGTH, Vectors, stretch
from syntf.topics.text_encoder import TextEncoder
from syntf.words.vectors import WordVectors

_STEP = 512  # documents or words projected at once, so that their numbers stay in the cache
_DIMENSIONS = 25  # dimensions added up at once, so that their numbers stay in the cache
_MOST_OCCURRENCES = 255
_COMPARED = 4  # words by which a text encoder is recognised
_LEAST_SIMILAR = 0.95

COLUMNS = 16_000
"""The most frequent output words, which are the columns of a release."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """Encodes documents with the numbers of a codebook and the word vectors it was made for.

    text_encoder : the encoder that the codebook was built with, if a person supplied one. Without
        it such a codebook can still be shown and verified, but no document can be encoded.
    """

    codebook: Codebook
    vectors: WordVectors
    text_encoder: TextEncoder | None = None

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

    def encode(self, counts: csr_matrix) -> Vectors:
        """Encode documents, given how often each has each word of the word vectors.

        Returns one row for each document; zeros for a document without a known word.
        """
        book = self.codebook
        if book.encoder:
            raise self._needs_encoder()
        total = sums(counts, book.weight, book.tf, self.vectors.matrix)
        found = self._projected(total, book.centre, book.common)
        if len(book.own_rows):
            own = sums(counts[:, book.own_rows], book.own_weight, book.tf, book.own_vectors)
            centred = stretch(stretch(own, CENTRE_LENGTH).astype(np.int64) - book.own_centre)
            centred[~own.any(axis=1)] = 0  # a document without such a word has no direction
            found = stretch(np.hstack([found, centred]))
        found[np.diff(counts.indptr) == 0] = 0
        return found

    def encode_texts(self, texts: pl.Series) -> Vectors:
        """Encode texts by the encoder that a person supplied, one text at a time.

        Zeros for a text that it gives no direction for, or that it fails for: no text stops a run.
        """
        if self.text_encoder is None:
            raise self._needs_encoder()
        rows = self.text_encoder.rows(texts.fill_null(""), self.codebook.dimensions, strict=False)
        return self.from_grid(rows)

    def word_vectors(self, rows: NDArray[np.int32]) -> Vectors:
        """Return the encoded vectors of single words, given as rows of the word vectors."""
        book = self.codebook
        if book.encoder:
            return self._own_words(rows)
        weighted = self.vectors.matrix[rows] * np.maximum(book.weight[rows], 1.0)[:, None]
        found = self._projected(weighted, book.word_centre)
        if len(book.own_rows):
            found = stretch(np.hstack([found, self._own_words(rows)]))
        return found

    def from_grid(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the encoded vectors of documents, from what a text encoder gives for them."""
        found = self._projected(rows, self.codebook.centre, self.codebook.common)
        found[~rows.any(axis=1)] = 0
        return found

    def words_from_grid(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the encoded vectors of single words, from what a text encoder gives for them."""
        found = self._projected(rows, self.codebook.word_centre)
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
        """The encoded vectors of the words that are the columns of a release."""
        return self.word_vectors(self.columns)

    def _projected(
        self,
        total: NDArray[np.integer | np.floating],
        centre: NDArray[np.int16],
        common: NDArray[np.int16] | None = None,
    ) -> Vectors:
        """Centre and whiten the direction of each row, and subtract the common direction."""
        whiten = self.codebook.whiten.astype(np.float64)
        found = np.empty((len(total), len(centre)), dtype=np.int16)

        def project(block: slice) -> None:
            centred = stretch(total[block], CENTRE_LENGTH).astype(np.float64) - centre
            found[block] = stretch(centred @ whiten)
            if common is not None:
                found[block] = stretch(found[block].astype(np.float64) - common)

        for _ in in_blocks(project, len(total), _STEP):
            pass
        return found

    def _own_words(self, rows: NDArray[np.int32]) -> Vectors:
        """Return the codebook's own vectors of words; zeros for a word that has none."""
        book = self.codebook
        place = np.minimum(np.searchsorted(book.own_rows, rows), len(book.own_rows) - 1)
        found = book.own_rows[place] == rows
        return stretch(np.where(found[:, None], book.own_vectors[place], 0))

    def _needs_encoder(self) -> SyntfError:
        name = self.codebook.encoder or "of word vectors"
        return SyntfError(
            f"the codebook was built with the encoder {name}: give the same one with --encoder"
        )

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


def sums(
    counts: csr_matrix,
    weights: NDArray[np.uint16],
    occurrences: NDArray[np.uint8],
    vectors: NDArray[np.int8],
) -> NDArray[np.float64]:
    """Add up, for each document, the vectors of its words times two public integer weights.

    A term of a sum is below 2**31, so the sums of up to 2**22 words are exact in float64, in any
    order.
    """
    times = np.clip(counts.data, 0, _MOST_OCCURRENCES)
    factors = occurrences[times].astype(np.float64) * weights[counts.indices]
    weighted = csr_matrix((factors, counts.indices, counts.indptr), shape=counts.shape)
    total = np.empty((counts.shape[0], vectors.shape[1]))

    def add(dimensions: slice) -> None:
        total[:, dimensions] = weighted @ vectors[:, dimensions].astype(np.float64)

    for _ in in_blocks(add, vectors.shape[1], _DIMENSIONS):
        pass
    return total
