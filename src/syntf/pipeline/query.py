"""Turn a plain query into a vector that an analyst compares with released counts.

The vector is what a release would hold of a document with these words, without the noise. It is
computed from the query and public knowledge: the words, the list of the release and the known
mechanism. Nothing is drawn and no text is looked at, so a query costs no privacy.
"""

from typing import TYPE_CHECKING

import numpy as np

from syntf.codebook.encoder import Encoded
from syntf.codebook.lists import EntryList, best_words
from syntf.core.counts import Rows, matrix
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentMechanism
from syntf.text.documents import Documents, term_frequencies

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def topic_queries(
    mechanism: DocumentMechanism, entry_list: EntryList, queries: Encoded
) -> "csr_matrix":
    """Return one row for each query, over the columns of a release of whole documents.

    From a list of topics, a query has the profile of the topic that is nearest to it. From a list
    of words, it has the profiles of the listed words nearest to each of its own words. A query
    without a known word has an empty row.
    """
    from scipy.sparse import csr_matrix

    width = len(mechanism.terms)
    if entry_list.kind == "topics":
        targets = entry_list.targets(queries, mechanism.encoder, mechanism.plan.draws)
        sets = entry_list.entries(targets.ravel()).reshape(len(queries), -1)
        rows = matrix(mechanism.profiles(entry_list, sets).rows(sets, width))
        known = np.diff(queries.counts.indptr) > 0
        found = csr_matrix(rows.multiply(known[:, None]), dtype=np.float64)
        found.eliminate_zeros()
        return found
    words, places = np.unique(queries.counts.indices, return_inverse=True)
    encoder, ones = mechanism.encoder, np.ones(len(words), dtype=np.int32)
    shape = len(words), queries.counts.shape[1]
    each = Encoded(encoder.word_vectors(words), Rows(ones, words, np.arange(len(words) + 1), shape))
    own = best_words(each, encoder, entry_list.rows, entry_list.vectors, 1)
    profiles = matrix(mechanism.profiles(entry_list, own).rows(own, width))
    occurrences = csr_matrix(
        (queries.counts.data, places, queries.counts.indptr), shape=(len(queries), len(words))
    )
    return csr_matrix(occurrences @ profiles, dtype=np.float64)


def word_queries(anonymizer: Anonymizer, queries: Documents) -> "csr_matrix":
    """Return one row for each query, over the output words of a release of single words.

    Every known word of a query adds the probability of each output word, less that of the least
    likely one, which is noise. A query without a known word has an empty row.
    """
    from scipy.sparse import csr_matrix, vstack

    counts = term_frequencies(queries, len(anonymizer.vocabulary.inputs))
    words = np.unique(counts.indices)
    mechanism, width = anonymizer.mechanism, len(anonymizer.outputs)
    if not len(words):
        return csr_matrix((len(queries), width), dtype=np.float64)
    rows = []
    for word in words.tolist():
        weights = np.asarray(mechanism.weights(word), dtype=np.int64)
        above = (weights - weights.min()) / float(int(weights.sum()))
        rows.append(csr_matrix(above))
    return csr_matrix(counts[:, words] @ vstack(rows).tocsr(), dtype=np.float64)
