"""Word vectors as int8: the embedded table, or a person's own file.

A cosine depends on directions only, so each vector is stretched until its largest
component is ±127 and rounded. The mechanism sees these integers and nothing finer.
"""

import gzip
import io
import zlib
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntf.errors import SyntfError


class WordVectors:
    """Words, most frequent first, and their int8 vectors.

    >>> vectors = WordVectors.embedded()
    >>> len(vectors.words) >= 100_000, vectors.matrix.dtype
    (True, dtype('int8'))
    """

    def __init__(self, words: Sequence[str], matrix: NDArray[np.int8]) -> None:
        if matrix.ndim != 2 or matrix.shape[0] != len(words) or 0 in matrix.shape:
            raise SyntfError(
                f"vectors of shape {matrix.shape} do not fit {len(words)} words: "
                "one row a word is needed"
            )
        if matrix.dtype != np.int8:
            raise SyntfError(f"vectors must be int8, not {matrix.dtype}: see WordVectors.quantize")
        self.words = words
        self.matrix = matrix

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self.words, "matrix": self.matrix}

    @cached_property
    def _row(self) -> dict[str, int]:
        return {word: row for row, word in reversed(list(enumerate(self.words)))}

    def find(self, term: str) -> int | None:
        """The row of a term, or of its lower case; None if neither has a vector."""
        row = self._row.get(term)
        return row if row is not None else self._row.get(term.lower())

    @property
    def digest(self) -> str:
        """The SHA-256 of the words and their int8 vectors, whatever file they came from."""
        words = "".join(f"{word}\n" for word in self.words)
        found = sha256(f"{self.matrix.shape}\n{words}".encode("utf-8", "replace"))
        found.update(np.ascontiguousarray(self.matrix).data)
        return found.hexdigest()

    @classmethod
    def embedded(cls) -> Self:
        """The public table that comes with the package, made from GloVe; memory-mapped."""
        data = files("syntf").joinpath("data")
        words = data.joinpath("words.txt").read_text(encoding="utf-8").split("\n")
        return cls(words, np.load(str(data.joinpath("vectors.npy")), mmap_mode="r"))

    @classmethod
    def quantize(cls, words: Sequence[str], matrix: Any) -> Self:
        """int8 vectors from floating-point ones."""
        values = np.asarray(matrix, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(words) or 0 in values.shape:
            raise SyntfError(f"vectors of shape {values.shape} do not fit {len(words)} words")
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            raise SyntfError(f"the vector of {words[int(bad.argmax())]!r} is not finite")
        largest = np.abs(values).max(axis=1, keepdims=True)
        if not largest.all():
            raise SyntfError(f"the vector of {words[int(largest.argmin())]!r} is zero")
        return cls(words, np.rint(values / largest * 127).astype(np.int8))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Vectors in GloVe's text format, plain or gzipped: a word and its numbers a line."""
        source = Path(path)
        if not source.is_file():
            raise SyntfError(f"no vector file at {source}")
        try:
            raw = source.read_bytes()
            raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        except (OSError, EOFError, zlib.error) as error:
            raise SyntfError(f"cannot read {source}: {error}") from error
        words, values = _parse(raw, source)
        first = {word: row for row, word in reversed(list(enumerate(words)))}
        if len(first) < len(words):  # a word given twice keeps its first vector
            rows = sorted(first.values())
            words, values = [words[row] for row in rows], values[rows]
        return cls.quantize(words, values)


def _parse(raw: bytes, source: Path) -> tuple[list[str], NDArray[np.float64]]:
    import polars as pl

    head = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    width = len(head.split(b" "))
    if width < 2:
        raise SyntfError(f"{source} is not in GloVe's text format: line 1 holds no numbers")
    schema: dict[str, Any] = {"word": pl.String}
    schema |= {str(i): pl.Float64 for i in range(1, width)}
    try:
        table = pl.read_csv(
            io.BytesIO(raw), separator=" ", has_header=False, quote_char=None, schema=schema,
            encoding="utf8-lossy",
        )  # fmt: skip
        values = table.drop("word").to_numpy()
        if table.height and np.isfinite(values).all() and not table["word"].has_nulls():
            return table["word"].to_list(), values
    except pl.exceptions.PolarsError:
        pass
    raise SyntfError(f"{source}: {_first_fault(raw, width)}")


def _first_fault(raw: bytes, width: int) -> str:
    """Where a vector file goes wrong, in words."""
    for number, line in enumerate(raw.splitlines(), start=1):
        word, *values = line.decode("utf-8", "replace").split(" ")
        if not word and len(values) == width - 1:
            return f"line {number} has no word"
        if len(values) != width - 1:
            return f"line {number} ({word!r}) has {len(values)} numbers, line 1 has {width - 1}"
        try:
            finite = np.isfinite(np.array(values, dtype=np.float64)).all()
        except ValueError:
            return f"line {number} ({word!r}) holds something that is not a number"
        if not finite:
            return f"the vector of {word!r} (line {number}) is not finite"
        if any("_" in value for value in values):  # float() takes 1_0, the parser does not
            return f"line {number} ({word!r}) holds something that is not a number"
    return "no vector could be read"
