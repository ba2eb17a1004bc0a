"""The whole way from texts to synthetic counts, for the command line and for scikit-learn.

Data flows one way: vectors and vocabulary make a rating, the rating a mechanism; texts
become documents over the vocabulary's inputs, the mechanism turns them into counts over
its outputs.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from syntf import __version__, bounds, cache, entropy
from syntf.analysis import Analysis, Analyzer, Morphology
from syntf.arithmetic import fraction, positive
from syntf.calibration import epsilon_for_loss
from syntf.composition import Documents, fitted_idf, public_idf, read_documents
from syntf.errors import SyntfError
from syntf.guarantee import Guarantee, Losses, caveats
from syntf.mechanism import SCHEME, ExponentialMechanism
from syntf.rating import WithEmptyDocument, WordRating
from syntf.spacy_analysis import PREFIX, SpacyAnalyzer
from syntf.stages import Advance, Stages, silent
from syntf.synthesis import synthesize
from syntf.vectors import WordVectors
from syntf.vocabulary import Provenance, Remembered, Vocabulary, first_known

Weighting = Literal["tf", "tfidf"]

BATCH = 1 << 15
"""Documents drawn for at once: bounds memory, whatever the number of documents."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a person can choose; the defaults are the paper's optimum on public words.

    epsilon : privacy parameter ε of the Exponential mechanism. Not the loss: see `loss`.
    loss : wanted tight loss per word; finds the ε for it, which `epsilon` then does not set.
    length : n, the words drawn for every document.
    spelling : s, how much a shared spelling counts against a substitute.
    morphology : ``lemma``, ``lower`` or ``orth``.
    analyzer : ``fast``, or ``spacy:MODEL`` for an installed spaCy pipeline.
    stop_words : terms to leave out; None for the analyzer's own public list.
    numbers : keep numbers.
    weights : ``tf`` or ``tfidf``, how θ weighs a document's terms.
    idf : for ``tfidf``: ``public``, from the order of the word vectors, or ``fitted``.
    vocabulary : a file or a sequence of terms, inputs and outputs alike; None for the default.
    fit_vocabulary : take the terms of the texts themselves, found in `min_df` of them.
    vectors : a file of word vectors, or :class:`~syntf.vectors.WordVectors`; None for the
        embedded ones.
    """

    epsilon: float = 47.5
    loss: float | None = None
    length: int = 150
    spelling: float = 0.3
    morphology: Morphology = "lemma"
    analyzer: str = "fast"
    stop_words: Set[str] | None = None
    numbers: bool = False
    weights: Weighting = "tf"
    idf: Provenance = "public"
    vocabulary: str | PathLike[str] | Sequence[str] | None = None
    fit_vocabulary: bool = False
    min_df: int = 2
    vectors: str | PathLike[str] | WordVectors | None = None

    @property
    def supplied(self) -> list[str]:
        """What the person brings in place of the embedded public data."""
        named = [
            name
            for name in ("vocabulary", "vectors", "stop_words")
            if getattr(self, name) is not None
        ]
        return named if self.analyzer == Analyzer.name else [*named, "analyzer"]

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        fraction("spelling", self.spelling)
        if self.loss is not None:
            positive("loss", self.loss)
        for name, value in (("length", self.length), ("min_df", self.min_df)):
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or value < 1:
                raise SyntfError(f"{name} must be a whole number, at least 1, not {value!r}")
        if self.length > 1 << 20:
            raise SyntfError(f"length must be at most {1 << 20}, not {self.length}")
        if self.weights not in get_args(Weighting):
            raise SyntfError(f"weights must be tf or tfidf, not {self.weights!r}")
        if not re.fullmatch(f"{Analyzer.name}|{PREFIX}.+", str(self.analyzer)):
            raise SyntfError(f"analyzer must be fast or {PREFIX}MODEL, not {self.analyzer!r}")
        if self.idf not in get_args(Provenance):
            raise SyntfError(f"idf must be public or fitted, not {self.idf!r}")
        if self.fit_vocabulary and self.vocabulary is not None:
            raise SyntfError("give a vocabulary or have one fitted, not both")


@dataclass
class Anonymizer:
    """A mechanism over a vocabulary, ready to turn texts into synthetic counts."""

    settings: Settings
    analyzer: Analysis[Any]
    vocabulary: Vocabulary
    mechanism: ExponentialMechanism
    weights: NDArray[np.float64] | None = None
    source: entropy.Source = entropy.system

    @classmethod
    def build(
        cls,
        settings: Settings,
        texts: Sequence[str] = (),
        *,
        source: entropy.Source = entropy.system,
        stages: Stages = silent,
    ) -> "Anonymizer":
        """Prepare everything. `texts` are looked at only where something is fitted on them.

        All draws come from `source`; if it is not the system's, the guarantee says so.
        """
        analyzer = _analyzer(settings)
        vectors = _vectors(settings)
        vocabulary = _vocabulary(settings, texts, analyzer, vectors)
        rating = WithEmptyDocument(
            WordRating(
                vocabulary.inputs,
                vectors.matrix[np.asarray(vocabulary.input_rows)],
                vocabulary.outputs,
                vectors.matrix[np.asarray(vocabulary.output_rows)],
                spelling=settings.spelling,
            )
        )

        def measure(epsilon: float) -> ExponentialMechanism:
            with stages("measuring the loss", rating.shape[0]) as advance:
                return cache.mechanism(rating, epsilon, advance)

        if settings.loss is None:
            mechanism = measure(settings.epsilon)
        else:
            mechanism = epsilon_for_loss(settings.loss, measure)
        made = cls(settings, analyzer, vocabulary, mechanism, source=source)
        if settings.weights == "tfidf":
            made.weights = made._idf(texts)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Without the tokens remembered, which are those of the texts."""
        return {name: value for name, value in vars(self).items() if name != "_term_of"}

    def anonymize(self, texts: Sequence[str], *, stages: Stages = silent) -> csr_matrix:
        """Synthetic counts: one row a text, one column an output term, int32."""
        rows = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            with stages("reading words", len(batch)) as advance:
                documents = self._read(batch, advance)
            with stages("drawing words", len(batch) * self.settings.length) as advance:
                rows.append(
                    synthesize(
                        documents, self.mechanism, length=self.settings.length,
                        weights=self.weights, source=self.source, progress=advance,
                    )
                )  # fmt: skip
        empty = csr_matrix((0, len(self.vocabulary.outputs)), dtype=np.int32)
        return rows[0] if len(rows) == 1 else vstack([empty, *rows], format="csr", dtype=np.int32)

    def guarantee(self, *, kept_columns: Sequence[str] = (), shuffled: bool = False) -> Guarantee:
        """What a release by :meth:`anonymize` promises."""
        settings, mechanism = self.settings, self.mechanism
        seeded = self.source is not entropy.system
        size = len(self.vocabulary.outputs)
        provenance: dict[str, Provenance] = {
            "vocabulary": self.vocabulary.provenance,
            "vectors": "public",
            "stop_words": "public",
            "idf": settings.idf if settings.weights == "tfidf" else "public",
        }
        return Guarantee(
            mechanism=SCHEME,
            epsilon=mechanism.epsilon,
            spelling=float(settings.spelling),
            length=int(settings.length),
            morphology=settings.morphology,
            analyzer=self.analyzer.name,
            weights=settings.weights,
            vocabulary_size=size,
            input_size=len(self.vocabulary.inputs),
            loss_per_word=Losses(
                standard=bounds.standard_loss(mechanism.epsilon),
                improved=bounds.improved_loss(mechanism.epsilon, size),
                tight=mechanism.loss,
            ),
            loss_ratio=str(mechanism.ratio),
            loss_per_document=bounds.document_loss(mechanism.loss, settings.length),
            provenance=provenance,
            kept_columns=list(kept_columns),
            shuffled=shuffled,
            digest=f"sha256:{mechanism.digest}",
            private=not seeded and "fitted" not in provenance.values(),
            caveats=caveats(
                seeded=seeded,
                provenance=provenance,
                supplied=settings.supplied,
                kept_columns=kept_columns,
            ),
            version=__version__,
        )

    def term(self, word: str) -> int | None:
        """The input that a word counts as; None if it is left out."""
        number = self._term_of[self.analyzer.alone(word)]
        return number if number >= 0 else None

    @cached_property
    def _term_of(self) -> Remembered[Any, int]:
        number = {term: i for i, term in enumerate(self.vocabulary.inputs)}
        term = first_known(self.analyzer, number.__contains__)
        return Remembered(lambda token: number.get(term(token), -1))

    def _read(self, texts: Sequence[str], progress: Advance | None = None) -> Documents:
        return read_documents(texts, self._term_of, self._empty, progress, read=self.analyzer.read)

    @property
    def _empty(self) -> int:
        return len(self.vocabulary.inputs)

    def _idf(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """A weight for every input, the empty document's included."""
        if self.settings.idf == "fitted":
            return fitted_idf(self._read(texts), self._empty + 1)
        return np.append(public_idf(np.asarray(self.vocabulary.input_rows)), 1.0)


def _analyzer(settings: Settings) -> Analysis[Any]:
    chosen: dict[str, Any] = {"stop_words": settings.stop_words, "numbers": settings.numbers}
    if settings.analyzer == Analyzer.name:
        return Analyzer(settings.morphology, **chosen)
    return SpacyAnalyzer(settings.analyzer.removeprefix(PREFIX), settings.morphology, **chosen)


def _vectors(settings: Settings) -> WordVectors:
    if settings.vectors is None:
        return WordVectors.embedded()
    if isinstance(settings.vectors, WordVectors):
        return settings.vectors
    return WordVectors.read(settings.vectors)


def _vocabulary(
    settings: Settings, texts: Sequence[str], analyzer: Analysis[Any], vectors: WordVectors
) -> Vocabulary:
    if settings.fit_vocabulary:
        return Vocabulary.fit(texts, analyzer, vectors, min_df=settings.min_df)
    if settings.vocabulary is None:
        return Vocabulary.default(vectors)
    if isinstance(settings.vocabulary, str | PathLike):
        return Vocabulary.read(settings.vocabulary, vectors)
    return Vocabulary.given(settings.vocabulary, vectors)
