"""Reverse vectorisation: build texts from released counts, for attackers who need texts.

The order of the words is lost, so the attacker chooses one. The choice decides much of what
WritePrints can measure: in sorted texts equal words stand side by side and their n-grams repeat
from text to text; in a random order nearly every n-gram is new.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

Order = Literal["alphabetical", "frequency", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)


def reverse(
    counts: csr_matrix, terms: Sequence[str], order: Order = "alphabetical", seed: int = 0
) -> list[str]:
    """Build a text from each row that repeats every term as often as it was counted.

    ``frequency`` puts the terms first that are most frequent over all rows; ``random`` shuffles
    the words of each row, depending on `seed`.

    >>> reverse(csr_matrix([[1, 2]]), ["zebra", "ant"])
    ['ant ant zebra']
    """
    names = np.array(terms, dtype=object)
    ranks = np.argsort(names, kind="stable")
    if order == "frequency":
        total = np.asarray(counts.sum(axis=0)).ravel()
        ranks = ranks[np.argsort(-total[ranks], kind="stable")]
    sorted_counts = counts[:, ranks].tocsr()
    sorted_counts.sort_indices()
    words = np.repeat(names[ranks][sorted_counts.indices], sorted_counts.data)
    ends = np.concatenate([[0], np.cumsum(sorted_counts.data)])[sorted_counts.indptr]
    rows = np.split(words, ends[1:-1])
    if order == "random":
        generator = check_random_state(seed)
        rows = [generator.permutation(row) for row in rows]
    return [" ".join(row) for row in rows]
