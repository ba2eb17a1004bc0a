"""A ledger: what every document and author has lost so far, and may still lose.

*Guarantee.* Losses add up. Someone who sees all releases that were charged to a ledger can tell two
versions of a document apart by at most its budget, and two versions of everything that an author
wrote by at most the author's budget. This holds because a run is charged as a whole, on disk,
before it draws, or else draws nothing; and because all sums are of whole numbers.
"""

import sqlite3
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, isfinite
from os import PathLike
from pathlib import Path

from syntf.core.checks import positive
from syntf.core.errors import BudgetError, NamingError, Refused, SyntfError
from syntf.ledger import store
from syntf.ledger.names import Charge, NamedBy, Names
from syntf.ledger.store import Content, Run
from syntf.privacy.guarantee import Guarantee

UNIT = 1 << 20
"""Losses are stored as whole numbers of 1/UNIT: charges are rounded up, budgets down."""

LIMIT = 1 << 32
"""The largest budget. Sums stay far below SQLite's largest integer, and exact as floats."""


@dataclass(frozen=True)
class Account:
    """How all documents, or all authors, stand; losses in units of 1/UNIT.

    budget : what each may lose in all.
    names : how many were charged at least once.
    most_charged : the largest loss of one of them.
    """

    budget: int
    names: int
    most_charged: int

    @property
    def left(self) -> int:
        """What the most charged one may still lose."""
        return self.budget - self.most_charged


