"""Read files of word vectors in any supported format.

Formats are GloVe's and word2vec's text (fastText's ``.vec`` files too), word2vec's binary form,
each plain or gzipped, and ``.npz`` with arrays ``words`` and ``vectors``. A file's bytes show its
format; the suffix decides only where a tiny word2vec file could be text or binary. Nothing is ever
unpickled. A file with an unusable line is refused, with the place of the first such line.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted, shortened
from syntf.core.progress import stage
from syntf.words.quantize import Table, make_table, quantize, to_int8, word_number

Header = tuple[int, int]
"""The numbers of words and of dimensions that the first line of a word2vec file announces."""

BLOCK_BYTES = 1 << 22
"""How many bytes are read at a time."""

_HEAD_BYTES = 1 << 16
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(\d{1,12})[ \t](\d{1,6})[ \t]?\r?(?:\n|\Z)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_REFUSED = {
    b"\x80": "a pickle, which could run a program and is never loaded: save the vectors with "
    "gensim's save_word2vec_format",
    b"\x93NUMPY": "a .npy file, which has no words: save words and vectors with numpy.savez",
    b"\xba\x16\x4f\x2f": "a fastText model: use the .vec file beside it",
}


def read(path: Path) -> Table:
    """Read the table in a file."""
    try:
        with path.open("rb") as raw, stage("reading vectors", path.stat().st_size) as advance:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw

            def blocks() -> Iterator[bytes]:
                """Yield the unpacked bytes of the file, cut at line ends."""
                done = 0
                while block := stream.read(BLOCK_BYTES):
                    yield block + stream.readline()
                    advance(raw.tell() - done)
                    done = raw.tell()

            head = stream.read(_HEAD_BYTES)
            stream.seek(0)
            if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
                return _read_npz(io.BytesIO(b"".join(blocks())), path)
            for start, what in _REFUSED.items():
                if head.startswith(start):
                    raise SyntfError(f"{path} is {what}")
            found = _HEADER.match(head)
            header = (int(found[1]), int(found[2])) if found else None
            if header is not None and _is_binary(head, header[1], path):
                return _read_binary(blocks(), path, *header)
            return _read_text(blocks(), path, header)
    except (OSError, EOFError, zlib.error) as error:
        raise SyntfError(f"cannot read {path}: {shortened(error)}") from error


def _is_binary(head: bytes, numbers: int, path: Path) -> bool:
    """Tell whether what follows word2vec's first line is its binary form."""
    body = head.partition(b"\n")[2]
    fields = body.partition(b"\n")[0].split()
    if len(fields) == numbers + 1 and all(map(_is_number, fields[1:])):
        return False
    return ".bin" in path.suffixes or bool(_CONTROL.search(body[: 1 << 12]))


def _is_number(field: str | bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _read_text(blocks: Iterator[bytes], source: Path, header: Header | None) -> Table:
    """Read lines of a word and its numbers, divided by single spaces."""
    words: list[str] = []
    matrices: list[NDArray[np.int8]] = []
    first = next(blocks, b"").removeprefix(b"\xef\xbb\xbf")
    first = (first.partition(b"\n")[2] if header else first) or next(blocks, b"")
    lines = _Lines(first, source, header)
    for block in chain([first], blocks):
        more, matrix = lines.parse(block)
        words += more
        matrices.append(matrix)
    if header is not None and header[0] != len(words):
        raise SyntfError(
            f"{source}: line 1 announces {header[0]:,} words and {len(words):,} follow; "
            "the file is incomplete, or line 1 is wrong"
        )
    place = _lines_from(1 if header is None else 2)
    return make_table(words, np.concatenate(matrices), (), place)


def _lines_from(first: int) -> Callable[[int], str]:
    """Return the function that names the line of a row."""
    return lambda row: f"line {row + first:,}"


def _no_vectors(source: Path, line: int) -> SyntfError:
    return SyntfError(
        f"{source} holds no word vectors: line {line} has no numbers "
        "(GloVe and word2vec files are read, and .npz)"
    )


class _Lines:
    """The lines of a text file: how many numbers each has, and how far the file was read."""

    def __init__(self, block: bytes, source: Path, header: Header | None) -> None:
        fields = block.partition(b"\n")[0].rstrip(b"\r").split(b" ")
        self.ends_in_space = len(fields) > 2 and not fields[-1]  # word2vec writes "1 2 \n"
        self.numbers = header[1] if header else len(fields) - 1 - self.ends_in_space
        self.expected = f"line 1 {'says' if header else 'has'} {self.numbers}"
        self.line = 2 if header else 1
        self.source = source
        if self.numbers < 1 or not block:
            raise _no_vectors(source, self.line)
        self.schema: dict[str, Any] = {"word": pl.String}
        self.schema |= {str(i): pl.Float64 for i in range(self.numbers)}
        self.schema |= {"end": pl.String} if self.ends_in_space else {}

    def parse(self, block: bytes) -> tuple[list[str], NDArray[np.int8]]:
        """Return words and vectors of a block, by polars, or line by line if it is irregular."""
        height = block.count(b"\n") + (not block.endswith(b"\n"))
        found = self._parse_regular(block, height) or self._parse_lines(block)
        self.line += height
        return found

    def _parse_regular(
        self, block: bytes, height: int
    ) -> tuple[list[str], NDArray[np.int8]] | None:
        """Return words and vectors if nothing is wrong with any line of the block."""
        try:
            frame = pl.read_csv(
                block, separator=" ", has_header=False, quote_char=None, schema=self.schema,
                encoding="utf8-lossy",
            )  # fmt: skip
        except pl.exceptions.PolarsError:
            return None
        words = frame["word"]
        if frame.height != height or words.has_nulls() or (words == "").any():
            return None
        if self.ends_in_space and frame["end"].count() > 0:
            return None
        matrix, largest = to_int8(frame.select(pl.exclude("word", "end")).to_numpy())
        usable = np.isfinite(largest).all() and largest.all()
        return (words.to_list(), matrix) if usable else None

    def _parse_lines(self, block: bytes) -> tuple[list[str], NDArray[np.int8]]:
        """Return words and vectors, or raise SyntfError for the first line that is unusable."""
        words, rows = [], []
        for number, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), start=self.line):
            word, row = self._parse_line(raw.removesuffix(b"\r").decode("utf-8", "replace"), number)
            words.append(word)
            rows.append(row)
        return words, quantize(words, np.array(rows), self.source, _lines_from(self.line))

    def _parse_line(self, text: str, number: int) -> tuple[str, list[float]]:
        """Return a word and its numbers. A word may hold spaces, as some of GloVe's do."""
        fields = text.removesuffix(" " if self.ends_in_space else "").split(" ")
        here = f"{self.source}: line {number:,}"
        if not any(fields):
            raise SyntfError(f"{here} is empty; remove it")
        found = len(fields) - 1
        start = found - self.numbers + 1
        if start < 1 or (start > 1 and _is_number(fields[1])):
            what = "no numbers" if not any(fields[1:]) else f"{found} numbers, {self.expected}"
            raise SyntfError(f"{here} ({quoted(fields[0])}) has {what}")
        try:
            if "_" in "".join(fields[start:]):  # float() takes 1_0
                raise ValueError
            return " ".join(fields[:start]), [float(field) for field in fields[start:]]
        except ValueError:
            raise SyntfError(
                f"{here} ({quoted(fields[0])}) holds something that is not a number"
            ) from None


