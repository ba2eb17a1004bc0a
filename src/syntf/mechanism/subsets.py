"""Number the sets of n entries out of a list of K, so that a set can be one answer.

The sets are numbered by the combinatorial number system: the set c₁ < c₂ < … < cₙ has the number
C(c₁, 1) + C(c₂, 2) + … + C(cₙ, n). Every number below C(K, n) stands for one set.
"""

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray


def number_of_sets(entries: int, size: int) -> int:
    """Return C(K, n), the number of sets of `size` entries.

    >>> number_of_sets(8000, 2)
    31996000
    """
    return comb(entries, size)


def rank(sets: ArrayLike) -> NDArray[np.int64]:
    """Return the number of each set; a row holds its entries in ascending order.

    >>> rank([[0, 1], [0, 2], [1, 2], [0, 3]]).tolist()
    [0, 1, 2, 3]
    """
    rows = np.asarray(sets, dtype=np.int64)
    if not rows.size:
        return np.zeros(len(rows), dtype=np.int64)
    binomials = _binomials(int(rows.max()) + 1, rows.shape[1])
    numbers = np.zeros(len(rows), dtype=np.int64)
    for place in range(rows.shape[1]):
        numbers += binomials[place][rows[:, place]]
    return numbers


def unrank(numbers: ArrayLike, entries: int, size: int) -> NDArray[np.int64]:
    """Return the set with each number, a row of entries in ascending order.

    >>> unrank([0, 3, 5], entries=4, size=2).tolist()
    [[0, 1], [0, 3], [2, 3]]
    """
    rest = np.array(numbers, dtype=np.int64)
    binomials = _binomials(entries, size)
    sets = np.empty((len(rest), size), dtype=np.int64)
    for place in range(size - 1, -1, -1):
        sets[:, place] = np.searchsorted(binomials[place], rest, side="right") - 1
        rest -= binomials[place][sets[:, place]]
    return sets


def _binomials(entries: int, size: int) -> list[NDArray[np.int64]]:
    """Return, for i = 1 … `size`, the array of C(c, i) for c = 0 … `entries` − 1."""
    rows = [np.arange(entries, dtype=np.int64)]
    for _ in range(size - 1):
        rows.append(np.concatenate([[0], np.cumsum(rows[-1][:-1])]))
    return rows
