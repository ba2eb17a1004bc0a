"""Read queries and relevance judgements, and match them with the documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from syntf.core.errors import SyntfError
from syntf.evaluation.tasks.ranking import Judged
from syntf.inputs import columns
from syntf.inputs import corpus as inputs

QUERY_COLUMNS = ("id", "text")
RELEVANCE_COLUMNS = ("query", "doc", "grade")


@dataclass(frozen=True, eq=False)
class SearchTask:
    """Queries, and the documents that each should find.

    texts : the documents.
    names : what identifies each document.
    queries, query_names : the texts of the queries, and what identifies each.
    judged : one entry for every query that has a relevant document.
    notices : sentences about queries and judgements that could not be used.
    """

    texts: Sequence[str]
    names: Sequence[str]
    queries: Sequence[str]
    query_names: Sequence[str]
    judged: Sequence[Judged]
    notices: Sequence[str] = ()


def read_search_task(
    documents: pl.DataFrame,
    queries: Path,
    relevance: Path,
    *,
    text: str,
    id: str,
    query_columns: Sequence[str] = QUERY_COLUMNS,
    relevance_columns: Sequence[str] = RELEVANCE_COLUMNS,
) -> SearchTask:
    """Read files with queries and judgements for the documents of a table.

    Parameters
    ----------
    text, id : columns of the documents.
    query_columns : the columns of the queries' names and texts.
    relevance_columns : the columns of query, document and, if the file has it, grade. A grade of 0
        means that the document is not relevant.
    """
    if len(query_columns) != 2 or len(relevance_columns) not in (2, 3):
        raise SyntfError("--query-columns needs two names, --relevance-columns two or three")
    asked = inputs.read(queries)
    names = _unique_names(asked, query_columns[0], queries.name)
    texts = columns.texts(asked, query_columns[1])
    document_names = _unique_names(documents, id, "the file of documents")
    judgements = inputs.read(relevance)
    grades = _grades(judgements, relevance_columns, relevance.name)
    query_of = {name: place for place, name in enumerate(names)}
    document_of = {name: place for place, name in enumerate(document_names)}
    by_query: dict[int, dict[int, float]] = {}
    unknown: dict[str, list[int]] = {"query": [], "document": []}
    judged_names = [columns.names(judgements, name) for name in relevance_columns[:2]]
    for row, (query, document, grade) in enumerate(zip(*judged_names, grades, strict=True), 1):
        if query not in query_of:
            unknown["query"].append(row)
        elif document not in document_of:
            unknown["document"].append(row)
        elif grade > 0:
            by_query.setdefault(query_of[query], {})[document_of[document]] = grade
    notices = []
    for kind, rows in unknown.items():
        if rows:
            where = queries.name if kind == "query" else f"column {id!r} of the documents"
            notices.append(
                f"{len(rows):,} of {judgements.height:,} judgements in {relevance.name} name a "
                f"{kind} that is not in {where}; the first is in row {rows[0]}"
            )
    if not by_query:
        problem = "; ".join(notices) or f"no grade in {relevance.name} is above 0"
        raise SyntfError(f"no query has a relevant document: {problem}")
    without = len(names) - len(by_query)
    if without:
        notices.append(f"{without:,} of {len(names):,} queries have no relevant document")
    judged = [
        Judged(query, np.array(list(found), dtype=np.intp), np.array(list(found.values())))
        for query, found in sorted(by_query.items())
    ]
    return SearchTask(columns.texts(documents, text), document_names, texts, names, judged, notices)


def _unique_names(table: pl.DataFrame, column: str, where: str) -> list[str]:
    names = columns.names(table, column)
    seen: set[str] = set()
    for row, name in enumerate(names, 1):
        if not name or name in seen:
            problem = "repeats an earlier one" if name else "is empty"
            raise SyntfError(
                f"column {column!r} of {where} must identify every row, but row {row} {problem}"
            )
        seen.add(name)
    return names


def _grades(table: pl.DataFrame, names: Sequence[str], file: str) -> list[float]:
    """Return the grade of each judgement; 1 if there is no column for it."""
    if len(names) < 3 or names[2] not in table.columns:
        return [1.0] * table.height
    values = table[names[2]].cast(pl.Float64, strict=False)
    wrong = (~values.is_finite()).fill_null(True) | (values < 0).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_true()[0]) + 1
        raise SyntfError(
            f"column {names[2]!r} of {file} must hold numbers from 0 on, but row {row} does not"
        )
    return [float(value) for value in values.to_list()]
