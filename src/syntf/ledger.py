"""A ledger: what every document and author has lost in all releases, and may still lose.

*Guarantee.* Let a document be in the releases 1 … k that were charged to a ledger, and let release
i be (εᵢ, δᵢ)-differentially private if the document is replaced by any other (:data:`ADJACENCY`).
By sequential composition, all of them together are (Σ εᵢ, Σ δᵢ)-differentially private, also when
each was chosen after those before it had been seen (Rogers et al. 2016). A ledger keeps both sums
at or below the budgets:

* a run is charged before its first draw, in one transaction that is on the disk when
  :meth:`Ledger.charge` returns; a run that would exceed a budget charges nothing and draws nothing;
* transactions exclude each other, so two runs cannot both spend the last of a budget;
* all sums are sums of whole numbers, in units of 10⁻¹². Charges are rounded up to a unit, budgets
  down. A float counts as the decimal number that it is written as.

The same holds for authors. Replacing the c documents of an author is c replacements, so a run costs
the author what :func:`group_charge` says, as it costs an id that c rows have. Rows with equal texts
and without ids are different documents with one name. Each of them is drawn for once in a run, so a
run is charged to a text once, however often it occurs; give ids if several rows are one document.

A crash after the charge leaves the run charged, until its owner cancels it (:meth:`Ledger.cancel`).
The file holds no texts and no names, only digests under a key that lies in the same file: it is as
private as the texts.
"""

import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from syntf.core import entropy
from syntf.core.checks import fraction, positive
from syntf.core.errors import BudgetError, Refused, SyntfError
from syntf.core.exact import EXACT
from syntf.privacy.guarantee import REPLACED, Guarantee

ADJACENCY = REPLACED  # the neighbours under which all losses of a ledger are added up
NamedBy = Literal["id", "text"]
Kind = Literal["document", "author"]
PLACES = 12  # decimal places of a unit
LARGEST_BUDGET = 1_000_000  # in units, sums up to here stay below SQLite's largest integer
WAIT = 60.0  # seconds to wait while another run charges the ledger

_APPLICATION, _VERSION = 0x53594E54, 3  # "SYNT"
_MOST: int = 2 * LARGEST_BUDGET * 10**PLACES  # more than every budget
_SIZE = 16  # bytes of a digest
_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
    "CREATE TABLE ledger (key BLOB, document INTEGER, author INTEGER, delta INTEGER)",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, time TEXT, named_by TEXT, documents INTEGER, "
    "loss INTEGER, delta INTEGER, note TEXT, cancelled TEXT)",
    "CREATE TABLE spends (kind TEXT, name BLOB, run INTEGER, loss INTEGER, delta INTEGER, "
    "PRIMARY KEY (kind, name, run)) WITHOUT ROWID",
)
_COUNTS = "run NOT IN (SELECT number FROM runs WHERE cancelled IS NOT NULL)"
_REASONS = {
    "SQLITE_BUSY": f"another run has locked it for {WAIT:.0f} seconds",
    "SQLITE_READONLY": "the file cannot be written, or was moved while it was in use",
    "SQLITE_CANTOPEN": "the file, or a journal beside it, cannot be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk is full or fails",
}


@dataclass(frozen=True)
class Run:
    """A run that was charged `loss` and `delta` for each of its documents.

    `note` names its release. `cancelled` is the time at which its owner said that it released
    nothing, and None if it counts.
    """

    number: int
    time: str
    named_by: NamedBy
    documents: int
    loss: Decimal
    delta: Decimal
    note: str
    cancelled: str | None


@dataclass(frozen=True)
class Account:
    """What each document (or author) may lose, how many were charged, and their largest sums."""

    budget: Decimal
    names: int
    largest_loss: Decimal
    largest_delta: Decimal


