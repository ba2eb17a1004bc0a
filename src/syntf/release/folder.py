"""The folder of a release: what its files hold, how it is written, how it is read.

A release is complete or it is not there: all files are written into a draft, a folder that nobody
else can open, and renamed into place together.
"""

import csv
import io
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, load_npz

from syntf.core.checks import one_of
from syntf.core.errors import SyntfError
from syntf.core.files import place_folder, restore_folder, sha256_of, sync
from syntf.privacy.guarantee import Guarantee
from syntf.release.report import render_readme, render_report
from syntf.release.topics import topic_table
from syntf.rows import Drawn
from syntf.words.vocabulary import as_lines

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

FORMATS = {"npz": "vectors.npz", "parquet": "counts.parquet", "csv": "counts.csv"}
"""The file of counts, by the format that its owner chose."""

GUARANTEE, DOCUMENTS, VOCABULARY = "guarantee.json", "documents.parquet", "vocabulary.txt"
README, REPORT, TOPICS, SPREADSHEET = "README.txt", "report.html", "topics.csv", "documents.csv"

RESERVED = ("document", "pilot", "answer", "released_topic")
"""Columns that ``documents.parquet`` has beside those that are kept."""

ARRAYS = ("indices", "indptr", "format", "shape", "data")
"""The arrays of ``vectors.npz``, as SciPy names them."""

_FORMULA_STARTS = frozenset("=+-@＝＋－＠'")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Release:
    """A release that was read from its folder. Files are read when they are first asked for.

    path : the folder.
    guarantee : what the release promises.
    """

    path: Path
    guarantee: Guarantee

    @property
    def format(self) -> str:
        """The format of the counts, by the name of their file: a name in :data:`FORMATS`."""
        found = [format for format, name in FORMATS.items() if name in self.guarantee.files]
        if len(found) != 1:
            raise SyntfError(f"{GUARANTEE} does not name one file of counts")
        return found[0]

    @cached_property
    def terms(self) -> list[str]:
        """The words that are the columns of the counts."""
        return read_terms(self.path / VOCABULARY)

    @cached_property
    def documents(self) -> pl.DataFrame:
        """A row for each document: its number, kept columns, and what was released for it."""
        return pl.read_parquet(self.path / DOCUMENTS, glob=False)

    @cached_property
    def counts(self) -> csr_matrix:
        """The synthetic counts, documents × terms."""
        return read_counts(self.path, self.format, len(self.documents), self.terms)

    @cached_property
    def topics(self) -> pl.DataFrame | None:
        """A row for each topic (see ``topics.csv``); None where answers are not listed."""
        if TOPICS not in self.guarantee.files:
            return None
        return pl.read_csv(self.path / TOPICS, glob=False).with_columns(
            pl.col("words").fill_null("")
        )


