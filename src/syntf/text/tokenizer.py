"""Turn texts into tokens, and tokens into terms.

These are two steps so that the terms of each distinct token can be remembered: then finding tokens
is all the work. :class:`Analyzer` is the fast analyzer; :mod:`syntf.text.spacy_analyzer` has
another.

The privacy loss does not depend on this module: whatever terms a text yields, only the rows of the
mechanism determine what an attacker can learn.
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar, get_args

from syntf.core.checks import one_of
from syntf.core.choices import FAST, Morphology
from syntf.core.errors import SyntfError
from syntf.language.pack import LanguagePack, embedded_pack
from syntf.text.lexicon import lexicon

Token = TypeVar("Token", bound=Hashable)
Read = Callable[[Iterable[str]], Iterable[Sequence[Token]]]
"""A function from texts to the tokens of each text."""


class Analysis(Protocol[Token]):
    """What an analyzer offers. The terms of a text must depend on that text alone."""

    name: str
    """The name that the guarantee records, with a version."""

    def read(self, texts: Iterable[str]) -> Iterable[Sequence[Token]]:
        """Return the tokens of each text, in order. No text may raise an error."""

    def candidates(self, token: Token) -> tuple[str, ...]:
        """Return the terms this token may count as, the preferred one first; () to leave it out."""

    def token_of(self, word: str) -> Token:
        """Return the token of a single word without context."""


_MARKS = 0x300, 0xFE30
"""The code points among which there are combining marks."""


@cache
def combining_marks(limit: int = _MARKS[1]) -> frozenset[int]:
    """Return the combining marks below a code point that belong to words.

    Variation selectors and enclosing marks, which belong to symbols, are left out.
    """
    points = range(_MARKS[0], min(limit, _MARKS[1]))
    found = {point for point in points if unicodedata.category(chr(point)) in ("Mn", "Mc")}
    return frozenset(found - {*range(0x20D0, 0x2100), *range(0xFE00, 0xFE10)})


@cache
def marks() -> str:
    """Return :func:`combining_marks` as ranges of a regular expression."""
    points = combining_marks()
    firsts = sorted(point for point in points if point - 1 not in points)
    lasts = sorted(point for point in points if point + 1 not in points)
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True))


@cache
def letters_pattern() -> re.Pattern[str]:
    """Return what matches a run of letters and digits of any script, with their combining marks."""
    return re.compile(rf"(?:[^\W_]|[{marks()}])[^\W_]*(?:[{marks()}]+[^\W_]*)*")


@cache
def _token_pattern() -> re.Pattern[str]:
    word = letters_pattern().pattern
    return re.compile(f"{word}(?:['’]{word})?")


_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)?")


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text: runs of letters and digits, with an apostrophe inside a word.

    >>> tokenize("The cat's 2 kittens aren't mine, e-mail me_too.")
    ['The', "cat's", '2', 'kittens', "aren't", 'mine', 'e', 'mail', 'me', 'too']
    """
    return _token_pattern().findall(text)


def split_at_apostrophes(text: str) -> list[str]:
    """Return the tokens of a text in a language that writes elided words with an apostrophe.

    >>> split_at_apostrophes("L’heure d'été, 2 cafés")
    ['L', 'heure', 'd', 'été', '2', 'cafés']
    """
    return letters_pattern().findall(text)


def normalize(token: str) -> str:
    """Return a token in one spelling: composed characters, and full-width forms as usual ones.

    >>> normalize("Cafe\u0301"), normalize("ＡＢＣ"), normalize("ｶﾞ")
    ('Café', 'ABC', 'ガ')
    """
    return token if token.isascii() else unicodedata.normalize("NFKC", token)


def strip_possessive(token: str) -> str:
    """Normalize a token, remove a possessive ending and replace typographic apostrophes.

    >>> strip_possessive("Cat’s"), strip_possessive("o’clock")
    ('Cat', "o'clock")
    """
    word = normalize(token).replace("’", "'")
    return word[:-2] if word[-2:] in ("'s", "'S") else word


