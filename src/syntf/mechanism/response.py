"""Randomised response in integers: the true answer or any of M public answers.

**Rows.** Each of the M answers weighs b, the *background*. What is left of the total, T − M·b, is
added to the weight of the true answer.

**Theorem.** Any two rows differ in the two true answers alone. There the ratio of their weights is
R = (T − M·b + b) / b, exactly. So one draw is ln R-differentially private with any two inputs
adjacent, and no smaller number is true. b is the least integer for which ln R is at most the
loss that was asked for.

**What an input is does not matter.** The theorem assumes nothing about how the true answer is
found. Whatever looks at one document alone and names one of the M answers is covered.
"""

import hashlib
import json
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import entropy
from syntf.core.checks import positive
from syntf.core.errors import SyntfError
from syntf.core.exact import log_up
from syntf.mechanism.base import Weights, check_rows

SCHEME = "response-int62/1"
"""Names the arithmetic: a change in any integer it gives must change this name."""


class ResponseMechanism:
    """Draw the true answer, or any of M answers, all equally likely.

    Parameters
    ----------
    answers : M, the number of public answers.
    loss : the largest privacy loss of one draw, above 0.
    total_bits : every row sums to ``2**total_bits``. Tests lower it to try every draw there is.

    Attributes
    ----------
    loss : the loss that was asked for. `ratio` is at most e to this power.
    ratio : the exact ratio R of the theorem.
    background : b, the weight of an answer that is not the true one.
    keep_probability : the exact probability that the true answer is drawn.
    digest : a hash of everything that determines the rows.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent. All its randomness
    comes from `source`, eight bytes a draw, whatever the inputs are.

    Examples
    --------
    >>> mechanism = ResponseMechanism(1000, loss=10.0)
    >>> round(float(mechanism.keep_probability), 3)  # e^10 / (e^10 + 999)
    0.957
    >>> mechanism.sample([3, 999, 0]).shape
    (3,)
    """

    scheme = SCHEME

    def __init__(self, answers: int, *, loss: float, total_bits: int = 62) -> None:
        self.loss = positive("loss", loss)
        self.total = 1 << total_bits
        self._bits = total_bits
        if not (0 < total_bits <= 62 and 1 <= answers <= self.total >> 6):
            raise SyntfError(f"{answers} answers do not fit a total of 2**{total_bits}")
        self.answers = int(answers)
        self.background = _background(self.loss, self.total, self.answers)
        self._common = self.answers * self.background

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of inputs and of answers, which are the same."""
        return self.answers, self.answers

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.total - self._common + self.background, self.background)

    @property
    def keep_probability(self) -> Fraction:
        return Fraction(self.total - self._common + self.background, self.total)

    @property
    def digest(self) -> str:
        parts = [SCHEME, self._bits, self.answers, self.loss.hex(), self.background]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to the total."""
        check_rows(np.array([row]), self.answers)
        weights = np.full(self.answers, self.background, dtype=np.int64)
        weights[row] += self.total - self._common
        return weights

    def sample(
        self, rows: ArrayLike, *, source: entropy.Source = entropy.system
    ) -> NDArray[np.int64]:
        """Draw one answer for each true answer. Draw i uses the i-th eight bytes of the source."""
        true: NDArray[Any] = check_rows(rows, self.answers)
        points = entropy.integers(source, true.size, self._bits).reshape(true.shape)
        return np.where(points < self._common, points // self.background, true)


@lru_cache(maxsize=64)
def _background(loss: float, total: int, answers: int) -> int:
    """Find the least b for which the logarithm of the ratio is at most `loss`."""

    def keeps_to_loss(background: int) -> bool:
        rest = total - answers * background
        return log_up(Fraction(rest + background, background)) <= loss

    # Search near the solution in floating point, or everywhere if it is not there.
    most = total // answers
    guess = int(total / (exp(min(loss, 700.0)) + answers - 1))
    width = 4 + (guess >> 44)
    first, last = max(1, guess - width), min(most, guess + width)
    if first > last or (first > 1 and keeps_to_loss(first)) or not keeps_to_loss(last):
        first, last = 1, most
    candidates = range(first, last + 1)
    place = bisect_left(candidates, True, key=keeps_to_loss)
    if place == len(candidates):
        raise SyntfError(f"a loss of {loss:g} is below what whole numbers can express")
    return candidates[place]
