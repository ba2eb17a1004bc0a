"""Sample rows from a model of integers: the same rows on every machine.

1. Each row has a label and a direction z from the normal distribution of its label; z is drawn
   again until the model itself gives it this label.
2. The words of a row have the probabilities

       p(w) ∝ public frequency^.8 · exp(15 cos(z, w) + .25 tilt of w to l + 1.5 log odds of w for l)

   and a fifth of them those of public frequencies alone.
3. *Even emission.* Along the rows of a label, a word occurs whenever its expected occurrences,
   added up from a random start, pass a whole number. So its total is its expectation, rounded.
4. Rows are encoded once, like real documents, and z is moved so that means are the wanted ones.

All numbers are integers. Where floats hold them, these and their sums are exact, or a single
operation is rounded, as IEEE 754 fixes it. The bits come from a public seed.
"""

from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from syntf.core.exact import GRID, exponential_table
from syntf.core.parallel import in_blocks
from syntf.core.progress import Advance, stage
from syntf.corpus.model import ODDS_SCALE, SCALE, Model
from syntf.corpus.public import PublicWords
from syntf.corpus.stream import NORMAL_SCALE, Stream
from syntf.corpus.sums import Integers
from syntf.topics.encoder import Encoder
from syntf.topics.integers import LENGTH, Vectors, stretch

WORDS = 150
"""The number of words of a row, about."""

SHARPNESS, TILT, ODDS, FREQUENCY, BACKGROUND = 15, 0.25, 1.5, 0.8, 0.2
REDRAWS = 25
CORRECTED_ROWS, CORRECTED_WORDS = 4000, 100  # rows that are encoded to correct means

_LOGIT = LENGTH**2 / SHARPNESS  # what 1 is among logits, so that products of vectors are logits
_MOST_LOGIT = 8_000_000
_STEP = 8  # bits cut from logits before their exponential is looked up
_RATE = 16  # expected occurrences are multiples of 2**-16
_ROWS = 64  # rows whose words are computed at once, so that they stay in the cache


