"""A budget that refuses: what every document and author has lost so far, and may still lose.

*Guarantee.* Losses add up: whoever sees all releases that were charged to a ledger can tell two
versions of a document apart by no more than its budget, and two versions of all that an author
wrote by no more than the author's. That holds because a run is charged as a whole before it
draws, on disk, or else draws nothing; and because sums are of whole numbers.
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
from syntf.core.errors import BudgetError, Refused, SyntfError
from syntf.ledger import store
from syntf.ledger.names import Charge, NamedBy, Names
from syntf.ledger.store import Content, Run
from syntf.privacy.guarantee import Guarantee

UNIT = 1 << 20
"""Losses are whole numbers of 1/UNIT: a spend is rounded up, a budget down."""

LIMIT = 1 << 32
"""The largest budget: sums stay far from the largest integer of SQLite, and exact as floats."""


@dataclass(frozen=True)
class Account:
    """What is known of all documents, or all authors: losses in units of 1/UNIT."""

    budget: int
    names: int
    most: int

    @property
    def left(self) -> int:
        """What the most charged of them may still lose."""
        return self.budget - self.most


class Ledger:
    """A file that limits what documents and authors may lose over all releases.

    Parameters
    ----------
    path : path
        A file made by :meth:`create`. It is never made here: a ledger that was moved or
        deleted does not become a fresh budget.
    budget, author_budget : float, optional
        Refuse a file with other budgets than these.

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
than \
the 10.00 each may; worst is document 1 of the run, with 2.00 left and 4.00 to lose; \
nothing was spent or drawn
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        budget: float | None = None,
        author_budget: float | None = None,
    ) -> None:
        self.path = Path(path).absolute()
        self._place = _place(self.path)
        with store.opened(self.path) as db:
            content = store.header(db)
        self.budgets: Mapping[str, int | None] = content.budgets
        self.origin = content.origin
        """The hash of what was fixed when the file was made: tells ledgers apart."""
        for kind, given in (("document", budget), ("author", author_budget)):
            there = self.budgets[kind]
            if given is not None and _budget(kind, given) != there:
                is_there = "none" if there is None else rounded(there)
                raise SyntfError(
                    f"the budget of {_a(kind)} in {path} is {is_there}, not {given}: it was fixed "
                    "when the ledger was made"
                )

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        budget: float | None = None,
        author_budget: float | None = None,
    ) -> "Ledger":
        """A new file, with a budget for each document, for each author, or both."""
        if budget is None and author_budget is None:
            raise SyntfError("a ledger needs a budget: of a document, of an author, or of both")
        document = None if budget is None else _budget("document", budget)
        author = None if author_budget is None else _budget("author", author_budget)
        store.create(Path(path).absolute(), document, author)
        return cls(path)

    def spend(self, loss: float, batches: Iterable[Names]) -> Charge:
        """Charge `loss` for every document, once for each time it is there; all or nothing.

        When this returns, the disk has it. If it raises, draw nothing. The batches are gone
        through once, and before anyone else is kept from spending.
        """
        units = _units(loss)
        with self._opened() as db:
            charge, documents, named_by = self._gather(db, batches)
            if not documents:
                return charge
            db.execute("BEGIN IMMEDIATE")
            content = self._checked(db)
            if self.budgets["document"] is not None:
                _same_naming(content.runs, named_by)
            self._refuse_over(db, units)
            names = store.names_hash(
                db.execute("SELECT name, kind, count FROM due ORDER BY name, kind")
            )
            number, time = len(content.runs) + 1, store.now()
            run = Run(number, time, named_by, documents, units, names, content.head)
            run = replace(run, hash=run.computed())
            db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*vars(run).values(),))
            db.execute("INSERT INTO spends SELECT name, kind, ?, count FROM due "
                       "ORDER BY name, kind", (number,))  # fmt: skip
            self._refuse_moved()
            db.execute("COMMIT")
        self._refuse_moved()  # the file that was written to is the one the next run will find
        charge.run = run
        return charge

    def verify(self, head: str | None = None) -> Content:
        """Recompute everything and look through every page; raises what is wrong.

        `head`, kept elsewhere after an earlier run, must be in the chain: a file set back to a
        state before that run is whole in itself, and nothing else tells.
        """
        with self._opened() as db:
            db.execute("BEGIN")
            store.sound(db)
            content = self._checked(db)
        if head is not None and head not in {content.origin, *(run.hash for run in content.runs)}:
            raise Refused(
                "the ledger has no such head: it was set back to an earlier state, or it is "
                "another ledger"
            )
        return content

    def accounts(self) -> tuple[Content, dict[str, Account]]:
        """The runs, and for documents and authors, where they have a budget, how they stand."""
        with self._opened() as db:
            db.execute("BEGIN")
            content = self._checked(db)
            found = {}
            for kind, budget in content.budgets.items():
                if budget is not None:
                    names, most = db.execute(
                        "SELECT count(*), coalesce(max(spent), 0) FROM (SELECT sum(count * loss) "
                        "AS spent FROM spends JOIN runs ON number = run WHERE kind = ? "
                        "GROUP BY name)", (kind,),
                    ).fetchone()  # fmt: skip
                    found[kind] = Account(budget, names, most)
        return content, found

    def check_authors(self, named: bool) -> None:
        """Refuse documents without authors where these have a budget, and the reverse."""
        if named and self.budgets["author"] is None:
            raise SyntfError("the ledger has no budget for authors: do not name any")
        if not named and self.budgets["author"] is not None:
            raise SyntfError("the ledger has a budget for authors: name them (--author COLUMN)")

    def _gather(
        self, db: sqlite3.Connection, batches: Iterable[Names]
    ) -> tuple[Charge, int, NamedBy]:
        """Whom to charge how often, in a temporary table `due`; the file itself stays free."""
        charge = Charge(store.header(db).key)
        documents = 0
        named_by: NamedBy = "text"
        db.execute("CREATE TEMP TABLE named (name BLOB, kind TEXT, count INTEGER, row INTEGER)")
        db.execute("BEGIN")
        for batch in batches:
            self.check_authors(batch.authors is not None)
            if documents and batch.by != named_by:
                raise SyntfError("documents of one run are named by ids or by texts, not by both")
            named_by = batch.by
            for kind, found in charge.add(batch).items():
                if self.budgets[kind] is not None:
                    rows = _counted(found, kind, documents + 1)
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

    def _refuse_over(self, db: sqlite3.Connection, units: int) -> None:
        """Refuse if anyone would lose more than the budget: say how many, and who is worst.

        An integer too large for SQLite becomes a float, which is still above every budget.
        """
        db.execute("CREATE TEMP TABLE over (kind TEXT, count INTEGER, row INTEGER, spent INTEGER)")
        db.execute(
            "INSERT INTO over SELECT * FROM (SELECT kind, count, row, coalesce((SELECT "
            "sum(spends.count * loss) FROM spends JOIN runs ON number = run "
            "WHERE name = due.name AND kind = due.kind), 0) AS spent FROM due) WHERE "
            "spent + count * :units > CASE kind WHEN 'document' THEN :document ELSE :author END",
            {"units": units, **self.budgets},
        )
        told = [self._over(db, kind, units) for kind in self.budgets]
        if any(told):
            raise BudgetError(
                f"the ledger refuses this run: {'; '.join(filter(None, told))}; nothing was spent "
                "or drawn"
            )

    def _over(self, db: sqlite3.Connection, kind: str, units: int) -> str:
        """How many are over the budget, and the worst of them by its place: never a name."""
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
            f"{over:,} of {asked:,} {kind}s would lose more than the {rounded(limit)} each may; "
            f"worst is {of}document {row:,} of the run, with {rounded(limit - spent)} left and "
            f"{rounded(count * units, up=True)} to lose"
        )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._refuse_moved()
        with store.opened(self.path) as db:
            yield db

    def _checked(self, db: sqlite3.Connection) -> Content:
        content = store.check(db)
        if content.origin != self.origin:
            raise SyntfError(f"the ledger {self.path} was replaced by another")
        return content

    def _refuse_moved(self) -> None:
        if _place(self.path) != self._place:
            raise SyntfError(f"the ledger {self.path} was replaced while it was in use")


