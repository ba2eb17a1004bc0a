"""Discrete Gaussian noise: exact, in integers, many draws at once.

A discrete Gaussian of parameter σ² is an integer k with probability proportional to exp(−k²/2σ²)
(Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", 2020).

**One proposal.** Let B be a power of two, the *width*. Draw a *block* q ≥ 0 with probability
proportional to exp(−(qB)²/2σ²), an *offset* r, uniform on 0 … B−1, and a fair sign. They propose
±m with m = qB + r. Reject −0. Accept others with probability exp(−x), x = r(2qB + r)/2σ².

**Theorem.** An accepted value is exactly a discrete Gaussian, whatever was proposed before it.

*Proof.* A proposal and its acceptance have together the probability
c · exp(−(qB)²/2σ²) · (1/B) · (1/2) · exp(−x) = (c/2B) · exp(−m²/2σ²), as m² = (qB)² + r(2qB + r).
Without −0, every integer has exactly one (q, r, sign). So k is accepted with probability
proportional to exp(−k²/2σ²). Proposals use different random bits, so they are independent. ∎

**Irrational probabilities, exactly.** A block and an acceptance are each decided by one real number
U, uniform on [0, 1), whose bits are fair coins. With p of its bits read as the integer u, U lies in
[u, u+1)/2^p. It is compared with irrational numbers F, the cumulative probabilities of blocks or
exp(−x), of which we know *bounds*: integers L with L < 2^p·F < L + 3. If L ≤ u − 3 then F ≤ U, and
if L > u then U < F, whatever the other bits of U are. Otherwise 64 more bits of U are read, and F
is computed to 64 more places. With probability 1 this ends, and compares U with F itself: nothing
is rounded, no tail is cut off. At first p is 62 or 31; about 1 of 10⁸ draws needs more.
"""

from bisect import bisect_right
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache, partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from syntf.core import checks, entropy
from syntf.core.progress import stage

MOST_VARIANCE = 1 << 60  # everything fits into 64 bits
_AT_ONCE = 1 << 16  # proposals made together: they fit into a processor's cache
_SLACK = 3  # 2^p·F lies between its bound and this much more
_PLACES = 31  # bits of U that are compared with exp(−x) at first
_NEAR = 8  # exceeds the error of `_exponentials` by more than 1
_FAR = 1024  # up to this block x ≤ 1.001, and nothing overflows


