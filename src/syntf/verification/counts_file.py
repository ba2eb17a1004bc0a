"""Read the counts of an untrusted release, and refuse any byte that syntf would not write.

Nothing is unpickled. No size that a file states is believed before it is compared with what the
documents and the length allow. The counts of a file are parsed, checked and written again; a file
passes only if it has the same bytes. For npz, deflate can pack the same values in different ways,
so the packed bytes are taken from the file and everything around them is compared.
"""

import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.counts import Rows, offsets
from syntf.core.csv_files import cell_text
from syntf.core.errors import SyntfError, polars_errors
from syntf.releases.contents import archive
from syntf.releases.contents.writers import WRITERS
from syntf.verification.result import NotCheckedError

try:  # three times as fast as zlib
    from isal import isal_zlib as deflating
except ImportError:  # a platform without it
    deflating = zlib  # type: ignore[misc]

UNPACKING_ERROR: type[Exception] = deflating.error  # type: ignore[assignment]

CHECKED_ROWS = 1 << 12
"""Documents that are checked at once."""

SPARE_PACKED_BYTES = 1000
"""Bytes by which another way of packing may exceed twice those of this machine."""

UNREADABLE = (
    ValueError, TypeError, AttributeError, LookupError, EOFError, OSError, RuntimeError,
    OverflowError, zipfile.BadZipFile, zlib.error, UNPACKING_ERROR,
)  # fmt: skip
"""What libraries raise on bytes that are not what they expect, besides polars."""


def unreadable() -> tuple[type[BaseException], ...]:
    """Return what libraries raise on bytes that are not what they expect."""
    return *UNREADABLE, *polars_errors()


@dataclass(frozen=True)
class Expected:
    """What the rest of a release says about one file of counts.

    first : the number of its first document.
    length : the words of a row, at most.
    by_spark : whether Spark wrote the file.
    words : the words of each row, if not all rows have `length`.
    """

    terms: Sequence[str]
    rows: int
    first: int
    length: int
    by_spark: bool = False
    words: NDArray[np.int64] | None = None

    @property
    def most_distinct(self) -> int:
        """The largest number of distinct words that a row can have."""
        return min(self.length, len(self.terms))


@dataclass(frozen=True)
class CheckedCounts:
    """The counts of a file, and whether every byte of the file was compared."""

    counts: Rows
    compared: bool


def read_counts(path: Path, expected: Expected) -> CheckedCounts:
    """Return the counts of a file.

    Raises SyntfError unless the file has the expected rows, each with exactly n words, and no byte
    that syntf would not write.
    """
    try:
        checked = READERS[path.suffix](path, expected)
    except NotCheckedError:
        raise
    except SyntfError as error:
        raise SyntfError(f"{path.name}: {error}") from None
    except unreadable() as error:
        raise SyntfError(f"{path.name} cannot be read ({type(error).__name__})") from None
    return checked


def _check_rows(counts: Rows, expected: Expected) -> None:
    """Refuse counts that no draw of n words gives."""
    sizes = np.diff(counts.indptr)
    if len(sizes) != expected.rows:
        raise SyntfError(f"{len(sizes):,} rows for {expected.rows:,} documents")
    if counts.indices.size != counts.data.size or counts.indptr[-1] != counts.data.size:
        raise SyntfError("the numbers of terms and of counts differ")
    if sizes.size and not (sizes.min() >= 1 and sizes.max() <= expected.most_distinct):
        raise SyntfError("a row has no words or too many")
    if counts.data.size and not (counts.data.min() >= 1 and counts.data.max() <= expected.length):
        raise SyntfError(f"a count is not between 1 and {expected.length:,}")
    if counts.data.size and not (
        counts.indices.min() >= 0 and counts.indices.max() < len(expected.terms)
    ):
        raise SyntfError("a column is not in the vocabulary")
    for start in range(0, len(sizes), CHECKED_ROWS):
        stop = min(start + CHECKED_ROWS, len(sizes))
        own = slice(int(counts.indptr[start]), int(counts.indptr[stop]))
        row_starts = counts.indptr[start:stop] - own.start
        ascending = np.diff(counts.indices[own]) > 0
        ascending[row_starts[1:] - 1] = True  # from the last column of a row to the next row
        if not ascending.all():
            raise SyntfError("the columns of a row are repeated or not in order")
        words = np.add.reduceat(counts.data[own], row_starts, dtype=np.int64)
        right = expected.length if expected.words is None else expected.words[start:stop]
        wrong = np.flatnonzero(words != right)
        if wrong.size:
            due = int(np.broadcast_to(right, words.shape)[wrong[0]])
            raise SyntfError(
                f"document {expected.first + start + int(wrong[0]):,} has "
                f"{int(words[wrong[0]]):,} words, not {due:,}"
            )


