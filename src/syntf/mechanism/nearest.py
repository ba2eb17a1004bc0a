"""Find the outputs nearest to each input, by the levels of a rating."""

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.parallel import Progress, in_parallel
from syntf.mechanism import kernels, reference
from syntf.mechanism.rating import Rating, WordRating

Neighbours = NDArray[np.int32]
"""Output indices, one row for each input, the nearest first."""

SCHEME = "nearest/1"
"""Names the order. A change of any neighbour that it gives must change this name."""


def nearest(
    rating: Rating, count: int, progress: Progress | None = None, device: str | None = None
) -> Neighbours:
    """Return the `count` outputs of highest level for each input; of equal ones, the first.

    Computing inner products takes most of the time as long as `count` is small. `progress` is
    called with the number of inputs just done. `device` is a GPU such as ``cuda`` that finds the
    same neighbours.

    >>> from syntf.mechanism.rating import ArrayRating
    >>> nearest(ArrayRating([[0.1, 0.9, 0.4, 0.9], [0.0, 0.0, 0.0, 0.2]]), 3).tolist()
    [[1, 3, 2], [3, 0, 1]]
    """
    inputs, outputs = rating.shape
    if not 1 <= count <= outputs:
        raise SyntfError(
            f"neighbours must be at least 1 and at most the number of outputs, {outputs}; "
            f"got {count}"
        )
    if device is not None:
        from syntf.mechanism import gpu

        return gpu.neighbours(rating, count, device, progress)
    found = np.empty((inputs, count), dtype=np.int32)

    def search_block(block: slice) -> None:
        if isinstance(rating, WordRating):
            found[block] = rating.nearest(block, count)
        else:
            levels = rating.levels(np.arange(block.start, block.stop))
            found[block] = reference.nearest(levels, count)

    if isinstance(rating, WordRating):  # a block holds vectors, not the levels of all outputs
        rating.prepare()
        width, products = rating.vectors_in.shape[1], kernels.needs_matrix_products()
    else:
        width, products = outputs, True
    in_parallel(search_block, inputs, width, progress, matrix_products=products)
    return found
