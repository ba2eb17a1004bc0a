"""Look for counts that cannot have been drawn from the table that a release states.

Nobody can prove that counts were drawn from a table, but some counts could not have been. Let P(w)
be the largest probability of the output word w in any row of the table. Whatever a document was,
and however its n words were chosen, the probability of a row of counts c is at most

    B(c) = n! / ∏ c(w)! · ∏ P(w)^c(w).

**Likelihood.** Let A be any distribution over rows that was fixed beforehand. If a row is drawn
from the table, the expected value of A(c)/B(c) is at most ΣA(c) = 1, so by Markov's inequality it
exceeds 10⁹ with a chance of at most 10⁻⁹. Here A is an urn (Dirichlet-multinomial), which gives
rows with repeated words more probability than a nearly uniform table does. Several urns are
averaged. Over all rows, both the mean and the product of the ratios have an expected value of at
most 1, because documents are drawn independently. The test rejects true counts that are passed off
as drawn with a small loss. At a large loss nearly every row is possible, and the test says little.

**Repeated rows.** A second document has the row c with a probability of at most B(c); also of at
most the n-th power of the largest probability that a row of the table gives to the distinct words
of c, since all n words must be among them; and, for independent draws, of at most the multinomial
probability with c/n. If the chance that any two documents share
such a row is below 10⁻⁹, the row was copied.
"""

from functools import partial
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.core.parallel import in_blocks
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.verification.result import Finding

CERTAINTY = log(1e9)
"""How unlikely an event must be to count as impossible: one in 10⁹, as a logarithm."""

URNS = (0.125, 0.5, 2.0, 8.0)
"""Sizes of the urns before the first draw, as multiples of n. A smaller urn repeats more words."""

NEGLIGIBLE = -40.0
"""Ratios below e to this power change no mean that could be rejected."""

CHECKED_ROWS = 1 << 12
"""Documents that are looked at together. The system clears new memory, so less of it is faster."""


class RepeatedRows:
    """Finds rows with the same counts as an earlier row, over the shards of a release.

    This needs no table, so it can be done while the table is derived.
    """

    def __init__(self, outputs: int) -> None:
        mixed = _mixed(np.arange(1, 2 * outputs + 1, dtype=np.uint64))
        self._multipliers = mixed[:outputs], mixed[outputs:]
        self._keys: list[list[NDArray[np.uint64]]] = []

    def find(self, counts: Rows) -> NDArray[np.intp]:
        """Return the rows of the next shard that occurred before, there or in an earlier one.

        Rows are compared by two random-looking sums of 64 bits.
        """
        rows = len(counts.indptr) - 1
        if not rows:
            return np.empty(0, dtype=np.intp)
        blocks = [
            self._keys_of(counts, a, min(a + CHECKED_ROWS, rows))
            for a in range(0, rows, CHECKED_ROWS)
        ]
        self._keys += blocks
        before = [np.concatenate(parts) for parts in zip(*self._keys, strict=True)]
        order = np.argsort(before[0], kind="stable")  # equal keys in the order of the documents
        same = before[0][order[1:]] == before[0][order[:-1]]
        same &= before[1][order[1:]] == before[1][order[:-1]]
        repeated = np.sort(order[1:][same]) - (len(before[0]) - rows)
        return np.asarray(repeated[repeated >= 0])

    def _keys_of(self, counts: Rows, start: int, stop: int) -> list[NDArray[np.uint64]]:
        """Return both sums of each of some rows."""
        starts = counts.indptr[start : stop + 1]
        own = slice(starts[0], starts[-1])
        odd = (2 * counts.data[own] + 1).astype(np.uint64)
        columns = counts.indices[own]
        return [
            np.add.reduceat(table.take(columns) * odd, starts[:-1] - starts[0])
            for table in self._multipliers
        ]


