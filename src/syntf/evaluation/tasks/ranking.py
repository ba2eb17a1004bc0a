"""Rank documents for queries, and score rankings against relevance judgements."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]

K1, B = 1.5, 0.75
"""The parameters of BM25: how soon more occurrences stop to count, and how much lengths count."""

TOP, FOUND = 10, 100
"""The ranks that nDCG and recall look at."""


class RankingScore(NamedTuple):
    """How well documents are ranked: the mean over queries, each number from 0 to 1."""

    mean_average_precision: float
    ndcg_at_10: float
    recall_at_100: float


@dataclass(frozen=True, eq=False)
class Judged:
    """The documents that a query should find, with their grades.

    query : the number of the query.
    documents : numbers of documents, each once.
    grades : above 0, one for each document.
    """

    query: int
    documents: NDArray[np.intp]
    grades: Floats


def bm25(counts: csr_matrix) -> csr_matrix:
    """Weight counts by BM25, so that the product with a query's counts is its score.

    Terms are weighted by ln(1 + (N − df + ½)/(df + ½)), as Lucene and bm25s do. The last two steps
    of BM25 that depend on counts work for any counts, also for those of a release.
    """
    counts = csr_matrix(counts, dtype=np.float64)
    documents, width = counts.shape
    frequency = np.bincount(counts.indices, minlength=width)
    idf = np.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    mean = lengths.mean() if lengths.any() else 1.0
    saturation = np.repeat(K1 * (1 - B + B * lengths / mean), np.diff(counts.indptr))
    weights = idf[counts.indices] * counts.data / (counts.data + saturation)
    return csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)


def tie_order(names: Sequence[str]) -> NDArray[np.intp]:
    """Return a rank for each document, by which documents with the same score are ordered.

    It is the order of the hashes of their names: the same every time, and not the order of the
    file, in which relevant documents often stand together.
    """
    hashes = [sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names]
    ranks = np.empty(len(names), dtype=np.intp)
    ranks[sorted(range(len(names)), key=hashes.__getitem__)] = np.arange(len(names))
    return ranks


def score_rankings(
    scores: Floats, judged: Sequence[Judged], ties: NDArray[np.intp]
) -> RankingScore:
    """Return the mean scores of rankings.

    scores : queries × documents, larger for documents that should come first.
    judged : the queries that count.
    ties : see :func:`tie_order`.

    >>> relevant = Judged(0, np.array([1, 2]), np.array([1.0, 1.0]))
    >>> score_rankings(np.array([[0.3, 0.9, 0.1]]), [relevant], np.arange(3))  # ranks 1 and 3
    RankingScore(mean_average_precision=0.8333333333333333, ndcg_at_10=0.9197207891481876, recall_at_100=1.0)
    """  # noqa: E501
    discounts = 1 / np.log2(np.arange(2, TOP + 2))
    rows = []
    for one in judged:
        grades = np.zeros(scores.shape[1])
        grades[one.documents] = one.grades
        ranked = grades[np.lexsort((ties, -scores[one.query]))]
        hits = ranked > 0
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        ideal = np.sort(one.grades)[::-1][:TOP]
        rows.append(
            (
                precision[hits].mean(),
                (ranked[:TOP] @ discounts[: len(ranked)]) / (ideal @ discounts[: len(ideal)]),
                hits[:FOUND].mean() * min(FOUND, len(hits)) / len(one.documents),
            )
        )
    return RankingScore(*map(float, np.mean(rows, axis=0)))


def chance_score(judged: Sequence[Judged], documents: int) -> RankingScore:
    """Return the expected scores if documents are ranked at random.

    >>> relevant = Judged(0, np.array([1]), np.array([1.0]))
    >>> chance_score([relevant], 2).mean_average_precision  # rank 1 or 2: the mean of 1 and 1/2
    0.75
    """
    discounts = 1 / np.log2(np.arange(2, TOP + 2))
    ranks = np.arange(1, documents + 1)
    rows = []
    for one in judged:
        others = (len(one.documents) - 1) / max(1, documents - 1)
        ideal = np.sort(one.grades)[::-1][:TOP]
        gain = one.grades.sum() / documents * discounts[:documents].sum()
        rows.append(
            (
                ((1 + (ranks - 1) * others) / ranks).mean(),
                gain / (ideal @ discounts[: len(ideal)]),
                min(FOUND, documents) / documents,
            )
        )
    return RankingScore(*map(float, np.mean(rows, axis=0)))
