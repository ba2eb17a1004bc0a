"""Find the output nearest to each input, by the levels of a rating."""

import json
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from syntf.core import cache
from syntf.core.parallel import in_blocks
from syntf.core.progress import stage
from syntf.mechanism.rating import BLOCK, Rating

SCHEME = "nearest/1"
"""Names the order. A change of any output that it gives must change this name."""


def nearest_outputs(rating: Rating, *, keep: bool = True) -> NDArray[np.int32]:
    """Return the output of highest level for each input; of equal ones, the first.

    keep : read from the cache and write to it. Use False for a vocabulary that was fitted on
        private texts: from nearest outputs and word vectors, most output words can be inferred.

    >>> from syntf.mechanism.rating import ArrayRating
    >>> rating = ArrayRating([[0.1, 0.9, 0.4, 0.9], [0.0, 0.0, 0.0, 0.2]])
    >>> nearest_outputs(rating, keep=False).tolist()
    [1, 3]
    """
    inputs, outputs = rating.shape
    parts = [SCHEME, 1, rating.shape, rating.digest]
    path = cache.folder() / f"{sha256(json.dumps(parts).encode()).hexdigest()}.neighbours"
    raw = cache.read(path, 4 * inputs) if keep else None
    if raw is not None:
        return np.frombuffer(raw, dtype="<i4")

    def search_block(block: slice) -> NDArray[np.int32]:
        best = rating.levels(np.arange(block.start, block.stop)).argmax(axis=1)
        return np.asarray(best, dtype="<i4")

    found = []
    with stage("finding nearest words", inputs) as advance:
        for best in in_blocks(search_block, inputs, max(1, BLOCK // outputs)):
            found.append(best)
            advance(len(best))
    nearest = np.concatenate(found)
    if keep:
        cache.store(path, nearest.tobytes())
    return nearest
