"""Look at a sample of the texts before a run: can these settings read them at all?

A wrong column, a wrong encoding or another language gives a release that is pure noise, and nothing
in it tells so. Therefore a run stops when hardly any word of a sample is known.

Guarantee
---------
None is needed: whether a run stops is seen by the owner alone, and a release holds no trace of it.
Fewer than :data:`FEWEST` texts are not judged, so that no single text decides.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syntf.core.errors import SyntfError
from syntf.text.languages import NAMES, guess_language
from syntf.text.tokenizer import Analysis, Analyzer
from syntf.vocabulary.coverage import coverage

FEWEST = 20
LARGEST = 200
_WORD = re.compile(r"[^\W_]+")
CHARACTERS = 2000
"""At most so many texts are looked at, and so many characters of each."""

KNOWN = 0.4
"""Least share of words that have a vector. English texts have 0.89 and more."""
EMPTY = 0.5
"""Largest share of texts without a known word."""
REPLACED = 0.1
"""Largest share of texts with bytes that are no text in the encoding."""


@dataclass(frozen=True)
class Sample:
    """What a sample of texts looks like.

    documents : the number of texts looked at.
    empty : the share of them without a known word.
    known : the share of words with a vector, stop words and numbers left out; 1 without words.
    replaced : the share of texts with characters that could not be decoded.
    language : the guessed language, a key of :data:`syntf.text.languages.NAMES`; None if unknown.
    """

    documents: int
    empty: float
    known: float
    replaced: float
    language: str | None

    def problems(self, *, english: bool = True) -> list[str]:
        """Say in sentences what is wrong and what to do; nothing for readable or too few texts.

        english : whether the words that are known are English.
        """
        if self.documents < FEWEST:
            return []
        found = []
        if self.replaced > REPLACED:
            found.append(
                f"{self.replaced:.0%} of the texts hold bytes that are not valid in this encoding: "
                "name the encoding of the file by --encoding, for example cp1252"
            )
        if english and self.language not in (None, "en"):
            found.append(
                f"the texts look {NAMES[self.language or '']}, and the embedded words are English: "
                "bring word vectors of that language (docs/vectors.md)"
            )
        elif self.empty > EMPTY:
            found.append(
                f"{self.empty:.0%} of the texts have no known word: check that --text names the "
                "column with the texts"
            )
        elif self.known < KNOWN:
            found.append(
                f"only {self.known:.0%} of the words are known: check the column, the encoding and "
                "the language of the texts"
            )
        return found


def look_at(texts: Sequence[str], analyzer: Analysis[Any], words: Sequence[str]) -> Sample:
    """Look at up to :data:`LARGEST` of the texts, evenly spaced.

    >>> from syntf.text.tokenizer import Analyzer
    >>> sample = look_at(["123"] * 30, Analyzer(), ["cat"])
    >>> sample.empty, sample.problems()[0][:42]
    (1.0, '100% of the texts have no known word: chec')
    """
    step = max(1, len(texts) // LARGEST)
    some = [text[:CHARACTERS] for text in texts[::step][:LARGEST]]
    known, unknown, empty = _counted(some, analyzer, frozenset(words))
    count = max(1, len(some))
    return Sample(
        documents=len(some),
        empty=empty / count,
        known=known / (known + unknown) if known + unknown else 1.0,
        replaced=sum("\ufffd" in text for text in some) / count,
        language=guess_language(some),
    )


def _counted(
    texts: Sequence[str], analyzer: Analysis[Any], words: frozenset[str]
) -> tuple[int, int, int]:
    """Count known words, unknown words, and texts without a known word."""
    if not isinstance(analyzer, Analyzer):  # only a pipeline of spaCy knows its words
        found = coverage(texts, analyzer, words)
        return found.known, found.unknown, found.empty
    known = unknown = empty = 0
    for text in texts:
        tokens = [token for token in _WORD.findall(text.lower()) if not token.isdigit()]
        said = [token for token in tokens if token not in analyzer.stop_words]
        of_these = sum(token in words for token in said)
        known += of_these
        unknown += len(said) - of_these
        empty += not of_these
    return known, unknown, empty


def refuse_unreadable(sample: Sample, *, english: bool) -> None:
    """Raise an error that names everything that is wrong with the texts."""
    problems = sample.problems(english=english)
    if problems:
        raise SyntfError(
            "; ".join(problems) + ". Nothing was released; --accept-coverage does so all the same"
        )
