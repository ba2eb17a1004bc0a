"""Clusters: do documents that an analyst groups without labels have the same label?"""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

DIMENSIONS = 100
STARTS = 4
"""How often k-means begins anew; the best result counts."""


class ClusterScore(NamedTuple):
    """How well clusters agree with labels: 1 is perfectly; chance has an ARI of 0 on average."""

    nmi: float
    ari: float


def cluster(counts: csr_matrix, clusters: int) -> NDArray[np.int32]:
    """Group documents: tf-idf, the 100 leading directions, k-means on the unit sphere.

    The result is the same every time. Documents with equal counts are in the same cluster.
    """
    weighted = TfidfTransformer().fit_transform(counts)
    dimensions = min(DIMENSIONS, min(weighted.shape) - 1)
    if dimensions < 1:
        return np.zeros(weighted.shape[0], dtype=np.int32)
    reduced = TruncatedSVD(dimensions, random_state=0).fit_transform(weighted)
    model = KMeans(min(clusters, len(reduced)), n_init=STARTS, random_state=0)
    with warnings.catch_warnings():  # a release may have fewer different rows than clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: NDArray[np.int32] = model.fit_predict(normalize(reduced))
    return found


def score_clusters(counts: csr_matrix, labels: NDArray[np.str_]) -> ClusterScore:
    """Group the documents that have a label, into as many clusters as there are labels."""
    known = np.flatnonzero(labels != "")
    truth = labels[known]
    found = cluster(counts[known], len(np.unique(truth)))
    return ClusterScore(
        float(normalized_mutual_info_score(truth, found)), float(adjusted_rand_score(truth, found))
    )
