"""Texts → documents: their known terms, in order.

:func:`read_documents` defines it, for any analysis. :func:`look_up` gives the same for the fast
analysis at the speed of memory: compiled code finds the tokens and looks each up in a table,
several threads share the texts, and no token becomes an object of Python unless it has a letter
beyond ASCII.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core import parallel
from syntf.text import token_table
from syntf.text.documents import Documents
from syntf.text.token_table import TokenTable
from syntf.text.tokenizer import LETTERS, Analyzer, Read, Remembered

BLOCK = 1 << 20
"""Characters that a thread reads at once, unless a text has more."""

_LIMITS = (0x800, 0x10000, 0x110000)
"""Code points up to which letters are told from others, as far as a text needs it."""


def read_documents(
    texts: Iterable[str],
    term_of: Mapping[Any, int],
    empty: int,
    progress: Callable[[int], None] | None = None,
    *,
    read: Read[Any] = Analyzer.read,
) -> Documents:
    """The known terms of each text; `term_of` maps any token that `read` finds to one, or to -1."""
    terms, starts = array("i"), array("q", [0])
    for found in read(texts):
        known = [term for token in found if (term := term_of[token]) >= 0]
        terms.extend(known or [empty])
        starts.append(len(terms))
        if progress and len(starts) % 256 == 1:
            progress(256)
    return Documents(np.frombuffer(starts, dtype=np.int64), np.frombuffer(terms, dtype=np.int32))


def look_up(
    texts: Sequence[str],
    table: TokenTable,
    empty: int,
    progress: Callable[[int], None] | None = None,
) -> Documents:
    """The known terms of each text by a table of tokens.

    Of tokens beyond ASCII, each is looked up once in a call; none is remembered after it.
    """
    strange = Remembered(table.find)

    def read(block: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return _read(block, table, empty, strange)

    terms, counts = [np.empty(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
    blocks = list(_blocks(texts))
    threads = min(len(blocks), parallel.threads())
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for found, sizes in (pool.map if threads > 1 else map)(read, blocks):
            terms.append(found)
            counts.append(sizes)
            if progress:
                progress(len(sizes))
    return Documents(np.cumsum(np.concatenate(counts)), np.concatenate(terms))


def _read(
    block: list[str], table: TokenTable, empty: int, strange: Mapping[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The known terms of some texts, and how many each has."""
    given = [
        text if str.isascii(text) else str.encode(text, "utf-8", "surrogatepass") for text in block
    ]
    counts = np.empty(len(block), dtype=np.int64)
    for limit in _LIMITS:
        found = token_table.compiled.read(
            table.slots, table.entries, table.forms, letters(limit), counts,
            given, table.longest, table.exact, empty, strange,
        )  # fmt: skip
        if found is not None:
            break
    return np.frombuffer(found, dtype=np.int32), counts


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    block, size = list[str](), 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


@cache
def letters(limit: int) -> bytes:
    """One bit for each code point below `limit`, the lowest first: is it a letter or a digit?

    Python's regular expressions say which are, as they do for :func:`syntf.text.tokenizer.tokens`.

    >>> sum(byte.bit_count() for byte in letters(0x80))
    62
    """
    every = np.arange(limit, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    found = np.zeros(limit, dtype=bool)
    for run in LETTERS.finditer(every):
        found[run.start() : run.end()] = True
    return np.packbits(found, bitorder="little").tobytes()