def sample(
    model: Model, public: PublicWords, count: int, seed: bytes
) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Sample rows: their counts of the columns, in random order, and the numbers of their labels.

    seed : public random bytes. The rows are a function of the model, public words and the seed.
    """
    stream = Stream(seed)
    labels = np.repeat(np.arange(len(model.weights)), shares(model.weights, count))
    emission = _Emission(model, public)
    with stage("sampling rows", count) as advance:
        wanted = _directions(model, labels, stream)
        directions = _corrected(wanted, labels, emission, public.encoder, stream)
        rows = emission.rows(directions, labels, WORDS, stream, "rows", advance)
    order = stream.permutation("order", count)
    return rows[order], labels[order]


def shares(weights: Integers, count: int) -> Integers:
    """Divide a number of rows among labels by largest remainders.

    >>> shares(np.array([5, 3, 1]), 10).tolist()
    [6, 3, 1]
    """
    found, rest = np.divmod(weights * count, weights.sum())
    found[np.argsort(-rest, kind="stable")[: count - found.sum()]] += 1
    return np.asarray(found)


def _directions(model: Model, labels: Integers, stream: Stream) -> Vectors:
    """Draw directions that the model itself would give these labels."""
    dimensions = model.means.shape[1]
    found = np.zeros((len(labels), dimensions), dtype=np.int16)
    left = np.arange(len(labels))
    factor, discriminants = model.factor.astype(float), model.discriminants.T.astype(float)
    for turn in range(REDRAWS):
        own = labels[left]
        normals = stream.normals(f"directions {turn}", len(own) * dimensions)
        moved = normals.reshape(-1, dimensions).astype(float) @ factor
        found[left] = drawn = stretch(moved + NORMAL_SCALE * model.means[own])
        scores = drawn.astype(float) @ discriminants + LENGTH * model.offsets
        left = left[scores.argmax(axis=1) != own]
        if not len(left):
            break
    return found


def _corrected(
    wanted: Vectors, labels: Integers, emission: "_Emission", encoder: Encoder, stream: Stream
) -> NDArray[np.int32]:
    """Move directions by .6 of what means of encoded rows lack; their length does not matter."""
    counts = np.bincount(labels)
    some = shares(counts, min(CORRECTED_ROWS, len(labels)))
    first = np.cumsum(counts) - counts
    place = np.arange(len(labels)) - first[labels]
    chosen = np.flatnonzero(place < some[labels])
    rows = emission.rows(wanted[chosen], labels[chosen], CORRECTED_WORDS, stream, "correction")
    words = emission.columns[rows.indices]
    shape = (len(chosen), len(encoder.vectors.words))
    encoded = encoder.encode(csr_matrix((rows.data, words, rows.indptr), shape))
    moved = wanted.astype(np.int32)
    for label in np.flatnonzero(some):
        own = slice(first[label], first[label] + counts[label])
        goal = wanted[own].sum(axis=0, dtype=np.int64).astype(object)
        got = encoded[labels[chosen] == label].sum(axis=0, dtype=np.int64).astype(object)
        length = max(int(got @ got), 1)
        lacking = goal * length - got * int(got @ goal)
        moved[own] += (3 * lacking // (5 * length * int(counts[label]))).astype(np.int32)
    return moved


class _Emission:
    """Emits the words of rows, given their directions and labels."""

    def __init__(self, model: Model, public: PublicWords) -> None:
        self.columns = model.columns
        vectors = public.vectors[np.searchsorted(public.rows, model.columns)]
        self._vectors = vectors.T.astype(np.float32)
        frequency = np.rint(-FREQUENCY * _LOGIT * np.log(model.columns + 200.0))
        frequency -= frequency.max()
        logits = frequency + _tilts(vectors, model.discriminants)
        if len(model.odds):
            logits += np.rint(model.odds * (ODDS * _LOGIT / ODDS_SCALE))
        self._logits = np.clip(logits, -_MOST_LOGIT, _MOST_LOGIT).astype(np.float32)
        self._frequency = _exponentials(-frequency[None]).astype(np.int64)[0]

    def rows(
        self,
        directions: NDArray[np.integer],
        labels: Integers,
        words: int,
        stream: Stream,
        name: str,
        advance: Advance = lambda steps: None,
    ) -> csr_matrix:
        """Emit rows of about so many words. Rows of a label stand together."""
        width = self._vectors.shape[1]
        ends = np.searchsorted(labels, np.arange(len(self._logits) + 1))
        background = int(BACKGROUND * words * 2**_RATE)
        usual = (self._frequency * background // self._frequency.sum()).astype(np.uint32)
        scale = (1 - BACKGROUND) * words * 2**_RATE

        def emit(number: slice) -> csr_matrix:
            label = number.start
            own = directions[ends[label] : ends[label + 1]].astype(np.float32)
            own = np.hstack([own, np.ones((len(own), 1), dtype=np.float32)])
            vectors = np.vstack([self._vectors, self._logits[label]])
            passed = stream.integers(f"{name} {label}", width, _RATE).astype(np.uint32)
            parts = [csr_matrix((0, width), dtype=np.int32)]
            for start in range(0, len(own), _ROWS):
                logits = own[start : start + _ROWS] @ vectors
                weights = _exponentials(logits.max(axis=1, keepdims=True) - logits)
                factors = (scale / weights.sum(axis=1, dtype=np.uint32)).astype(np.float32)
                rates = (weights.astype(np.float32) * factors[:, None]).astype(np.uint32) + usual
                rates[0] += passed
                np.cumsum(rates, axis=0, out=rates)
                passed = rates[-1] & np.uint32((1 << _RATE) - 1)
                rates >>= _RATE
                rates[1:] -= rates[:-1].copy()
                parts.append(csr_matrix(rates.astype(np.int32)))
            return vstack(parts, format="csr")

        found = []
        for rows in in_blocks(emit, len(self._logits), 1):
            found.append(rows)
            advance(rows.shape[0])
        return vstack(found, format="csr")


def _tilts(vectors: Vectors, discriminants: Integers) -> NDArray[np.float64]:
    """Return logits of how words tilt to labels: labels × words, of a fixed standard deviation."""
    count = len(discriminants)
    apart = (discriminants - discriminants.sum(axis=0) // count).astype(float)
    tilts = np.floor(apart @ vectors.T.astype(float) / SCALE)
    squares = max(int((tilts * tilts).astype(np.int64).sum()) // tilts.size, 1)
    return np.asarray(np.rint(tilts * (TILT * _LOGIT / sqrt(squares))))


def _exponentials(below: NDArray[np.floating]) -> NDArray[np.uint32]:
    """Return weights of words whose logits are so much below the largest: its weight is 2**18."""
    levels = below.astype(np.int32)
    levels >>= _STEP
    found: NDArray[np.uint32] = _table().take(levels, mode="clip")
    return found


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint32]:
    table = exponential_table(2 * GRID * 2**_STEP / _LOGIT, 18)
    return table[::-1].astype(np.uint32)