class _Compare(io.RawIOBase):
    """A file to write to that compares what is written with what a file holds."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = memoryview(data).cast("B")
        if self.file.read(len(data)) != data:
            raise SyntfError("the bytes are not those that syntf writes for these counts")
        return len(data)

    def finish(self) -> None:
        """Refuse bytes that follow."""
        if self.file.read(1):
            raise SyntfError("there are bytes after the counts")


def _compare(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Refuse a file unless `write` writes the same bytes."""
    with path.open("rb") as file:
        target = _Compare(file)
        write(target)  # type: ignore[arg-type]
        target.finish()


def _npz(path: Path, expected: Expected) -> CheckedCounts:
    """Read the five arrays of a CSR matrix, each of the type and the size it must have."""
    names = ("indices", "indptr", "format", "shape", "data")
    with zipfile.ZipFile(path) as file:
        infos = file.infolist()
    if [info.filename for info in infos] != [f"{name}.npy" for name in names]:
        raise SyntfError("the file does not hold the arrays of one sparse matrix")
    packed = dict(zip(names, _packed_members(path, infos), strict=True))
    shape = _array(packed, "shape", "<i8", (2,))
    if _array(packed, "format", "|S3", ()).item() != b"csr":
        raise SyntfError("the file does not hold a CSR matrix")
    if shape.tolist() != [expected.rows, len(expected.terms)]:
        raise SyntfError(
            f"the shape is {shape.tolist()}, for {expected.rows:,} documents and "
            f"{len(expected.terms):,} terms"
        )
    kind = "<i4" if expected.rows * expected.most_distinct < 1 << 31 else "<i8"
    ends = _array(packed, "indptr", kind, (expected.rows + 1,))
    entries = int(ends[-1])
    if ends[0] != 0 or not 0 <= entries <= expected.rows * expected.most_distinct:
        raise SyntfError("a row has no words or too many")
    arrays = {
        "indices": _array(packed, "indices", "<i4", (entries,)),
        "indptr": ends,
        "format": np.array(b"csr"),
        "shape": shape,
        "data": _array(packed, "data", "<i4", (entries,)),
    }
    counts = Rows(arrays["data"], arrays["indices"], ends, (expected.rows, len(expected.terms)))
    _check_rows(counts, expected)
    return CheckedCounts(counts, _check_archive(path, arrays, packed))


def _packed_members(path: Path, infos: Sequence[zipfile.ZipInfo]) -> Iterator[bytes]:
    """Yield the packed bytes of each member, which must follow each other as in syntf's files."""
    whole = path.stat().st_size
    with path.open("rb") as file:
        for info in infos:
            if info.compress_size > whole:
                raise SyntfError("the file states that a part of it is larger than the file")
            start = file.read(30)  # the lengths of name and extra field end a zip header
            lengths = int.from_bytes(start[26:28], "little"), int.from_bytes(start[28:30], "little")
            file.seek(sum(lengths), io.SEEK_CUR)
            yield file.read(info.compress_size)


