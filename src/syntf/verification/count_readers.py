"""Counts read back from the files of a release, as data of a stranger.

Each reader goes through one file in blocks and says what is wrong by raising
:class:`~syntf.core.errors.SyntfError`. Nothing is unpickled, no size that a file states is believed
before it is compared with what the documents and the length allow, and no entry is used as an
index before it is known to be one. Matrix Market, svmlight, JSON lines and text are read a piece
at a time; of npz and Parquet a shard is in memory.
"""

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core.errors import SyntfError

ROWS = 1 << 12
"""Documents looked at together."""

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

UNREADABLE = (
    ValueError, TypeError, LookupError, EOFError, OSError, RuntimeError, OverflowError,
    zipfile.BadZipFile, zlib.error, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip
"""What the libraries that read files raise on bytes that nobody wrote for them."""


@dataclass(frozen=True)
class Expected:
    """What the rest of a release says of one file of counts."""

    terms: Sequence[str]
    rows: int
    first: int
    """The number of its first document."""
    length: int
    numbered: bool = True
    """Whether Parquet has the documents numbered, and no more; if not, it is that of a cluster."""

    @property
    def longest(self) -> int:
        """Most entries that a row can have."""
        return min(self.length, len(self.terms))


@dataclass(frozen=True)
class Block:
    """Some rows: how many entries each has, and the column and the count of each entry."""

    sizes: NDArray[Any]
    columns: NDArray[Any]
    counts: NDArray[Any]


Reader = Callable[[Path, Expected], Iterator[Block]]


def check(path: Path, expected: Expected, progress: Callable[[int], None]) -> NDArray[np.int64]:
    """Refuse a file of counts unless it has the rows expected, each of exactly n words.

    Returns how many rows have so many distinct words, from 0 to the most there can be.
    """
    read = READERS[path.suffix]
    done = 0
    distinct = np.zeros(expected.longest + 1, dtype=np.int64)
    try:
        for block in read(path, expected):
            _check_block(block, expected, expected.first + done)
            distinct += np.bincount(block.sizes, minlength=distinct.size)
            done += len(block.sizes)
            progress(len(block.sizes))
    except SyntfError as error:
        raise SyntfError(f"{path.name}: {error}") from None
    except UNREADABLE as error:
        raise SyntfError(f"{path.name} cannot be read ({type(error).__name__})") from None
    if done != expected.rows:
        raise SyntfError(f"{path.name}: {done:,} rows for {expected.rows:,} documents")
    return distinct


def _check_block(block: Block, expected: Expected, first: int) -> None:
    sizes, columns, counts = block.sizes, block.columns, block.counts
    if sizes.sum() != columns.size or columns.size != counts.size:
        raise SyntfError("the numbers of terms and of counts differ")
    if counts.size and not (counts.min() >= 1 and counts.max() <= expected.length):
        raise SyntfError(f"a count is not in 1 … {expected.length:,}")
    if columns.size and not (columns.min() >= 0 and columns.max() < len(expected.terms)):
        raise SyntfError("a column is not one of the vocabulary")
    row = np.repeat(np.arange(len(sizes)), sizes)
    place = row * len(expected.terms) + columns.astype(np.int64)
    if (np.diff(place) <= 0).any():
        raise SyntfError("columns of a row are repeated or out of order")
    words = np.bincount(row, weights=counts, minlength=len(sizes))  # exact: far below 2**53
    wrong = np.flatnonzero(words != expected.length)
    if wrong.size:
        raise SyntfError(
            f"document {first + int(wrong[0]):,} has {int(words[wrong[0]]):,} words, "
            f"not {expected.length:,}"
        )


def _npz(path: Path, expected: Expected) -> Iterator[Block]:
    """The five arrays of a CSR matrix, each of the type and the size it can have."""
    members = {f"{name}.npy" for name in ("indices", "indptr", "format", "shape", "data")}
    with zipfile.ZipFile(path) as archive:
        plain = all(member.compress_type in _PLAIN for member in archive.infolist())
        if not plain or sorted(archive.namelist()) != sorted(members):
            raise SyntfError("not the arrays of one sparse matrix")
        shape = _array(archive, "shape", "i", 2).tolist()
        if _array(archive, "format", "S", None).item() != b"csr":
            raise SyntfError("not a CSR matrix")
        if shape != [expected.rows, len(expected.terms)]:
            raise SyntfError(
                f"{shape[0]:,} x {shape[1]:,} counts, for {expected.rows:,} documents and "
                f"{len(expected.terms):,} terms"
            )
        ends = _array(archive, "indptr", "i", expected.rows + 1)
        sizes = np.diff(ends.astype(np.int64))
        if ends[0] != 0 or (sizes < 0).any() or (sizes > expected.longest).any():
            raise SyntfError("rows of an impossible size")
        entries = int(ends[-1])
        columns = _array(archive, "indices", "i", entries)
        counts = _array(archive, "data", "i", entries)
    for start in range(0, expected.rows, ROWS):
        stop = min(start + ROWS, expected.rows)
        some = slice(int(ends[start]), int(ends[stop]))
        yield Block(sizes[start:stop], columns[some], counts[some])


def _array(archive: zipfile.ZipFile, name: str, kind: str, size: int | None) -> NDArray[Any]:
    """One array of an archive, once its header shows the kind and the size expected."""
    with archive.open(f"{name}.npy") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise SyntfError(f"the array {name} is in a version of its format that syntf avoids")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.kind != kind or dtype.itemsize > 8 or shape != (() if size is None else (size,)):
        raise SyntfError(f"the array {name} is {dtype} of shape {shape}")
    with archive.open(f"{name}.npy") as file:
        made: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return made


def _parquet(path: Path, expected: Expected) -> Iterator[Block]:
    if not expected.numbered:
        yield from _rows_of_a_cluster(path, expected)
        return
    number = {term: column for column, term in enumerate(expected.terms)}
    table = open_parquet(path, expected.rows)
    schema = {"document": pl.Int64(), "terms": pl.List(pl.String), "counts": pl.List(pl.Int32)}
    if dict(table.collect_schema()) != schema:
        raise SyntfError("columns other than document, terms and counts")
    first = expected.first
    for part in table.collect().iter_slices(ROWS):
        if part["document"].to_list() != list(range(first, first + part.height)):
            raise SyntfError("documents are not numbered in order")
        first += part.height
        yield _lists(part["terms"], part["counts"], expected, number)


VECTOR = pl.Struct(
    [
        pl.Field("type", pl.Int8),
        pl.Field("size", pl.Int32),
        pl.Field("indices", pl.List(pl.Int32)),
        pl.Field("values", pl.List(pl.Float64)),
    ]
)
"""A vector of Spark ML, in a file."""


def _rows_of_a_cluster(path: Path, expected: Expected) -> Iterator[Block]:
    """Terms and counts beside columns that were kept, or vectors of Spark ML."""
    number = {term: column for column, term in enumerate(expected.terms)}
    lists = pl.List(pl.String), pl.List(pl.Int32)
    table = open_parquet(path, expected.rows)
    schema = table.collect_schema()
    found = schema.get("terms"), schema.get("counts")
    if found == lists:
        for part in table.select("terms", "counts").collect().iter_slices(ROWS):
            yield _lists(part["terms"], part["counts"], expected, number)
    elif found[1] == VECTOR:
        for part in table.select("counts").collect().iter_slices(ROWS):
            each = part["counts"].struct.unnest()
            kinds = set(zip(each["type"].to_list(), each["size"].to_list(), strict=True))
            if kinds != {(0, len(expected.terms))}:
                raise SyntfError("vectors of another kind or size")
            if (each["values"].explode() % 1 != 0).any():
                raise SyntfError("a count is not a whole number")
            counts = each["values"].cast(pl.List(pl.Int64))
            yield _lists(each["indices"], counts, expected)
    else:
        raise SyntfError("columns other than those of a release by a cluster")


def _lists(
    terms: pl.Series, counts: pl.Series, expected: Expected, number: dict[str, int] | None = None
) -> Block:
    """Rows from lists of terms, or of columns, and of their counts."""
    sizes = terms.list.len().to_numpy()
    if sizes.min() < 1 or sizes.max() > expected.longest:  # of a missing list it is NaN
        raise SyntfError("rows of an impossible size")
    if not np.array_equal(sizes, counts.list.len().to_numpy()):
        raise SyntfError("the numbers of terms and of counts differ")
    each, numbers = terms.explode(), counts.explode()
    if each.null_count() or numbers.null_count():
        raise SyntfError("a count is missing")
    columns = each.to_list() if number is None else [number.get(term, -1) for term in each]
    return Block(sizes, np.array(columns, dtype=np.int64), numbers.to_numpy())


def open_parquet(path: Path, rows: int | None = None) -> pl.LazyFrame:
    """A Parquet file under its own name, of which no more than its size has been read."""
    table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    found = table.select(pl.len()).collect().item()
    if rows is not None and found != rows:
        raise SyntfError(f"{found:,} rows for {rows:,} documents")
    return table


Row = tuple[list[int], list[int]]
"""The columns of a document and their counts."""


def _mtx(path: Path, expected: Expected) -> Iterator[Block]:
    """A line an entry, those of a document together: row, column, count."""

    def rows(lines: Iterator[bytes]) -> Iterator[Row]:
        if list(islice(lines, 2)) != [b"%%MatrixMarket matrix coordinate real general", b"%"]:
            raise SyntfError("not a Matrix Market file of counts")
        stated = [_whole(size) for size in next(lines, b"").split(b" ")]
        if stated[:2] != [expected.rows, len(expected.terms)]:
            raise SyntfError(f"{stated} rows, columns and entries")
        entries = 0
        each = (line.split(b" ") for line in lines)
        for number, (row, found) in enumerate(groupby(each, key=itemgetter(0)), start=1):
            if _whole(row) != number:
                raise SyntfError("rows are missing or out of order")
            triples = list(islice(found, expected.longest + 1))
            yield [_whole(c) - 1 for _, c, _ in triples], [_real(n) for _, _, n in triples]
            entries += len(triples)
        if stated[2:] != [entries]:
            raise SyntfError(f"{entries:,} entries, and {stated[2:]} are stated")

    return _from_lines(path, 80, rows)


def _svmlight(path: Path, expected: Expected) -> Iterator[Block]:
    def rows(lines: Iterator[bytes]) -> Iterator[Row]:
        for line in lines:
            target, *pairs = line.split(b" ")
            if target != b"0":
                raise SyntfError("a target that is not 0")
            split = [pair.split(b":") for pair in pairs]
            yield [_whole(c) - 1 for c, _ in split], [_whole(n) for _, n in split]

    return _from_lines(path, 2 + 24 * expected.longest, rows)


def _jsonl(path: Path, expected: Expected) -> Iterator[Block]:
    number = {term: column for column, term in enumerate(expected.terms)}

    def rows(lines: Iterator[bytes]) -> Iterator[Row]:
        for document, line in enumerate(lines, start=expected.first):
            # As tuples, in which a term that stands there twice is seen twice.
            (one, stated), (other, counts) = json.loads(line, object_pairs_hook=tuple)
            if (one, other) != ("document", "counts") or type(counts) is not tuple:
                raise SyntfError("a line is not a document and its counts")
            if stated != document:
                raise SyntfError("documents are not numbered in order")
            if not all(type(count) is int for _, count in counts):
                raise SyntfError("a count is not a whole number")
            yield [number.get(term, -1) for term, _ in counts], [count for _, count in counts]

    return _from_lines(path, 64 + expected.longest * (24 + 6 * _widest(expected)), rows)


def _text(path: Path, expected: Expected) -> Iterator[Block]:
    number = {term.encode(): column for column, term in enumerate(expected.terms)}
    if any(b" " in term for term in number):
        raise SyntfError("terms of the vocabulary have spaces, so words cannot be told apart")

    def rows(lines: Iterator[bytes]) -> Iterator[Row]:
        for line in lines:
            words = line.split(b" ")
            if words != sorted(words):
                raise SyntfError("words are not in alphabetical order")
            found = sorted((number.get(word, -1), n) for word, n in Counter(words).items())
            yield [column for column, _ in found], [count for _, count in found]

    return _from_lines(path, expected.length * (1 + _widest(expected)), rows)


def _from_lines(
    path: Path, longest: int, rows: Callable[[Iterator[bytes]], Iterator[Row]]
) -> Iterator[Block]:
    """Blocks of the rows that a file's lines hold, none of them above `longest` bytes."""
    with path.open("rb") as file:
        found = rows(_lines(file, longest))
        while some := list(islice(found, ROWS)):
            yield Block(
                np.array([len(columns) for columns, _ in some]),
                np.array([column for columns, _ in some for column in columns], dtype=np.int64),
                np.array([count for _, counts in some for count in counts], dtype=np.int64),
            )


def _lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    while line := file.readline(longest + 1):
        if not line.endswith(b"\n"):
            raise SyntfError("a line is too long or not complete")
        yield line[:-1]


def _widest(expected: Expected) -> int:
    return max(len(term.encode()) for term in expected.terms)


def _whole(number: bytes) -> int:
    if not number.isdigit() or len(number) > 18:
        raise SyntfError("a number is not a whole one")
    return int(number)


def _real(number: bytes) -> int:
    """A whole number as Matrix Market has it: 3.000000e+00."""
    value = float(number)
    if not value.is_integer() or number != b"%.6e" % value:
        raise SyntfError("a number is not a whole one")
    return int(value)


READERS: dict[str, Reader] = {
    ".npz": _npz,
    ".parquet": _parquet,
    ".mtx": _mtx,
    ".svmlight": _svmlight,
    ".jsonl": _jsonl,
    ".txt": _text,
}
"""By what their files end in: the formats of :mod:`syntf.releases.writers`."""
