"""The base of readers to which the meaning of a word depends on its context.

They read a text down to its terms in one step. A *term* is a tuple of words: what a token may count
as, the preferred word first. A token counts as the first of them that is known.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
    morphology : ``lemma``, ``lower`` or ``orth`` (as written).
    """

    name: str

    def __init__(self, words: Sequence[str], morphology: str) -> None:
        self.words = words
        self.morphology = morphology
        self._columns = {word: column for column, word in reversed(list(enumerate(words)))}

    @abstractmethod
    def analysed(self, piece: str) -> Iterable[Any]:
        """Return the tokens of a piece of a text. If this fails, the piece has none."""

    @abstractmethod
    def term(self, token: Any) -> Term:
        """Return the term of a token, or () to leave it out."""

    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out. No text raises an error."""
        for text in texts:
            yield [term for piece in pieces(text) for term in self._terms_of(piece)]

    def _terms_of(self, piece: str) -> list[Term]:
        try:
            return [term for token in self.analysed(piece) if (term := self.term(token))]
        except MemoryError:
            raise
        except Exception:
            return []

    def _forms(self, word: str, *lemmas: str) -> Term:
        """Return what a word may count as, by the morphology."""
        lower = word.lower()
        if self.morphology == "lower":
            return (lower,)
        return (word, lower) if self.morphology == "orth" else (*lemmas, lower)

    def counts(self, texts: pl.Series) -> csr_matrix:
        """Count how often each text has each known word."""
        columns, ends = list[int](), [0]
        with stage("analysing texts", len(texts)) as advance:
            for terms in self._read(texts):
                columns += [column for column in map(self._column, terms) if column >= 0]
                ends.append(len(columns))
                advance(1)
        parts = ([1] * len(columns), columns, ends)
        counts = csr_matrix(
            tuple(np.array(part, dtype=np.int32) for part in parts),
            shape=(len(texts), len(self.words)),
        )
        counts.sum_duplicates()
        return counts

    def spellings(self, texts: pl.Series) -> list[str]:
        """Return the different words of all texts as they are written, without those left out."""
        return sorted({term[0] for terms in self._read(texts) for term in terms})

    def _read(self, texts: pl.Series) -> Iterator[list[Term]]:
        return self.terms(texts.cast(pl.String).fill_null("").to_list())

    def _column(self, term: Term) -> int:
        """Return the column of the word that a term counts as; −1 for an unknown word."""
        return next((self._columns[word] for word in term if word in self._columns), -1)
