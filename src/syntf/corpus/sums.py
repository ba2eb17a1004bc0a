"""What one document adds to the sums of a corpus: one vector of integers, of bounded length.

Two sums are measured. The *first* one has three parts for a document with the label l and the
encoded direction v:

| part | what the document adds | length at most |
|---|---|---|
| count | .15 at l | .15 |
| direction | v, scaled to length 1, at l | 1 |
| triangle | the upper triangle of v vᵀ; off-diagonal products count √2 times | .5 |

The *second* one, of words, is measured where documents are many: 1 at l for each word of the
document, weighted by rarity and scaled to length 1.

All numbers are integers: v is scaled to a length of at most :data:`SIDE` and rounded towards zero,
and parts are multiplied by whole numbers.

*Theorem.* A document changes the first sum by a vector whose squared length is at most
:data:`FIRST_LENGTH`, and the second one by at most :data:`WORDS_LENGTH`, whatever its text is.

*Proof.* Let u be the integers of the document and n = |u|². The squared length of the triangle is
25 Σ uᵢ⁴ + 49 Σ_{i<j} uᵢ²uⱼ² = (49 n² + Σ uᵢ⁴) / 2 ≤ 25 n². The squared length of all parts is
computed as one integer, in :func:`first_lengths`, and compared with the bound. A document that
exceeds it would contribute its count alone; since |u| ≤ SIDE, none does. Words likewise. ∎
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
"""What products in the triangle are multiplied by; 7/5 is a little less than √2."""
DIRECTION = 2 * DIAGONAL * SIDE
"""What a direction is multiplied by, so that the triangle has half its length."""
COUNT = 3 * DIRECTION * SIDE // 20
"""What a document adds to the count of its label: .15 of the length of the direction."""
FIRST_LENGTH = COUNT**2 + (DIRECTION * SIDE) ** 2 + (DIAGONAL * SIDE**2) ** 2
"""The largest squared length of what a document adds to the first sum."""

WORDS_SIDE = 1 << 12
WORDS_LENGTH = WORDS_SIDE**2
"""The largest squared length of what a document adds to the sum of words."""
RARITY = 64
"""What 1 is among the weights of words."""
FIRST_UNITS = np.array([COUNT, DIRECTION * SIDE, OFF_DIAGONAL * SIDE**2])
"""What 1 is among counts, directions, and products off the diagonal."""

_MOST = 1 << 62  # no coordinate of a sum may come near the end of 64 bits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents, as far as they are measured. Private.

    labels : the number of each document's label; −1 for a document that is not measured.
    encoded : the vector of each document; zeros without a known word.
    counts : how often each document has each word of the word vectors.
    """

    labels: NDArray[np.int64]
    encoded: Vectors
    counts: csr_matrix


def first_sum(blocks: Iterable[Block], labels: int, dimensions: int) -> Integers:
    """Return the first sum of documents: counts, directions and the triangle, one after another.

    Integers are added, so it is the same however documents are divided into blocks.
    """
    counts = np.zeros(labels, dtype=np.int64)
    directions = np.zeros((labels, dimensions), dtype=np.int64)
    products = np.zeros((dimensions, dimensions), dtype=np.int64)
    documents = 0
    for block in blocks:
        taken = block.labels >= 0
        own, sides = block.labels[taken], checked_sides(block.encoded[taken])
        documents += len(own)
        if documents * DIRECTION * SIDE > _MOST:
            raise OverflowError("too many documents for sums of 64 bits")
        counts += np.bincount(own, minlength=labels)
        wide = sides.astype(np.float64)  # sums of integers below 2**53 are exact in any order
        directions += (_indicator(own, labels) @ wide).astype(np.int64)
        products += (wide.T @ wide).astype(np.int64)
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
    norms = np.maximum(_root_up((wide * wide).sum(axis=1)), 1)[:, None]
    found: Integers = np.sign(wide) * (np.abs(wide) * SIDE // norms)
    return found


def first_lengths(sides: Integers) -> Integers:
    """Return the squared length of all that documents add to the first sum, in integers."""
    squares = sides * sides
    total, fourth = squares.sum(axis=1), (squares * squares).sum(axis=1)
    off, on = OFF_DIAGONAL**2, DIAGONAL**2
    triangle = (off * total * total + (2 * on - off) * fourth) // 2
    found: Integers = COUNT**2 + DIRECTION**2 * total + triangle
    return found


def word_rarity(rows: NDArray[np.int32]) -> Integers:
    """Return the weights of words in the second sum: rarer words weigh more."""
    ranks = rows.astype(np.float64)
    return np.rint(RARITY * (np.log((ranks + 20) / 20) + 0.5)).astype(np.int64)


def words_sum(blocks: Iterable[Block], labels: int, columns: NDArray[np.int32]) -> Integers:
    """Return the sum of words of documents, labels × columns, in one row."""
    total = np.zeros(labels * len(columns), dtype=np.int64)
    weights = word_rarity(columns)
    for block in blocks:
        taken = np.flatnonzero(block.labels >= 0)
        own, parts = block.labels[taken], word_parts(block.counts[taken][:, columns], weights)
        places = np.repeat(own, np.diff(parts.indptr)) * len(columns) + parts.indices
        found = np.bincount(places, weights=parts.data, minlength=len(total))
        total += found.astype(np.int64)  # exact: a sum of integers below 2**53
    return total


def word_parts(counts: csr_matrix, weights: Integers) -> csr_matrix:
    """Return what documents add to the sum of words, given their counts of the columns."""
    counts.sum_duplicates()
    owners = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    values = weights[counts.indices] * (counts.data > 0)
    squares = np.bincount(owners, weights=values * values, minlength=counts.shape[0])
    norms = np.maximum(_root_up(squares.astype(np.int64)), 1)
    values = values * WORDS_SIDE // norms[owners]
    lengths = np.bincount(owners, weights=values * values, minlength=counts.shape[0])
    values[lengths[owners] > WORDS_LENGTH] = 0
    return csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def _root_up(squares: Integers) -> Integers:
    """Return square roots, rounded up. A float64 square root is exact enough below 2**52."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    found: Integers = roots + (roots * roots < squares)
    return found


def _indicator(labels: NDArray[np.int64], count: int) -> csr_matrix:
    """Return a matrix labels × documents with 1 at the label of each document."""
    places = (labels, np.arange(len(labels)))
    return csr_matrix((np.ones(len(labels)), places), shape=(count, len(labels)))
