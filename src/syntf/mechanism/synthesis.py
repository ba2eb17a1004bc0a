"""Algorithm 1 of the paper for many documents at once.

*Guarantee.* Each document gives exactly `length` words, empty ones included, and each
word is one draw of the mechanism: with loss ℓ a word, a document loses length·ℓ
(sequential composition). Counting the words is postprocessing.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from syntf.core import drawing, entropy
from syntf.core.counts import Counts
from syntf.mechanism.exponential import Mechanism
from syntf.text.documents import Documents, draw_terms


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
    """Synthetic counts, documents × outputs, int32. `progress` hears of words drawn.

    All draws are made in one call of ``mechanism.sample``, which may group them by term.
    """
    words = mechanism.sample(
        draw_terms(documents, length, source, weights, systematic=systematic),
        source=source,
        progress=progress,
    )
    starts = np.arange(len(documents) + 1, dtype=np.int64) * length
    return drawing.counted(starts, words.ravel(), mechanism.shape[1])
