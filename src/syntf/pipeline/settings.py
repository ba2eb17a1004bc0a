"""All that a person can choose, checked when it is."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from syntf.core.errors import SyntfError
from syntf.core.exact import fraction, positive
from syntf.text.spacy_analyzer import PREFIX
from syntf.text.tokenizer import Analyzer, Morphology
from syntf.vocabulary.vocabulary import Provenance, count_or_share

Weighting = Literal["tf", "tfidf", "topical"]
Draws = Literal["independent", "systematic"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a person can choose; the defaults are the paper's optimum on public words.

    epsilon : privacy parameter ε of the Exponential mechanism. Not the loss: see `loss`.
    loss : wanted tight loss per word; finds the ε for it, which `epsilon` then does not set.
    neighbours : k, to have a word replaced by one of its k nearest outputs, or by any other,
        all alike: the loss is then half of ε, and every word with a vector is an input. None
        for the paper's rating, graded by similarity.
    length : n, the words drawn for every document.
    spelling : s, how much a shared spelling counts against a substitute.
    morphology : ``lemma``, ``lower`` or ``orth``.
    analyzer : ``fast``, or ``spacy:MODEL`` for an installed spaCy pipeline.
    stop_words : terms to leave out; None for the analyzer's own public list.
    numbers : keep numbers.
    weights : ``tf``, ``tfidf`` or ``topical`` (:mod:`syntf.vocabulary.topicality`), how θ weighs
    terms.
    draws : ``independent`` draws from θ, as in the paper, or ``systematic`` ones, which spread
        over all of θ and keep more of the document at the same loss.
    idf : for ``tfidf``: ``public``, from the order of the word vectors, or ``fitted``.
    vocabulary : a file or a sequence of terms, inputs and outputs alike; None for the default.
    fit_vocabulary : take the terms of the texts themselves, found in `min_df` to `max_df` of
        them (counts, or shares below 1), and the `max_size` found most often; with topical
        `weights`, of those that may name something.
    max_size : of any other vocabulary, take the outputs whose vectors stand first: frequent words.
    synsets : extend the vocabulary by the synonyms of its terms in WordNet.
    vectors : a file of word vectors, ``spacy:MODEL``,
    :class:`~syntf.vectors.word_vectors.WordVectors`,
        gensim's ``KeyedVectors`` or a spaCy pipeline; None for the embedded ones.
    """

    epsilon: float = 47.5
    loss: float | None = None
    neighbours: int | None = None
    length: int = 150
    spelling: float = 0.3
    morphology: Morphology = "lemma"
    analyzer: str = "fast"
    stop_words: Set[str] | None = None
    numbers: bool = False
    weights: Weighting = "tf"
    draws: Draws = "independent"
    idf: Provenance = "public"
    vocabulary: str | PathLike[str] | Sequence[str] | None = None
    fit_vocabulary: bool = False
    min_df: float = 2
    max_df: float = 1.0
    max_size: int | None = None
    synsets: bool = False
    vectors: Any = None

    @property
    def supplied(self) -> list[str]:
        """What the person brings in place of the embedded public data."""
        found = [
            name
            for name in ("vocabulary", "vectors", "stop_words")
            if getattr(self, name) is not None
        ]
        if self.synsets:
            found.append("wordnet")
        return found if self.analyzer == Analyzer.name else [*found, "analyzer"]

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        fraction("spelling", self.spelling)
        if self.loss is not None:
            positive("loss", self.loss)
        count_or_share("min_df", self.min_df, whole=False)
        count_or_share("max_df", self.max_df, whole=True)
        counts = {"length": self.length}
        for name in ("neighbours", "max_size"):
            if (given := getattr(self, name)) is not None:
                counts[name] = given
        for name, value in counts.items():
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or value < 1:
                raise SyntfError(f"{name} must be a whole number, at least 1, not {value!r}")
        if self.length > 1 << 20:
            raise SyntfError(f"length must be at most {1 << 20}, not {self.length}")
        for name, kinds in (("weights", Weighting), ("draws", Draws)):
            if getattr(self, name) not in get_args(kinds):
                choices = " or ".join(get_args(kinds))
                raise SyntfError(f"{name} must be {choices}, not {getattr(self, name)!r}")
        if not re.fullmatch(f"{Analyzer.name}|{PREFIX}.+", str(self.analyzer)):
            raise SyntfError(f"analyzer must be fast or {PREFIX}MODEL, not {self.analyzer!r}")
        if self.idf not in get_args(Provenance):
            raise SyntfError(f"idf must be public or fitted, not {self.idf!r}")
        if self.fit_vocabulary and self.vocabulary is not None:
            raise SyntfError("give a vocabulary or have one fitted, not both")
