"""Turn texts into synthetic counts, one word at a time.

Word vectors and a vocabulary give a rating of output words; the rating gives a mechanism. Texts
become documents of input words, and the mechanism turns them into counts of output words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf import __version__
from syntf.core import entropy, parallel
from syntf.core.choices import Provenance
from syntf.core.counts import Counts, matrix, stack
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.mechanism import build, gpu
from syntf.mechanism.base import Mechanism
from syntf.mechanism.rating import WordRating
from syntf.mechanism.synthesis import synthesize, synthesize_releases
from syntf.pipeline.prepare import load_words, rate_words, recorded_language
from syntf.pipeline.settings import Settings
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
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import topical_weights
from syntf.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BATCH = 1 << 15
"""Documents that are read together, which limits the memory."""

UNIFORM = 1e-6
"""Loss up to which all rows of a mechanism are the same but for rounding."""

REACHED = 0.99
"""Share of the wanted loss that a mechanism must have. The rest is rounding to integers."""


@dataclass
class Anonymizer:
    """A mechanism over a vocabulary, ready to turn texts into synthetic counts.

    settings : the settings it was built from.
    analyzer : splits texts into tokens and finds their terms.
    vocabulary : input and output words.
    mechanism : draws an output word for an input word.
    vectors_digest : SHA-256 of the word vectors.
    weights : weight of each input word when words of a document are drawn; None for counts.
    source : random bytes. Any source but the operating system's is marked NOT PRIVATE.
    notes : sentences on what was repaired in the word vectors, which are public.
    """

    settings: Settings
    analyzer: Analysis[Any]
    vocabulary: Vocabulary
    mechanism: Mechanism
    vectors_digest: str
    weights: NDArray[np.float64] | None = None
    source: entropy.Source = entropy.system
    notes: Sequence[str] = ()

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
        """Load words and vectors and build the mechanism.

        Parameters
        ----------
        settings : what a person chose.
        texts : texts to fit on; read only if the settings fit a vocabulary or an idf.
        source : random bytes for all draws.
        device : a GPU such as ``cuda`` that computes tables; None for the processor.
        stages : reports progress.

        Raises
        ------
        SyntfError
            If the device is missing, even if the cache has the table, or if the vocabulary
            cannot reach the wanted loss.
        """
        if device is not None:
            gpu.load_cupy(device)
        read = load_words(settings, texts, stages)
        return cls.from_parts(settings, *read, texts, source=source, device=device, stages=stages)

    @classmethod
    def from_parts(
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
        """Build the mechanism for words that :func:`~syntf.pipeline.prepare.load_words` loaded.

        `rating` is computed if it is not given; the other parameters are those of :meth:`build`.
        """
        find_digest = parallel.beside(lambda: vectors.digest)
        mechanism = build.build(
            rating or rate_words(settings, vectors, vocabulary),
            epsilon=settings.epsilon or 0.0,  # ignored if there is a loss
            loss=settings.loss,
            neighbours=settings.neighbours,
            device=device,
            cache=vocabulary.provenance == "public",
            stages=stages,
        )
        if settings.loss is not None:
            _check_loss(settings.loss, mechanism)
        anonymizer = cls(
            settings, analyzer, vocabulary, mechanism, find_digest(),
            source=source, notes=vectors.notes,
        )  # fmt: skip
        if settings.weights == "tfidf":
            anonymizer.weights = anonymizer._idf(texts)
        elif settings.weights == "topical":
            rows = np.asarray(vocabulary.input_rows)
            anonymizer.weights = np.append(topical_weights(vectors)[rows], 1.0)
        return anonymizer

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the reader: it remembers tokens of texts and depends on the compiled code."""
        return {name: value for name, value in vars(self).items() if name != "reader"}

    def anonymize(self, texts: Sequence[str], *, stages: Stages = silent) -> "csr_matrix":
        """Return synthetic counts (int32): one row per text, one column per output word."""
        rows = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            rows += self.draw_batches(self.read(batch, stages=stages), stages=stages)
        return matrix(stack(rows, len(self.vocabulary.outputs)))

    def read(
        self,
        texts: Sequence[str],
        *,
        stages: Stages = silent,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        """Return the known words of each text; nothing is drawn.

        `term_of` remembers the terms of tokens in place of this object's own memory.
        """
        with stages("reading words", len(texts)) as advance:
            return self.reader.read(texts, advance, term_of)

    def draw(self, documents: Documents, *, stages: Stages = silent) -> "csr_matrix":
        """Return synthetic counts of documents. Every call draws anew: the losses add up."""
        return matrix(self.draw_rows(documents, stages=stages))

    def draw_releases(
        self, documents: Documents, lengths: Sequence[int], *, stages: Stages = silent
    ) -> list["csr_matrix"]:
        """Return an independent release for each number of words, in place of ``settings.length``.

        All of them are drawn in one pass over the mechanism's table. The losses add up.
        """
        with stages("drawing words", len(documents) * sum(lengths)) as advance:
            releases = synthesize_releases(
                documents, self.mechanism, lengths=lengths, sources=[self.source] * len(lengths),
                weights=self.weights, systematic=self.settings.draws == "systematic",
                progress=advance,
            )  # fmt: skip
        return [matrix(release) for release in releases]

    def draw_batches(self, documents: Documents, *, stages: Stages = silent) -> list[Counts]:
        """Draw for :attr:`batch_documents` documents at a time; return the counts of each batch."""
        return [
            self.draw_rows(some, stages=stages) for some in batches(documents, self.batch_documents)
        ]

    @property
    def batch_documents(self) -> int:
        """The number of documents to draw for in one call. It does not depend on the texts."""
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
        """Return the guarantee of counts drawn by this object."""
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
            language=recorded_language(settings),
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
        """The output words, one per column of the counts."""
        return self.vocabulary.outputs

    def term(self, word: str) -> int | None:
        """Return the number of the input word that a word counts as; None if it is left out."""
        number = self.reader.term_of[self.analyzer.token_of(word)]
        return number if number >= 0 else None

    @cached_property
    def reader(self) -> WordReader:
        """The reader that finds the input words of texts."""
        public = self.vocabulary.provenance == "public"
        return WordReader(self.analyzer, self.vocabulary.inputs, public)

    def _idf(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return a weight for every input word, and one for the empty document."""
        if self.settings.idf == "fitted":
            terms, count = len(self.vocabulary.inputs) + 1, 0
            frequency = np.zeros(terms, dtype=np.intp)
            remaining = iter(texts)
            while batch := list(islice(remaining, BATCH)):
                documents = self.reader.read(batch)
                frequency += document_frequency(documents, terms)
                count += len(batch)
            return fitted_idf(frequency, count)
        return np.append(public_idf(np.asarray(self.vocabulary.input_rows)), 1.0)


def _check_loss(wanted: float, mechanism: Mechanism) -> None:
    """Refuse a loss that the mechanism cannot reach.

    Where every output word is as likely for any input word, there is nothing to lose and the
    loss does not matter. That is so for a single output word, or if all are neighbours.
    """
    if UNIFORM < mechanism.loss < REACHED * wanted:
        raise SyntfError(
            f"a loss of {wanted:g} per word cannot be reached with these words: choose at most "
            f"{int(100 * mechanism.loss) / 100:g}"
        )