def read_release(folder: str | PathLike[str]) -> Release:
    """Read a release. Nothing but its format is checked: :func:`syntf.verify` checks it.

    Raises
    ------
    UnknownFormat
        If another version of syntf wrote it in a format that this one does not know.
    SyntfError
        If the folder is not a release.
    """
    path = Path(folder)
    try:
        text = (path / GUARANTEE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SyntfError(
            f"{path} is not a release of syntf: it has no readable {GUARANTEE}"
        ) from None
    return Release(path, Guarantee.from_json(text))


def file_names(format: str, *, listed: bool) -> set[str]:
    """Return the names of all files of a release.

    listed : whether the release lists the answers of each document.
    """
    names = {GUARANTEE, README, REPORT, VOCABULARY, DOCUMENTS, FORMATS[format]}
    return names | ({TOPICS} if listed else set()) | ({SPREADSHEET} if format == "csv" else set())


def write_release(
    folder: Path,
    drawn: Drawn,
    documents: pl.DataFrame,
    guarantee: Guarantee,
    *,
    format: str = "npz",
) -> Guarantee:
    """Write all files of a release into a folder.

    documents : the kept columns, one row a document.
    format : the format of the counts: a name in :data:`FORMATS`.

    Returns the guarantee as written, with the digests of all other files.
    """
    one_of("format", format, list(FORMATS))
    table = documents_table(drawn, documents)
    with (folder / FORMATS[format]).open("wb") as file:
        _write_counts(file, drawn.counts(), drawn.rest.terms, format)
    (folder / DOCUMENTS).write_bytes(_packed(table.write_parquet))
    for name, text in texts(drawn, table, guarantee, format).items():
        (folder / name).write_bytes(text.encode())
    digests = {path.name: f"sha256:{sha256_of(path)}" for path in sorted(folder.iterdir())}
    sealed = replace(guarantee, files=digests)
    (folder / GUARANTEE).write_bytes(sealed.as_json().encode())
    return sealed


def texts(
    drawn: Drawn, documents: pl.DataFrame, guarantee: Guarantee, format: str
) -> dict[str, str]:
    """Return every file of a release that is a text and follows from the others, by its name.

    ``syntf verify`` calls this again with what it read and derived, and compares.

    documents : the table of ``documents.parquet``.
    """
    topics = topic_table(drawn)
    found = {
        VOCABULARY: as_lines(drawn.rest.terms),
        README: render_readme(guarantee, documents.columns, format, listed=topics is not None),
        REPORT: render_report(guarantee, topics),
    }
    if topics is not None:
        found[TOPICS] = as_csv(topics)
    if format == "csv":
        found[SPREADSHEET] = as_csv(documents)
    return found


def documents_table(drawn: Drawn, kept: pl.DataFrame) -> pl.DataFrame:
    """Return the table of ``documents.parquet``: a row for each document."""
    number = pl.Series("document", np.arange(len(drawn), dtype=np.int32))
    columns = [number, *kept.get_columns()]
    if drawn.rest.listed:
        columns += [
            pl.Series("pilot", drawn.pilot),
            pl.Series("answer", drawn.answers.astype(np.int32)).arr.to_list(),
            pl.Series("released_topic", drawn.names(), dtype=pl.String),
        ]
    return pl.DataFrame(columns)


def as_csv(table: pl.DataFrame) -> str:
    """Return a table as CSV for spreadsheets, with a byte order mark.

    A text that a spreadsheet could take for a formula gets an apostrophe in front.

    >>> as_csv(pl.DataFrame({"a": ["x, y", "=1+1"], "b": [[1, 2], None]}))
    '\\ufeffa,b\\n"x, y",1 2\\n\\'=1+1,\\n'
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_cell, table.columns))
    writer.writerows(map(_cell, row) for row in table.iter_rows())
    return f"\ufeff{file.getvalue()}"


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    text = value.replace("\r", " ")  # the csv module writes it without quotes
    return f"'{text}" if text.lstrip()[:1] in _FORMULA_STARTS else text


def _write_counts(file: IO[bytes], counts: csr_matrix, terms: Sequence[str], format: str) -> None:
    """Write the counts. The same counts give the same bytes, and no file says when."""
    if format == "npz":
        named = zip(ARRAYS, (counts.indices, counts.indptr, np.array(b"csr"),
                             np.array(counts.shape), counts.data), strict=True)  # fmt: skip
        # scipy.sparse.save_npz compresses eight times as slowly, to hardly fewer bytes.
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in named:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        return
    table = pl.DataFrame(
        {
            "document": np.repeat(
                np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr)
            ),
            "term": pl.Series(terms, dtype=pl.String).gather(counts.indices),
            "count": counts.data,
        }
    )
    write = (
        table.write_parquet if format == "parquet" else partial(table.write_csv, include_bom=True)
    )
    file.write(_packed(write))


def _packed(write: Callable[[io.BytesIO], object]) -> memoryview:
    """Return what polars writes. Written to a full disk by polars itself, it is not an OSError."""
    file = io.BytesIO()
    write(file)
    return file.getbuffer()


def read_counts(folder: Path, format: str, documents: int, terms: Sequence[str]) -> csr_matrix:
    """Read the counts of a release of so many documents."""
    path = folder / FORMATS[format]
    if format == "npz":
        return csr_matrix(load_npz(path))
    read = pl.read_parquet if format == "parquet" else pl.read_csv
    long = read(path, glob=False)
    columns = long["term"].cast(pl.String).cast(pl.Enum(terms)).to_physical().to_numpy()
    shape = (documents, len(terms))
    return csr_matrix(
        (long["count"].to_numpy(), (long["document"].to_numpy(), columns)),
        shape=shape,
        dtype=np.int32,
    )


def read_terms(path: Path) -> list[str]:
    """Return the terms of ``vocabulary.txt``, one on each line."""
    return path.read_bytes().decode().split("\n")[:-1]


@contextmanager
def draft(target: Path, force: bool = False) -> Iterator[Path]:
    """Give a new folder to write a release into; at the end it is renamed to `target`.

    After an error nothing is left. What a killed run left is removed by the next run to the same
    target. Only the owner can open the folder that the draft is in, so the files in it need no
    special permissions, and the finished release has those that are usual here.

    Raises
    ------
    SyntfError
        If `target` exists and `force` is not set, cannot be written, or is not a release, or if
        another run is writing to it.
    """
    check_target(target, force=force)
    outer = target.absolute().with_name(f".{target.name}.draft")
    new = outer / "release"
    with _locked(outer, target):
        try:
            if restore_folder(new, target):
                check_target(target, force=force)
            new.mkdir()
            yield new
            for path in [*new.iterdir(), new]:
                sync(path)
            try:
                place_folder(new, target)
            except BaseException as error:
                if not new.exists():
                    error.add_note(f"the release in {target} is complete nevertheless")
                raise
        finally:
            restore_folder(new, target)
            shutil.rmtree(outer, ignore_errors=True)


@contextmanager
def _locked(outer: Path, target: Path) -> Iterator[None]:
    """Create the folder around a draft, and keep other runs out of it until this one ends."""
    if outer.is_symlink():
        raise SyntfError(f"{outer} is a symbolic link: remove it and run again")
    outer.mkdir(mode=0o700, exist_ok=True)
    outer.chmod(0o700)  # fails if somebody else created the folder
    if fcntl is None:
        yield
        return
    busy = SyntfError(f"another run is writing to {target}: wait for it")
    lock = outer / "lock"
    try:
        file = lock.open("wb")
    except FileNotFoundError:  # the other run has just removed its draft
        raise busy from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except (BlockingIOError, FileNotFoundError):
            same = False
        if not same:
            raise busy
        yield


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot or must not be written, before any work is done."""
    if folder.exists() or folder.is_symlink():
        if not force:
            raise SyntfError(f"{folder} exists already: choose another --out, or add --force")
        if folder.is_symlink() or not folder.is_dir() or not _is_release(folder.iterdir()):
            raise SyntfError(
                f"{folder} is not a release of syntf, so --force does not replace it: choose "
                "another --out"
            )
    parent = folder.absolute().parent
    if not parent.is_dir():
        problem = (
            "is a file, not a folder" if parent.exists() else "does not exist: create it first"
        )
        raise SyntfError(f"the folder {parent} {problem}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise SyntfError(f"the folder {parent} cannot be written to")


def _is_release(paths: Iterable[Path]) -> bool:
    """Tell whether a folder is empty, or holds the files of a release and nothing else."""
    found = {path.name for path in paths}
    known = set().union(*(file_names(format, listed=True) for format in FORMATS))
    return not found or (GUARANTEE in found and found <= known)
