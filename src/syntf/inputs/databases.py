"""Read the rows of a query from SQLite or PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import polars as pl

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.inputs.places import Place
from syntf.inputs.tables import Row, as_text, frames

LISTED_TABLES = 20


def read_sqlite(path: Path, name: str, query: str | None) -> Iterator[pl.DataFrame]:
    """Read the rows of a query, every value as text by itself; the file is not changed."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            tables = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            if not query:
                raise _without_query([row[0] for row in connection.execute(tables)])
            cursor = connection.execute(query)
            if cursor.description is None:
                raise SyntfError("--query must be a SELECT")
            header = [column[0] for column in cursor.description]
            _check_header(header)
            rows: Iterator[Row] = ([as_text(value) for value in row] for row in cursor)
            yield from frames(header, rows)
    except sqlite3.ProgrammingError:
        raise SyntfError("--query must be one statement") from None
    except sqlite3.Error as error:
        # An error in the query is the person's own; the message names tables, never values.
        raise SyntfError(f"cannot read {name}: {error}") from None


def read_postgresql(place: Place, query: str | None) -> Iterator[pl.DataFrame]:
    """Read the rows of a query; columns keep the types that the database gives them."""
    with needed_for("postgresql://", "postgres"):
        import pyarrow  # noqa: F401
        from adbc_driver_postgresql import dbapi
    try:
        with closing(dbapi.connect(place.address)) as connection, connection.cursor() as cursor:
            if not query:
                cursor.execute(
                    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
                    "('pg_catalog', 'information_schema') ORDER BY table_name"
                )
                raise _without_query([row[0] for row in cursor.fetchall()])
            cursor.execute(query.strip().rstrip(";"))
            reader = cursor.fetch_record_batch()
            _check_header(reader.schema.names)
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))
    except (SyntfError, GeneratorExit):
        raise
    except Exception as error:  # the message may quote a value, so only its kind is shown
        state = getattr(error, "sqlstate", None)
        kind = f"{type(error).__name__}{f', SQLSTATE {state}' if state else ''}"
        raise SyntfError(
            f"cannot read {place.shown} ({kind}): check the address, your credentials and --query"
        ) from None


def _without_query(tables: list[str]) -> SyntfError:
    more = f" and {len(tables) - LISTED_TABLES} more" * (len(tables) > LISTED_TABLES)
    found = f"the tables are: {', '.join(tables[:LISTED_TABLES])}{more}" if tables else "no tables"
    return SyntfError(f"say what to read, such as --query 'SELECT id, text FROM mails'; {found}")


def _check_header(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise SyntfError("--query gives two columns of the same name: rename one with AS")
