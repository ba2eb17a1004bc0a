"""Charge many small runs to a ledger that stays open, several of them in one transaction.

*Guarantee.* That of the ledger: a run is charged as a whole, on disk, before it draws, or else
draws nothing. Runs of one transaction are charged one after the other, so each is compared with a
budget that the runs before it have reduced. If the transaction fails, none of its runs is charged.

A ledger checks all its hashes before every charge, which takes longer the more runs it has. A
session checks them when it opens the file, and again when anything else has changed the file since.
It notices a commit of another program by SQLite's ``data_version``, and any other change by the
size and the times of the file.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from syntf.core.errors import BudgetError, NamingError, SyntfError
from syntf.ledger import store
from syntf.ledger.ledger import Ledger, loss_units, refuse_other_naming
from syntf.ledger.names import NamedBy, Names
from syntf.ledger.store import Run

_SPENT = (
    "SELECT coalesce(sum(count * loss), 0) FROM spends JOIN runs ON number = run "
    "WHERE name = ? AND kind = ?"
)


@dataclass(frozen=True)
class Due:
    """A run that is to be charged: the digests of its documents and authors, never their names."""

    named_by: NamedBy
    documents: int
    names: Mapping[str, Sequence[bytes]]

    @classmethod
    def of(cls, names: Names, key: bytes) -> "Due":
        """Hash the names of a run under the key of the ledger."""
        return cls(names.by, len(names.documents), names.hashed(key))


@dataclass
class _Checked:
    """The file as it was when its hashes were last right."""

    head: str
    last: Run | None
    version: int
    file: tuple[int, ...]


class Session:
    """Charge runs to a ledger, and keep its file open between them. For one thread."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._connection = ExitStack()
        self._db: sqlite3.Connection | None = None
        self._checked: _Checked | None = None

    def spend_each(self, loss: float, runs: Sequence[Due]) -> list[Run | BudgetError]:
        """Charge `loss` for every document of each run; return the run, or why it was refused.

        When this returns, the charges are on the disk. A refused run charges nothing and leaves the
        other runs alone. If an error is raised, draw for none of the runs.
        """
        units = loss_units(loss)
        for due in runs:
            self.ledger.check_authors("author" in due.names)
        self.ledger.refuse_replaced()
        with ExitStack() as on_error:
            on_error.callback(self._forget)
            on_error.push(self._connection)  # an error closes the file, and the next run checks it
            db, checked = self._begin()
            results = [self._charge(db, checked, units, due) for due in runs]
            self.ledger.refuse_replaced()
            db.execute("COMMIT")
            checked.file = self._file_state()
            on_error.pop_all()
        self.ledger.refuse_replaced()
        return results

    def close(self) -> None:
        """Close the file. The next charge opens and checks it again."""
        self._connection.close()
        self._forget()

    def _forget(self) -> None:
        self._connection, self._db, self._checked = ExitStack(), None, None

    def _begin(self) -> tuple[sqlite3.Connection, _Checked]:
        """Lock the ledger; check its hashes unless nothing has changed since they were checked."""
        if self._db is not None and self._checked is not None:
            self._db.execute("BEGIN IMMEDIATE")
            found = _data_version(self._db), self._file_state()
            if found == (self._checked.version, self._checked.file):
                return self._db, self._checked
            self._connection.close()
        self._db = db = self._connection.enter_context(store.connect(self.ledger.path))
        db.execute("BEGIN IMMEDIATE")
        content = self.ledger.read_checked(db)
        version = _data_version(db)
        self._checked = _Checked(content.head, content.last, version, self._file_state())
        return db, self._checked

    def _charge(
        self, db: sqlite3.Connection, checked: _Checked, units: int, due: Due
    ) -> Run | BudgetError:
        budgets = self.ledger.budgets
        if budgets["document"] is not None:
            try:
                refuse_other_naming(checked.last, due.named_by)
            except NamingError as error:
                return error
        rows = []
        for kind, names in due.names.items():
            budget = budgets[kind]
            if budget is None:
                continue
            for name, count in Counter(names).items():
                (spent,) = db.execute(_SPENT, (name, kind)).fetchone()
                if spent + count * units > budget:
                    return BudgetError(
                        f"the ledger refuses this run: a {kind} would lose more than its budget; "
                        "nothing was charged or drawn"
                    )
                rows.append((name, kind, count))
        rows.sort()
        number = 1 if checked.last is None else checked.last.number + 1
        run = Run(
            number, store.now(), due.named_by, due.documents, units, store.names_hash(rows),
            checked.head,
        )  # fmt: skip
        run = replace(run, hash=run.compute_hash())
        db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*vars(run).values(),))
        db.executemany(
            "INSERT INTO spends VALUES (?, ?, ?, ?)",
            ((name, kind, number, count) for name, kind, count in rows),
        )
        checked.head, checked.last = run.hash, run
        return run

    def _file_state(self) -> tuple[int, ...]:
        try:
            found = self.ledger.path.stat()
        except OSError as error:
            raise SyntfError(f"the ledger {self.ledger.path} was removed while in use") from error
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _data_version(db: sqlite3.Connection) -> int:
    """Return a number that changes when another connection changes the file."""
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return int(version)
