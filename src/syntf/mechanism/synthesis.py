"""Algorithm 1 of the paper for many documents at once: draw terms, replace each, count.

Each document has a distribution θ over its known terms. A document is kept as the list of its known
terms, with one entry for each occurrence: drawing an entry uniformly is drawing from θ of the tf
vector, and drawing it in proportion to its term's weight is drawing from θ of the weighted vector.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from syntf.core import drawing, entropy
from syntf.core.counts import Counts
from syntf.mechanism.base import Mechanism
from syntf.text.documents import Documents


def synthesize(
    documents: Documents,
    mechanism: Mechanism,
    *,
    length: int,
    weights: NDArray[np.float64] | None = None,
    systematic: bool = False,
    source: entropy.Source = entropy.system,
    progress: Callable[[int], None] | None = None,
) -> Counts:
    """Return synthetic counts, documents × outputs, int32.

    All draws are made in one call of ``mechanism.sample``, which may group them by term.
    `progress` is called with the number of words just drawn.

    Guarantee
    ---------
    Each document, even an empty one, gives exactly `length` words, and each word is one draw of
    the mechanism. With loss ℓ for each word, a document loses at most length·ℓ (sequential
    composition). Counting the words is postprocessing.
    """
    words = mechanism.sample(
        draw_terms(documents, length, source, weights, systematic=systematic),
        source=source,
        progress=progress,
    )
    starts = np.arange(len(documents) + 1, dtype=np.int64) * length
    return drawing.counted(starts, words.ravel(), mechanism.shape[1])


def synthesize_releases(
    documents: Documents,
    mechanism: Mechanism,
    *,
    lengths: Sequence[int],
    sources: Sequence[entropy.Source],
    weights: NDArray[np.float64] | None = None,
    systematic: bool = False,
    progress: Callable[[int], None] | None = None,
) -> list[Counts]:
    """Return several independent releases of the same documents, one for each length.

    Each release is what :func:`synthesize` returns for its length and its source. All words are
    drawn in one pass over the mechanism's table, which takes longer to compute than to draw from.

    Guarantee
    ---------
    Each release has the loss of :func:`synthesize`. The losses of all releases add up.
    """
    terms = [
        draw_terms(documents, length, source, weights, systematic=systematic).ravel()
        for length, source in zip(lengths, sources, strict=True)
    ]
    sizes = [part.size for part in terms]

    def one_after_the_other(size: int) -> bytes:
        return b"".join(source(8 * part) for source, part in zip(sources, sizes, strict=True))

    words = mechanism.sample(np.concatenate(terms), source=one_after_the_other, progress=progress)
    starts = [np.arange(len(documents) + 1, dtype=np.int64) * length for length in lengths]
    parts = np.split(words, np.cumsum(sizes)[:-1])
    return [
        drawing.counted(begin, part, mechanism.shape[1])
        for begin, part in zip(starts, parts, strict=True)
    ]


def draw_terms(
    documents: Documents,
    length: int,
    source: entropy.Source,
    weights: NDArray[np.float64] | None = None,
    *,
    systematic: bool = False,
) -> NDArray[np.int32]:
    """Draw `length` terms of each document from its θ: an array (documents, length).

    With `weights`, one for each term, θ is that of the weighted counts. Draws are independent, or
    `systematic`: at `length` equal steps through θ from a random start, so that each term is drawn
    as often as its share of θ says, up to one time. Eight bytes are read for each draw, or for each
    document if systematic, whatever the documents are, and a document's terms depend on it alone.

    Guarantee
    ---------
    None is needed. By the paper's lemma on randomised preprocessing, how the input of a mechanism
    is chosen does not change the mechanism's loss.
    """
    length = int(length)  # a NumPy integer of 32 bits would overflow in the product
    bits = entropy.words(source, len(documents) * (1 if systematic else length))
    # Integer units, so that a document's sum does not depend on the documents before it.
    units = None if weights is None else np.maximum(1, np.rint(weights * 2.0**20)).astype(np.int64)
    drawn = drawing.terms(
        documents.starts, documents.terms, bits, length, units, systematic=systematic
    )
    return _terms_at(documents, length, bits, units, systematic) if drawn is None else drawn


def _terms_at(
    documents: Documents,
    length: int,
    bits: NDArray[np.uint64],
    units: NDArray[np.int64] | None,
    systematic: bool,
) -> NDArray[np.int32]:
    """Return the terms that these bits select: the definition of what the compiled loop does."""
    draws = (bits >> np.uint64(11)) * 2.0**-53
    if systematic:
        draws = (np.arange(length) + draws[:, None]) / length
    draws = draws.reshape(len(documents), length)
    first, last = documents.starts[:-1, None], documents.starts[1:, None] - 1
    if units is None:
        places = first + (draws * (last - first + 1)).astype(np.int64)
    else:
        sums = np.concatenate([[0], np.cumsum(units[documents.terms])])
        low, high = sums[first], sums[last + 1]
        points = low + (draws * (high - low)).astype(np.int64)
        places = np.searchsorted(sums, points, side="right") - 1
    return documents.terms[np.clip(places, first, last)]
