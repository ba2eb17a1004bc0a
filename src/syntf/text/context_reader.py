"""The base of readers to which the meaning of a word depends on its context.

They read a text down to its terms in one step. A *term* is a tuple of words: what a token may count
as, the preferred word first. A token counts as the first of them that is known.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from syntf.core.progress import stage

Term = tuple[str, ...]

PIECE_CHARACTERS = 10_000
"""How many characters an analyzer gets at a time: spaCy and SudachiPy refuse long texts (SudachiPy
from 49,150 bytes on), and neural networks need memory in proportion."""

RUN_CHARACTERS = 200
"""A blank follows this many characters without one: long runs take spaCy quadratic time."""

_RUN = re.compile(rf"\S{{{RUN_CHARACTERS}}}")
_PIECE = re.compile(rf"\S.{{0,{PIECE_CHARACTERS - 1}}}(?=\s|\Z)", re.DOTALL)


def pieces(text: str) -> list[str]:
    """Cut a text at blanks into pieces that an analyzer can handle.

    NULs become blanks, and blanks are inserted into long runs without one.

    >>> pieces(" The cat\\x00sat. "), [len(piece) for piece in pieces("a" * 15_000)]
    (['The cat sat. '], [9848, 5226])
    """
    return _PIECE.findall(_RUN.sub(r"\g<0> ", text.replace("\0", " ")))


class ContextReader(ABC):
    """Counts known words, text by text.

    words : the known words.
    """

    name: str

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._columns = {word: column for column, word in reversed(list(enumerate(words)))}

    @abstractmethod
    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out. No text may raise an error."""

    def counts(self, texts: pl.Series) -> csr_matrix:
        """Count how often each text has each known word."""
        columns, counts, ends = list[int](), list[int](), [0]
        with stage("analysing texts", len(texts)) as advance:
            for terms in self._read(texts):
                found = Counter(map(self._column, terms))
                del found[-1]
                for column, count in sorted(found.items()):
                    columns.append(column)
                    counts.append(count)
                ends.append(len(columns))
                advance(1)
        parts = (np.array(part, dtype=np.int32) for part in (counts, columns, ends))
        return csr_matrix(tuple(parts), shape=(len(texts), len(self.words)))

    def known_share(self, texts: pl.Series) -> float:
        """Return the share of known words among all words that are not left out; 0 if none is."""
        columns = [self._column(term) for terms in self._read(texts) for term in terms]
        return 1 - columns.count(-1) / len(columns) if columns else 0.0

    def spellings(self, texts: pl.Series) -> list[str]:
        """Return the different words of all texts as they are written, without those left out."""
        return sorted({term[0] for terms in self._read(texts) for term in terms})

    def _read(self, texts: pl.Series) -> Iterator[list[Term]]:
        return self.terms(texts.cast(pl.String).fill_null("").to_list())

    def _column(self, term: Term) -> int:
        """Return the column of the word that a term counts as; −1 for an unknown word."""
        return next((self._columns[word] for word in term if word in self._columns), -1)
