"""Text → terms, in two steps: a text is read as tokens, a token stands for terms.

The steps are apart because whoever reads many texts remembers the terms of each token:
for :class:`Analyzer` finding tokens is then all the work. What a token is, an analysis
decides; `syntf.text.spacy_analyzer` is another one.

Nothing here touches the privacy loss: whatever terms a text yields, only the rows of
the mechanism decide what an observer can learn.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar, get_args

from syntf.core.choices import FAST
from syntf.core.choices import Morphology as Morphology
from syntf.core.errors import SyntfError
from syntf.text.lexicon import lexicon

Token = TypeVar("Token", bound=Hashable)
Read = Callable[[Iterable[str]], Iterable[Sequence[Token]]]


class Analysis(Protocol[Token]):
    """How texts become terms. The terms of a text must depend on that text alone."""

    name: str
    """As the guarantee records it: what it is, and of which version."""

    def read(self, texts: Iterable[str]) -> Iterable[Sequence[Token]]:
        """The tokens of each text, in order; any text has some or none, and none is refused."""

    def candidates(self, token: Token) -> tuple[str, ...]:
        """Terms for this token, the preferred first; none if it is left out."""

    def alone(self, word: str) -> Token:
        """The token of a word that stands by itself."""


LETTERS = re.compile(r"[^\W_]+")
"""Letters and digits of any script, in a row."""

_TOKEN = re.compile(f"{LETTERS.pattern}(?:['’]{LETTERS.pattern})?")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)?")
_NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy "
    "eighty ninety hundred thousand million billion trillion".split()
)


def tokens(text: str) -> list[str]:
    """The tokens of a text: letters and digits, with an apostrophe inside a word.

    >>> tokens("The cat's 2 kittens aren't mine, e-mail me_too.")
    ['The', "cat's", '2', 'kittens', "aren't", 'mine', 'e', 'mail', 'me', 'too']
    """
    return _TOKEN.findall(text)


def bare(token: str) -> str:
    """A token less a possessive ending, its apostrophe the plain one.

    >>> bare("Cat’s"), bare("o’clock")
    ('Cat', "o'clock")
    """
    word = token.replace("’", "'")
    return word[:-2] if word[-2:] in ("'s", "'S") else word


class Analyzer:
    """The fast analysis: a token is a word as found, whatever stands beside it.

    Parameters
    ----------
    morphology : ``lemma`` (dictionary form, lower case), ``lower`` or ``orth`` (as written).
    stop_words : terms to leave out, lower case; None for the public English list.
    numbers : keep numbers, in digits or in words.
    """

    name = FAST

    def __init__(
        self,
        morphology: Morphology = "lemma",
        *,
        stop_words: Set[str] | None = None,
        numbers: bool = False,
    ) -> None:
        check(morphology, stop_words)
        self.morphology = morphology
        self.stop_words = english_stop_words() if stop_words is None else frozenset(stop_words)
        self.numbers = numbers

    @staticmethod
    def read(texts: Iterable[str]) -> Iterator[list[str]]:
        return map(tokens, texts)

    def alone(self, word: str) -> str:
        return word

    def candidates(self, token: str) -> tuple[str, ...]:
        """Terms for this token, the preferred first; none if it is left out.

        The first one that a vocabulary knows counts: a lemma without a vector falls
        back to the word as written, and a capitalised word to its lower case.

        >>> Analyzer().candidates("Mice"), Analyzer("orth").candidates("Mice")
        (('mouse', 'mice'), ('Mice', 'mice'))
        >>> Analyzer().candidates("the"), Analyzer().candidates("2nd")
        ((), ())
        """
        word = bare(token)
        low = word.lower()
        number = bool(_NUMBER.fullmatch(low)) or low in _NUMBER_WORDS
        if not self.numbers if number else low in self.stop_words:
            return ()
        if self.morphology == "lower":
            return (low,)
        if self.morphology == "orth":
            return (word, low)
        lemma = lemmatize(low)
        return () if lemma in self.stop_words and not number else (lemma, low)


def check(morphology: Any, stop_words: Any) -> None:
    """Refuse what no analysis can go by."""
    if morphology not in get_args(Morphology):
        raise SyntfError(f"morphology must be lemma, lower or orth, not {morphology!r}")
    if isinstance(stop_words, str):
        raise SyntfError(f"stop_words must be a set of words, not the string {stop_words!r}")


def lemmatize(word: str) -> str:
    """The dictionary form of a lower-case English word, without looking at its neighbours.

    A form that several parts of speech share is taken as :mod:`syntf.text.lexicon` says; a word
    the lexicon lacks stays as it is.

    >>> [lemmatize(word) for word in ("mice", "playing", "best", "unixes")]
    ['mouse', 'play', 'best', 'unixes']
    """
    return lexicon().lemmas.get(word.lower(), word)


@cache
def english_stop_words() -> frozenset[str]:
    """512 English function words, a public list (see ``data/NOTICE.md``)."""
    return frozenset(listed("function_words.txt"))


def listed(name: str) -> Iterator[str]:
    """The lines of a list that comes with syntf."""
    text = files("syntf").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line)


def first_known(analyzer: Analysis[Token], known: Callable[[str], bool]) -> Callable[[Token], str]:
    """The function from a token to its first known term, or to '' if it has none."""
    return lambda token: next(filter(known, analyzer.candidates(token)), "")


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Remembered(dict[Key, Value]):
    """A function of tokens that is computed once for each, bounded in what it remembers."""

    MOST = 4_000_000

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self._function = function

    def __missing__(self, token: Key) -> Value:
        if len(self) >= self.MOST:
            self.clear()
        value = self[token] = self._function(token)
        return value
