"""A reader of Japanese, which is written without blanks: SudachiPy finds the words.

*Non-interference.* Every text is analysed by itself, and no text raises an error: characters that
Sudachi cannot handle are replaced, long texts are cut, and a piece on which it fails has no terms.
Each thread has a tokenizer of its own: one that two threads use at once fails for one of them, and
whose piece that is would depend on how long the text of the other is.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from importlib.metadata import version
from threading import local
from typing import Any

import polars as pl

from syntf.core.extras import needed_for
from syntf.text.context_reader import ContextReader, Term

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
        super().__init__(words, morphology)
        self.stop_words = stop_words
        self.numbers = numbers
        _dictionary()
        dictionary = f"{DICTIONARY} {version('sudachidict_core')}"
        self.name = f"sudachi {version('sudachipy')} {dictionary}"

    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out."""
        _dictionary()  # if it is missing here, this is an error and not an empty text
        return super().terms(pl.Series(texts, dtype=pl.String).str.normalize("NFKC").to_list())

    def analysed(self, piece: str) -> Iterable[Any]:
        """Return Sudachi's words."""
        if not hasattr(_own, "tokenizer"):
            from sudachipy import SplitMode

            _own.tokenizer = _dictionary().create(mode=SplitMode.B)
        found: Iterable[Any] = _own.tokenizer.tokenize(piece)
        return found

    def term(self, token: Any) -> Term:
        """Return the term of a word, or () to leave it out."""
        word = token.surface()
        part = token.part_of_speech()
        normal = token.normalized_form().lower()
        is_stop = not self.stop_words.isdisjoint((word.lower(), normal))
        if (
            not any(map(str.isalnum, word))
            or part[0] in GRAMMAR
            or (not self.numbers if part[1] == NUMERAL else is_stop)
        ):
            return ()
        return self._forms(word, normal, token.dictionary_form().lower())


_own = local()


@cache
def _dictionary() -> Any:
    """Return the dictionary, loaded once in a process."""
    with needed_for("a reader of Japanese", "japanese"):
        import sudachidict_core  # noqa: F401
        from sudachipy import Dictionary
    return Dictionary(dict=DICTIONARY)
