"""Encode documents in several languages for one codebook.

Language packs that were aligned share the topics of one codebook: ``syntf language align`` gives a
pack the tree and the whitening of another one, and turns its word vectors into the same space. The
numbers that differ between languages are the weights of words, and the mean and the common
direction of documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.core.errors import SyntfError
from syntf.vectors.word_vectors import WordVectors

_SHARED = ("nodes", "child", "points", "spread", "whiten", "tf")
"""What is the same in the codebooks of aligned packs."""


@dataclass(frozen=True, eq=False)
class SeveralEncoder(Encoder):
    """Encodes each document with the numbers of its language.

    first_rows : the first row of the word vectors of each language.
    centres, commons : the mean and the common direction of documents in each language.
    """

    first_rows: NDArray[np.int64] = None  # type: ignore[assignment]
    centres: NDArray[np.int16] = None  # type: ignore[assignment]
    commons: NDArray[np.int16] = None  # type: ignore[assignment]

    def _means(
        self, starts: NDArray[np.int64], words: NDArray[np.int32]
    ) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Return the mean and the common direction for each document, by its first word."""
        language = np.zeros(len(starts) - 1, dtype=np.intp)
        some = np.flatnonzero(np.diff(starts))
        language[some] = np.searchsorted(self.first_rows, words[starts[some]], side="right") - 1
        return self.centres[language], self.commons[language]


def joint_encoder(vectors: WordVectors, *, cache: bool = False) -> SeveralEncoder:
    """Return the encoder for the word vectors of several aligned packs.

    Raises
    ------
    SyntfError
        If the packs are not aligned.
    """
    books = [Codebook.of_pack(pack) for pack in vectors.packs]
    codes = [pack.code for pack in vectors.packs]
    for code, book in zip(codes[1:], books[1:], strict=True):
        if not share_topics(books[0], book):
            raise not_aligned(codes[0], code)
    sizes = [len(book.weight) for book in books]
    return SeveralEncoder(
        joint_codebook(books, vectors),
        vectors,
        cache=cache,
        first_rows=np.cumsum([0, *sizes[:-1]]),
        centres=np.stack([book.centre for book in books]),
        commons=np.stack([book.common for book in books]),
    )


def joint_codebook(books: Sequence[Codebook], vectors: WordVectors) -> Codebook:
    """Return the codebook of the first language, with the weights of the words of all."""
    return replace(
        books[0],
        weight=np.concatenate([book.weight for book in books]),
        vectors_digest=vectors.digest,
        origin="language",
        made_from="the codebook of the first of several language packs",
    )


def share_topics(first: Codebook, other: Codebook) -> bool:
    """Tell whether two codebooks have the same topics in the same space."""
    return all(np.array_equal(getattr(first, name), getattr(other, name)) for name in _SHARED)


def not_aligned(first: str, other: str) -> SyntfError:
    """Return the error for packs whose word vectors do not share one space."""
    return SyntfError(
        f"the word vectors of the packs {first} and {other} do not share one space: make an "
        f"aligned pack with syntf language align {other} --to {first} --out DIR, or release the "
        "texts of each language by themselves"
    )
