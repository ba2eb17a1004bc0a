"""Look at a sample of the texts before a run: can these settings read them at all?

A wrong column, a wrong encoding or another language gives a release that is pure noise, and nothing
in it tells so. Therefore a run stops when hardly any word of a sample is known.

Guarantee
---------
None is needed: whether a run stops is seen by the owner alone, and a release holds no trace of it.
Fewer than :data:`FEWEST` texts are not judged, so that no single text decides.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from syntf.core.choices import EMBEDDED
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.language import store
from syntf.language.several import SEPARATOR, joint_code
from syntf.pipeline.prepare import analyzer_for, vectors_for
from syntf.pipeline.settings import Settings
from syntf.text.languages import CODES, NAMES, guess_language, is_language
from syntf.text.tokenizer import Analysis, Analyzer
from syntf.vocabulary.coverage import coverage

FEWEST = 20
LARGEST = 200
_WORD = re.compile(r"[^\W_]+")
CHARACTERS = 500
"""At most so many texts are looked at, and so many characters of each."""

KNOWN = 0.4
"""Least share of words that have a vector. English texts have 0.89 and more."""
EMPTY = 0.5
"""Largest share of texts without a known word."""
NOTED_EMPTY = 0.1
"""Share of texts without a known word above which the owner is told."""
REPLACED = 0.1
"""Largest share of texts with bytes that are no text in the encoding, or with many NULs."""
NUL = 0.25
"""Share of NUL characters from which a text looks like UTF-16 that was read as something else."""
NUMBERS = 0.5
"""Largest share of texts that hold numbers and no word."""


@dataclass(frozen=True)
class Sample:
    """What a sample of texts looks like.

    documents : the number of texts looked at.
    empty : the share of them without a known word.
    blank : the share of them without a letter or a digit.
    numbers : the share of them that hold numbers and no word.
    known : the share of words with a vector, stop words and numbers left out; 1 without words.
    replaced : the share of texts with characters that could not be decoded.
    language : the guessed language, a key of :data:`syntf.text.languages.NAMES`; None if unknown.
    nul : the share of texts with so many NUL characters as UTF-16 read in another encoding has.
    """

    documents: int
    empty: float
    blank: float
    numbers: float
    known: float
    replaced: float
    language: str | None
    nul: float = 0.0

    def problems(self, language: str | None = EMBEDDED) -> list[str]:
        """Say in sentences what is wrong and what to do; nothing for readable or too few texts.

        language : the codes of the languages whose words are known; None if they are not known.
        """
        if self.documents < FEWEST:
            return []
        if self.nul > REPLACED:
            return [
                f"{self.nul:.0%} of the texts hold many NUL characters, as texts in UTF-16 do: add "
                "--encoding utf-16, or the encoding that the file has"
            ]
        found = []
        if self.replaced > REPLACED:
            found.append(
                f"{self.replaced:.0%} of the texts hold bytes that are not valid in this encoding: "
                "name the encoding of the file by --encoding, for example cp1252"
            )
        if language and self.language and not _is_one_of(self.language, language):
            found.append(
                f"the texts look {NAMES[self.language]}, and the known words are "
                f"{NAMES.get(language, language)}: {_language_advice(self.language)}"
            )
        elif self.numbers > NUMBERS:
            found.append(
                f"{self.numbers:.0%} of the texts hold numbers and no word: check that --text "
                "names the column with the texts"
            )
        elif self.blank > EMPTY:
            found.append(
                f"{self.blank:.0%} of the texts hold no letter and no digit (empty cells or emoji)"
                ": check that --text names the column with the texts"
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

    def notice(self) -> str:
        """Return a sentence on texts without a known word, if there are many; else nothing."""
        if self.documents < FEWEST or self.empty <= NOTED_EMPTY:
            return ""
        return (
            f"{self.empty:.0%} of the texts looked at have no known word: what is released for "
            "them says nothing about them"
        )

    def described(self) -> list[tuple[str, str]]:
        """Return what was found as names and values, for a table that the owner sees."""
        rows = [
            ("language", NAMES.get(self.language or "", "not recognised")),
            ("known words", "no words" if self._has_no_words else f"{self.known:.0%}"),
            ("texts without one", f"{self.empty:.0%}"),
        ]
        if self.blank:
            rows.append(("empty texts", f"{self.blank:.0%}"))
        if self.numbers:
            rows.append(("only numbers", f"{self.numbers:.0%} of the texts"))
        if self.replaced:
            rows.append(("undecodable bytes", f"in {self.replaced:.0%} of the texts"))
        if self.nul:
            rows.append(("NUL characters", f"in {self.nul:.0%} of the texts"))
        return rows

    @property
    def _has_no_words(self) -> bool:
        """Whether no text has a word, known or unknown, beside stop words and numbers."""
        return not self.documents or (self.empty == 1 and self.known == 1)


def _language_advice(guessed: str) -> str:
    """Say how to release texts that look like a language. The person decides, never the program.

    Which pack was used is part of a release, so it must not depend on the texts.
    """
    codes = CODES.get(guessed, (guessed,))
    installed = [code for code in (EMBEDDED, *store.installed_codes()) if code in codes]
    if installed:
        return f"add --language {installed[0]} if they are"
    return f"build a pack with syntf language build {codes[0]} (docs/languages.md)"


def language_of(settings: Settings) -> str | None:
    """Return the codes of the languages whose words these settings know; None if unknown."""
    return joint_code(store.find_all(settings.language)) if settings.vectors is None else None


def _is_one_of(guessed: str, codes: str) -> bool:
    """Tell whether a guess may be one of these languages."""
    return any(is_language(guessed, code) for code in codes.split(SEPARATOR))


def look_with(settings: Settings, texts: Sequence[str], stages: Stages = silent) -> Sample:
    """Look at some of the texts with the analyzer and the word vectors of these settings."""
    return look_at(texts, analyzer_for(settings), vectors_for(settings, stages).words)


def look_at(texts: Sequence[str], analyzer: Analysis[Any], words: Collection[str]) -> Sample:
    """Look at up to :data:`LARGEST` of the texts, evenly spaced.

    >>> from syntf.text.tokenizer import Analyzer
    >>> sample = look_at(["123"] * 30, Analyzer(), ["cat"])
    >>> sample.empty, sample.problems()[0][:42]
    (1.0, '100% of the texts hold numbers and no word')
    """
    step = max(1, len(texts) // LARGEST)
    some = [text[:CHARACTERS] for text in texts[::step][:LARGEST]]
    tokens = [_WORD.findall(text.lower()) for text in some]
    if isinstance(analyzer, Analyzer):
        known, unknown, empty = _counted(tokens, analyzer, words)
    else:  # only a pipeline of spaCy knows its words
        found = coverage(some, analyzer, words)
        known, unknown, empty = found.known, found.unknown, found.empty
    count = max(1, len(some))
    return Sample(
        documents=len(some),
        empty=empty / count,
        blank=sum(not each for each in tokens) / count,
        numbers=sum(bool(each) and all(map(str.isdigit, each)) for each in tokens) / count,
        known=known / (known + unknown) if known + unknown else 1.0,
        replaced=sum("\ufffd" in text for text in some) / count,
        language=guess_language(some),
        nul=sum(text.count("\0") > NUL * len(text) for text in some) / count,
    )


def describe_text(
    text: str, analyzer: Analysis[Any], words: Collection[str], *, language: str | None = EMBEDDED
) -> dict[str, Any]:
    """Return how many words of a single text are known, and notes on what makes it unreadable.

    The result has `words` and `known`, numbers of words without stop words and numbers, and
    `notes`, sentences for the owner of the text.

    >>> from syntf.text.tokenizer import Analyzer
    >>> describe_text("The cat: qwx zrt plk!", Analyzer(), ["cat"])["notes"]
    ['Only 25% of the words are known, so the release is hardly more than noise.']
    """
    found = coverage([text], analyzer, words)
    known, unknown = found.known, found.unknown
    notes = []
    guessed = guess_language([text[: LARGEST * CHARACTERS]])
    if "\ufffd" in text:
        notes.append("The text holds characters that could not be decoded.")
    if language and guessed and not _is_one_of(guessed, language):
        known_words = NAMES.get(language, language)
        notes.append(f"The text looks {NAMES[guessed]}, and the known words are {known_words}.")
    if not known and text.strip():
        notes.append("No word of the text is known, so the release says nothing about it.")
    elif known < KNOWN * (known + unknown):
        share = f"{known / (known + unknown):.0%}"
        notes.append(
            f"Only {share} of the words are known, so the release is hardly more than noise."
        )
    return {"known": known, "words": known + unknown, "notes": notes}


def _counted(
    texts: Sequence[Sequence[str]], analyzer: Analyzer, words: Collection[str]
) -> tuple[int, int, int]:
    """Count known words, unknown words, and texts without a known word; texts are lists of words.

    Words are looked up once, however often they occur.
    """
    left_out = analyzer.stop_words
    said = {word for word in chain.from_iterable(texts) if not word.isdigit()}.difference(left_out)
    known = said.intersection(words)
    of_each = [sum(map(known.__contains__, text)) for text in texts]
    together = sum(map(said.__contains__, chain.from_iterable(texts)))
    return sum(of_each), together - sum(of_each), of_each.count(0)


def refuse_unreadable(sample: Sample, language: str | None, done: str = "released") -> None:
    """Raise an error that names everything that is wrong with the texts.

    done : what does not happen to the texts, a participle.
    """
    problems = sample.problems(language)
    if problems:
        raise SyntfError(
            "; ".join(problems) + f". Nothing was {done}; --accept-coverage does so all the same"
        )
