"""Estimate how many documents have an entry, from released answers and the known noise.

With the probability r the true answer is kept; otherwise any answer is released, each with the same
chance. So of N released answers, an entry is in N·c by chance alone, where c = (1 − r)·n/K for
answers of n entries out of K. The estimate subtracts that and divides by r. It is unbiased, and it
uses released and public numbers only, so it costs no privacy.

The standard error is that of the noise: how far the estimate is from the true number among these
very documents. Of t documents with the entry each shows it with the probability r + c, of the
others with c, so the variance of the released number is t·(r + c)(1 − r − c) + (N − t)·c(1 − c).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.mechanism.response import ResponseMechanism

NORMAL_95 = 1.959964
"""A normal variable is within this many standard deviations of its mean in 95 % of cases."""


@dataclass(frozen=True)
class Estimates:
    """Estimated numbers of documents, one for each entry, with their standard errors."""

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the 95 % confidence interval of each number, by the normal law.

        >>> one = Estimates(np.array([100.0]), np.array([10.0]))
        >>> [round(float(end[0]), 1) for end in one.interval()]
        [80.4, 119.6]
        """
        return self.counts - NORMAL_95 * self.errors, self.counts + NORMAL_95 * self.errors


def estimate(
    entry_list: EntryList, mechanism: ResponseMechanism, released: NDArray[np.int64]
) -> Estimates:
    """Estimate how many of the documents truly have each entry of the list.

    released : how many released answers hold each entry.

    >>> topics = EntryList("topics", np.zeros((4, 2), np.int16), np.zeros(0, np.int32))
    >>> found = estimate(topics, ResponseMechanism(4, loss=40.0), np.array([2, 1, 0, 0]))
    >>> found.counts.round(6).tolist()
    [2.0, 1.0, 0.0, 0.0]
    """
    drawn = int(released.sum()) // entry_list.size
    kept = 1 - mechanism.answers * mechanism.background / mechanism.total
    chance = (1 - kept) * entry_list.size / len(entry_list)
    counts = np.asarray((released - drawn * chance) / kept, dtype=np.float64)
    true = np.clip(counts, 0, drawn)
    shown = kept + chance
    variance = true * shown * (1 - shown) + (drawn - true) * chance * (1 - chance)
    return Estimates(counts, np.asarray(np.sqrt(np.maximum(variance, 0)) / kept))
