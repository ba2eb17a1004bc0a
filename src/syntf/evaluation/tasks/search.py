"""Search: how well plain queries find documents in texts, in term vectors and in releases.

The original texts are searched with BM25 by the library bm25s. Term vectors and releases are
searched with BM25 on their counts (:mod:`syntf.evaluation.tasks.ranking`); the query's vector is
that of :mod:`syntf.pipeline.query`.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from syntf.core.csv_files import write_table
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.evaluation.tasks.judgements import SearchTask
from syntf.evaluation.tasks.ranking import (
    Floats,
    RankingScore,
    bm25,
    chance_score,
    score_rankings,
    tie_order,
)
from syntf.evaluation.tasks.releases import Releases, releases_of
from syntf.pipeline.settings import Settings

SEARCH = "search.csv"
CHANCE = "chance"


class SearchResult(NamedTuple):
    """The scores of one method, as means over its runs, and their standard deviations.

    method : ``original``, ``vectorised``, ``syntf`` for releases, or ``chance``.
    """

    method: str
    runs: int
    score: RankingScore
    deviation: RankingScore | None = None


def evaluate_search(
    task: SearchTask,
    settings: Settings,
    *,
    runs: int = 10,
    stages: Stages = silent,
    releases: Releases | None = None,
) -> tuple[list[SearchResult], list[str]]:
    """Search texts, term vectors and releases; return the scores and notices for the owner.

    releases : the documents, if they have been read already.
    """
    ties = tie_order(task.names)

    def scored(scores: Floats) -> RankingScore:
        return score_rankings(scores, task.judged, ties)

    def one(method: str, score: RankingScore) -> SearchResult:
        return SearchResult(method, 1, score)

    results = [one("original", scored(search_texts(task)))]
    releases = releases or releases_of(task.texts, settings, stages)
    queries = releases.vectorise(task.queries)
    notices = _notices(task, queries)
    results.append(one("vectorised", scored(search_counts(queries, releases.vectorised))))
    scores = []
    with stages("searching", runs) as advance:
        for _ in range(runs):
            release = releases.draw()
            asked = releases.query(task.queries, release)
            scores.append(scored(search_counts(asked, release.counts)))
            advance(1)
    columns = list(zip(*scores, strict=True))
    deviation = RankingScore(*map(stdev, columns)) if runs > 1 else None
    results.append(SearchResult("syntf", runs, RankingScore(*map(fmean, columns)), deviation))
    results.append(one(CHANCE, chance_score(task.judged, len(task.names))))
    return results, notices


def search_texts(task: SearchTask) -> Floats:
    """Return the score of each document for each query, by BM25 on the texts themselves."""
    try:
        import bm25s
    except ImportError:
        raise SyntfError(
            "searching the original texts needs bm25s: pip install 'syntf[evaluate]'"
        ) from None
    index = bm25s.BM25()
    options = {"stopwords": "en", "return_ids": False, "show_progress": False}
    documents = bm25s.tokenize(list(task.texts), **options)
    scores = np.zeros((len(task.queries), len(task.texts)))
    if not any(documents):
        return scores
    index.index(documents, show_progress=False)
    known = index.vocab_dict
    for row, words in zip(scores, bm25s.tokenize(list(task.queries), **options), strict=True):
        found = [word for word in words if word in known]
        if found:
            row[:] = index.get_scores(found)
    return scores


def search_counts(queries: csr_matrix, documents: csr_matrix) -> Floats:
    """Return the score of each document for each query, by BM25 on counts."""
    return np.asarray((queries @ bm25(documents).T).toarray(), dtype=np.float64)


def write_search(out: Path, results: Sequence[SearchResult]) -> None:
    """Write ``search.csv``, a row for each method."""
    names = RankingScore._fields
    header = ["method", "runs", *names, *(f"{name}_std" for name in names)]
    rows = (
        [one.method, one.runs, *one.score, *(one.deviation or [None] * len(names))]
        for one in results
    )
    write_table(out / SEARCH, header, rows)


def _notices(task: SearchTask, queries: csr_matrix) -> list[str]:
    """Return a notice about judged queries without a known word; raise if none has any."""
    unknown = [one.query for one in task.judged if not queries[one.query].nnz]
    if len(unknown) == len(task.judged):
        raise SyntfError("no query has a known word: check the language and --query-columns")
    if not unknown:
        return []
    return [
        f"{len(unknown):,} of {len(task.judged):,} queries without a known word cannot be searched "
        f"in a release; the first is in row {unknown[0] + 1}"
    ]
