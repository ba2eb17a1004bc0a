"""What is measured: rows to learn from, and rows of documents that took no part in learning.

Released rows, original texts, and sampled rows that are tested on real documents have one form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluate.corpus import Corpus, Numbers
from syntf.rows import Drawn
from syntf.settings import Settings
from syntf.words.language import find
from syntf.words.vectors import WordVectors

if TYPE_CHECKING:
    from syntf.evaluate.linkage import Holder

Vectors = NDArray[np.float64]
"""A public vector for each column of the counts; zeros where a word has none."""


@dataclass(frozen=True, eq=False)
class Release:
    """Rows of counts, as analysts and attackers see them.

    learn, labels, authors : the rows that they learn from, with the label and author of each.
    test : a row for each document of the corpus that is not learned from, in their order.
    vectors : public vectors of the words; None if there are none.
    drawn, holder : where rows belong to documents, their answers and who looks for them.
    """

    learn: csr_matrix
    labels: Numbers
    authors: Numbers
    test: csr_matrix
    vectors: Vectors | None = None
    drawn: Drawn | None = None
    holder: "Holder | None" = None

    @classmethod
    def of_rows(
        cls, corpus: Corpus, counts: csr_matrix, vectors: Vectors | None = None, **others: Any
    ) -> "Release":
        """Divide rows that belong to the documents of a corpus."""
        train = corpus.train
        labels, authors = corpus.labels[train], corpus.authors[train]
        return cls(counts[train], labels, authors, counts[~train], vectors, **others)


def vectors_of(terms: Sequence[str], settings: Settings) -> Vectors:
    """Return the public vector of each term, of length 1; zeros for a term that has none."""
    if settings.vectors is None:
        known = WordVectors.of_pack(find(settings.language))
    else:
        known = WordVectors.from_object(settings.vectors)
    rows = np.array([-1 if (row := known.find(term)) is None else row for term in terms])
    found = known.matrix[np.maximum(rows, 0)].astype(np.float64)
    found[rows < 0] = 0
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))


def original(corpus: Corpus) -> csr_matrix:
    """Count the words of the texts as they are written: those that a text to learn from has."""
    vectorizer = CountVectorizer()
    try:
        vectorizer.fit(corpus.texts.filter(corpus.train).to_list())
    except ValueError:  # no text has a word
        return csr_matrix((len(corpus), 1), dtype=np.int64)
    return vectorizer.transform(corpus.texts.to_list())
