"""The file of a ledger: a SQLite database to which rows are only ever added.

`ledger` is one row, fixed when the file is made: the budgets, and the key under which names are
hashed. `runs` has a row for each run, chained by SHA-256. `spends` says whom each run charged,
and how often. No totals are kept, which could be set back: they are sums over `spends`, and
whoever relies on them recomputes every hash first (:func:`check`).

One file, at rest: a rollback journal, no write-ahead log (docs/decisions/0009-ledger.md).
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
"""Seconds to wait for another run that is spending."""

_APPLICATION = 0x53594E54  # "SYNT"
_BESIDE = ("-journal", "-wal", "-shm")
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
    "SQLITE_BUSY": f"another run has held it for {WAIT:.0f} seconds",
    "SQLITE_LOCKED": "another run holds it",
    "SQLITE_READONLY_DBMOVED": "it was moved or replaced while it was in use",
    "SQLITE_READONLY": "it cannot be written to",
    "SQLITE_CANTOPEN": "it, or a journal beside it, cannot be opened",
    "SQLITE_PERM": "it cannot be opened",
    "SQLITE_AUTH": "it cannot be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk is full or fails",
    "SQLITE_NOMEM": "there is not enough memory",
}


@dataclass(frozen=True)
class Run:
    """What one run spent: `loss` units for each of `documents` documents.

    `names` is the hash of whom it charged, `hash` that of all of this and of the run before.
    """

    number: int
    time: str
    named_by: str
    documents: int
    loss: int
    names: str
    previous: str
    hash: str = ""

    def computed(self) -> str:
        return _hash([value for name, value in vars(self).items() if name != "hash"])


@dataclass(frozen=True)
class Content:
    """A ledger that was checked: budgets in units (None: no limit) and the runs in order."""

    key: bytes
    budgets: Mapping[str, int | None]
    created: str
    origin: str
    runs: tuple[Run, ...] = ()

    @property
    def head(self) -> str:
        """The hash that stands for all that is in the file."""
        return self.runs[-1].hash if self.runs else self.origin


def create(path: Path, budget: int | None, author_budget: int | None) -> None:
    """A new file with these budgets, readable by its owner alone; never in place of another."""
    for name in (path, *(path.with_name(path.name + end) for end in _BESIDE)):
        if os.path.lexists(name):
            raise SyntfError(f"{name} exists already: choose another place for a new ledger")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with opened(path) as db:
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
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that must be there. What SQLite cannot do is told in one line.

    `synchronous = EXTRA`: a commit has returned only once the disk has it, and the end of its
    journal too. The path is resolved, so that the journal lies beside the file itself.
    """
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)) as db:
            for setting in ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON"):
                db.execute(f"PRAGMA {setting}")
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "delete":
                raise damage("its journal mode was changed")
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # SQLite's own messages may quote what is in the file: they are not passed on.
        kind = getattr(error, "sqlite_errorname", "")
        for start, reason in _REASONS.items():
            if kind.startswith(start):
                raise SyntfError(f"cannot use the ledger {path}: {reason}") from error
        raise damage("it is not what SQLite wrote, or a part is missing") from error


def header(db: sqlite3.Connection) -> Content:
    """Budgets and key, without the runs: quick, and only they are checked."""
    schema = tuple(row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql NOTNULL"))
    if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise SyntfError("this file is not a ledger of syntf, or it was cut off")
    if sorted(schema) != sorted(_SCHEMA):
        raise damage("its tables were changed")
    rows = db.execute("SELECT key, budget, author_budget, created, hash FROM ledger").fetchall()
    if len(rows) != 1:
        raise damage("its budgets are missing")
    *row, origin = rows[0]
    with _as_written("its budgets were changed"):
        if _origin(*row) != origin:
            raise TypeError
    key, budget, author_budget, created = row
    return Content(key, {"document": budget, "author": author_budget}, created, origin)


def check(db: sqlite3.Connection) -> Content:
    """All of the file, each hash recomputed; what is wrong is named.

    Every row of `spends` is read, in its order, so a total is a sum over what was charged.
    """
    content = header(db)
    runs: list[Run] = []
    previous = content.origin
    for row in db.execute("SELECT * FROM runs ORDER BY number"):
        run = Run(*row)
        number = len(runs) + 1
        if run.number != number:
            raise damage(f"run {number} is missing")
        with _as_written(f"run {number} was changed"):
            if run.previous != previous or run.hash != run.computed():
                raise TypeError
        runs.append(run)
        previous = run.hash
    hashes = [sha256() for _ in runs]
    with _as_written("what its runs charged was changed"):
        for name, kind, number, count in db.execute(
            "SELECT name, kind, run, count FROM spends ORDER BY name, kind, run"
        ):
            if not 1 <= number <= len(runs):
                raise damage(f"run {number} is missing")
            hashes[number - 1].update(_line(name, kind, count))
    for run, found in zip(runs, hashes, strict=True):
        if run.names != found.hexdigest():
            raise damage(f"what run {run.number} charged was changed")
    return Content(content.key, content.budgets, content.created, content.origin, tuple(runs))


def sound(db: sqlite3.Connection) -> None:
    """Let SQLite look through its own pages, also those that no row is in."""
    if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        raise damage("SQLite finds its pages in disorder")


def names_hash(rows: Iterable[tuple[bytes, str, int]]) -> str:
    """The hash of whom a run charged: name, kind and how often, in order."""
    found = sha256()
    for name, kind, count in rows:
        found.update(_line(name, kind, count))
    return found.hexdigest()


def damage(what: str) -> SyntfError:
    return Refused(
        f"the ledger is damaged: {what}; nothing can be spent from it (take it from a backup only "
        "if nothing was released since)"
    )


def now() -> str:
    """The time, for people: nothing depends on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _line(name: bytes, kind: str, count: int) -> bytes:
    return f"{name.hex()} {kind} {count}\n".encode()


def _origin(key: bytes, budget: int | None, author_budget: int | None, created: str) -> str:
    return _hash(["syntf ledger 1", key.hex(), budget, author_budget, created])


def _hash(values: list[Any]) -> str:
    return sha256(json.dumps(values).encode()).hexdigest()


@contextmanager
def _as_written(otherwise: str) -> Iterator[None]:
    """A value of another type than was written is a change like any other."""
    try:
        yield
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SyntfError):
            raise
        raise damage(otherwise) from error