class Names:
    """Whom a run will be charged for: digests of documents and of authors, in the order of rows.

    :meth:`Ledger.names` makes one. Texts are hashed and forgotten; each document takes 32 bytes.
    """

    def __init__(self, key: bytes, by: NamedBy, kinds: Sequence[Kind]) -> None:
        self.key, self.by, self.kinds = key, by, kinds
        self._digests: dict[Kind, bytearray] = {"document": bytearray(), "author": bytearray()}

    def add(self, documents: Iterable[object], authors: Iterable[object] | None = None) -> Self:
        """Add rows: the id or the text of each document, and its author.

        All rows without an id are one document. A document without an author is its own author.
        """
        ids = [_digest(self.key, self.by, value) for value in documents]
        self._digests["document"] += b"".join(ids)
        if "author" in self.kinds:
            self._digests["author"] += b"".join(
                _digest(self.key, "no author", id)
                if _is_missing(author)
                else _digest(self.key, "author", author)
                for id, author in zip(ids, () if authors is None else authors, strict=True)
            )
        return self

    def at(self, rows: ArrayLike) -> "Names":
        """Return the names of some of the rows, by their places."""
        chosen = Names(self.key, self.by, self.kinds)
        for kind, digests in self._digests.items():
            if digests:
                chosen._digests[kind] += self._array(kind)[np.asarray(rows)].tobytes()
        return chosen

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._digests["document"]) // _SIZE

    def counted(self, kind: Kind) -> Iterator[tuple[bytes, int, int]]:
        """Yield each name in order, with its first row and the number of its charges."""
        names, rows, counts = np.unique(self._array(kind), return_index=True, return_counts=True)
        if kind == "document" and self.by == "text":
            counts = np.ones_like(counts)
        for start in range(0, len(names), 1 << 14):
            block = slice(start, start + (1 << 14))
            columns = (column[block].tolist() for column in (names, rows, counts))
            yield from zip(*columns, strict=True)

    def _array(self, kind: Kind) -> Any:
        return np.frombuffer(self._digests[kind], dtype=f"V{_SIZE}")


