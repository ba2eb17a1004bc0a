"""Names and profiles of topics: what an analyst reads of a released answer.

A profile is a short synthetic document: the output words nearest to a topic, each with a count by
its place. It is computed from the public list alone, so writing it costs no privacy.
"""

import numpy as np
from scipy.sparse import csr_matrix

from syntf.topics.encoder import Encoder
from syntf.topics.integers import nearest_several
from syntf.topics.lists import NOTHING_KNOWN, TopicList

NAME_COLUMNS = 5_000
"""Names prefer the more frequent half of the columns of a release: words that people know."""
NAME_WORDS = 3

COUNTS = (6, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)
"""The counts of the 20 words nearest to a topic, the nearest first."""


def profiles(topics: TopicList, encoder: Encoder) -> tuple[csr_matrix, list[str]]:
    """Return the profile of each answer, a matrix answers × terms, and a readable name for each.

    The profile of *nothing known*, the last answer, is empty.
    """
    counts = np.array(COUNTS[: len(encoder.terms)], dtype=np.int32)
    near = nearest_several(topics.vectors, encoder.column_vectors, len(counts))
    ends = np.minimum(np.arange(len(topics) + 1), len(topics.vectors)) * len(counts)
    shape = (len(topics), len(encoder.terms))
    found = csr_matrix((np.tile(counts, len(topics.vectors)), near.ravel(), ends), shape=shape)
    found.sort_indices()
    if topics.names:
        return found, [*topics.names, NOTHING_KNOWN]
    names = []
    for columns in near.tolist():
        best = sorted(columns, key=lambda column: column >= NAME_COLUMNS)[:NAME_WORDS]
        names.append(", ".join(encoder.terms[column] for column in best))
    return found, [*names, NOTHING_KNOWN]
