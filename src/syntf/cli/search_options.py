"""The options of `syntf evaluate` that measure search, and the table of its scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli.options import FILE, SEARCH, combine, option
from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from syntf.evaluation.tasks.judgements import SearchTask
    from syntf.evaluation.tasks.search import SearchResult


class Names(click.ParamType[tuple[str, ...]]):
    """Names of columns, separated by commas."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """Split the value at its commas."""
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(","))


search_options = combine(
    option(
        "--queries",
        type=FILE,
        metavar="FILE",
        group=SEARCH,
        help="Also measure search: a file with queries, such as queries.csv.",
    ),
    option(
        "--relevance",
        type=FILE,
        metavar="FILE",
        group=SEARCH,
        help="Which documents each query should find: a file with a row for each pair.",
    ),
    option("--id", metavar="COLUMN", group=SEARCH, help="Column that identifies a document."),
    option(
        "--query-columns",
        type=Names(),
        default="id,text",
        show_default=True,
        metavar="ID,TEXT",
        group=SEARCH,
        help="Columns of the file with queries.",
    ),
    option(
        "--relevance-columns",
        type=Names(),
        default="query,doc,grade",
        show_default=True,
        metavar="QUERY,DOC[,GRADE]",
        group=SEARCH,
        help="Columns of the file with judgements. Without the third one all grades are 1; a grade "
        "of 0 means not relevant.",
    ),
)


def search_task(
    options: dict[str, Any], documents: "pl.DataFrame", text: str
) -> "SearchTask | None":
    """Remove the search options from `options`; return the task they describe, None for none."""
    names = ("queries", "relevance", "id", "query_columns", "relevance_columns")
    queries, relevance, id, query_columns, relevance_columns = map(options.pop, names)
    if queries is None and relevance is None:
        return None
    if None in (queries, relevance, id):
        raise SyntfError("search needs all of --queries, --relevance and --id")
    from syntf.evaluation.tasks.judgements import read_search_task

    return read_search_task(
        documents,
        Path(queries),
        Path(relevance),
        text=text,
        id=id,
        query_columns=query_columns,
        relevance_columns=relevance_columns,
    )


def search_records(results: "Sequence[SearchResult]") -> list[dict[str, Any]]:
    """Return the scores of search for JSON output."""
    return [
        {
            "method": one.method,
            "runs": one.runs,
            **one.score._asdict(),
            "std": one.deviation and one.deviation._asdict(),
        }
        for one in results
    ]


def search_table(results: "Sequence[SearchResult]") -> "Table":
    """Return the scores of search in texts, term vectors and releases."""
    from rich.table import Table

    from syntf.cli.evaluation_tables import METHODS, rate

    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in ("search", "MAP", "nDCG@10", "recall@100"):
        table.add_column(name, justify="left" if name == "search" else "right")
    for one in results:
        deviations = one.deviation or [None] * len(one.score)
        cells = (
            rate(value) + ("" if spread is None else f" ± {rate(spread)}")
            for value, spread in zip(one.score, deviations, strict=True)
        )
        table.add_row(METHODS.get(one.method, f"by {one.method}"), *cells)
    return table
