"""Fit a vocabulary on texts: count in how many texts each term occurs, and select terms.

A fitted vocabulary depends on the texts. If it is used to release the same texts, the loss does not
cover what its words reveal, and the release is marked as not private.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import polars as pl

from syntf.core.errors import SyntfError
from syntf.settings import Settings
from syntf.text.reader import Reader, reader_for
from syntf.words.language import LanguagePack, find
from syntf.words.vectors import WordVectors
from syntf.words.vocabulary import Vocabulary


def fit_vocabulary(
    settings: Settings,
    pack: LanguagePack | None,
    vectors: WordVectors,
    texts: Iterable[pl.Series],
) -> Vocabulary:
    """Return the terms with a vector that occur in enough texts, sorted.

    ``settings.fit_vocabulary`` is the least number of texts. At most ``settings.max_size`` terms
    are kept, those in the most texts; of equal ones, the first in the alphabet.

    pack : the language of the texts; None for that of the settings.
    """
    frequency = document_frequency(settings, pack, vectors, texts)
    least = settings.fit_vocabulary or 1
    terms = [term for term, count in frequency.items() if count >= least]
    if not terms:
        raise SyntfError(
            f"no word with a word vector occurs in {least} or more texts: lower fit_vocabulary, "
            "give more texts, or check their column and language"
        )
    terms.sort(key=lambda term: (-frequency[term], term))
    return Vocabulary.given(sorted(terms[: settings.max_size]), vectors, provenance="fitted")


def document_frequency(
    settings: Settings,
    pack: LanguagePack | None,
    vectors: WordVectors,
    texts: Iterable[pl.Series],
) -> Counter[str]:
    """Count the texts that contain each term with a vector.

    With the morphology *orth*, each capitalisation of a word with a vector is a term of its own.

    >>> mice = pl.Series(["Mice, mice!", "a mouse"])
    >>> document_frequency(Settings(), None, WordVectors.embedded(), [mice])
    Counter({'mouse': 2})
    """
    pack = pack or find(settings.language)

    def reader(words: Iterable[str]) -> Reader:
        return reader_for(
            morphology=settings.morphology, stop_words=settings.stop_words,
            numbers=settings.numbers, analyzer=settings.analyzer, pack=pack, words=list(words),
        )  # fmt: skip

    frequency = Counter[str]()
    all_words = reader(vectors.words)
    for batch in texts:
        known = all_words
        if settings.morphology == "orth":
            known = reader(w for w in known.spellings(batch) if vectors.find(w) is not None)
        often = known.counts(batch).getnnz(axis=0)
        for column in np.flatnonzero(often).tolist():
            frequency[known.words[column]] += int(often[column])
    return frequency
