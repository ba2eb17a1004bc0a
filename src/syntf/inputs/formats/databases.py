"""Read the rows of a query from SQLite or PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.files import without_surrogates
from syntf.inputs.places import Database, shown

SIZE = 1 << 22
"""Characters after which rows are handed on."""

LISTED_TABLES = 20

_SNAPSHOT = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)
"""One state of the database for all passes, with the rows in the same order each time."""


def sqlite_frames(path: Path, *, query: str | None, name: str, most: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a query, every value as text by itself; the file is not changed."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            cursor = connection.execute(_required(query, lambda: _tables(connection)))
            if cursor.description is None:
                raise SyntfError("--query must be a SELECT")
            header = _header([column[0] for column in cursor.description])
            rows: list[tuple[Any, ...]] = []
            size = 0
            for row in cursor:
                values = tuple(map(_as_text, row))
                rows.append(values)
                size += sum(len(value or "") for value in values)
                if len(rows) == most or size >= SIZE:
                    yield _frame(header, rows)
                    rows, size = [], 0
            yield _frame(header, rows)
    except sqlite3.ProgrammingError:
        raise SyntfError("--query must be one statement") from None
    except sqlite3.Error as error:
        # An error in the query is the person's own; the message names tables, never values.
        raise SyntfError(f"cannot read {name}: {error}") from None


class PostgreSQL:
    """A connection to PostgreSQL that gives the same rows to every pass."""

    def __init__(self, place: Database) -> None:
        self._place = place
        self._connection: Any = None

    def frames(self, query: str | None) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query; columns keep the types that the database gives them."""
        with self._plain_errors():
            if self._connection is None:
                self._connection = self._connect()
            statement = _required(query, self._tables).strip().rstrip(";")
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                reader = cursor.fetch_record_batch()
                _header(reader.schema.names)
                for batch in reader:
                    frame = pl.from_arrow(batch)
                    if isinstance(frame, pl.DataFrame):
                        yield frame
                empty = pl.from_arrow(reader.schema.empty_table())
                if isinstance(empty, pl.DataFrame):
                    yield empty

    def close(self) -> None:
        """End the transaction and the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connect(self) -> Any:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise SyntfError(
                "postgresql:// needs a driver: pip install 'syntf[postgres]'"
            ) from None
        connection = dbapi.connect(self._place.url)
        with connection.cursor() as cursor:
            for statement in _SNAPSHOT:
                cursor.execute(statement)
        return connection

    def _tables(self) -> list[str]:
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
                "('pg_catalog', 'information_schema') ORDER BY table_name"
            )
            return [row[0] for row in cursor.fetchall()]

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except (SyntfError, GeneratorExit):
            raise
        except Exception as error:  # the message may quote a value, so only its kind is shown
            state = getattr(error, "sqlstate", None)
            kind = f"{type(error).__name__}{f', SQLSTATE {state}' if state else ''}"
            raise SyntfError(
                f"cannot read {shown(self._place.url)} ({kind}): check the address, your "
                "credentials and --query"
            ) from None


def _required(query: str | None, tables: Any) -> str:
    if query:
        return query
    listed = tables()
    more = f" and {len(listed) - LISTED_TABLES} more" * (len(listed) > LISTED_TABLES)
    found = f"the tables are: {', '.join(listed[:LISTED_TABLES])}{more}" if listed else "no tables"
    example = "--query 'SELECT id, text FROM mails'"
    raise SyntfError(f"say what to read, such as {example}; {found}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    return sorted(row[0] for row in found)


def _header(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise SyntfError("--query gives two columns of the same name: rename one with AS")
    return names


def _as_text(value: Any) -> str | None:
    """Return a value as text, by itself: whole numbers without decimals."""
    match value:
        case None | str():
            return value if value is None else without_surrogates(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return str(int(value))
        case _:
            return str(value)


def _frame(header: list[str], rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    return pl.DataFrame(
        [pl.Series(n, list(c), pl.String) for n, c in zip(header, columns, strict=True)]
    )