class Ledger:
    """A file that limits the loss of documents and authors over all releases.

    Parameters
    ----------
    path : path
        A file made by :meth:`create`. Opening never makes a file, so a ledger that was moved or
        deleted does not become a fresh budget.
    budget, author_budget : float, optional
        Raise an error if the file has other budgets than these.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "texts.ledger")
    >>> ledger = Ledger.create(file, budget=10)
    >>> charge = ledger.spend(4.0, [Names(["a text", "another"])])
    >>> charge = ledger.spend(4.0, [Names(["a text"])])
    >>> ledger.spend(4.0, [Names(["a text", "a third"])])
    Traceback (most recent call last):
    ...
    syntf.core.errors.BudgetError: the ledger refuses this run: 1 of 2 documents would lose more \
than the 10.00 that each may lose; the worst is document 1 of the run, which has 2.00 left and \
would lose 4.00; nothing was charged or drawn
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        budget: float | None = None,
        author_budget: float | None = None,
    ) -> None:
        self.path = Path(path).absolute()
        self._identity = _file_identity(self.path)
        with store.connect(self.path) as db:
            content = store.read_header(db)
        self.budgets: Mapping[str, int | None] = content.budgets
        self.origin = content.origin
        """A hash of the key and the budgets, which identifies the ledger."""
        for kind, expected in (("document", budget), ("author", author_budget)):
            actual = self.budgets[kind]
            if expected is not None and _budget_units(kind, expected) != actual:
                shown = "not limited" if actual is None else format_units(actual)
                raise SyntfError(
                    f"the budget of each {kind} in {path} is {shown}, not {expected}: it was fixed "
                    "when the ledger was made"
                )

    def name_key(self) -> bytes:
        """Return the key under which names are hashed. Keep it secret: it can test guesses."""
        with self._connect() as db:
            return store.read_header(db).key

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        budget: float | None = None,
        author_budget: float | None = None,
    ) -> "Ledger":
        """Make a new ledger, with a budget for each document, for each author, or for both."""
        if budget is None and author_budget is None:
            raise SyntfError("give a ledger a budget: for each document, for each author, or both")
        document = None if budget is None else _budget_units("document", budget)
        author = None if author_budget is None else _budget_units("author", author_budget)
        store.create(Path(path).absolute(), document, author)
        return cls(path)

    def charge(self, guarantee: Guarantee, batches: Iterable[Names]) -> Charge:
        """Charge the loss per document of a guarantee for every document; see :meth:`spend`."""
        return self.spend(chargeable_loss(guarantee), batches)

    def spend(self, loss: float, batches: Iterable[Names]) -> Charge:
        """Charge `loss` for every document, as often as it occurs, or charge nothing at all.

        When this returns, the charge is on the disk. If it raises an error, draw nothing. The
        batches are read once, before the ledger is locked.
        """
        units = loss_units(loss)
        with self._connect() as db:
            charge, documents, named_by = self._collect(db, batches)
            if not documents:
                return charge
            db.execute("BEGIN IMMEDIATE")
            content = self.read_checked(db)
            if self.budgets["document"] is not None:
                refuse_other_naming(content.last, named_by)
            self._refuse_overspending(db, units)
            names = store.names_hash(
                db.execute("SELECT name, kind, count FROM due ORDER BY name, kind")
            )
            number, time = len(content.runs) + 1, store.now()
            run = Run(number, time, named_by, documents, units, names, content.head)
            run = replace(run, hash=run.compute_hash())
            db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*vars(run).values(),))
            db.execute("INSERT INTO spends SELECT name, kind, ?, count FROM due "
                       "ORDER BY name, kind", (number,))  # fmt: skip
            self.refuse_replaced()
            db.execute("COMMIT")
        self.refuse_replaced()  # the next run must find the file that was written
        charge.run = run
        return charge

    def verify(self, head: str | None = None) -> Content:
        """Recompute all hashes and check every page of the file; raise an error if one is wrong.

        `head` is the head after an earlier run, kept in another place. It must be in the chain of
        runs: only this reveals a file that was set back to a state before that run.
        """
        with self._connect() as db:
            db.execute("BEGIN")
            store.check_pages(db)
            content = self.read_checked(db)
        if head is not None and head not in {content.origin, *(run.hash for run in content.runs)}:
            raise Refused(
                "the ledger does not have this head: it was set back to an earlier state, or it is "
                "another ledger"
            )
        return content

    def accounts(self) -> tuple[Content, dict[str, Account]]:
        """Return the runs, and how documents and authors stand where they have a budget."""
        with self._connect() as db:
            db.execute("BEGIN")
            content = self.read_checked(db)
            found = {}
            for kind, budget in content.budgets.items():
                if budget is not None:
                    names, most_charged = db.execute(
                        "SELECT count(*), coalesce(max(spent), 0) FROM (SELECT sum(count * loss) "
                        "AS spent FROM spends JOIN runs ON number = run WHERE kind = ? "
                        "GROUP BY name)", (kind,),
                    ).fetchone()  # fmt: skip
                    found[kind] = Account(budget, names, most_charged)
        return content, found

    def check_authors(self, named: bool) -> None:
        """Refuse charges without authors if they have a budget, or with authors if they do not."""
        if named and self.budgets["author"] is None:
            raise SyntfError("the ledger has no budget for authors: leave out --author")
        if not named and self.budgets["author"] is not None:
            raise SyntfError("the ledger has a budget for authors: name their column with --author")

    def _collect(
        self, db: sqlite3.Connection, batches: Iterable[Names]
    ) -> tuple[Charge, int, NamedBy]:
        """Write whom to charge, and how often, to a temporary table `due`; lock nothing yet."""
        charge = Charge(store.read_header(db).key)
        documents = 0
        named_by: NamedBy = "text"
        db.execute("CREATE TEMP TABLE named (name BLOB, kind TEXT, count INTEGER, row INTEGER)")
        db.execute("BEGIN")
        for batch in batches:
            self.check_authors(batch.authors is not None)
            if documents and batch.by != named_by:
                raise SyntfError("identify the documents of a run by ids or by texts, not by both")
            named_by = batch.by
            for kind, found in charge.add(batch).items():
                if self.budgets[kind] is not None:
                    rows = _count_names(found, kind, documents + 1)
                    db.executemany("INSERT INTO named VALUES (?, ?, ?, ?)", rows)
            documents += len(batch.documents)
        db.execute(
            "CREATE TEMP TABLE due (name BLOB, kind TEXT, count INTEGER, row INTEGER, "
            "PRIMARY KEY (name, kind)) WITHOUT ROWID"
        )
        db.execute("INSERT INTO due SELECT name, kind, sum(count), min(row) FROM named "
                   "GROUP BY name, kind ORDER BY name, kind")  # fmt: skip
        db.execute("COMMIT")
        return charge, documents, named_by

    def _refuse_overspending(self, db: sqlite3.Connection, units: int) -> None:
        """Raise an error if a document or an author would lose more than its budget.

        An integer too large for SQLite becomes a float, which still exceeds every budget.
        """
        db.execute("CREATE TEMP TABLE over (kind TEXT, count INTEGER, row INTEGER, spent INTEGER)")
        db.execute(
            "INSERT INTO over SELECT * FROM (SELECT kind, count, row, coalesce((SELECT "
            "sum(spends.count * loss) FROM spends JOIN runs ON number = run "
            "WHERE name = due.name AND kind = due.kind), 0) AS spent FROM due) WHERE "
            "spent + count * :units > CASE kind WHEN 'document' THEN :document ELSE :author END",
            {"units": units, **self.budgets},
        )
        reasons = [self._describe_overspending(db, kind, units) for kind in self.budgets]
        if any(reasons):
            raise BudgetError(
                f"the ledger refuses this run: {'; '.join(filter(None, reasons))}; nothing was "
                "charged or drawn"
            )

    def _describe_overspending(self, db: sqlite3.Connection, kind: str, units: int) -> str:
        """Say how many would exceed the budget, and which is worst: by place, never by name."""
        worst = db.execute(
            "SELECT count, row, spent FROM over WHERE kind = ? "
            "ORDER BY spent + count * ? DESC, row",
            (kind, units),
        ).fetchone()
        if worst is None:
            return ""
        count, row, spent = worst
        (over,) = db.execute("SELECT count(*) FROM over WHERE kind = ?", (kind,)).fetchone()
        (asked,) = db.execute("SELECT count(*) FROM due WHERE kind = ?", (kind,)).fetchone()
        limit = self.budgets[kind] or 0
        of = "the author of " if kind == "author" else ""
        return (
            f"{over:,} of {asked:,} {kind}s would lose more than the {format_units(limit)} that "
            f"each may lose; the worst is {of}document {row:,} of the run, which has "
            f"{format_units(limit - spent)} left and would lose "
            f"{format_units(count * units, up=True)}"
        )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self.refuse_replaced()
        with store.connect(self.path) as db:
            yield db

    def read_checked(self, db: sqlite3.Connection) -> Content:
        """Read everything, check every hash, and check that it is still the same ledger."""
        content = store.read_checked(db)
        if content.origin != self.origin:
            raise SyntfError(f"the ledger {self.path} was replaced by another one")
        return content

    def refuse_replaced(self) -> None:
        """Raise an error if another file has taken the place of the ledger."""
        if _file_identity(self.path) != self._identity:
            raise SyntfError(f"the ledger {self.path} was replaced while it was in use")


def chargeable_loss(guarantee: Guarantee) -> float:
    """Return the loss to charge for each document, if the guarantee covers the whole release."""
    if not guarantee.private:
        raise SyntfError(
            "the release would be marked as not private, so no ledger can account for it: leave "
            "out the seed and everything that is fitted on the texts, or the ledger"
        )
    return guarantee.loss_per_document


def format_units(units: int, *, up: bool = False) -> str:
    """Format a loss for people, with two decimals, rounded down or up.

    >>> format_units(UNIT * 5 // 3), format_units(UNIT * 5 // 3, up=True), format_units(-1)
    ('1.66', '1.67', '-0.01')
    """
    cents = -(-units * 100 // UNIT) if up else units * 100 // UNIT
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def loss_units(loss: float) -> int:
    """Return a loss in units of 1/UNIT, rounded up; an error unless it is a finite number."""
    if not isfinite(loss) or loss < 0:
        raise SyntfError(f"a loss must be a finite number, at least 0, not {loss!r}")
    return min(ceil(Fraction(loss) * UNIT), 2 * LIMIT * UNIT)  # more than every budget


def _budget_units(kind: str, value: float) -> int:
    units = floor(Fraction(positive(f"the budget of each {kind}", value)) * UNIT)
    if not 1 <= units <= LIMIT * UNIT:
        raise SyntfError(f"the budget of each {kind} must lie in [1e-6, {LIMIT}], not {value}")
    return units


def _count_names(
    names: Sequence[bytes], kind: str, first: int
) -> Iterator[tuple[bytes, str, int, int]]:
    """Yield how often each name occurs, and the first document that has it."""
    rows = dict(zip(reversed(names), range(first + len(names) - 1, first - 1, -1), strict=True))
    return ((name, kind, count, rows[name]) for name, count in Counter(names).items())


def refuse_other_naming(last: Run | None, named_by: str) -> None:
    """Refuse ids if the last run used texts, and texts if it used ids: budgets would double."""
    if last is not None and last.named_by != named_by:
        before, now = last.named_by, named_by
        advice = "use --id" if before == "id" else "leave out --id"
        raise NamingError(
            f"the ledger identifies documents by {before}s, and this run by {now}s, which would "
            f"give each document a second budget: {advice}, as before"
        )


def _file_identity(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; raise an error unless it is a file with one name."""
    try:
        found = path.stat()
    except OSError as error:
        raise SyntfError(
            f"no ledger at {path}: move it back if it was moved (syntf ledger create makes a new "
            "one, to which nothing is charged yet)"
        ) from error
    if not stat.S_ISREG(found.st_mode):
        raise SyntfError(f"{path} is not a file, so it is not a ledger")
    if found.st_nlink > 1:
        raise SyntfError(
            f"{path} has a second name (a hard link), which would hide charges from this one: "
            "remove the link"
        )
    return found.st_dev, found.st_ino
