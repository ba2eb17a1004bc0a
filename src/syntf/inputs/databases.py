"""Read the rows of a query from SQLite or PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.inputs.columns import LISTED_COLUMNS
from syntf.inputs.places import Place
from syntf.inputs.tables import as_text, frames

_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
_POSTGRESQL_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
    "('pg_catalog', 'information_schema') ORDER BY table_name"
)


def read_sqlite(path: Path, name: str, query: str | None) -> Iterator[pl.DataFrame]:
    """Read the rows of a query, every value as text by itself; the file is not changed."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            cursor = connection.cursor()
            header = _run(cursor, query, _SQLITE_TABLES)
            yield from frames(header, ([as_text(value) for value in row] for row in cursor))
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        # An error in the query is the person's own; the message names tables, never values.
        raise SyntfError(f"cannot read {name}: {error}") from None


def read_postgresql(place: Place, query: str | None) -> Iterator[pl.DataFrame]:
    """Read the rows of a query; columns keep the types that the database gives them."""
    with needed_for("postgresql://", "postgres"):
        import pyarrow  # noqa: F401
        from adbc_driver_postgresql import dbapi
    try:
        with closing(dbapi.connect(place.address)) as connection, connection.cursor() as cursor:
            _run(cursor, query, _POSTGRESQL_TABLES)
            for batch in cursor.fetch_record_batch():
                yield pl.DataFrame(pl.from_arrow(batch))
    except (SyntfError, GeneratorExit):
        raise
    except Exception as error:  # the message may quote a value, so only its kind is shown
        raise SyntfError(
            f"cannot read {place.shown} ({type(error).__name__}, SQLSTATE "
            f"{getattr(error, 'sqlstate', None)}): check the address, your credentials and --query"
        ) from None


def _run(cursor: Any, query: str | None, tables: str) -> list[str]:
    """Run a query and return the names of its columns; without a query, say which tables exist."""
    if not query:
        cursor.execute(tables)
        found = ", ".join(row[0] for row in cursor.fetchall()[:LISTED_COLUMNS])
        raise SyntfError(
            "say what to read, such as --query 'SELECT id, text FROM mails'; the tables are: "
            f"{found or 'none'}"
        )
    cursor.execute(query.strip().rstrip(";"))
    names = [column[0] for column in cursor.description or ()]
    if not names or len(set(names)) < len(names):
        raise SyntfError("--query must be a SELECT of columns with different names: use AS")
    return names