class Plausibility:
    """Collects evidence over the shards of a release."""

    def __init__(self, mechanism: Mechanism, length: int, documents: int, draws: str) -> None:
        self.length, self.documents, self.independent = length, documents, draws == "independent"
        self._log_largest = np.log(_largest_weights(mechanism)) - log(mechanism.total)
        outputs = mechanism.shape[1]
        counts = range(length + 1)
        self._log_factorial = np.array([lgamma(count + 1) for count in counts])
        # Under an urn of size s, the probability of a row without its multinomial coefficient is
        # constant + Σ gain[c]; the coefficient cancels in A/B.
        sizes = [length * multiple for multiple in URNS]
        self._constant = [lgamma(size) - lgamma(size + length) for size in sizes]
        self._gain = np.array(
            [[lgamma(c + size / outputs) - lgamma(size / outputs) for c in counts]
             for size in sizes]
        )  # fmt: skip
        self._shares = self._largest_shares(mechanism)
        self._best = self._best_ratios()
        self._mean = np.full(len(URNS), -np.inf)
        self._product: NDArray[np.float64] | None = np.zeros(len(URNS))
        self.least_likely = 0
        """The document with the largest ratio."""
        self._largest = -np.inf
        self._copied: int | None = None

    def add(self, counts: Rows, first: int, repeated: NDArray[np.intp]) -> None:
        """Look at one more shard, whose first document has the number `first`.

        repeated : what :class:`RepeatedRows` has found in this shard.
        """
        sizes = np.diff(counts.indptr)
        self._check_repeated(counts, sizes, first, repeated)
        find_ratios = partial(self._find_ratios, counts, sizes)
        relevant = 0
        for wanted, ratios in in_blocks(find_ratios, len(sizes), CHECKED_ROWS):
            relevant += len(wanted)
            if len(wanted):
                self._add_ratios(first + wanted, ratios)
        if relevant < len(sizes):
            self._product = None  # the ratios of other rows are negligible, and so is the product

    def check(self) -> Finding:
        """Return a finding, or raise SyntfError if the rows cannot come from the table."""
        if self._copied is not None:
            raise SyntfError(
                f"document {self._copied:,} has the same counts as an earlier document; the chance "
                "that any two documents do is below one in 10^9"
            )
        found = [value - log(max(1, self.documents)) for value in self._mean]
        if self._product is not None:
            found += list(self._product)
        if max(found) - log(2 * len(URNS)) > CERTAINTY:
            raise SyntfError(
                "these counts cannot have been drawn from this table: the chance is below one in "
                f"10^9 (the least likely row is document {self.least_likely:,})"
            )
        return Finding("no row is too unlikely for this table, none is copied")

    def _best_ratios(self) -> NDArray[np.float64]:
        """Return the largest logarithm of A/B for each number of distinct words.

        `gain` is convex, so it is largest if all but one of the words occur once.
        """
        distinct = np.arange(1, self.length + 1)
        rest = self._gain[:, self.length - distinct + 1] + (distinct - 1) * self._gain[:, 1:2]
        bound = np.array(self._constant)[:, None] + rest - self.length * self._log_largest.min()
        return np.concatenate([[np.inf], bound.max(axis=0)])

    def _find_ratios(
        self, counts: Rows, sizes: NDArray[np.integer], rows: slice
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return which of some rows can have ratios that matter, and their logarithms of A/B.

        The ratios have one row for each urn.
        """
        wanted = np.flatnonzero(self._best[sizes[rows]] > NEGLIGIBLE) + rows.start
        if not len(wanted):
            return wanted, np.empty((len(URNS), 0))
        entries, row_starts = _entries(counts, sizes, wanted)
        number, column = counts.data[entries], counts.indices[entries]
        likelihood = np.add.reduceat(number * self._log_largest.take(column), row_starts)
        ratios = [
            constant + np.add.reduceat(gain.take(number), row_starts) - likelihood
            for constant, gain in zip(self._constant, self._gain, strict=True)
        ]
        return wanted, np.array(ratios)

    def _add_ratios(self, documents: NDArray[np.intp], all_ratios: NDArray[np.float64]) -> None:
        """Add the ratios of some documents to the mean and the product of each urn."""
        for urn, ratios in enumerate(all_ratios):
            self._mean[urn] = np.logaddexp(self._mean[urn], np.logaddexp.reduce(ratios))
            if self._product is not None:
                self._product[urn] += ratios.sum()
            if ratios.max() > self._largest:
                self._largest = ratios.max()
                self.least_likely = int(documents[ratios.argmax()])

    def _check_repeated(
        self, counts: Rows, sizes: NDArray[np.integer], first: int, repeated: NDArray[np.intp]
    ) -> None:
        """Note a row that occurred before, unless it is likely enough to be drawn twice."""
        if self._copied is not None:
            return
        chances = self._largest_chances(counts, sizes, repeated)
        impossible = repeated[chances + 2 * log(self.documents) < -CERTAINTY]
        if impossible.size:
            self._copied = first + int(impossible[0])

    def _largest_chances(
        self, counts: Rows, sizes: NDArray[np.integer], rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return a bound on the logarithm of the probability of each of these rows."""
        if not len(rows):
            return np.empty(0)
        entries, starts = _entries(counts, sizes, rows)
        number, column = counts.data[entries], counts.indices[entries]
        orders = self._log_factorial[self.length] - np.add.reduceat(
            self._log_factorial[number], starts
        )
        bound = orders + np.add.reduceat(number * self._log_largest[column], starts)
        bound = np.minimum(bound, self.length * np.log(self._shares[sizes[rows]]))
        if self.independent:
            likeliest = np.add.reduceat(number * np.log(number / self.length), starts)
            bound = np.minimum(bound, orders + likeliest)
        return np.asarray(np.minimum(bound, 0.0))

    def _largest_shares(self, mechanism: Mechanism) -> NDArray[np.float64]:
        """Return the largest probability that a row gives to any d words, for each d."""
        outputs = mechanism.shape[1]
        distinct = np.arange(min(self.length, outputs) + 1)
        if not isinstance(mechanism, NeighbourhoodMechanism):
            return np.ones(len(distinct))
        near = np.concatenate([[0.0], np.cumsum(np.sort(mechanism.shares)[::-1] / mechanism.total)])
        most = near[np.minimum(distinct, len(near) - 1)]
        background = distinct * (mechanism.background / mechanism.total)
        shares = np.maximum(most + background, distinct / outputs)  # the empty document is uniform
        return np.asarray(np.clip(shares, 1e-300, 1.0))


def _largest_weights(mechanism: Mechanism) -> NDArray[np.int64]:
    """Return the largest weight of each output word in any row."""
    if isinstance(mechanism, ExponentialMechanism):
        return mechanism.extremes.high
    if isinstance(mechanism, NeighbourhoodMechanism):
        return mechanism.column_extremes()[1]
    return np.full(mechanism.shape[1], mechanism.total)


def _entries(
    counts: Rows, sizes: NDArray[np.integer], rows: NDArray[np.intp]
) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64]]:
    """Return the places of the entries of some rows, and where each row begins among them.

    The numbers of the rows ascend, and there is at least one row.
    """
    own = sizes[rows].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(own)[:-1]])
    if rows[-1] - rows[0] == len(rows) - 1:  # one row after the other
        first = int(counts.indptr[rows[0]])
        return slice(first, first + int(own.sum())), starts
    shift = counts.indptr[rows].astype(np.int64) - starts
    return np.arange(own.sum()) + np.repeat(shift, own), starts


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers that look random (splitmix64)."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
