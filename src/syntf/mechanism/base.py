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
from syntf.core.parallel import Progress
from syntf.mechanism.reference import Weights


class Mechanism(Protocol):
    """A table of integer rows, one for each input, with its measured loss and a sampler.

    The last input is the document without a known word.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent. All its randomness
    comes from `source`, and the number of bytes it reads depends on the number of draws alone.
    """

    scheme: str
    """The name of the arithmetic behind the integers."""
    total: int
    """The sum of each row, a power of two."""
    batch_draws: int
    """How many draws to request in one call: enough to repay one pass over the table, few enough
    for memory."""
    epsilon: float
    """The privacy parameter ε of the paper."""
    loss: float
    """The tight privacy loss ℓ of one draw: the natural logarithm of `ratio`, rounded up."""
    ratio: Fraction
    """The largest ratio of two weights of the same output, exact."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of inputs, including the empty document, and the number of outputs."""

    @property
    def digest(self) -> str:
        """A hash of everything that determines the rows. It ties a guarantee to this table."""

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to `total`."""

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.signedinteger[Any]]:
        """Draw one output index for each input index.

        Draw i uses the i-th eight bytes of the source, whatever the rows are. `progress` is
        called with the number of draws just made.
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
    best_high, best_low = 1, 1
    for column in np.flatnonzero(approximate >= approximate.max() * (1 - 2.0**-48)).tolist():
        column_high, column_low = int(high[column]), int(low[column])
        if column_high * best_low > best_high * column_low:
            best_high, best_low = column_high, column_low
    return Fraction(best_high, best_low)
