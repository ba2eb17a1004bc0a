"""Mechanisms that are broken on purpose, each in a way that has happened somewhere.

:func:`faults` must find all of them, and nothing in the mechanisms as they are.
"""

from fractions import Fraction

import numpy as np
import pytest

from syntf.core import entropy
from syntf.core.errors import TableError
from syntf.core.exact import log_up
from syntf.mechanism import ExponentialMechanism, ResponseMechanism

RATINGS = np.random.default_rng(4).random((7, 9))


class Zero(ExponentialMechanism):
    """One weight is zero: this word is never replaced by that output."""

    def _weigh(self, rows):
        weights, sums = super()._weigh(rows)
        for place in np.flatnonzero(rows == 0):
            row = weights[place]
            rarest, best = row.argmin(), row.argmax()
            row[best] += row[rarest]
            row[rarest] = 0
        return weights, sums

    def _checked_weights(self, rows):
        return self._weigh(rows)[0]

    def _measure(self):
        found = super()._measure()
        return found._replace(low=np.maximum(found.low, 1))


class Unequal(ExponentialMechanism):
    """The remainder of rounding is forgotten: rows have different totals."""

    def _weigh(self, rows):
        weights, sums = super()._weigh(rows)
        weights[np.arange(len(rows)), weights.argmax(axis=1)] -= rows
        return weights, sums


class HiddenZero(ExponentialMechanism):
    """The table is correct, but the sampler never reaches its last output."""

    def sample(self, rows, **more):
        return np.minimum(super().sample(rows, **more), self.shape[1] - 2)


class OffByOne(ExponentialMechanism):
    """The cumulative row is searched from the wrong side: one integer gives another output."""

    def sample(self, rows, *, source=entropy.system):
        points = entropy.integers(source, len(rows), self._bits)
        upto = (np.cumsum(self.weights(row)) for row in rows)
        return np.array([a.searchsorted(p, side="left") for a, p in zip(upto, points, strict=True)])


class FloatingPoint(ExponentialMechanism):
    """A number with 53 bits is searched in a cumulative row of floating-point numbers."""

    def sample(self, rows, *, source=entropy.system):
        points = entropy.integers(source, len(rows), 53) * 2.0**-53
        upto = (np.cumsum(self.weights(row) / self.total) for row in rows)
        found = [a.searchsorted(p, side="right") for a, p in zip(upto, points, strict=True)]
        return np.minimum(found, self.shape[1] - 1)


class Remembering(ExponentialMechanism):
    """Entropy is read once and kept: every call uses the same bytes."""

    def sample(self, rows, *, source=entropy.system):
        kept = vars(self).setdefault("kept", {})
        return super().sample(rows, source=lambda n: kept.get(n) or kept.setdefault(n, source(n)))


class OwnGenerator(ExponentialMechanism):
    """The object has its own generator: forked and pickled copies repeat its numbers."""

    def sample(self, rows, *, source=entropy.system):
        generator = vars(self).setdefault("generator", np.random.default_rng())
        return super().sample(rows, source=generator.bytes)


class Stale(ExponentialMechanism):
    """Draw from a table for 10 % more ε than the table whose loss was measured."""

    def sample(self, rows, **more):
        other = ExponentialMechanism(self.rating, epsilon=1.1 * self.epsilon, total_bits=self._bits)
        return other.sample(rows, **more)


class OtherLoss(ExponentialMechanism):
    """The loss is that of a table for half of ε."""

    def __init__(self, ratings, *, epsilon, **more):
        super().__init__(ratings, epsilon=epsilon, **more)
        half = ExponentialMechanism(ratings, epsilon=epsilon / 2, **more)
        self.ratio, self.loss = half.ratio, half.loss


class RoundedDown(ExponentialMechanism):
    """The logarithm of the ratio is rounded down."""

    def __init__(self, ratings, **more):
        super().__init__(ratings, **more)
        self.loss = float(np.nextafter(self.loss, 0))


class ModuloByte(ResponseMechanism):
    """An answer is a byte modulo the number of answers: the first answers are more likely."""

    def sample(self, rows, *, source=entropy.system):
        words = entropy.words(source, len(rows))
        points = (words >> np.uint64(64 - self._bits)).astype(np.int64)
        byte = (words >> np.uint64(56)).astype(np.int64)
        return np.where(points < self._common, byte % self.answers, rows)


class Rejecting(ResponseMechanism):
    """Draw again if the true answer came: the use of entropy depends on the target."""

    def sample(self, rows, *, source=entropy.system):
        drawn = super().sample(rows, source=source)
        again = drawn == np.asarray(rows)
        if again.any():
            drawn[again] = super().sample(np.asarray(rows)[again], source=source)
        return drawn


