"""The whole way from texts to synthetic counts, for the command line and for scikit-learn.

Data flows one way: vectors and vocabulary make a rating, the rating a mechanism; texts
become documents over the vocabulary's inputs, the mechanism turns them into counts over
its outputs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf import __version__
from syntf.core import entropy
from syntf.core.choices import Provenance
from syntf.core.counts import Counts, matrix, stack
from syntf.core.progress import Advance, Stages, silent
from syntf.mechanism import build
from syntf.mechanism.base import Mechanism
from syntf.mechanism.rating import WordRating
from syntf.mechanism.synthesis import synthesize
from syntf.pipeline.prepare import rated, reading
from syntf.pipeline.settings import Settings
from syntf.pipeline.word_reader import WordReader
from syntf.privacy import bounds
from syntf.privacy.guarantee import Guarantee, Losses
from syntf.text.documents import (
    Documents,
    batches,
    document_frequency,
    fitted_idf,
    public_idf,
)
from syntf.text.tokenizer import Analysis
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import topical_weights
from syntf.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BATCH = 1 << 15
"""Documents read at once: bounds memory, whatever the number of documents."""


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
        device: str | None = None,
        stages: Stages = silent,
    ) -> "Anonymizer":
        """Prepare everything. `texts` are gone through only where something is fitted on them.

        All draws come from `source`; if it is not the system's, the guarantee says so.
        `device` is that of :mod:`syntf.mechanism.build`.
        """
        read = reading(settings, texts, stages)
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
        mechanism = build.build(
            rating or rated(settings, vectors, vocabulary),
            epsilon=settings.epsilon or 0.0,  # not used where there is a loss
            loss=settings.loss,
            neighbours=settings.neighbours,
            device=device,
            cache=vocabulary.provenance == "public",
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
        return {name: value for name, value in vars(self).items() if name != "reader"}

    def anonymize(self, texts: Sequence[str], *, stages: Stages = silent) -> "csr_matrix":
        """Synthetic counts: one row a text, one column an output term, int32."""
        rows = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            rows += self.draw_in_turn(self.read(batch, stages=stages), stages=stages)
        return matrix(stack(rows, len(self.vocabulary.outputs)))

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
        return [self.draw_rows(some, stages=stages) for some in batches(documents, self.at_once)]

    @property
    def at_once(self) -> int:
        """Documents that are best drawn for in one call, of many: by their length alone, so that
        no limit is met by some texts and not by others."""
        return max(1, self.mechanism.batch_draws // int(self.settings.length))

    def draw_rows(
        self,
        documents: Documents,
        *,
        source: entropy.Source | None = None,
        stages: Stages = silent,
    ) -> Counts:
        """Draw synthetic counts as arrays, without SciPy; `source` in place of the own one."""
        with stages("drawing words", len(documents) * self.settings.length) as advance:
            return synthesize(
                documents, self.mechanism, length=self.settings.length,
                weights=self.weights, systematic=self.settings.draws == "systematic",
                source=source or self.source, progress=advance,
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
            version=__version__,
        )

    @property
    def outputs(self) -> Sequence[str]:
        """The columns of the counts."""
        return self.vocabulary.outputs

    def term(self, word: str) -> int | None:
        """The input that a word counts as; None if it is left out."""
        number = self.reader.term_of[self.analyzer.token_of(word)]
        return number if number >= 0 else None

    @cached_property
    def reader(self) -> WordReader:
        """Finds the input words of texts."""
        public = self.vocabulary.provenance == "public"
        return WordReader(self.analyzer, self.vocabulary.inputs, public)

    def _read(
        self,
        texts: Sequence[str],
        progress: Advance | None = None,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        return self.reader.read(texts, progress, term_of)

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
