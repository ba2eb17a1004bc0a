"""What a mechanism is, and what both mechanisms share.

**Theorem.** Let every input v have a row of integer weights W[v, ·] ≥ 1, all rows with the same
total, and draw output w with probability W[v, w] / total. For any two inputs and any output, the
ratio of its probabilities is at most ``max_w (max_v W[v, w] / min_v W[v, w])``, because the common
total cancels. Call the logarithm of this ratio ℓ. Then one draw is ℓ-differentially private with
all inputs adjacent, and ℓ is tight: the rows that hold the extremes attain it.

The theorem assumes nothing about how the weights were computed. Rounding, clipping and
floating-point error while *building* rows change the rows, and ℓ is measured on the rows as they
are. :func:`largest_ratio` measures it.
"""

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import entropy
from syntf.core.errors import SyntfError, TableError

Weights = NDArray[np.int64]
"""Integer weights of outputs."""


class Mechanism(Protocol):
    """Rows of integers, one for each input, with their loss and a sampler.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent. All its randomness
    comes from `source`, and the number of bytes it reads depends on the number of draws alone.
    """

    scheme: str
    """The name of the arithmetic behind the integers."""
    total: int
    """The sum of each row, a power of two."""
    loss: float
    """The privacy loss ℓ of one draw: at least the natural logarithm of `ratio`."""

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two weights of the same output, exact."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of inputs and of outputs."""

    @property
    def digest(self) -> str:
        """A hash of everything that determines the rows. It ties a guarantee to these rows."""

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to `total`."""

    def sample(
        self, rows: ArrayLike, *, source: entropy.Source = entropy.system
    ) -> NDArray[np.signedinteger[Any]]:
        """Draw one output index for each input index.

        Draw i uses the i-th eight bytes of the source, whatever the rows are.
        """


def check_rows(rows: ArrayLike, inputs: int) -> NDArray[Any]:
    """Check that all row indices are integers from 0 to `inputs` − 1 and return them unchanged."""
    indices: NDArray[Any] = np.asarray(rows)
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        raise SyntfError(f"rows must be integers, not {indices.dtype}")
    if indices.size and not (indices.min() >= 0 and indices.max() < inputs):
        raise SyntfError(
            f"rows must lie in 0 … {inputs - 1}; got {indices.min()} … {indices.max()}"
        )
    return indices


def largest_ratio(low: Weights, high: Weights) -> Fraction:
    """Return the largest high/low of all outputs, compared as exact fractions.

    Guarantee
    ---------
    If `low` and `high` are the least and the greatest weight of each output over all rows, the
    logarithm of the result is the tight loss of one draw (the theorem above).
    """
    if low.min() < 1:
        raise TableError("a weight below 1 was measured: an output would be impossible")
    approximate = high / low  # two conversions and one division: relative error below 2**-51
    near = np.flatnonzero(approximate >= approximate.max() * (1 - 2.0**-48)).tolist()
    return max(Fraction(int(high[column]), int(low[column])) for column in near)
