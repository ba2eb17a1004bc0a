"""What one document adds to the sums of a corpus: integers, a vector of bounded length.

A document with the label l and the encoded direction v adds to the *first* sum its count .15 at l,
v scaled to length 1 at l, and a triangle of length .5: the products of v vᵀ, where those off the
diagonal count √2 times. To the sum of *words* it adds 1 at l for each of its words, weighted by
rarity and scaled to length 1. To make all of them integers, v is scaled to a length of at most
:data:`SIDE` and rounded towards zero, and parts are multiplied by whole numbers.

*Theorem.* A document changes the first sum by a vector whose squared length is at most
:data:`FIRST_LENGTH`, and the sum of words by at most :data:`WORDS_LENGTH`, whatever its text is.

*Proof.* Let u be the integers of v, and n = |u|². The triangle has the squared length
25 Σ uᵢ⁴ + 49 Σ_{i<j} uᵢ²uⱼ² = (49 n² + Σ uᵢ⁴) / 2 ≤ 25 n². :func:`first_lengths` computes that of
all parts as one integer, and a document above the bound adds its count alone. (None is, because
|u| ≤ SIDE.) Words are checked in the same way. ∎
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from syntf.topics.integers import Vectors

SIDE = 500
"""The largest length of the integers of a direction."""
DIAGONAL, OFF_DIAGONAL = 5, 7
"""What products of the triangle are multiplied by; 7/5 is a little less than √2."""
DIRECTION = 2 * DIAGONAL * SIDE
"""What directions are multiplied by, so that the triangle has half their length."""
COUNT = 3 * DIRECTION * SIDE // 20
"""What a document adds to the count of its label."""
FIRST_LENGTH = COUNT**2 + (DIRECTION * SIDE) ** 2 + (DIAGONAL * SIDE**2) ** 2
FIRST_UNITS = np.array([COUNT, DIRECTION * SIDE, OFF_DIAGONAL * SIDE**2])
"""What 1 is among counts, directions, and products off the diagonal."""
WORDS_SIDE = 1 << 12
"""The largest length of what a document adds to the sum of words."""
WORDS_LENGTH = WORDS_SIDE**2
RARITY = 64
"""What 1 is among the weights of words."""

_MOST = 1 << 62  # coordinates stay below: 64 bits do not overflow

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents, as far as they are measured. Private.

    labels : the number of each document's label; −1 for a document that is not measured.
    encoded : the vector of each document; zeros without a known word.
    counts : how often each document has each word of the word vectors.
    """

    labels: Integers
    encoded: Vectors
    counts: csr_matrix


def first_sum(blocks: Iterable[Block], labels: int, dimensions: int) -> Integers:
    """Return the first sum: counts, directions and the triangle, one after another.

    All numbers are integers, so it is the same however documents are divided into blocks. Where
    they are held as float64, sums are below 2**53 and so exact in any order.
    """
    counts = np.zeros(labels, dtype=np.int64)
    directions = np.zeros((labels, dimensions), dtype=np.int64)
    products = np.zeros((dimensions, dimensions), dtype=np.int64)
    documents = 0
    for block in blocks:
        own = block.labels[block.labels >= 0]
        sides = checked_sides(block.encoded[block.labels >= 0]).astype(np.float64)
        documents += len(own)
        if documents * DIRECTION * SIDE > _MOST:
            raise OverflowError("too many documents for sums of 64 bits")
        counts += np.bincount(own, minlength=labels)
        each = csr_matrix((np.ones(len(own)), (own, np.arange(len(own)))), (labels, len(own)))
        directions += (each @ sides).astype(np.int64)
        products += (sides.T @ sides).astype(np.int64)
    factors = np.where(np.eye(dimensions, dtype=bool), DIAGONAL, OFF_DIAGONAL)
    triangle = (factors * products)[np.triu_indices(dimensions)]
    return np.concatenate([COUNT * counts, DIRECTION * directions.ravel(), triangle])


def first_parts(first: Integers, labels: int, dimensions: int) -> tuple[Floats, Floats, Floats]:
    """Return counts, sums of directions and the full matrix of products, in documents."""
    counts, directions, triangle = np.split(first, [labels, labels * (1 + dimensions)])
    products = np.zeros((dimensions, dimensions))
    products[np.triu_indices(dimensions)] = triangle
    products[np.diag_indices(dimensions)] *= OFF_DIAGONAL / DIAGONAL / 2
    products = (products + products.T) / FIRST_UNITS[2]
    return counts / FIRST_UNITS[0], directions.reshape(labels, -1) / FIRST_UNITS[1], products


def checked_sides(encoded: Vectors) -> Integers:
    """Return the integers of directions; zeros where a document would exceed the bound."""
    sides = rounded_sides(encoded)
    sides[first_lengths(sides) > FIRST_LENGTH] = 0
    return sides


def rounded_sides(encoded: Vectors) -> Integers:
    """Scale directions to a length of at most :data:`SIDE`, rounded towards zero.

    >>> rounded_sides(np.array([[1200, -1600], [0, 0]])).tolist()
    [[300, -400], [0, 0]]
    """
    wide = encoded.astype(np.int64)
    norms = _root_up((wide * wide).sum(axis=1))[:, None]
    return np.asarray(np.sign(wide) * (np.abs(wide) * SIDE // norms))


def first_lengths(sides: Integers) -> Integers:
    """Return the squared length of all that documents add to the first sum, in integers."""
    squares = sides * sides
    total, fourth = squares.sum(axis=1), (squares * squares).sum(axis=1)
    off, on = OFF_DIAGONAL**2, DIAGONAL**2
    triangle = (off * total * total + (2 * on - off) * fourth) // 2
    return np.asarray(COUNT**2 + DIRECTION**2 * total + triangle)


def word_rarity(rows: NDArray[np.int32]) -> Integers:
    """Return the weights of words in their sum: rarer words weigh more."""
    return np.rint(RARITY * (np.log((rows + 20.0) / 20) + 0.5)).astype(np.int64)


def words_sum(blocks: Iterable[Block], labels: int, columns: NDArray[np.int32]) -> Integers:
    """Return the sum of words of documents, labels × columns, in one row."""
    total = np.zeros(labels * len(columns), dtype=np.int64)
    for block in blocks:
        taken = np.flatnonzero(block.labels >= 0)
        parts = word_parts(block.counts[taken], columns)
        own = np.repeat(block.labels[taken], np.diff(parts.indptr))
        places = own * len(columns) + parts.indices
        total += np.bincount(places, parts.data, len(total)).astype(np.int64)
    return total


def word_parts(counts: csr_matrix, columns: NDArray[np.int32]) -> csr_matrix:
    """Return what documents add to the sum of words at these columns."""
    found = counts[:, columns]
    found.sum_duplicates()
    owners = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    values = word_rarity(columns)[found.indices] * (found.data > 0)
    norms = _root_up(np.bincount(owners, values * values, found.shape[0]).astype(np.int64))
    values = values * WORDS_SIDE // norms[owners]
    values[np.bincount(owners, values * values, found.shape[0])[owners] > WORDS_LENGTH] = 0
    return csr_matrix((values, found.indices, found.indptr), found.shape)


def _root_up(squares: Integers) -> Integers:
    """Return square roots, rounded up, at least 1. Those of float64 are exact enough to 2**52."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    return np.maximum(roots + (roots * roots < squares), 1)
