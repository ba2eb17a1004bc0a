"""The whole way from texts to synthetic counts, for the command line and for scikit-learn.

Data flows one way: vectors and vocabulary make a rating, the rating a mechanism; texts
become documents over the vocabulary's inputs, the mechanism turns them into counts over
its outputs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from syntf import __version__, bounds, cache, entropy, mechanisms, token_table, vector_objects
from syntf.analysis import Analysis, Analyzer, Morphology
from syntf.arithmetic import fraction, positive
from syntf.composition import (
    Documents,
    document_frequency,
    fitted_idf,
    parted,
    public_idf,
)
from syntf.counts import Counts, matrix, stacked
from syntf.errors import SyntfError
from syntf.fitting import document_counts
from syntf.guarantee import Guarantee, Losses, caveats
from syntf.mechanism import Mechanism
from syntf.rating import WordRating
from syntf.reading import look_up, read_documents
from syntf.spacy_analysis import PREFIX, SpacyAnalyzer
from syntf.stages import Advance, Stages, silent
from syntf.synthesis import synthesize
from syntf.token_table import TokenTable
from syntf.topicality import names, topical_weights
from syntf.vectors import WordVectors
from syntf.vocabulary import Provenance, Remembered, Vocabulary, count_or_share, first_known

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Weighting = Literal["tf", "tfidf", "topical"]
Draws = Literal["independent", "systematic"]

BATCH = 1 << 15
"""Documents read at once: bounds memory, whatever the number of documents."""


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
    weights : ``tf``, ``tfidf`` or ``topical`` (:mod:`syntf.topicality`), how θ weighs terms.
    draws : ``independent`` draws from θ, as in the paper, or ``systematic`` ones, which spread
        over all of θ and keep more of the document at the same loss.
    idf : for ``tfidf``: ``public``, from the order of the word vectors, or ``fitted``.
    vocabulary : a file or a sequence of terms, inputs and outputs alike; None for the default.
    fit_vocabulary : take the terms of the texts themselves, found in `min_df` to `max_df` of
        them (counts, or shares below 1), and the `max_size` found most often; with topical
        `weights`, of those that may name something.
    max_size : of any other vocabulary, take the outputs whose vectors stand first: frequent words.
    synsets : extend the vocabulary by the synonyms of its terms in WordNet.
    vectors : a file of word vectors, ``spacy:MODEL``, :class:`~syntf.vectors.WordVectors`,
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


@dataclass
class Anonymizer:
    """A mechanism over a vocabulary, ready to turn texts into synthetic counts."""

    settings: Settings
    analyzer: Analysis[Any]
    vocabulary: Vocabulary
    mechanism: Mechanism
    vectors_digest: str
    weights: NDArray[np.float64] | None = None
    source: entropy.Source = entropy.system
    notes: Sequence[str] = ()
    """What was mended in the word vectors, in sentences; public as they are."""

    @classmethod
    def build(
        cls,
        settings: Settings,
        texts: Iterable[str] = (),
        *,
        source: entropy.Source = entropy.system,
        released: Set[str] = frozenset(),
        device: str | None = None,
        stages: Stages = silent,
    ) -> "Anonymizer":
        """Prepare everything. `texts` are gone through only where something is fitted on them.

        All draws come from `source`; if it is not the system's, the guarantee says so.
        `released` are SHA-256 of the files that hold the texts: a vocabulary built from one
        of them, or from the same texts, is fitted. `device` is that of :mod:`syntf.mechanisms`.
        """
        read = reading(settings, texts, released, stages)
        return cls.over(settings, *read, texts, source=source, device=device, stages=stages)

    @classmethod
    def over(
        cls,
        settings: Settings,
        analyzer: Analysis[Any],
        vectors: WordVectors,
        vocabulary: Vocabulary,
        texts: Iterable[str] = (),
        *,
        source: entropy.Source = entropy.system,
        device: str | None = None,
        stages: Stages = silent,
        rating: WordRating | None = None,
    ) -> "Anonymizer":
        """The same, once :func:`reading` has found how texts are read; `rating` if it is known."""
        mechanism = mechanisms.build(
            rating or rated(settings, vectors, vocabulary),
            epsilon=settings.epsilon,
            loss=settings.loss,
            neighbours=settings.neighbours,
            device=device,
            keep=vocabulary.provenance == "public",
            stages=stages,
        )
        made = cls(
            settings, analyzer, vocabulary, mechanism, vectors.digest,
            source=source, notes=vectors.notes,
        )  # fmt: skip
        if settings.weights == "tfidf":
            made.weights = made._idf(texts)
        elif settings.weights == "topical":
            rows = np.asarray(vocabulary.input_rows)
            made.weights = np.append(topical_weights(vectors)[rows], 1.0)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Without the tokens remembered, which are those of the texts, and the table of tokens.

        It is for the compiled code of one version; another process may have another, or none.
        """
        left_out = ("_term_of", "_table")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def anonymize(self, texts: Sequence[str], *, stages: Stages = silent) -> "csr_matrix":
        """Synthetic counts: one row a text, one column an output term, int32."""
        rows = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            rows += self.draw_in_turn(self.read(batch, stages=stages), stages=stages)
        return matrix(stacked(rows, len(self.vocabulary.outputs)))

    def read(
        self,
        texts: Sequence[str],
        *,
        stages: Stages = silent,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        """The known terms of each text; no draw yet.

        Where tokens have to be analysed, `term_of` remembers them, else this object does.
        """
        with stages("reading words", len(texts)) as advance:
            return self._read(texts, advance, term_of)

    def draw(self, documents: Documents, *, stages: Stages = silent) -> "csr_matrix":
        """Synthetic counts of documents that were read. Each call is a release of its own."""
        return matrix(self.draw_rows(documents, stages=stages))

    def draw_in_turn(self, documents: Documents, *, stages: Stages = silent) -> list[Counts]:
        """The same for :attr:`at_once` documents after the other."""
        return [self.draw_rows(some, stages=stages) for some in parted(documents, self.at_once)]

    @property
    def at_once(self) -> int:
        """Documents that are best drawn for in one call, of many: by their length alone, so that
        no limit is met by some texts and not by others."""
        return max(1, self.mechanism.at_once // int(self.settings.length))

    def draw_rows(self, documents: Documents, *, stages: Stages = silent) -> Counts:
        """The same as arrays alone, without SciPy."""
        with stages("drawing words", len(documents) * self.settings.length) as advance:
            return synthesize(
                documents, self.mechanism, length=self.settings.length,
                weights=self.weights, systematic=self.settings.draws == "systematic",
                source=self.source, progress=advance,
            )  # fmt: skip

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
            mechanism=mechanism.scheme,
            epsilon=mechanism.epsilon,
            neighbours=None if settings.neighbours is None else int(settings.neighbours),
            spelling=float(settings.spelling),
            length=int(settings.length),
            morphology=settings.morphology,
            synsets=bool(settings.synsets),
            analyzer=self.analyzer.name,
            weights=settings.weights,
            draws=settings.draws,
            vocabulary_size=size,
            inputs="outputs" if self.vocabulary.inputs is self.vocabulary.outputs else "vectors",
            input_size=len(self.vocabulary.inputs),
            loss_per_word=Losses(
                standard=bounds.standard_loss(mechanism.epsilon),
                improved=bounds.improved_loss(mechanism.epsilon, size),
                tight=mechanism.loss,
            ),
            loss_ratio=str(mechanism.ratio),
            loss_per_document=bounds.document_loss(mechanism.loss, settings.length),
            provenance=provenance,
            supplied=settings.supplied,
            seeded=seeded,
            kept_columns=list(kept_columns),
            shuffled=shuffled,
            digest=f"sha256:{mechanism.digest}",
            vocabulary_digest=f"sha256:{self.vocabulary.digest}",
            vectors_digest=f"sha256:{self.vectors_digest}",
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

    @cached_property
    def _table(self) -> TokenTable | None:
        """The inputs of all tokens, kept if these are public; None where each is to be analysed."""
        if not token_table.serves(self.analyzer):
            return None
        make = cache.tokens if self.vocabulary.provenance == "public" else TokenTable.build
        return make(self.analyzer, self.vocabulary.inputs)

    def _read(
        self,
        texts: Sequence[str],
        progress: Advance | None = None,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        if self._table is not None:
            return look_up(texts, self._table, self._empty, progress)
        known = self._term_of if term_of is None else term_of
        return read_documents(texts, known, self._empty, progress, read=self.analyzer.read)

    @property
    def _empty(self) -> int:
        return len(self.vocabulary.inputs)

    def _idf(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """A weight for every input, the empty document's included."""
        if self.settings.idf == "fitted":
            terms, count = self._empty + 1, 0
            frequency = np.zeros(terms, dtype=np.intp)
            every = iter(texts)
            while batch := list(islice(every, BATCH)):
                documents = self._read(batch)
                frequency += document_frequency(documents, terms)
                count += len(batch)
            return fitted_idf(frequency, count)
        return np.append(public_idf(np.asarray(self.vocabulary.input_rows)), 1.0)


def reading(
    settings: Settings,
    texts: Iterable[str] = (),
    released: Set[str] = frozenset(),
    stages: Stages = silent,
) -> tuple[Analysis[Any], WordVectors, Vocabulary]:
    """What reads a text under these settings: all that comes before a mechanism."""
    analyzer = _analyzer(settings)
    vectors = _vectors(settings, stages)
    vocabulary = _vocabulary(settings, texts, analyzer, vectors, released)
    if settings.synsets:
        vocabulary = vocabulary.with_synonyms(_fast(settings), vectors)
    if settings.neighbours is not None:
        vocabulary = vocabulary.with_every_input(vectors)
    return analyzer, vectors, vocabulary


def rated(settings: Settings, vectors: WordVectors, vocabulary: Vocabulary) -> WordRating:
    """How well words stand for each other: the same for every ε, loss, length and k."""
    return WordRating(
        vocabulary.inputs,
        vectors.at(vocabulary.input_rows),
        vocabulary.outputs,
        vectors.at(vocabulary.output_rows),
        spelling=settings.spelling,
    )


def _analyzer(settings: Settings) -> Analysis[Any]:
    if settings.analyzer == Analyzer.name:
        return _fast(settings)
    return SpacyAnalyzer(
        settings.analyzer.removeprefix(PREFIX),
        settings.morphology,
        stop_words=settings.stop_words,
        numbers=settings.numbers,
    )


def _fast(settings: Settings) -> Analyzer:
    return Analyzer(settings.morphology, stop_words=settings.stop_words, numbers=settings.numbers)


def _vectors(settings: Settings, stages: Stages) -> WordVectors:
    given = settings.vectors
    if given is None:
        return WordVectors.embedded()
    if isinstance(given, WordVectors):
        return given
    if not isinstance(given, str | PathLike):
        return vector_objects.from_object(given)
    name = str(given)
    if name.startswith(vector_objects.SPACY):
        return vector_objects.from_model(name.removeprefix(vector_objects.SPACY))
    return cache.vectors(name, stages)


def _vocabulary(
    settings: Settings,
    texts: Iterable[str],
    analyzer: Analysis[Any],
    vectors: WordVectors,
    released: Set[str],
) -> Vocabulary:
    if settings.fit_vocabulary:
        return Vocabulary.of_counts(
            *document_counts(texts, analyzer, vectors), vectors,
            min_df=settings.min_df, max_df=settings.max_df, max_size=settings.max_size,
            only=names if settings.weights == "topical" else None,
        )  # fmt: skip
    if settings.vocabulary is None:
        made = Vocabulary.default(vectors)
    elif isinstance(settings.vocabulary, str | PathLike):
        made = Vocabulary.read(
            settings.vocabulary, vectors,
            morphology=settings.morphology, released=released, texts=texts,
        )  # fmt: skip
    else:
        made = Vocabulary.given(settings.vocabulary, vectors)
    return made.most_frequent(settings.max_size)