def accountable(guarantee: Guarantee) -> float:
    """The loss to charge for each document, where the guarantee covers all of the release."""
    if not guarantee.private:
        raise SyntfError(
            "the release would be marked as not private, so no ledger can account for it: leave "
            "out what is seeded or fitted, or the ledger"
        )
    return guarantee.loss_per_document


def rounded(units: int, *, up: bool = False) -> str:
    """A loss for people to read, with two decimals; what is left is rounded down.

    >>> rounded(UNIT * 5 // 3), rounded(UNIT * 5 // 3, up=True), rounded(-1)
    ('1.66', '1.67', '-0.01')
    """
    cents = -(-units * 100 // UNIT) if up else units * 100 // UNIT
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def _units(loss: float) -> int:
    if not isfinite(loss) or loss < 0:
        raise SyntfError(f"a loss must be finite and not below 0, not {loss!r}")
    return min(ceil(Fraction(loss) * UNIT), 2 * LIMIT * UNIT)  # above every budget is enough


def _budget(kind: str, value: float) -> int:
    units = floor(Fraction(positive(f"the budget of {_a(kind)}", value)) * UNIT)
    if not 1 <= units <= LIMIT * UNIT:
        raise SyntfError(f"the budget of {_a(kind)} must lie in [1e-6, {LIMIT}], not {value}")
    return units


def _a(kind: str) -> str:
    return "an author" if kind == "author" else f"a {kind}"


def _counted(
    names: Sequence[bytes], kind: str, first: int
) -> Iterator[tuple[bytes, str, int, int]]:
    """How often each name is there, and which document is the first under it."""
    rows = dict(zip(reversed(names), range(first + len(names) - 1, first - 1, -1), strict=True))
    return ((name, kind, count, rows[name]) for name, count in Counter(names).items())


def _same_naming(runs: Sequence[Run], named_by: NamedBy) -> None:
    """One document has one name: not an id in one run and its text in the next."""
    if runs and runs[-1].named_by != named_by:
        before, now = runs[-1].named_by, named_by
        raise BudgetError(
            f"the ledger knows documents by {before}s, and this run names them by {now}s, under "
            "which they would have a second budget: name them (--id) as before"
        )


def _place(path: Path) -> tuple[int, int]:
    """Which file a path leads to; refused if it is not a file with one name."""
    try:
        found = path.stat()
    except OSError as error:
        raise SyntfError(
            f"no ledger at {path}: bring it back if it was moved (syntf ledger create makes a new "
            "one, on which nothing is spent yet)"
        ) from error
    if not stat.S_ISREG(found.st_mode):
        raise SyntfError(f"{path} is not a file, so it is no ledger")
    if found.st_nlink > 1:
        raise SyntfError(
            f"{path} has a second name (a hard link), under which it could be spent from "
            "unseen: remove that"
        )
    return found.st_dev, found.st_ino