def _array(
    packed: Mapping[str, bytes], name: str, kind: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return an array of an archive, if it has the header of this type and shape.

    No more bytes are unpacked than such an array has. Bytes after them are for `_check_archive`.
    """
    empty = np.broadcast_to(np.zeros((), kind), shape)
    header = next(iter(archive.npy_pieces(empty, empty.dtype)))
    unpacking = deflating.decompressobj(-15)
    content = unpacking.decompress(packed[name], len(header) + empty.nbytes + 1)
    if not content.startswith(header):
        raise SyntfError(f"the array {name} is not {empty.dtype} of shape {shape}")
    if len(content) != len(header) + empty.nbytes:
        raise SyntfError(f"the array {name} has too few numbers or too many")
    return np.frombuffer(content, empty.dtype, offset=len(header)).reshape(shape)


def _check_archive(
    path: Path, arrays: Mapping[str, NDArray[Any]], packed: Mapping[str, bytes]
) -> bool:
    """Refuse an archive with any byte besides the arrays, which were unpacked from `packed`.

    Returns whether this machine packs the arrays in the same way.
    """
    members, same = [], True
    packed_again = archive.pack_arrays(arrays, {name: own.dtype for name, own in arrays.items()})
    for (name, array), member in zip(arrays.items(), packed_again, strict=True):
        again = b"".join(member.packed)
        if again != packed[name]:
            same = False
            if len(packed[name]) > 2 * len(again) + SPARE_PACKED_BYTES:  # zlib takes 1.7 times
                raise SyntfError(f"the array {name} is packed into very many bytes")
            _check_packed(name, packed[name], b"".join(archive.npy_pieces(array, array.dtype)))
        members.append(replace(member, packed=[packed[name]]))
    _compare(path, lambda file: archive.write(file, members))
    return same


def _check_packed(name: str, packed: bytes, content: bytes) -> None:
    """Refuse packed bytes that do not hold exactly this content.

    zlib unpacks them, because isal does not tell whether bytes follow the end.
    """
    unpacking = zlib.decompressobj(-15)
    found = unpacking.decompress(packed, len(content) + 1)
    if found != content or not unpacking.eof or unpacking.unused_data:
        raise SyntfError(f"the array {name} is not packed as syntf packs it")


def _parquet(path: Path, expected: Expected) -> CheckedCounts:
    from syntf.verification.counts_parquet import read_parquet  # imported here: it needs polars

    return read_parquet(path, expected)


def rows_of(
    sizes: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any], expected: Expected
) -> Rows:
    """Return checked counts from the numbers of entries of each row and all entries."""
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    shape = len(starts) - 1, len(expected.terms)
    rows = Rows(np.asarray(counts), np.asarray(columns), offsets(starts), shape)
    _check_rows(rows, expected)
    data, indices = rows.data.astype(np.int32), rows.indices.astype(np.int32)
    return Rows(data, indices, rows.indptr, shape)


Entries = tuple[list[int], list[int]]
"""The columns of a document and their counts."""


def _mtx(path: Path, expected: Expected) -> CheckedCounts:
    """Read one line per entry: row, column, count."""

    def entries(lines: Iterator[bytes]) -> Iterator[Entries]:
        next(lines), next(lines)
        stated = [int(number) for number in next(lines).split()]
        if stated[:2] != [expected.rows, len(expected.terms)]:
            raise SyntfError(f"the numbers of rows, columns and entries are {stated}")
        row, columns, counts = 1, list[int](), list[int]()
        for line in lines:
            number, column, count = line.split()
            if int(number) != row:
                yield columns, counts
                row, columns, counts = row + 1, [], []
            columns.append(int(column) - 1)
            counts.append(int(float(count)))
            if len(columns) > expected.most_distinct:
                raise SyntfError("a row has too many words")
        if columns:
            yield columns, counts

    return _from_lines(path, 80, entries, expected)


def _svmlight(path: Path, expected: Expected) -> CheckedCounts:
    def entries(lines: Iterator[bytes]) -> Iterator[Entries]:
        for line in lines:
            pairs = [pair.split(b":") for pair in line.split(b" ")[1:]]
            yield [int(column) - 1 for column, _ in pairs], [int(count) for _, count in pairs]

    return _from_lines(path, 2 + 24 * expected.most_distinct, entries, expected)


def _jsonl(path: Path, expected: Expected) -> CheckedCounts:
    number = {term: column for column, term in enumerate(expected.terms)}

    def entries(lines: Iterator[bytes]) -> Iterator[Entries]:
        for line in lines:
            counts = json.loads(line)["counts"]
            yield [number.get(term, -1) for term in counts], list(counts.values())

    longest = 64 + expected.most_distinct * (24 + 6 * _longest_term(expected))
    return _from_lines(path, longest, entries, expected)


def _text(path: Path, expected: Expected) -> CheckedCounts:
    number = {term.encode(): column for column, term in enumerate(expected.terms)}
    if any(b" " in term for term in number):
        raise SyntfError("terms of the vocabulary have spaces, so words cannot be told apart")

    def entries(lines: Iterator[bytes]) -> Iterator[Entries]:
        for line in lines:
            words = Counter(line.split(b" "))
            found = sorted((number.get(word, -1), count) for word, count in words.items())
            yield [column for column, _ in found], [count for _, count in found]

    return _from_lines(path, expected.length * (1 + _longest_term(expected)), entries, expected)


def _csv(path: Path, expected: Expected) -> CheckedCounts:
    """Read one line per entry: document, term, count."""
    number = {cell_text(term).encode(): column for column, term in enumerate(expected.terms)}

    def entries(lines: Iterator[bytes]) -> Iterator[Entries]:
        next(lines)  # the names of the columns
        row, columns, counts = expected.first, list[int](), list[int]()
        for line in lines:
            document, _, rest = line.partition(b",")
            cell, _, count = rest.rpartition(b",")
            if int(document) != row:
                yield columns, counts
                row, columns, counts = row + 1, [], []
            columns.append(number.get(cell, -1))
            counts.append(int(count))
            if len(columns) > expected.most_distinct:
                raise SyntfError("a row has too many words")
        if columns:
            yield columns, counts

    return _from_lines(path, 64 + 2 * _longest_term(expected), entries, expected)


def _from_lines(
    path: Path,
    longest: int,
    parse: Callable[[Iterator[bytes]], Iterator[Entries]],
    expected: Expected,
) -> CheckedCounts:
    """Read a text file, whose lines have at most `longest` bytes, and compare it."""
    parts: list[tuple[NDArray[Any], ...]] = [(np.empty(0, dtype=np.int32),) * 3]
    with path.open("rb") as file:
        found = parse(_lines(file, longest))
        while some := list(islice(found, CHECKED_ROWS)):
            sizes = np.array([len(own) for own, _ in some])
            columns = np.array([at for own, _ in some for at in own], dtype=np.int32)
            counts = np.array([count for _, own in some for count in own], dtype=np.int32)
            parts.append((sizes, columns, counts))
    sizes, columns, counts = map(np.concatenate, zip(*parts, strict=True))
    rows = rows_of(sizes, columns, counts, expected)
    _compare(path, writer(path, rows, expected))
    return CheckedCounts(rows, compared=True)


def writer(path: Path, counts: Rows, expected: Expected) -> Callable[[IO[bytes]], None]:
    """Return a function that writes these counts in the format of a file."""
    write = next(write for suffix, write in WRITERS.values() if suffix == path.suffix)
    return lambda file: write(file, counts, expected.terms, expected.first)


def _lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    while line := file.readline(longest + 1):
        if not line.endswith(b"\n"):
            raise SyntfError("a line is too long or not complete")
        yield line[:-1]


def _longest_term(expected: Expected) -> int:
    return max(len(term.encode()) for term in expected.terms)


READERS: dict[str, Callable[[Path, Expected], CheckedCounts]] = {
    ".npz": _npz,
    ".parquet": _parquet,
    ".mtx": _mtx,
    ".svmlight": _svmlight,
    ".jsonl": _jsonl,
    ".txt": _text,
    ".csv": _csv,
}
"""The reader for each suffix of :data:`syntf.releases.contents.writers.WRITERS`."""
