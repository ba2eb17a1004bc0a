"""Word vectors as text: a word and its numbers on each line, as GloVe, word2vec and fastText write.

polars parses blocks of whole lines as float64: float32 would sometimes round to another int8. Only
a block with a fault is read again line by line.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted
from syntf.vectors.quantize import Faults, Table, make_table, to_int8


def read_text(
    pieces: Iterable[bytes], source: Path, header: tuple[int, int] | None = None
) -> Table:
    """Read the table in these pieces of a file; `header` is word2vec's (words, dimensions)."""
    words: list[str] = []
    blocks: list[NDArray[np.int8]] = []
    faults = Faults()
    lines = whole_lines(pieces)
    line = 1
    if header is not None:
        first = next(lines).partition(b"\n")[2]
        lines, line = _prepend(first, lines), 2
    start = next(lines, None)
    if start is None:
        raise _no_vectors(source, line)
    format_ = _LineFormat(start, source, header)
    for block, (height, parsed) in _parse_ahead(format_.parse, _prepend(start, lines)):
        if parsed is None:
            format_.find_faults(block, line, faults)
        else:
            words += parsed[0]
            blocks.append(parsed[1])
        line += height
    faults.check(source)
    if header is not None and header[0] != len(words):
        raise SyntfError(
            f"{source}: line 1 announces {header[0]:,} words and {len(words):,} follow; "
            "the file is incomplete, or line 1 is wrong"
        )
    first_line = 1 if header is None else 2
    matrix = np.concatenate(blocks)
    return make_table(words, matrix, lambda row: f"line {row + first_line:,}", [])


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut the bytes at line ends only; leave out empty pieces and a byte order mark."""
    rest = b""
    start = True
    for piece in pieces:
        rest += piece
        if start and len(rest) >= 3:
            rest, start = rest.removeprefix(b"\xef\xbb\xbf"), False
        end = rest.rfind(b"\n") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _prepend(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from others


Value = TypeVar("Value")


def _parse_ahead(
    work: Callable[[bytes], Value], blocks: Iterator[bytes]
) -> Iterator[tuple[bytes, Value]]:
    """Yield each block and its result, in order, working on a few blocks at a time."""
    cores = os.cpu_count() or 1
    started: deque[tuple[bytes, Future[Value]]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for block in blocks:
            started.append((block, pool.submit(work, block)))
            if len(started) > cores:
                first, result = started.popleft()
                yield first, result.result()
        for first, result in started:
            yield first, result.result()


def _no_vectors(source: Path, line: int) -> SyntfError:
    return SyntfError(
        f"{source} holds no word vectors: line {line} has no numbers "
        "(GloVe and word2vec files are read, and .npz)"
    )


class _LineFormat:
    """The format of a file's lines: how many numbers, and whether a space follows the last."""

    def __init__(self, block: bytes, source: Path, header: tuple[int, int] | None) -> None:
        import polars as pl

        fields = block.partition(b"\n")[0].rstrip(b"\r").split(b" ")
        self.trailing_space = len(fields) > 2 and not fields[-1]  # word2vec writes "1 2 \n"
        self.numbers = len(fields) - 1 - self.trailing_space if header is None else header[1]
        self.expected = f"line 1 {'has' if header is None else 'says'} {self.numbers}"
        if self.numbers < 1:
            raise _no_vectors(source, 1 if header is None else 2)
        self.schema: dict[str, Any] = {"word": pl.String}
        self.schema |= {str(i): pl.Float64 for i in range(self.numbers)}
        self.schema |= {"end": pl.String} if self.trailing_space else {}

    def parse(self, block: bytes) -> tuple[int, tuple[list[str], NDArray[np.int8]] | None]:
        """Return the number of lines, and their words and vectors, or None if there is a fault."""
        import polars as pl

        height = block.count(b"\n") + (not block.endswith(b"\n"))

        try:
            frame = pl.read_csv(
                block, separator=" ", has_header=False, quote_char=None, schema=self.schema,
                encoding="utf8-lossy",
            )  # fmt: skip
        except pl.exceptions.PolarsError:
            frame = None
        if frame is not None:
            words = frame["word"]
            excess = self.trailing_space and frame["end"].count() > 0
            if frame.height == height and not words.has_nulls() and not excess:
                values = frame.select(pl.exclude("word", "end")).to_numpy()
                matrix, largest = to_int8(values)
                if np.isfinite(largest).all() and largest.all() and (words != "").all():
                    return height, (words.to_list(), matrix)
        return height, None

    def find_faults(self, block: bytes, line: int, faults: Faults) -> None:
        """Record the faults of a block, line by line."""
        found = 0
        for number, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), start=line):
            fault = self._fault(raw.removesuffix(b"\r").decode("utf-8", "replace"), number)
            if fault is not None:
                faults.add(*fault)
                found += 1
        if not found:
            faults.add("unreadable", f"the lines from {line} on cannot be read")

    def _fault(self, text: str, number: int) -> tuple[str, str] | None:
        """Return the kind of a line's fault and a sentence, or None if the line is valid."""
        word, *values = text.removesuffix(" " if self.trailing_space else "").split(" ")
        if not any(values):
            sentence = (
                f"line {number:,} ({quoted(word)}) has no numbers"
                if word
                else f"line {number:,} is empty"
            )
            return "without a vector", sentence
        if len(values) != self.numbers:
            sentence = (
                f"line {number:,} ({quoted(word)}) has {len(values)} numbers, {self.expected}"
            )
            return "of other dimensions", sentence
        if not word:
            return "without a word", f"line {number:,} has no word"
        try:
            parsed = np.array(values, dtype=np.float64)
        except ValueError:
            parsed = None
        if parsed is None or any("_" in value for value in values):  # float() takes 1_0
            sentence = f"line {number:,} ({quoted(word)}) holds something that is not a number"
            return "not a number", sentence
        if not np.isfinite(parsed).all():
            return "not finite", f"line {number:,}: the vector of {quoted(word)} is not finite"
        if not parsed.any():
            return "zero", f"line {number:,}: the vector of {quoted(word)} is zero"
        return None
