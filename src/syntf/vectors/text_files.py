"""Word vectors as text: a word and its numbers a line, as GloVe, word2vec and fastText write them.

Blocks of whole lines are parsed by polars, as float64: near a tie, float32 would round to
another int8. Only a block in which something is wrong is looked at line by line.
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
from syntf.vectors.quantize import Faults, Table, table, to_int8


def read_text(
    pieces: Iterable[bytes], source: Path, header: tuple[int, int] | None = None
) -> Table:
    """The table in these pieces of a file; `header` is word2vec's (words, dimensions)."""
    words: list[str] = []
    blocks: list[NDArray[np.int8]] = []
    faults = Faults()
    lines = whole_lines(pieces)
    line = 1
    if header is not None:
        first = next(lines).partition(b"\n")[2]
        lines, line = _before(first, lines), 2
    start = next(lines, None)
    if start is None:
        raise _no_vectors(source, line)
    shape = _Shape(start, source, header)
    for block, (height, parsed) in _ahead(shape.parse, _before(start, lines)):
        if parsed is None:
            shape.find(block, line, faults)
        else:
            words += parsed[0]
            blocks.append(parsed[1])
        line += height
    faults.check(source)
    if header is not None and header[0] != len(words):
        raise SyntfError(
            f"{source}: line 1 promises {header[0]:,} words and {len(words):,} follow; "
            "the file is cut off, or it is not what line 1 says"
        )
    above = 1 if header is None else 2
    return table(words, np.concatenate(blocks), lambda row: f"line {row + above:,}", [])


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, cut at line ends only; none empty, and no byte order mark."""
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


def _before(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from others


Value = TypeVar("Value")


def _ahead(
    work: Callable[[bytes], Value], blocks: Iterator[bytes]
) -> Iterator[tuple[bytes, Value]]:
    """Each block and what work makes of it, in order; a few are worked on at a time."""
    cores = os.cpu_count() or 1
    begun: deque[tuple[bytes, Future[Value]]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for block in blocks:
            begun.append((block, pool.submit(work, block)))
            if len(begun) > cores:
                first, made = begun.popleft()
                yield first, made.result()
        for first, made in begun:
            yield first, made.result()


def _no_vectors(source: Path, line: int) -> SyntfError:
    return SyntfError(
        f"{source} holds no word vectors: line {line} has no numbers "
        "(GloVe and word2vec files are read, and .npz)"
    )


class _Shape:
    """How the lines of one file look: how many numbers, and whether a space ends them."""

    def __init__(self, block: bytes, source: Path, header: tuple[int, int] | None) -> None:
        import polars as pl

        fields = block.partition(b"\n")[0].rstrip(b"\r").split(b" ")
        self.ended = len(fields) > 2 and not fields[-1]  # word2vec and fastText write "1 2 \n"
        self.numbers = len(fields) - 1 - self.ended if header is None else header[1]
        self.wanted = f"line 1 {'has' if header is None else 'says'} {self.numbers}"
        if self.numbers < 1:
            raise _no_vectors(source, 1 if header is None else 2)
        self.schema: dict[str, Any] = {"word": pl.String}
        self.schema |= {str(i): pl.Float64 for i in range(self.numbers)}
        self.schema |= {"end": pl.String} if self.ended else {}

    def parse(self, block: bytes) -> tuple[int, tuple[list[str], NDArray[np.int8]] | None]:
        """The lines of a block, and their words and vectors; None in place of these for faults."""
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
            over = self.ended and frame["end"].count() > 0
            if frame.height == height and not words.has_nulls() and not over:
                values = frame.select(pl.exclude("word", "end")).to_numpy()
                matrix, largest = to_int8(values)
                if np.isfinite(largest).all() and largest.all() and (words != "").all():
                    return height, (words.to_list(), matrix)
        return height, None

    def find(self, block: bytes, line: int, faults: Faults) -> None:
        """The faults of a block, line by line."""
        found = 0
        for number, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), start=line):
            fault = self._fault(raw.removesuffix(b"\r").decode("utf-8", "replace"), number)
            if fault is not None:
                faults.add(*fault)
                found += 1
        if not found:
            faults.add("unreadable", f"the lines from {line} on cannot be read")

    def _fault(self, text: str, number: int) -> tuple[str, str] | None:
        """The kind of what is wrong with a line, and a sentence; None if nothing is."""
        word, *values = text.removesuffix(" " if self.ended else "").split(" ")
        if not any(values):
            said = (
                f"line {number:,} ({quoted(word)}) has no numbers"
                if word
                else f"line {number:,} is empty"
            )
            return "without a vector", said
        if len(values) != self.numbers:
            said = f"line {number:,} ({quoted(word)}) has {len(values)} numbers, {self.wanted}"
            return "of other dimensions", said
        if not word:
            return "without a word", f"line {number:,} has no word"
        try:
            parsed = np.array(values, dtype=np.float64)
        except ValueError:
            parsed = None
        if parsed is None or any("_" in value for value in values):  # float() takes 1_0
            said = f"line {number:,} ({quoted(word)}) holds something that is not a number"
            return "not a number", said
        if not np.isfinite(parsed).all():
            return "not finite", f"line {number:,}: the vector of {quoted(word)} is not finite"
        if not parsed.any():
            return "zero", f"line {number:,}: the vector of {quoted(word)} is zero"
        return None