class Analyzer:
    """The fast analyzer: a token is a word as written, and its terms do not depend on context.

    Parameters
    ----------
    morphology : ``lemma`` (dictionary form, lower case), ``lower`` or ``orth`` (as written).
    stop_words : terms to leave out, lower case; None for the list of the language pack.
    numbers : include numbers, in digits or in words.
    pack : the language of the texts; None for the embedded English pack.
    """

    name = FAST

    def __init__(
        self,
        morphology: Morphology = "lemma",
        *,
        stop_words: Set[str] | None = None,
        numbers: bool = False,
        pack: LanguagePack | None = None,
    ) -> None:
        check_options(morphology, stop_words)
        self.pack = pack or embedded_pack()
        self.morphology = morphology
        self.stop_words = self.pack.stop_words if stop_words is None else frozenset(stop_words)
        self.numbers = numbers

    @property
    def splits_at_apostrophes(self) -> bool:
        """Whether an apostrophe divides a word into two tokens."""
        return self.pack.tokenizer == "elision"

    def read(self, texts: Iterable[str]) -> Iterator[list[str]]:
        return map(split_at_apostrophes if self.splits_at_apostrophes else tokenize, texts)

    def token_of(self, word: str) -> str:
        return word

    def candidates(self, token: str) -> tuple[str, ...]:
        """Return the terms this token may count as, the preferred one first; () to leave it out.

        The token counts as the first candidate that the vocabulary has: a lemma without a vector
        falls back to the word as written, and a capitalised word to its lower case.

        >>> Analyzer().candidates("Mice"), Analyzer("orth").candidates("Mice")
        (('mouse', 'mice'), ('Mice', 'mice'))
        >>> Analyzer().candidates("the"), Analyzer().candidates("2nd")
        ((), ())
        """
        word = strip_possessive(token)
        lower = word.lower()
        number = bool(_NUMBER.fullmatch(lower)) or lower in self.pack.number_words
        if not self.numbers if number else lower in self.stop_words:
            return ()
        if self.morphology == "lower":
            return (lower,)
        if self.morphology == "orth":
            return (word, lower)
        lemma = lemmatize(lower, self.pack)
        return () if lemma in self.stop_words and not number else (lemma, lower)


def check_options(morphology: Any, stop_words: Any) -> None:
    """Raise SyntfError if an analyzer cannot use these options."""
    one_of("morphology", morphology, get_args(Morphology))
    if isinstance(stop_words, str):
        raise SyntfError(f"stop_words must be a set of words, not the string {stop_words!r}")


def lemmatize(word: str, pack: LanguagePack | None = None) -> str:
    """Return the dictionary form of a lower-case word, by default English, without its context.

    :mod:`syntf.text.lexicon` decides between parts of speech. A word that the lexicon lacks is
    returned unchanged.

    >>> [lemmatize(word) for word in ("mice", "playing", "best", "unixes")]
    ['mouse', 'play', 'best', 'unixes']
    """
    return lexicon(pack).lemmas.get(word.lower(), word)


def english_stop_words() -> frozenset[str]:
    """Return 512 English function words, a public list (see ``data/NOTICE.md``)."""
    return embedded_pack().stop_words


def read_word_list(name: str) -> Iterator[str]:
    """Yield the lines of a word list in the package's data folder."""
    text = files("syntf").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line)


def first_known(analyzer: Analysis[Token], known: Callable[[str], bool]) -> Callable[[Token], str]:
    """Return a function from a token to its first known term, or to '' if it has none."""
    return lambda token: next(filter(known, analyzer.candidates(token)), "")


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(dict[Key, Value]):
    """A function as a dictionary: it computes each value once and remembers a bounded number."""

    MAX_ENTRIES = 4_000_000

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self._function = function

    def __missing__(self, key: Key) -> Value:
        if len(self) >= self.MAX_ENTRIES:
            self.clear()
        value = self[key] = self._function(key)
        return value