def _read_binary(blocks: Iterator[bytes], source: Path, count: int, numbers: int) -> Table:
    """Read word2vec's binary form: a header, then each word, a space and its float32 numbers.

    The original program ends each vector with a line feed, gensim does not.
    """
    announced = f"{source}: line 1 announces {count:,} words of {numbers} numbers"
    if not count or not numbers:
        raise SyntfError(f"{announced}, and a table needs both")
    size = 4 * numbers
    words: list[str] = []
    matrices: list[NDArray[np.int8]] = []
    rest = next(blocks).partition(b"\n")[2]
    while True:
        at, before, vectors = 0, len(words), []
        while len(words) < count:
            space = rest.find(b" ", at)
            if space < 0 or len(rest) < space + 1 + size:
                break
            words.append(rest[at:space].lstrip(b"\r\n").decode("utf-8", "replace"))
            at = space + 1 + size
            vectors.append(rest[space + 1 : at])
        if vectors:
            values = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, numbers)
            matrices.append(quantize(words[before:], values, source, _words_from(before)))
        block = next(blocks, None)
        if block is None:
            break
        rest = rest[at:] + block
    if len(words) < count:
        raise SyntfError(
            f"{announced}, and the file ends within word {len(words) + 1:,}; the file is "
            "incomplete, or line 1 is wrong"
        )
    extra = len(rest[at:].strip(b"\r\n"))
    if extra:
        raise SyntfError(f"{announced}, and {extra:,} bytes follow the last of them")
    return make_table(words, np.concatenate(matrices))


def _words_from(first: int) -> Callable[[int], str]:
    return lambda row: word_number(first + row)


def _read_npz(file: BinaryIO, source: Path) -> Table:
    """Read arrays ``words``, of strings, and ``vectors``, one row for each word."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            if not {"words", "vectors"} <= set(arrays.files):
                raise SyntfError(
                    f"{source} is a zip file without arrays 'words' and 'vectors': unpack it, or "
                    "save yours with numpy.savez(file, words=words, vectors=vectors)"
                )
            names, values = arrays["words"], arrays["vectors"]
            if not (isinstance(names, np.ndarray) and isinstance(values, np.ndarray)):
                raise SyntfError(f"{source}: 'words' or 'vectors' is not a NumPy array")
    except SyntfError:
        raise
    except (ValueError, KeyError, BadZipFile, EOFError, NotImplementedError) as error:
        if "allow_pickle" in str(error):
            raise SyntfError(
                f"{source} holds pickled objects, which are never loaded: save the words as "
                "strings, numpy.array(words, dtype=str)"
            ) from error
        raise SyntfError(f"cannot read {source}: {shortened(error)}") from error
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    if names.ndim != 1 or names.dtype.kind != "U":
        raise SyntfError(f"{source}: words must be a row of strings, not {names.dtype}")
    words = names.tolist()
    return make_table(words, quantize(words, values, source))
