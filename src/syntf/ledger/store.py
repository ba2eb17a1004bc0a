"""The file of a ledger: a SQLite database to which rows are only added.

The table `ledger` has one row, fixed when the file is made: the budgets, and the key under which
names are hashed. `runs` has a row for each run, chained by SHA-256. `spends` says whom each run
charged, and how often. Totals are not stored, since they could be set back: they are sums over
`spends`, computed after every hash was checked (:func:`read_checked`).

The database is one file when it is not in use: it has a rollback journal, not a write-ahead log
(docs/decisions/0009-ledger.md).
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from syntf.core import entropy
from syntf.core.errors import Refused, SyntfError

WAIT = 60.0
"""Seconds to wait while another run charges the ledger."""

_APPLICATION = 0x53594E54  # "SYNT"
_JOURNALS = ("-journal", "-wal", "-shm")
# The text of the triggers is part of every ledger, so it must not change.
_FIXED = tuple(
    f"CREATE TRIGGER no_{event}_{table} BEFORE {event} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'rows are only ever added'); END"
    for table in ("ledger", "runs", "spends")
    for event in ("UPDATE", "DELETE")
)
_SCHEMA = (
    "CREATE TABLE ledger (key BLOB, budget INTEGER, author_budget INTEGER, created TEXT, "
    "hash TEXT)",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, time TEXT, named_by TEXT, documents INTEGER, "
    "loss INTEGER, names TEXT, previous TEXT, hash TEXT)",
    "CREATE TABLE spends (name BLOB, kind TEXT, run INTEGER, count INTEGER, "
    "PRIMARY KEY (name, kind, run)) WITHOUT ROWID",
    *_FIXED,
)
_REASONS = {
    "SQLITE_BUSY": f"another run has locked it for {WAIT:.0f} seconds",
    "SQLITE_LOCKED": "another run has locked it",
    "SQLITE_READONLY_DBMOVED": "the file was moved or replaced while it was in use",
    "SQLITE_READONLY": "the file cannot be written",
    "SQLITE_CANTOPEN": "the file, or a journal beside it, cannot be opened",
    "SQLITE_PERM": "the file cannot be opened",
    "SQLITE_AUTH": "the file cannot be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk is full or fails",
    "SQLITE_NOMEM": "there is not enough memory",
}


@dataclass(frozen=True)
class Run:
    """What one run charged: `loss` units for each of `documents` documents.

    `names` is a hash of everyone it charged. `hash` covers all other fields, and `previous`, the
    hash of the run before.
    """

    number: int
    time: str
    named_by: str
    documents: int
    loss: int
    names: str
    previous: str
    hash: str = ""

    def compute_hash(self) -> str:
        return _hash([value for name, value in vars(self).items() if name != "hash"])


@dataclass(frozen=True)
class Content:
    """The contents of a ledger: budgets in units (None for no limit), and the runs in order."""

    key: bytes
    budgets: Mapping[str, int | None]
    created: str
    origin: str
    runs: tuple[Run, ...] = ()

    @property
    def last(self) -> Run | None:
        """The last run, if there is one."""
        return self.runs[-1] if self.runs else None

    @property
    def head(self) -> str:
        """The hash of the last run, which covers everything in the file."""
        return self.runs[-1].hash if self.runs else self.origin


def create(path: Path, budget: int | None, author_budget: int | None) -> None:
    """Make a file with these budgets that only its owner can read; never replace a file."""
    for name in (path, *(path.with_name(path.name + end) for end in _JOURNALS)):
        if os.path.lexists(name):
            raise SyntfError(f"{name} exists already: choose another name for the new ledger")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with connect(path) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _SCHEMA:
                db.execute(statement)
            row = (entropy.system(32), budget, author_budget, now())
            db.execute("INSERT INTO ledger VALUES (?, ?, ?, ?, ?)", (*row, _origin(*row)))
            db.execute("COMMIT")
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """Connect to an existing file; turn every error of SQLite into one message.

    `synchronous = EXTRA`: a commit returns only when it and the end of its journal are on the disk.
    The path is resolved, so that the journal lies beside the file itself, not beside a link.
    Only one thread may use the connection at a time, but any thread may close it.
    """
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(
                address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
        ) as db:
            for setting in ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON"):
                db.execute(f"PRAGMA {setting}")
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "delete":
                raise damaged("its journal mode was changed")
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # The message of SQLite may quote the file: do not pass it on.
        kind = getattr(error, "sqlite_errorname", "")
        for start, reason in _REASONS.items():
            if kind.startswith(start):
                raise SyntfError(f"cannot use the ledger {path}: {reason}") from error
        raise damaged("the file is not what SQLite wrote, or a part is missing") from error


def read_header(db: sqlite3.Connection) -> Content:
    """Read and check the budgets and the key, without the runs."""
    schema = tuple(row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql NOTNULL"))
    if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise SyntfError("this file is not a ledger of syntf, or it was cut short")
    if sorted(schema) != sorted(_SCHEMA):
        raise damaged("its tables were changed")
    rows = db.execute("SELECT key, budget, author_budget, created, hash FROM ledger").fetchall()
    if len(rows) != 1:
        raise damaged("its budgets are missing")
    *row, origin = rows[0]
    with _unchanged("its budgets were changed"):
        if _origin(*row) != origin:
            raise TypeError
    key, budget, author_budget, created = row
    return Content(key, {"document": budget, "author": author_budget}, created, origin)


def read_checked(db: sqlite3.Connection) -> Content:
    """Read everything, recompute each hash, and raise an error that names what is wrong.

    Every row of `spends` is part of a hash, so totals are sums over what was really charged.
    """
    content = read_header(db)
    runs: list[Run] = []
    previous = content.origin
    for row in db.execute("SELECT * FROM runs ORDER BY number"):
        run = Run(*row)
        number = len(runs) + 1
        if run.number != number:
            raise damaged(f"run {number} is missing")
        with _unchanged(f"run {number} was changed"):
            if run.previous != previous or run.hash != run.compute_hash():
                raise TypeError
        runs.append(run)
        previous = run.hash
    hashes = [sha256() for _ in runs]
    with _unchanged("what its runs charged was changed"):
        for name, kind, number, count in db.execute(
            "SELECT name, kind, run, count FROM spends ORDER BY name, kind, run"
        ):
            if not 1 <= number <= len(runs):
                raise damaged(f"run {number} is missing")
            hashes[number - 1].update(_line(name, kind, count))
    for run, found in zip(runs, hashes, strict=True):
        if run.names != found.hexdigest():
            raise damaged(f"what run {run.number} charged was changed")
    return Content(content.key, content.budgets, content.created, content.origin, tuple(runs))


def check_pages(db: sqlite3.Connection) -> None:
    """Let SQLite check all its pages, also those without rows."""
    if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        raise damaged("SQLite finds faults in its pages")


def names_hash(rows: Iterable[tuple[bytes, str, int]]) -> str:
    """Return the hash of everyone a run charged: name, kind and count, in order."""
    found = sha256()
    for name, kind, count in rows:
        found.update(_line(name, kind, count))
    return found.hexdigest()


def damaged(what: str) -> SyntfError:
    """Return the error for a file that was changed."""
    return Refused(
        f"the ledger is damaged: {what}; nothing can be charged to it (restore a backup only if "
        "nothing was released since)"
    )


def now() -> str:
    """Return the time, for people; nothing depends on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _line(name: bytes, kind: str, count: int) -> bytes:
    return f"{name.hex()} {kind} {count}\n".encode()


def _origin(key: bytes, budget: int | None, author_budget: int | None, created: str) -> str:
    return _hash(["syntf ledger 1", key.hex(), budget, author_budget, created])


def _hash(values: list[Any]) -> str:
    return sha256(json.dumps(values).encode()).hexdigest()


@contextmanager
def _unchanged(otherwise: str) -> Iterator[None]:
    """Report a value of a wrong type as a change, like any other."""
    try:
        yield
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SyntfError):
            raise
        raise damaged(otherwise) from error
