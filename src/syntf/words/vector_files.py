"""Read files of word vectors in any supported format.

Formats are GloVe's and word2vec's text (fastText's ``.vec`` files too), word2vec's binary form,
each plain or gzipped, and ``.npz`` with arrays ``words`` and ``vectors``. A file's bytes show its
format, whatever its name is. Nothing is ever unpickled. A file with an unusable line is refused.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted, shortened
from syntf.core.progress import stage
from syntf.words.quantize import Table, distinct, quantize

BLOCK_BYTES = 1 << 22
"""How many bytes are read at a time."""

_HEADER = re.compile(rb"([1-9]\d{0,11})[ \t]([1-9]\d{0,5})[ \t]?\r?\n")
"""The numbers of words and of dimensions, in the first line of a word2vec file."""

_Parts = Iterator[tuple[list[str], NDArray[np.int8]]]


def read(path: Path) -> Table:
    """Read the table in a file."""
    try:
        with path.open("rb") as raw, stage("reading vectors", path.stat().st_size) as advance:
            start = raw.peek(2)[:2]
            if start == b"PK":
                return _read_npz(raw, path)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if start == b"\x1f\x8b" else raw

            def blocks() -> Iterator[bytes]:
                """Yield the unpacked bytes of the file, cut at line ends."""
                done = 0
                while block := stream.read(BLOCK_BYTES):
                    yield block + stream.readline()
                    advance(raw.tell() - done)
                    done = raw.tell()

            return _read_blocks(blocks(), path)
    except (OSError, EOFError, zlib.error) as error:
        raise SyntfError(f"cannot read {path}: {shortened(error)}") from error


def _read_blocks(blocks: Iterator[bytes], path: Path) -> Table:
    """Read text or the binary form, and compare the number of words with the one announced."""
    first = next(blocks, b"").removeprefix(b"\xef\xbb\xbf")
    header = _HEADER.match(first)
    if header is None:
        parts = _text(chain([first], blocks), path, None)
    else:
        first, numbers = first[header.end() :] or next(blocks, b""), int(header[2])
        fields = first.partition(b"\n")[0].split()[1:]
        try:
            is_text = np.array(fields[-numbers:], dtype=np.float64).size == numbers
        except ValueError:
            is_text = False
        parts = (_text if is_text else _binary)(chain([first], blocks), path, numbers)
    words: list[str] = []
    matrices: list[NDArray[np.int8]] = []
    for more, matrix in parts:
        words += more
        matrices.append(matrix)
    if header is not None and len(words) != int(header[1]):
        raise SyntfError(
            f"{path}: line 1 announces {int(header[1]):,} words of {int(header[2])} numbers, and "
            f"{len(words):,} follow; the file is incomplete, or line 1 is wrong"
        )
    return distinct(words, np.concatenate(matrices))


def _text(blocks: Iterator[bytes], path: Path, numbers: int | None) -> _Parts:
    """Read lines of a word and its numbers, divided by single spaces.

    A word may hold spaces, as some of GloVe's do, but it does not look like a word and a number.
    word2vec ends each line with a space.
    """
    line = 1 if numbers is None else 2
    for block in blocks:
        lines = pl.Series("line", block.decode("utf-8", "replace").removesuffix("\n").split("\n"))
        split = lines.str.strip_chars_end(" \r").str.split(" ")
        more = split.list.len() - 1
        numbers = more[0] if numbers is None else numbers
        looks_like_numbers = split.list.get(1, null_on_oob=True).cast(pl.Float64, strict=False)
        bad = (more < max(1, numbers)) | ((more > numbers) & looks_like_numbers.is_not_null())
        if not bad.any():
            values = split.list.tail(numbers).explode().cast(pl.Float64, strict=False)
            bad = values.is_null()
        if bad.any():
            row = int(bad.arg_max() or 0) // (len(bad) // len(split))
            raise SyntfError(
                f"{path}: line {line + row:,} ({quoted(split[row][0])}) is not a word and "
                f"{max(1, numbers)} numbers, as line 1 says; GloVe and word2vec files are read, "
                "fastText's .vec and .npz, and gensim saves such by save_word2vec_format"
            )
        word = pl.col("line").list.head(pl.col("line").list.len() - numbers).list.join(" ")
        words = split.to_frame().select(word).to_series().to_list()
        yield words, quantize(words, values.to_numpy().reshape(-1, numbers), path)
        line += len(split)


def _binary(blocks: Iterator[bytes], path: Path, numbers: int) -> _Parts:
    """Read word2vec's binary form: each word, a space and its float32 numbers.

    The original program ends each vector with a line feed, gensim does not.
    """
    rest = b""
    for block in blocks:
        rest += block
        words: list[str] = []
        vectors: list[bytes] = []
        at = 0
        while (start := rest.find(b" ", at) + 1) and len(rest) >= start + 4 * numbers:
            words.append(rest[at : start - 1].lstrip(b"\r\n").decode("utf-8", "replace"))
            at = start + 4 * numbers
            vectors.append(rest[start:at])
        rest = rest[at:]
        if words:
            values = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, numbers)
            yield words, quantize(words, values, path)
    if rest.strip(b"\r\n"):
        raise SyntfError(
            f"{path}: {len(rest):,} bytes follow the last whole word of {numbers} numbers; the "
            "file is incomplete, or line 1 is wrong"
        )


def _read_npz(file: BinaryIO, path: Path) -> Table:
    """Read arrays ``words``, of strings, and ``vectors``, one row for each word."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            words, values = arrays["words"], arrays["vectors"]
        if words.ndim != 1 or words.dtype.kind != "U":
            raise TypeError
    except (ValueError, KeyError, AttributeError, TypeError, BadZipFile, NotImplementedError):
        raise SyntfError(
            f"{path} is not an .npz file of arrays 'words', strings that are not pickled, and "
            "'vectors': unpack another zip file, or save yours by numpy.savez(file, "
            "words=numpy.array(words, dtype=str), vectors=vectors)"
        ) from None
    return distinct(words.tolist(), quantize(words.tolist(), values, path))