class Ledger:
    """A file that limits the loss of every document and author over all releases.

    Keep it on a local disk, where locks are reliable and only you can write. Never restore an old
    copy: it has forgotten what was spent since. `budgets` says what each document, and each author,
    may lose in all (None for no limit), and `delta`, how much δ.

    >>> import tempfile
    >>> release = Guarantee(
    ...     loss_per_document=4.0, loss_if_replaced=4.0, composition=[], settings={}, public={}
    ... )
    >>> ledger = Ledger.create(Path(tempfile.mkdtemp(), "texts.ledger"), document=10)
    >>> ledger.charge(release, ledger.names("text").add(["a text", "another"])).number
    1
    >>> run = ledger.charge(release, ledger.names("text").add(["a text"]))
    >>> ledger.charge(release, ledger.names("text").add(["a third", "a text"]))
    Traceback (most recent call last):
    ...
    syntf.core.errors.BudgetError: the ledger refuses this run: 1 document would lose more than \
10; the worst is document 2 of the run, which has lost 8 and would lose another 4; nothing was \
charged
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).absolute()
        if not self.path.is_file():
            raise SyntfError(
                f"no ledger at {path}: move it back if it was moved ('syntf ledger create' makes a "
                "new one, to which nothing is charged yet)"
            )
        with _connected(self.path) as db:
            *budgets, delta = db.execute("SELECT document, author, delta FROM ledger").fetchone()
        document, author = (None if one is None else _number(one) for one in budgets)
        self.budgets: Mapping[Kind, Decimal | None] = {"document": document, "author": author}
        self.delta = _number(delta)

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        document: float | None = None,
        author: float | None = None,
        delta: float = 0.0,
    ) -> Self:
        """Make a ledger that only its owner can read; never replace a file.

        `document` and `author` say what each of them may lose in all: give one or both. `delta` is
        what each of them may be charged of δ; releases of rows need none.
        """
        if document is None and author is None:
            raise SyntfError("give a ledger a budget: for each document, for each author, or both")
        row: list[bytes | int | None] = [entropy.system(32)]
        for kind, value in (("document", document), ("author", author)):
            name = f"the budget of each {kind}"
            if value is not None and positive(name, value) > LARGEST_BUDGET:
                raise SyntfError(f"{name} must be at most {LARGEST_BUDGET:,}, not {value!r}")
            row.append(None if value is None else _units(value, ROUND_FLOOR))
        row.append(_units(fraction("the budget of δ", delta), ROUND_FLOOR))
        file = Path(path).absolute()
        for taken in (file, file.with_name(f"{file.name}-journal")):
            if os.path.lexists(taken):
                raise SyntfError(f"{taken} exists already: choose another name for the new ledger")
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with _connected(file, new=True) as db:
                db.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    db.execute(statement)
                db.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", row)
                db.execute("COMMIT")
        except BaseException:
            with suppress(OSError):
                file.unlink()
            raise
        return cls(path)

    def names(self, by: NamedBy, *, authors: bool = False) -> Names:
        """Begin the list of those whom a run will be charged for; call this before reading texts.

        Authors without a budget are ignored. It is an error if they have one but are not named, or
        if the last run named documents by something else.
        """
        if self.budgets["author"] is not None and not authors:
            raise SyntfError("the ledger has a budget for authors: name their column with --author")
        with _connected(self.path) as db:
            self._refuse_other_naming(db, by)
            (key,) = db.execute("SELECT key FROM ledger").fetchone()
        return Names(key, by, [kind for kind, limit in self.budgets.items() if limit is not None])

    def charge(self, guarantee: Guarantee, names: Names, *, note: str = "") -> Run:
        """Charge a release to all its documents and authors, or charge nothing at all.

        When this returns, the charge is on the disk. If it raises an error, such as a BudgetError
        because a budget would be exceeded, draw nothing. By the `note`, such as the folder of the
        release, its owner will recognise the run.
        """
        if not guarantee.private:
            raise SyntfError(
                "the release would be marked as not private, so no ledger can account for it: "
                "leave out the seed and everything that is fitted on the texts, or the ledger"
            )
        loss = _units(guarantee.loss_if_replaced, ROUND_CEILING)
        delta = _units(guarantee.delta, ROUND_CEILING)
        with _connected(self.path) as db:
            _list_due(db, names, loss, delta)
            db.execute("BEGIN IMMEDIATE")
            if db.execute("SELECT key FROM ledger").fetchone() != (names.key,):
                raise SyntfError(f"{self.path} was replaced by another ledger while it was in use")
            self._refuse_other_naming(db, names.by)
            self._refuse_overspending(db)
            row = db.execute(
                "INSERT INTO runs VALUES (NULL, ?, ?, ?, ?, ?, ?, NULL) RETURNING *",
                (_now(), names.by, len(names), loss, delta, note),
            ).fetchone()
            db.execute("INSERT INTO spends SELECT kind, name, ?, loss, delta FROM due", row[:1])
            db.execute("COMMIT")
        return _run(row)

    def cancel(self, number: int) -> Run:
        """Give back what a run was charged, because its owner says that it released nothing.

        Nobody can check this: if anybody may have seen a part of the release, do not cancel it.
        """
        with _connected(self.path) as db:
            rows = db.execute(
                "UPDATE runs SET cancelled = ? WHERE number = ? AND cancelled IS NULL RETURNING *",
                (_now(), number),
            ).fetchall()
        if not rows:
            raise SyntfError(f"no run {number} counts: 'syntf ledger show' lists all runs")
        return _run(rows[0])

    def runs(self) -> list[Run]:
        """Return all runs in order, also cancelled ones."""
        with _connected(self.path) as db:
            return [_run(row) for row in db.execute("SELECT * FROM runs ORDER BY number")]

    def summary(self) -> dict[Kind, Account]:
        """Check every page of the file, and say how documents and authors stand, if limited."""
        accounts: dict[Kind, Account] = {}
        with _connected(self.path) as db:
            db.execute("BEGIN")
            if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise _damaged()
            for kind, budget in self.budgets.items():
                names, loss, delta = db.execute(
                    "SELECT count(*), coalesce(max(loss), 0), coalesce(max(delta), 0) FROM "
                    "(SELECT sum(loss) AS loss, sum(delta) AS delta FROM spends "
                    f"WHERE kind = ? AND {_COUNTS} GROUP BY name)", (kind,),
                ).fetchone()  # fmt: skip
                if budget is not None:
                    accounts[kind] = Account(budget, names, _number(loss), _number(delta))
        return accounts

    def _refuse_other_naming(self, db: sqlite3.Connection, by: NamedBy) -> None:
        last = db.execute(
            "SELECT named_by FROM runs WHERE cancelled IS NULL ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if self.budgets["document"] is not None and last not in (None, (by,)):
            advice = "use --id" if by == "text" else "leave out --id"
            raise SyntfError(
                f"the ledger names documents by {last[0]}s, and this run by {by}s, which would "
                f"give each document a second budget: {advice}, as before"
            )

    def _refuse_overspending(self, db: sqlite3.Connection) -> None:
        """Raise an error if a sum would exceed a budget; say in which row, never whose name."""
        db.execute(
            "CREATE TEMP TABLE total AS SELECT due.kind, due.row, due.loss, due.delta, "
            "coalesce(sum(past.loss), 0) AS past_loss, coalesce(sum(past.delta), 0) AS past_delta "
            "FROM due LEFT JOIN spends AS past ON past.kind = due.kind AND past.name = due.name "
            f"AND {_COUNTS} GROUP BY due.kind, due.name"
        )
        for kind, budget in self.budgets.items():
            for column, most, of in (("loss", budget, ""), ("delta", self.delta, " of δ")):
                worst = db.execute(
                    f"SELECT count(*) OVER (), row, past_{column}, {column} FROM total WHERE "
                    f"kind = ? AND past_{column} + {column} > ? "
                    f"ORDER BY past_{column} + {column} DESC, row LIMIT 1",
                    (kind, _units(most or 0, ROUND_FLOOR)),
                ).fetchone()
                if worst is not None:
                    count, row, past, due = worst
                    whose = "the author of " if kind == "author" else ""
                    raise BudgetError(
                        f"the ledger refuses this run: {count:,} {kind}{'s' * (count > 1)} would "
                        f"lose more than {most:f}{of}; the worst is {whose}document {row:,} of the "
                        f"run, which has lost {_number(past):f} and would lose another "
                        f"{_number(due):f}; nothing was charged"
                    )


def group_charge(loss: int, delta: int, count: int) -> tuple[int, int]:
    """Return what `count` replacements cost, each of this loss and δ; all in units, rounded up.

    *Theorem* (group privacy). What is (ε, δ)-differentially private for one replacement is
    (cε, δ·Σ_{i<c} e^{iε})-differentially private for c of them. Proof by induction: with D₀, …, D_c
    one replacement apart, P[D₀ ∈ S] ≤ e^ε P[D₁ ∈ S] + δ, and the last c − 1 steps give
    P[D₁ ∈ S] ≤ e^{(c−1)ε} P[D_c ∈ S] + δ Σ_{i<c−1} e^{iε}.

    >>> group_charge(10**12, 100, 3)  # 100 (1 + e + e²) = 1110.7…
    (3000000000000, 1111)
    """
    total = min(count * loss, _MOST)
    if not delta or count == 1:
        return total, delta
    if total > 50 * 10**PLACES:  # e⁴⁹ times the smallest δ is above 1
        return total, _MOST
    one = EXACT.exp(Decimal(max(loss, 1)).scaleb(-PLACES))
    factor = EXACT.divide(EXACT.power(one, count) - 1, one - 1)
    bound = EXACT.multiply(factor * delta, Decimal("1.00000000001"))  # above all rounding errors
    return total, min(math.ceil(bound), _MOST)


def _list_due(db: sqlite3.Connection, names: Names, loss: int, delta: int) -> None:
    """Write whom to charge, and how much, to a temporary table `due`; lock nothing yet."""
    primary = "PRIMARY KEY (kind, name)) WITHOUT ROWID"
    db.execute(f"CREATE TEMP TABLE due (kind, name, row, loss, delta, {primary}")
    db.execute("BEGIN")
    for kind in names.kinds:
        rows = (
            (kind, name, row + 1, *group_charge(loss, delta, count))
            for name, row, count in names.counted(kind)
        )
        db.executemany("INSERT INTO due VALUES (?, ?, ?, ?, ?)", rows)
    db.execute("COMMIT")


@contextmanager
def _connected(path: Path, *, new: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect to a ledger, or to an empty file; turn every error of SQLite into one message.

    With `synchronous = EXTRA`, a commit and the end of its journal are on the disk when it returns.
    The path is resolved, so that the journal lies beside the file itself, not beside a link.
    """
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)
        with closing(connection) as db:
            for setting in ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON"):
                db.execute(f"PRAGMA {setting}")
            (application,) = db.execute("PRAGMA application_id").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if not new and application != _APPLICATION:
                raise SyntfError(f"{path} is not a ledger of syntf, or it was cut short")
            if not new and version != _VERSION:
                raise SyntfError(
                    f"{path} is a ledger of another version of syntf: make a new one, with budgets "
                    "reduced by what the most charged has lost"
                )
            yield db
    except sqlite3.Error as error:
        for start, reason in _REASONS.items():  # SQLite's own message may quote the file
            if getattr(error, "sqlite_errorname", "").startswith(start):
                raise SyntfError(f"cannot use the ledger {path}: {reason}") from error
        raise _damaged() from error


def _damaged() -> SyntfError:
    return Refused(
        "the ledger is damaged: a part of the file is missing or is not what was written; restore "
        "a backup only if nothing was released since"
    )


def _digest(key: bytes, kind: str, value: object) -> bytes:
    """Return the name of a document or an author in the file; 7 and "7" have the same one."""
    text = b"" if _is_missing(value) else value
    raw = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
    return blake2b(raw, key=key, digest_size=_SIZE, person=kind.encode()).digest()


def _is_missing(value: object) -> bool:
    """Tell whether a value is None, empty or NaN."""
    return value in (None, "", b"") or value != value


def _units(value: Any, rounding: str) -> int:
    """Return a number in units of 10^-PLACES; one that is not finite is above every budget."""
    number = Decimal(str(value)).scaleb(PLACES, EXACT)
    return min(int(number.to_integral_value(rounding)), _MOST) if number.is_finite() else _MOST


def _number(units: int) -> Decimal:
    return Decimal(f"{Decimal(units).scaleb(-PLACES).normalize():f}")  # 10, not 1E+1


def _run(row: tuple[Any, ...]) -> Run:
    number, time, by, documents, loss, delta, *rest = row
    return Run(number, time, by, documents, _number(loss), _number(delta), *rest)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