class StaleResponse(ResponseMechanism):
    """Draw with 10 % more loss than was promised."""

    def sample(self, rows, **more):
        other = ResponseMechanism(self.answers, loss=1.1 * self.loss, total_bits=self._bits)
        return other.sample(rows, **more)


class Truthful(ResponseMechanism):
    """One answer is never drawn unless it is true."""

    def sample(self, rows, **more):
        drawn = super().sample(rows, **more)
        return np.where(drawn == 3, rows, drawn)


def make(kind, bits=62):
    if issubclass(kind, ResponseMechanism):
        return kind(9, loss=3.0, total_bits=bits)
    return kind(RATINGS, epsilon=12.0, total_bits=bits)


def faults(kind):
    """Return what is wrong with a mechanism: its table, its loss, its sampler or its entropy."""
    return {
        name
        for name, check in [("table", bad_table), ("sampler", bad_sampler), ("replay", bad_replay)]
        if check(kind)
    } | ({"edges"} if issubclass(kind, ExponentialMechanism) and bad_edges(kind) else set())


def bad_table(kind):
    """Compare the rows with the total, and the loss with brute force."""
    mechanism = make(kind)
    table = np.array([mechanism.weights(row) for row in range(mechanism.shape[0])])
    if table.min() < 1 or {sum(row) for row in table.tolist()} != {mechanism.total}:
        return True
    columns = [[int(w) for w in column] for column in table.T]
    worst = max(Fraction(max(column), min(column)) for column in columns)
    return worst != mechanism.ratio or mechanism.loss < log_up(worst)


def bad_sampler(kind):
    """Draw with all 4,096 integers of a 12-bit total and compare with the weights."""
    mechanism = make(kind, bits=12)
    raw = (np.arange(4096, dtype="<u8") << np.uint64(52)).tobytes()
    for row in range(mechanism.shape[0]):
        drawn = mechanism.sample(np.full(4096, row), source=lambda size: raw[:size])
        if np.bincount(drawn, minlength=9).tolist() != mechanism.weights(row).tolist():
            return True
    return False


def bad_edges(kind):
    """Draw the first and the last integer of each output, with a total of 2**62."""
    mechanism = make(kind)
    for row in range(mechanism.shape[0]):
        ends = np.cumsum(mechanism.weights(row)).tolist()
        points = [edge for a, b in zip([0, *ends], ends, strict=False) for edge in (a, b - 1)]
        raw = b"".join((max(0, point) << 2).to_bytes(8, "little") for point in points)
        drawn = mechanism.sample(np.full(len(points), row), source=lambda size, raw=raw: raw)
        if drawn.tolist() != np.repeat(np.arange(9), 2).tolist():
            return True
    return False


def bad_replay(kind):
    """Compare the bytes that are asked for: eight a draw, new ones in each call."""
    mechanism, asked = make(kind), []

    def source(size):
        asked.append(size)
        return entropy.Seeded(len(asked))(size)

    first, second = (mechanism.sample([0] * 200, source=source).tolist() for _ in range(2))
    mechanism.sample([6] * 200, source=source)
    return asked != [1600] * 3 or first == second


@pytest.mark.parametrize("kind", [ExponentialMechanism, ResponseMechanism])
def test_sound_mechanisms_have_no_faults(kind):
    assert faults(kind) == set()


@pytest.mark.parametrize(
    ("kind", "found_by"),
    [
        (Zero, "table"), (Unequal, "table"), (OtherLoss, "table"), (RoundedDown, "table"),
        (HiddenZero, "sampler"), (OffByOne, "edges"), (FloatingPoint, "edges"),
        (Stale, "sampler"), (Remembering, "replay"), (OwnGenerator, "replay"),
        (ModuloByte, "sampler"), (Rejecting, "replay"), (StaleResponse, "sampler"),
        (Truthful, "sampler"),
    ],
)  # fmt: skip
def test_a_broken_mechanism_is_found(kind, found_by):
    assert found_by in faults(kind)


@pytest.mark.parametrize("change", [1, -1, 100])
def test_a_flipped_weight_is_refused(change):
    """The row drawn from must be the row accounted for."""
    mechanism = ExponentialMechanism(RATINGS * 0.8 + 0.1, epsilon=10.0)
    levels = mechanism.rating._levels
    levels[2, 3] = int(levels[2, 3]) + change
    mechanism.sample([0, 1, 3, 4, 5, 6])
    with pytest.raises(TableError, match="nothing was drawn"):
        mechanism.sample([0, 2])
