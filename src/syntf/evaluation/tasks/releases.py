"""Draw releases of a corpus again and again, for tasks that analysts do with them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from scipy.sparse import csr_matrix

from syntf.core.counts import matrix
from syntf.core.progress import Stages, silent
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer, Drawn
from syntf.pipeline.query import topic_queries, word_queries
from syntf.pipeline.settings import Settings
from syntf.text.documents import term_frequencies


class Release(NamedTuple):
    """Released counts; in the document unit also the answers that they stand for."""

    counts: csr_matrix
    drawn: Drawn | None = None


class Releases(Protocol):
    """Texts that have been read once, to be released several times.

    vectorised : the counts of known words, before noise.
    """

    vectorised: csr_matrix

    def draw(self) -> Release:
        """Draw a release of all texts."""

    def vectorise(self, queries: Sequence[str]) -> csr_matrix:
        """Return the counts of known words of queries, over the columns of `vectorised`."""

    def query(self, queries: Sequence[str], release: Release) -> csr_matrix:
        """Return the vectors of queries over the columns of a release."""


def releases_of(
    texts: Sequence[str],
    settings: Settings,
    stages: Stages = silent,
    fit: Sequence[str] | None = None,
) -> Releases:
    """Read texts, to release them by these settings.

    fit : the texts that a vocabulary or an idf is fitted on, by default all.
    """
    if settings.unit == "document":
        return DocumentReleases(texts, settings, stages)
    return WordReleases(texts, settings, stages, texts if fit is None else fit)


class DocumentReleases:
    """Releases of whole documents, all together, as ``syntf anonymize`` makes them."""

    def __init__(self, texts: Sequence[str], settings: Settings, stages: Stages = silent) -> None:
        self._anonymizer = DocumentAnonymizer.build(settings, stages=stages)
        self.encoded = self._anonymizer.read(texts, stages=stages)
        self.mechanism = self._anonymizer.mechanism(len(texts))
        self.vectorised = matrix(self.encoded.counts)

    def draw(self) -> Release:
        """Draw a release of all texts."""
        drawn = self.mechanism.release(self.encoded)
        return Release(matrix(self.mechanism.described(drawn)[0]), drawn)

    def vectorise(self, queries: Sequence[str]) -> csr_matrix:
        """Return the counts of known words of queries, over the columns of `vectorised`."""
        return matrix(self._anonymizer.read(queries).counts)

    def query(self, queries: Sequence[str], release: Release) -> csr_matrix:
        """Return the vectors of queries over the columns of a release."""
        drawn = release.drawn
        entry_list = self.mechanism.general if drawn is None else drawn.sharpened or drawn.general
        return topic_queries(self.mechanism, entry_list, self._anonymizer.read(queries))


class WordReleases:
    """Releases of single words; what is fitted is fitted on the texts `fit`."""

    def __init__(
        self, texts: Sequence[str], settings: Settings, stages: Stages, fit: Sequence[str]
    ) -> None:
        self._anonymizer, self._stages = Anonymizer.build(settings, fit, stages=stages), stages
        self._documents = self._anonymizer.read(texts, stages=stages)
        self.vectorised = term_frequencies(self._documents, len(self._anonymizer.vocabulary.inputs))

    def draw(self) -> Release:
        """Draw a release of all texts."""
        return Release(self._anonymizer.draw(self._documents, stages=self._stages))

    def vectorise(self, queries: Sequence[str]) -> csr_matrix:
        """Return the counts of known words of queries, over the columns of `vectorised`."""
        return term_frequencies(self._anonymizer.read(queries), self.vectorised.shape[1])

    def query(self, queries: Sequence[str], release: Release) -> csr_matrix:
        """Return the vectors of queries over the columns of a release."""
        return word_queries(self._anonymizer, self._anonymizer.read(queries))
