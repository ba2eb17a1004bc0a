"""A reader of Japanese, which is written without blanks: SudachiPy finds the words.

*Non-interference.* Every text is analysed by itself, and no text raises an error: characters that
Sudachi cannot handle are replaced, long texts are cut, and a piece on which it fails has no terms.
Each thread has a tokenizer of its own: one that two threads use at once fails for one of them, and
whose piece that is would depend on how long the text of the other is.
"""

from collections.abc import Iterator, Sequence, Set
from functools import cache
from importlib.metadata import version
from threading import local
from typing import Any

import polars as pl

from syntf.core.extras import needed_for
from syntf.text.context_reader import ContextReader, Term, pieces

GRAMMAR = frozenset(("助詞", "助動詞", "記号", "補助記号", "空白", "感動詞", "接続詞", "代名詞"))
"""Parts of speech that name nothing: particles, auxiliary verbs, symbols, blanks, interjections,
conjunctions and pronouns."""

NUMERAL = "数詞"
DICTIONARY = "core"


class SudachiReader(ContextReader):
    """Reads Japanese words by SudachiPy's dictionary.

    Parameters
    ----------
    words : the known words.
    morphology : ``lemma`` (normalised dictionary form), ``lower`` or ``orth`` (as written).
    stop_words : words to leave out.
    numbers : include numerals.
    """

    def __init__(
        self, words: Sequence[str], morphology: str, *, stop_words: Set[str], numbers: bool
    ) -> None:
        super().__init__(words)
        self.morphology = morphology
        self.stop_words = stop_words
        self.numbers = numbers
        _tokenizer()
        dictionary = f"{DICTIONARY} {version('sudachidict_core')}"
        self.name = f"sudachi {version('sudachipy')} {dictionary}"

    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out."""
        for text in pl.Series(texts, dtype=pl.String).str.normalize("NFKC"):
            yield [term for piece in pieces(text) for term in self._terms_of(piece)]

    def _terms_of(self, piece: str) -> list[Term]:
        try:
            found = _tokenizer().tokenize(piece)
            return [term for morpheme in found if (term := self._term(morpheme))]
        except MemoryError:
            raise
        except Exception:
            return []

    def _term(self, morpheme: Any) -> Term:
        """Return the term of a word, or () to leave it out."""
        word = morpheme.surface()
        part = morpheme.part_of_speech()
        if not any(map(str.isalnum, word)) or part[0] in GRAMMAR:
            return ()
        lower = word.lower()
        normal = morpheme.normalized_form().lower()
        is_number = part[1] == NUMERAL
        if not self.numbers if is_number else not self.stop_words.isdisjoint((lower, normal)):
            return ()
        if self.morphology == "lower":
            return (lower,)
        if self.morphology == "orth":
            return (word, lower)
        return (normal, morpheme.dictionary_form().lower(), lower)


_own = local()


def _tokenizer() -> Any:
    """Return the tokenizer of this thread."""
    if not hasattr(_own, "tokenizer"):
        _own.tokenizer = _make_tokenizer()
    return _own.tokenizer


def _make_tokenizer() -> Any:
    with needed_for("a reader of Japanese", "japanese"):
        import sudachidict_core  # noqa: F401
        from sudachipy import SplitMode
    return _dictionary().create(mode=SplitMode.B)


@cache
def _dictionary() -> Any:
    """Return the dictionary, loaded once in a process."""
    from sudachipy import Dictionary

    return Dictionary(dict=DICTIONARY)
