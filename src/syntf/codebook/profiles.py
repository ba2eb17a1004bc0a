"""Labels and term profiles of entries: what an analyst reads of a released answer.

A profile is a short synthetic document: the output words nearest to an entry, each with a count by
its place. It is computed from the public list alone, so writing it costs no privacy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.encoder import Encoder
from syntf.codebook.integers import nearest_several
from syntf.codebook.lists import EntryList
from syntf.core.counts import Rows

LABEL_COLUMNS = 8_000
"""Labels use the more frequent half of the columns of a release: words that people know."""
LABEL_WORDS = 3

TOPIC_COUNTS = (6, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)
"""The counts of the 20 words nearest to a topic, the nearest first."""
WORD_COUNTS = (4, 1, 1, 1, 1, 1, 1)
"""The counts of a word and the 6 words nearest to it."""


def distinct(entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different entries, ascending, as ``np.unique`` does, which imports ``numpy.ma``.

    >>> distinct(np.array([[3, 0], [0, 1]])).tolist()
    [0, 1, 3]
    """
    ordered = np.sort(entries, axis=None)
    return ordered[np.diff(ordered, prepend=-1) > 0]


@dataclass(frozen=True, eq=False)
class Profiles:
    """The labels and term profiles of some entries of a list.

    entries : the numbers of these entries, ascending.
    columns : for each, the columns of its words, the nearest first.
    counts : the counts of these words, the same for every entry.
    labels : a readable name for each.
    """

    entries: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.int32]
    labels: Sequence[str]

    def with_others(self, others: "Profiles") -> "Profiles":
        """Return these profiles and those of other entries of the same list."""
        entries = np.concatenate([self.entries, others.entries])
        order = np.argsort(entries)
        labels = [*self.labels, *others.labels]
        columns = np.concatenate([self.columns, others.columns])[order]
        return Profiles(
            entries[order], columns, self.counts, [labels[place] for place in order.tolist()]
        )

    def described(self, sets: NDArray[np.int64]) -> list[str]:
        """Return one description for each row of entries."""
        columns = np.searchsorted(self.entries, sets).T
        labels = [map(self.labels.__getitem__, column.tolist()) for column in columns]
        return list(map("; ".join, zip(*labels, strict=True)))

    def rows(self, sets: NDArray[np.int64], width: int) -> Rows:
        """Add up the profiles of each row of entries: the released counts of a document."""
        documents, several = sets.shape
        places = np.searchsorted(self.entries, sets)
        columns = self.columns[places].reshape(documents, several * self.columns.shape[1])
        data = np.tile(self.counts, (documents, several))
        order = np.argsort(columns, axis=1, kind="stable")
        columns = np.take_along_axis(columns, order, axis=1)
        data = np.take_along_axis(data, order, axis=1)
        fresh = np.ones(columns.shape, dtype=bool)
        fresh[:, 1:] = columns[:, 1:] != columns[:, :-1]
        starts = np.flatnonzero(fresh.ravel())
        sums = np.add.reduceat(data.ravel(), starts) if len(starts) else data.ravel()
        ends = np.concatenate([[0], np.cumsum(fresh.sum(axis=1))])
        found = columns.ravel()[starts].astype(np.int32)
        return Rows(sums.astype(np.int32), found, ends, (documents, width))


def make_profiles(
    entry_list: EntryList, encoder: Encoder, entries: NDArray[np.int64] | None = None
) -> Profiles:
    """Compute the labels and profiles of some entries of a list, by default of all."""
    chosen = np.arange(len(entry_list)) if entries is None else distinct(entries)
    rows, vectors = encoder.columns, encoder.column_vectors
    words = encoder.vectors.words
    topics = entry_list.kind == "topics"
    counts = np.array(TOPIC_COUNTS if topics else WORD_COUNTS, dtype=np.int32)[: len(rows)]
    columns = nearest_several(entry_list.vectors[chosen], vectors, len(counts))
    if not topics:
        own = entry_list.rows[chosen]
        labels = [words[row] for row in own.tolist()]
        return Profiles(chosen, _own_word_first(columns, own, rows), counts, labels)
    if entry_list.labels:
        labels = [entry_list.labels[entry] for entry in chosen.tolist()]
        return Profiles(chosen, columns, counts, labels)
    labels = []
    for near in columns.tolist():
        known = [column for column in near if column < LABEL_COLUMNS] or near
        labels.append(", ".join(words[rows[column]] for column in known[:LABEL_WORDS]))
    return Profiles(chosen, columns, counts, labels)


def _own_word_first(
    columns: NDArray[np.int64], own: NDArray[np.int32], rows: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Put the column of each word before the columns of its nearest words."""
    place = {row: column for column, row in enumerate(rows.tolist())}
    ordered = columns.copy()
    for entry, row in enumerate(own.tolist()):
        column = place.get(row)
        if column is not None and ordered[entry, 0] != column:
            others = [other for other in columns[entry].tolist() if other != column]
            ordered[entry] = [column, *others][: columns.shape[1]]
    return ordered