class DiscreteGaussian:
    """Noise on integers: k with probability proportional to exp(−k²/2σ²).

    Parameters
    ----------
    variance : σ², from 1 to 2^60. The variance of the noise is this, or up to 10⁻⁶ of it less.
    bits : random bits that choose a block at first. Tests lower it, so that more draws need more.

    Guarantee
    ---------
    ``sample`` draws independent, exact discrete Gaussians (the theorem above). All randomness
    comes from `source`: 16 bytes a proposal, and eight more whenever a comparison is not settled.
    Their number depends on nothing but `count`, σ² and the noise itself.

    >>> bool(abs(DiscreteGaussian(100_000_000).sample(1000)).max() < 10 * 10_000)
    True
    """

    scheme = "discrete-gaussian/1"

    def __init__(self, variance: int, *, bits: int = 62) -> None:
        self.variance = checks.count("variance", variance, MOST_VARIANCE)
        # The width 2^shift is 1 below σ = 32, else from σ/64 to σ/32: few blocks, few rejections.
        self._shift = max(0, (self.variance.bit_length() - 11) // 2)
        self._bits = bits
        self._block_bounds = partial(_block_bounds, self.variance, self._shift)
        self._first_bounds = np.array(self._block_bounds(bits), dtype=np.int64)

    def sample(self, count: int, source: entropy.Source = entropy.system) -> NDArray[np.int64]:
        """Draw `count` independent values."""
        drawn, done = np.empty(count, dtype=np.int64), 0
        with stage("drawing noise", count) as advance:
            while done < count:
                values = self._accepted(min(count - done, _AT_ONCE), source)
                drawn[done : done + len(values)] = values
                done += len(values)
                advance(len(values))
        return drawn

    def _accepted(self, count: int, source: entropy.Source) -> NDArray[np.int64]:
        """Make proposals, each from different bits of two random words; return those accepted."""
        first, second = entropy.words(source, 2 * count).reshape(2, count)
        points = (first >> np.uint64(64 - self._bits)).astype(np.int64)
        blocks = self._first_bounds.searchsorted(points, side="right") - 1
        for i in np.flatnonzero(self._first_bounds[blocks] > points - _SLACK):
            blocks[i] = _settled(int(points[i]), self._bits, self._block_bounds, source)
        points = (second >> np.uint64(64 - _PLACES)).astype(np.int64)
        offsets = (second & np.uint64((1 << self._shift) - 1)).astype(np.int64)
        parts = offsets * ((blocks << (self._shift + 1)) + offsets)
        near = _exponentials(parts, 2 * self.variance)
        accepted = points < near
        for i in np.flatnonzero((np.abs(points - near) < _NEAR) | (blocks > _FAR)):
            part = int(offsets[i]) * ((int(blocks[i]) << (self._shift + 1)) + int(offsets[i]))
            bounds = partial(_exponential_bounds, part, 2 * self.variance)
            accepted[i] = _settled(int(points[i]), _PLACES, bounds, source) == 0
        values = (blocks << self._shift) + offsets
        negative = (first & np.uint64(1)).astype(bool)
        accepted &= (values > 0) | ~negative
        return np.where(negative, -values, values)[accepted]


def _settled(
    point: int, bits: int, bounds: Callable[[int], tuple[int, ...]], source: entropy.Source
) -> int:
    """Return how many F are at most a U with these first bits; read as many more as needed."""
    while True:
        point, bits = point << 64 | int(entropy.words(source, 1)[0]), bits + 64
        known = bounds(bits)
        found = bisect_right(known, point) - 1
        if known[found] <= point - _SLACK:
            return found


@lru_cache(maxsize=16)
def _block_bounds(variance: int, shift: int, bits: int) -> tuple[int, ...]:
    """Return the bounds of P(block < q) for q = 1, 2, …, after −3 for q = 0.

    Weights are integers in units of 2^−(bits+32), each with an error below 2. Blocks from the first
    of weight 0 on are left out: each has at most e^(−7/64) of the weight of the one before, so
    together they weigh less than 20 units. With N blocks the errors of a cumulative sum and of the
    total are below e = 2N + 20, and e is far below 2^28. The total is at least 2^(bits+32). So
    2^bits times their quotient has an error below 2e/2^32 < ½; round it down and subtract 1.
    """
    weights: list[int] = []
    while weight := _exponential((len(weights) << shift) ** 2, 2 * variance, bits + 32):
        weights.append(weight)
    sums = list(accumulate(weights))
    return (-_SLACK, *((each << bits) // sums[-1] - 1 for each in sums))


def _exponential_bounds(part: int, whole: int, bits: int) -> tuple[int, int]:
    return -_SLACK, _exponential(part, whole, bits) - 1


def _exponential(part: int, whole: int, bits: int) -> int:
    """Return 2^bits · exp(−part/whole), rounded down with an error below 1.001."""
    # There are 18 more digits than the result has, and Python rounds exponentials correctly.
    context = Context(bits // 3 + 20, ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])
    exponential = context.exp(context.divide(Decimal(-part), Decimal(whole)))
    return int(context.multiply(exponential, Decimal(1 << bits)))


def _exponentials(parts: NDArray[np.int64], whole: int) -> NDArray[np.int64]:
    """Return 2^31 · exp(−x) for x = part/whole, 0 ≤ x ≤ 1.001, with an error below 6.

    Cutting `part` and `whole` to 31 bits and dividing changes x by at most 3 units of 2^−31. The
    series 1 − x(1 − x/2(1 − x/3(…))) of 13 terms leaves 0.03 units. Its i-th step rounds by at most
    1 unit and passes on x/i of the error before it, together less than 2.8.
    """
    cut = max(0, whole.bit_length() - _PLACES)
    x = ((parts >> cut) << _PLACES) // (whole >> cut)
    result = np.full_like(x, 1 << _PLACES)
    for i in range(13, 0, -1):
        result = (1 << _PLACES) - ((x * result) >> _PLACES) // i
    return result
