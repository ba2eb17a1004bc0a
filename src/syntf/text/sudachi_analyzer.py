"""An analyzer for Japanese, which is written without blanks: SudachiPy finds the words.

Sudachi knows the parts of speech and the dictionary form of a word from its context, so a text is
read down to its terms in one step: here a token *is* the tuple of its candidate terms.

*Non-interference.* Every text is analysed by itself, and no text raises an error: characters that
Sudachi cannot handle are replaced, long texts are cut, and a piece on which it fails has no terms.
Each thread has a tokenizer of its own: one that two threads use at once fails for one of them, and
whose piece that is would depend on how long the text of the other is.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import cache
from importlib.metadata import version
from itertools import chain
from threading import local
from typing import Any

from syntf.core.choices import SUDACHI, Morphology
from syntf.core.errors import SyntfError
from syntf.language.pack import LanguagePack
from syntf.text.spacy_analyzer import pieces
from syntf.text.tokenizer import check_options

Terms = tuple[str, ...]

GRAMMAR = frozenset(("助詞", "助動詞", "記号", "補助記号", "空白", "感動詞", "接続詞", "代名詞"))
"""Parts of speech that name nothing: particles, auxiliary verbs, symbols, blanks, interjections,
conjunctions and pronouns."""

NUMERAL = "数詞"
DICTIONARY = "core"


class SudachiAnalyzer:
    """An analyzer that splits Japanese texts by SudachiPy's dictionary.

    Parameters
    ----------
    morphology : ``lemma`` (normalised dictionary form), ``lower`` or ``orth`` (as written).
    stop_words : terms to leave out; None for the list of the language pack.
    numbers : include numerals.
    pack : the language pack.
    """

    def __init__(
        self,
        morphology: Morphology = "lemma",
        *,
        stop_words: Set[str] | None = None,
        numbers: bool = False,
        pack: LanguagePack,
    ) -> None:
        check_options(morphology, stop_words)
        _tokenizer()
        self.morphology = morphology
        self.stop_words = pack.stop_words if stop_words is None else frozenset(stop_words)
        self.numbers = numbers
        dictionary = f"{DICTIONARY} {version('sudachidict_core')}"
        self.name = f"{SUDACHI}{version('sudachipy')} {dictionary}"

    def read(self, texts: Iterable[str]) -> Iterator[list[Terms]]:
        """Yield for each text its tokens that have terms."""
        return map(self._read, texts)

    def token_of(self, word: str) -> Terms:
        return tuple(chain.from_iterable(self._read(word)))

    def candidates(self, token: Terms) -> Terms:
        return token

    def _read(self, text: str) -> list[Terms]:
        normal = unicodedata.normalize("NFKC", text)
        return [terms for piece in pieces(normal) for terms in self._terms_of(piece)]

    def _terms_of(self, piece: str) -> list[Terms]:
        try:
            found = _tokenizer().tokenize(piece)
            return [terms for morpheme in found if (terms := self._terms(morpheme))]
        except MemoryError:
            raise
        except Exception:
            return []

    def _terms(self, morpheme: Any) -> Terms:
        word = morpheme.surface()
        part = morpheme.part_of_speech()
        if not any(map(str.isalnum, word)) or part[0] in GRAMMAR:
            return ()
        lower = word.lower()
        number = part[1] == NUMERAL
        normal = morpheme.normalized_form().lower()
        if not self.numbers if number else not self.stop_words.isdisjoint((lower, normal)):
            return ()
        if self.morphology == "lower":
            return (lower,)
        if self.morphology == "orth":
            return (word, lower)
        return tuple(dict.fromkeys((normal, morpheme.dictionary_form().lower(), lower)))


_own = local()


def _tokenizer() -> Any:
    """Return the tokenizer of this thread."""
    if not hasattr(_own, "tokenizer"):
        _own.tokenizer = _make_tokenizer()
    return _own.tokenizer


def _make_tokenizer() -> Any:
    try:
        from sudachipy import SplitMode

        return _dictionary().create(mode=SplitMode.B)
    except Exception as error:
        raise SyntfError(
            "Japanese texts are split by SudachiPy, which is not installed: "
            "pip install 'syntf[japanese]'"
        ) from error


@cache
def _dictionary() -> Any:
    """Return the dictionary, loaded once in a process."""
    from sudachipy import Dictionary

    return Dictionary(dict=DICTIONARY)


def part_of_speech(word: str) -> tuple[str, str] | None:
    """Return the normalised form of a single word and its part of speech, as lexicons have it.

    None for a word that Sudachi splits. Used to make a language pack.
    """
    found = list(_tokenizer().tokenize(word))
    if len(found) != 1:
        return None
    part = found[0].part_of_speech()[0]
    names = {"名詞": "noun", "動詞": "verb", "形容詞": "adj", "形状詞": "adj", "副詞": "adv"}
    return found[0].normalized_form().lower(), names.get(part, "other")
