"""Readers: from texts to counts of known words.

*Non-interference.* The counts of a text depend on that text alone, and no text raises an error.
"""

from collections.abc import Sequence, Set
from typing import Literal, Protocol, get_args

import polars as pl
from scipy.sparse import csr_matrix

from syntf.core.checks import one_of
from syntf.core.errors import SyntfError
from syntf.settings import FAST, SPACY
from syntf.text.fast_reader import FastReader
from syntf.words.language import LanguagePack, embedded_pack

Morphology = Literal["lemma", "lower", "orth"]


class Reader(Protocol):
    """Counts known words in texts."""

    name: str
    """The name that the guarantee records, with a version where results may depend on it."""

    words: Sequence[str]
    """The known words: the columns of the counts."""

    def counts(self, texts: pl.Series) -> csr_matrix:
        """Count how often each text has each known word.

        Returns a matrix of int32, texts × words, with sorted indices. A missing text is empty.
        """

    def spellings(self, texts: pl.Series) -> list[str]:
        """Return the different words of all texts as they are written, without those left out."""


def reader_for(
    *,
    morphology: Morphology = "lemma",
    stop_words: Set[str] | None = None,
    numbers: bool = False,
    analyzer: str = FAST,
    pack: LanguagePack | None = None,
    words: Sequence[str],
) -> Reader:
    """Return the reader for an analyzer and a language.

    Parameters
    ----------
    morphology : ``lemma`` (dictionary form), ``lower`` or ``orth`` (as written).
    stop_words : words to leave out, lower case; None for the list of the pack or the pipeline.
    numbers : include numbers, in digits or in words.
    analyzer : ``fast``, or ``spacy:MODEL`` for an installed spaCy pipeline.
    pack : the language of the texts; None for the embedded English pack.
    words : the known words.

    Examples
    --------
    >>> reader = reader_for(words=["mouse", "run", "the", "o'clock"])
    >>> texts = pl.Series(["The mice ran; a mouse's mouse.", "2 o’clock", None])
    >>> reader.counts(texts).toarray().tolist()
    [[3, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    """
    one_of("morphology", morphology, get_args(Morphology))
    if isinstance(stop_words, str):
        raise SyntfError(f"stop_words must be a set of words, not the text {stop_words!r}")
    if analyzer.startswith(SPACY):
        from syntf.text.spacy_reader import SpacyReader

        model = analyzer.removeprefix(SPACY)
        return SpacyReader(words, model, morphology, stop_words=stop_words, numbers=numbers)
    pack = pack or embedded_pack()
    left_out = pack.stop_words if stop_words is None else stop_words
    if pack.tokenizer == "sudachi":
        from syntf.text.sudachi_reader import SudachiReader

        return SudachiReader(words, morphology, stop_words=left_out, numbers=numbers)
    return FastReader(words, morphology, stop_words=left_out, numbers=numbers, pack=pack)
