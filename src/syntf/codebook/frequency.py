"""Estimate how many documents have an entry, from released answers and the known noise.

With the probability r the true answer is kept; otherwise any answer is released, each with the same
chance. So of N released answers, an entry is in N·c by chance alone, where c = (1 − r)·n/K for
answers of n entries out of K. The estimate subtracts that and divides by r. It is unbiased, and it
uses released and public numbers only, so it costs no privacy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.mechanism.response import ResponseMechanism


@dataclass(frozen=True)
class Estimates:
    """Estimated numbers of documents, one for each entry, with their standard errors."""

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]


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
    share = released / max(1, drawn)
    counts = np.asarray((released - drawn * chance) / kept, dtype=np.float64)
    least = chance * (1 - chance)  # an entry that nobody released still has the noise's variance
    errors = np.asarray(np.sqrt(drawn * np.maximum(share * (1 - share), least)) / kept)
    return Estimates(counts, errors)
