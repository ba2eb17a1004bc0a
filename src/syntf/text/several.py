"""Read texts in several languages, each text with the pack of its own language.

The language of a text is that whose function words it has most of. Words that are function words
of more than one of the languages do not count. If that does not decide, the language that knows
most of its words is taken, and then the first.

:class:`SeveralAnalyzer` is the definition. :class:`SeveralReader` gives the same documents faster:
it reads all texts of a language together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.choices import ANALYZER_SEPARATOR
from syntf.core.progress import Advance
from syntf.language.pack import LanguagePack
from syntf.language.several import marked
from syntf.text.documents import Documents
from syntf.text.tokenizer import Analysis
from syntf.text.word_reader import WordReader

SeveralToken = tuple[int, Any]
"""The number of a language, and a token of its analyzer."""


@dataclass(frozen=True, eq=False)
class LanguageAnalyzers:
    """How texts in one language are read.

    pack : the language pack.
    analyzer : finds the terms of a text.
    plain : finds the words of a text in lower case, function words among them.
    """

    pack: LanguagePack
    analyzer: Analysis[Any]
    plain: Analysis[Any]

    @cached_property
    def reader(self) -> WordReader:
        """The reader of the words of the pack."""
        return WordReader(self.analyzer, self.pack.lines("words"))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the reader: its words are in the pack."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class SeveralAnalyzer:
    """An analyzer that reads each text with the analyzer of its language.

    Terms of all languages but the first are marked with the code of their language.
    """

    def __init__(self, languages: Sequence[LanguageAnalyzers]) -> None:
        self.languages = languages
        self.name = ANALYZER_SEPARATOR.join(dict.fromkeys(one.analyzer.name for one in languages))

    def read(self, texts: Iterable[str]) -> Iterator[list[SeveralToken]]:
        for text in texts:
            (number,) = self.choose([text]).tolist()
            analyzer = self.languages[number].analyzer
            yield [(number, token) for token in next(iter(analyzer.read([text])))]

    def token_of(self, word: str) -> SeveralToken:
        (number,) = self.choose([word]).tolist()
        return number, self.languages[number].analyzer.token_of(word)

    def candidates(self, token: SeveralToken) -> tuple[str, ...]:
        number, own = token
        language = self.languages[number]
        found = language.analyzer.candidates(own)
        return tuple(marked(found, language.pack.code)) if number else found

    def choose(self, texts: Sequence[str]) -> NDArray[np.intp]:
        """Return the number of the language of each text; each is looked at by itself."""
        often = np.stack([_known(reader, texts) for reader in self._function_words], axis=1)
        best = often == often.max(axis=1, keepdims=True)
        undecided = np.flatnonzero(best.sum(axis=1) > 1)
        if len(undecided):
            some = [texts[place] for place in undecided.tolist()]
            known = np.stack([_known(one.reader, some) for one in self.languages], axis=1)
            known = np.where(best[undecided], known, -1)
            best[undecided] = known == known.max(axis=1, keepdims=True)
        chosen: NDArray[np.intp] = np.argmax(best, axis=1)
        return chosen

    @cached_property
    def _function_words(self) -> list[WordReader]:
        """Readers of the function words that only one of the languages has."""
        lists = [one.pack.stop_words for one in self.languages]
        readers = []
        for number, one in enumerate(self.languages):
            others = frozenset[str]().union(*lists[:number], *lists[number + 1 :])
            readers.append(WordReader(one.plain, sorted(lists[number] - others)))
        return readers

    def __getstate__(self) -> dict[str, Any]:
        return {"languages": self.languages, "name": self.name}


@dataclass
class SeveralReader(WordReader):
    """Finds the known words of texts in several languages; see :class:`SeveralAnalyzer`.

    The words are those of the first language, followed by those of the others, which are marked.
    """

    analyzer: SeveralAnalyzer

    def read(
        self,
        texts: Sequence[str],
        progress: Advance | None = None,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        """Return the known words of each text, as numbers; ``len(words)`` for no known word.

        No token is remembered after the call.
        """
        chosen = self.analyzer.choose(texts)
        sizes = np.zeros(len(texts), dtype=np.int64)
        parts: list[tuple[NDArray[np.intp], Documents, int]] = []
        first = 0
        for number, language in enumerate(self.analyzer.languages):
            places = np.flatnonzero(chosen == number)
            found = _read(language.reader, [texts[place] for place in places.tolist()])
            sizes[places] = np.diff(found.starts)
            parts.append((places, found, first))
            first += len(language.reader.words)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        terms = np.empty(starts[-1], dtype=np.int32)
        for (places, found, first), language in zip(parts, self.analyzer.languages, strict=True):
            own = np.arange(len(found.terms)) + np.repeat(
                starts[places] - found.starts[:-1], np.diff(found.starts)
            )
            empty = found.terms == len(language.reader.words)
            terms[own] = np.where(empty, len(self.words), found.terms + first)
        if progress:
            progress(len(texts))
        return Documents(starts, terms)


def reader_for(analyzer: Analysis[Any], words: Sequence[str]) -> WordReader:
    """Return the reader for an analyzer, of one language or of several."""
    if isinstance(analyzer, SeveralAnalyzer):
        return SeveralReader(analyzer, words)
    return WordReader(analyzer, words)


def _read(reader: WordReader, texts: Sequence[str]) -> Documents:
    """Read texts without remembering their tokens."""
    return reader.read(texts, term_of=reader.new_terms())


def _known(reader: WordReader, texts: Sequence[str]) -> NDArray[np.int64]:
    """Count the known words of each text."""
    found = _read(reader, texts)
    known = np.concatenate([[0], np.cumsum(found.terms < len(reader.words), dtype=np.int64)])
    counts: NDArray[np.int64] = np.diff(known[found.starts])
    return counts
