"""Turn texts into documents: lists of their known terms, in order.

:func:`read_documents` is the definition, for any analyzer. :func:`look_up` gives the same result
for the fast analyzer at the speed of memory: compiled code finds the tokens and looks each up in a
table, several threads share the texts, and only tokens whose lower case is not that of their
single characters become Python objects. What compiled code knows of characters is computed here by
the functions that the definition uses.
"""

import unicodedata
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
from syntf.text.tokenizer import Memo, Read, combining_marks, normalize, tokenize

BLOCK_CHARACTERS = 1 << 20
"""How many characters a thread reads at a time; a text is never split."""

_LIMITS = (0x800, 0x10000, 0x20000, 0x110000)
"""Sizes of the table of characters; the smallest that covers the texts is used."""


def read_tokens(texts: Iterable[str]) -> Iterator[list[str]]:
    """Return the tokens of each text, with an apostrophe inside a word."""
    return map(tokenize, texts)


_FIRST_JOINED = 0x800
"""Below this code point only combining marks join with the character before them."""

_NO_CHARACTERS = np.zeros(1, dtype=np.uint32)

PYTHON = 1 << 29
"""The mark of a character whose lower case Python must find."""


def read_documents(
    texts: Iterable[str],
    term_of: Mapping[Any, int],
    empty: int,
    progress: Callable[[int], None] | None = None,
    *,
    read: Read[Any] = read_tokens,
) -> Documents:
    """Return the known terms of each text.

    `term_of` maps every token that `read` finds to a term, or to -1 if it has none. A text without
    any known term becomes the single term `empty`.
    """
    terms, starts = array("i"), array("q", [0])
    for tokens in read(texts):
        known = [term for token in tokens if (term := term_of[token]) >= 0]
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
    """Return the known terms of each text, by a table of tokens.

    A token beyond ASCII is looked up once in each call and not remembered after it.
    """
    find_other = Memo(table.find)

    limit = 0

    def read_block(block: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        nonlocal limit
        found, counts, limit = _read_block(block, table, empty, find_other, limit)
        return found, counts

    terms, counts = [np.empty(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
    blocks = list(_blocks(texts))
    threads = min(len(blocks), parallel.threads())
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for found, sizes in (pool.map if threads > 1 else map)(read_block, blocks):
            terms.append(found)
            counts.append(sizes)
            if progress:
                progress(len(sizes))
    return Documents(np.cumsum(np.concatenate(counts)), np.concatenate(terms))


def _read_block(
    block: list[str], table: TokenTable, empty: int, find_other: Mapping[str, int], first: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Return the known terms of some texts, how many each text has, and which limit was enough.

    first : the first of :data:`_LIMITS` to try.
    """
    counts = np.empty(len(block), dtype=np.int64)
    ascii = bytes(map(str.isascii, block))
    for number in range(first, len(_LIMITS)):
        found = token_table.compiled.read(
            table.slots, table.entries, table.forms,
            _NO_CHARACTERS if all(ascii) else characters(_LIMITS[number]), counts, ascii, block,
            table.longest, table.exact, empty, find_other, table.splits,
        )  # fmt: skip
        if found is not None:
            break
    return np.frombuffer(found, dtype=np.int32), counts, number


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    block, size = list[str](), 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


@cache
def letters(limit: int) -> bytes:
    """Return one bit for each code point below `limit`, lowest first: 1 for parts of words.

    These are the characters that :func:`syntf.text.tokenizer.letters_pattern` matches: letters,
    digits and combining marks. Its regular expression takes long to compile.

    >>> sum(byte.bit_count() for byte in letters(0x80))
    62
    """
    found = np.fromiter(map(str.isalnum, map(chr, range(limit))), dtype=bool, count=limit)
    found[list(combining_marks(limit))] = True
    return np.packbits(found, bitorder="little").tobytes()


@cache
def characters(limit: int) -> NDArray[np.uint32]:
    """Return what compiled code must know of each code point below `limit`.

    0 stands for a character that is no part of a word. Otherwise the lowest three bytes are the
    lower case in UTF-8, the next two bits are its number of bytes, or :data:`PYTHON` is set.

    >>> [hex(characters(0x800)[ord(character)]) for character in "AЖ-Σ"]
    ['0x1000061', '0x200b6d0', '0x0', '0x20000000']
    """
    bits = np.frombuffer(letters(limit), dtype=np.uint8)
    letter = np.unpackbits(bits, bitorder="little")[:limit].astype(bool)
    lower = np.zeros(limit, dtype=np.uint32)
    lower[: _LIMITS[1]] = lower_case(min(limit, _LIMITS[1]))
    last = 0x80 | lower & 0x3F
    two = 2 << 24 | last << 8 | 0xC0 | lower >> 6
    three = 3 << 24 | last << 16 | (0x80 | lower >> 6 & 0x3F) << 8 | 0xE0 | lower >> 12
    found = np.where(lower < 0x80, 1 << 24 | lower, np.where(lower < 0x800, two, three))
    return np.where(letter, np.where(lower == 0, PYTHON, found), 0).astype(np.uint32)


@cache
def lower_case(limit: int) -> NDArray[np.uint32]:
    """Return the lower case of each code point below `limit`; 0 where it depends on more.

    A character has no entry if it has a lower case of several characters or one that depends on
    its neighbours (Σ), or if :func:`~syntf.text.tokenizer.normalize` may change it or join it with
    the character before.

    >>> chr(lower_case(0x800)[ord("Ж")]), [lower_case(0x800)[ord(mark)] for mark in "Σ\u0301"]
    ('ж', [np.uint32(0), np.uint32(0)])
    """
    found = np.zeros(limit, dtype=np.uint32)
    joined = _joined_characters() if limit > _FIRST_JOINED else frozenset[str]()
    for point in range(limit):
        character = chr(point)
        lower = character.lower()
        if (
            len(lower) == 1
            and character != "Σ"
            and character not in joined
            and not unicodedata.combining(character)
            and normalize(character) == character
        ):
            found[point] = ord(lower)
    return found


@cache
def _joined_characters() -> frozenset[str]:
    """Return the characters that normalizing can join with the character before them."""
    decomposed = (unicodedata.decomposition(chr(point)).split() for point in range(0xFB50))
    pairs = (parts for parts in decomposed if len(parts) == 2 and parts[0][0] != "<")
    joined = {chr(int(second, 16)) for _, second in pairs}
    hangul = {chr(point) for point in range(0x1161, 0x1200)}  # vowels and finals
    return frozenset(joined | hangul)
