"""A model of a corpus, from noisy sums and public knowledge alone: postprocessing.

Each label has a normal distribution of directions: its own mean, shrunk towards where the name of
the label points, and a covariance that all labels share, cleaned of its noise. Where words were
measured, they have odds for each label. Floating point finds the model, so it may come out a little
different on another machine; it is stored as integers, from which rows are the same everywhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_matrix

from syntf.corpus import sums
from syntf.corpus.noisy import FIRST, LABELS, SIZE, WORDS, NoisySums
from syntf.corpus.public import PublicWords
from syntf.corpus.sums import Floats, Integers
from syntf.topics.integers import LENGTH

COLUMNS, MOST_CELLS = 8_000, 20_000_000
"""The columns of a release; fewer if labels × columns would exceed the second number."""

SCALE, ODDS_SCALE = 1 << 20, 1 << 10
"""What 1 is among the integers of a model, and among its logarithms of odds."""

NAME_SHARE, NAME_VARIANCE = 0.5, 0.25  # a guess: how much of class means their names explain
REGULAR, REGULAR_MOST = 1.0, 2.0  # times the edge of its noise, and itself, added to the covariance
PRIOR, WORDS_WEIGHT = 0.5, 3.0  # in scores: the power of frequencies of labels, the weight of words
STANDS_OUT = 2.0  # sums of words count if they are so many σ from what is expected

_MOST = float(1 << 40)


@dataclass(frozen=True, eq=False)
class Model:
    """A model as integers.

    weights : how many documents each label has, about.
    means : the mean direction of each label.
    factor : a symmetric matrix; its square is the covariance.
    discriminants, offsets : a direction has the score direction · discriminant + offset.
    columns : the words of a release, as rows of the word vectors.
    odds : the logarithms of the odds of words for labels; no row if words were not measured.
    """

    weights: Integers
    means: Integers
    factor: Integers
    discriminants: Integers
    offsets: Integers
    columns: NDArray[np.int32]
    odds: NDArray[np.int16]

    def scores(self, encoded: NDArray[np.integer], counts: csr_matrix) -> Floats:
        """Return how well real documents fit each label.

        encoded, counts : their vectors, and their counts of the words of the word vectors.
        """
        found = encoded @ (self.discriminants.T / SCALE / LENGTH) + self.offsets / SCALE
        if len(self.odds):
            words = sums.word_parts(counts, self.columns) / sums.WORDS_SIDE
            found += words @ (self.odds.T * (WORDS_WEIGHT / ODDS_SCALE))
        return np.asarray(found)


def fit(noisy: NoisySums, public: PublicWords) -> Model:
    """Find the model of noisy sums."""
    names = noisy.directions(public) / LENGTH
    labels, d = names.shape
    counts, totals, moments = sums.first_parts(noisy.first, labels, d)
    count_noise, total_noise, moment_noise = noisy.sigma(FIRST) / sums.FIRST_UNITS

    # The trace counts documents, too; counts of labels are shrunk to equality by their noise.
    n = _combined(
        float(noisy.size[0]), noisy.sigma(SIZE), np.trace(moments), np.sqrt(2 * d) * moment_noise
    )[0]
    n = max(n, 2.0 * labels)
    if len(noisy.counts):
        counts, count_noise = _combined(noisy.counts, noisy.sigma(LABELS), counts, count_noise)
    spread = max(counts.var() - count_noise**2, 0)
    counts = n / labels + (counts - counts.mean()) * spread / (spread + count_noise**2)
    counts = np.maximum(counts, 0.1 * n / labels)
    shares = counts / counts.sum()

    # Means: first where all documents point, then what names explain, then what is left of them,
    # by a Wiener filter in the axes of all documents.
    overall = totals.sum(axis=0) / n
    noise = total_noise**2 * labels / n**2
    signal = max((overall**2).mean() - noise, 0)
    overall = overall * signal / (signal + noise)
    apart = totals / (n * shares[:, None]) - overall
    variance = (total_noise / (n * shares[:, None])) ** 2
    by_name = _by_names(names, shares, apart, variance)
    tau = moment_noise / n
    spread, axes = cleaned(moments / n - np.outer(overall, overall), tau, 1e-5)
    spread = 0.5 * spread + 0.5 * spread.mean()
    rest = (apart - by_name) @ axes
    scale = (shares[:, None] ** 2 * (rest**2 - variance)).sum()
    scale = max(scale / ((shares**2).sum() * spread.sum()), 0.01)
    rest *= scale * spread / (scale * spread + variance)
    means = overall + by_name + rest @ axes.T

    spread, axes = cleaned(moments / n - (means.T * shares) @ means, tau, 0)
    more = min(REGULAR * 2 * np.sqrt(d) * tau, REGULAR_MOST * max(spread.sum(), 0.2) / d)
    spread = np.maximum(spread + more, 1e-3)
    discriminants = means @ ((axes / spread) @ axes.T)
    offsets = PRIOR * np.log(shares) - 0.5 * np.einsum("ij,ij->i", discriminants, means)

    columns, odds = noisy.columns, np.zeros((0, len(noisy.columns)))
    if len(columns):
        odds = _word_odds(noisy, shares, public)
    else:
        columns = _columns(means, discriminants, public)
    return Model(
        weights=np.maximum(_integers(n * shares, 1), 1),
        means=_integers(means, SCALE),
        factor=_integers((axes * np.sqrt(spread)) @ axes.T, SCALE),
        discriminants=_integers(discriminants, SCALE),
        offsets=_integers(offsets, SCALE),
        columns=columns,
        odds=_integers(odds, ODDS_SCALE).clip(-32767, 32767).astype(np.int16),
    )


def _integers(numbers: Floats, scale: int) -> Integers:
    """Round to integers below 2**40, so that all products of sampling are exact in float64."""
    return np.rint(np.clip(np.nan_to_num(numbers) * scale, -_MOST, _MOST)).astype(np.int64)


def _combined(one: Any, one_noise: float, two: Any, two_noise: float) -> tuple[Any, float]:
    """Combine two measurements of the same numbers; also return the noise that is left."""
    weight = two_noise**2 / (one_noise**2 + two_noise**2)
    return weight * one + (1 - weight) * two, one_noise * np.sqrt(weight)


def _by_names(names: Floats, shares: Floats, apart: Floats, variance: Floats) -> Floats:
    """Return the part of class means that the names of labels explain."""
    known = np.asarray(names.any(axis=1), dtype=float)[:, None]
    known = known * (names - shares @ names / max((shares @ known).item(), 1e-9))
    size = (shares[:, None] * known**2).sum()
    if size < 1e-9:  # no name, or one label alone
        return np.zeros_like(names)
    known = known / np.sqrt(size)
    found = (shares[:, None] * apart * known).sum()
    noise = (shares[:, None] ** 2 * variance * known**2).sum()
    share = (found / noise + NAME_SHARE / NAME_VARIANCE) / (1 / noise + 1 / NAME_VARIANCE)
    return np.asarray(max(share, 0) * known)


def cleaned(matrix: Floats, tau: float, floor: float) -> tuple[Floats, Floats]:
    """Return eigenvalues without noise, and eigenvectors, of a symmetric matrix with noise.

    The noise is normal with the standard deviation tau off the diagonal, and √2 times as much on
    it. Eigenvalues are shrunk by the rotationally invariant estimator for additive noise (Bun,
    Allez, Bouchaud and Potters, 2016), and made monotone.
    """
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    d = len(values)
    width = max(2 * tau, 1e-9)
    apart = values[:, None] - values
    hilbert = (apart / (apart**2 + width**2)).mean(axis=1)
    shrunk = isotonic_regression(values - 2 * tau**2 * d * hilbert).x
    return np.maximum(shrunk, floor), axes


def _columns(means: Floats, discriminants: Floats, public: PublicWords) -> NDArray[np.int32]:
    """Return the words that some label of the model makes likely."""
    tilts = public.vectors @ (discriminants - discriminants.mean(axis=0)).T
    near = 18 * (public.vectors @ means.T) / LENGTH + 0.35 * tilts / max(tilts.std(), 1e-9)
    likely = np.exp(near - near.max(axis=0)) * public.frequency[:, None]
    best = (likely / likely.sum(axis=0)).max(axis=1)
    count = min(COLUMNS, MOST_CELLS // len(means))
    return public.rows[np.sort(np.argsort(-best, kind="stable")[:count])]


def _word_odds(noisy: NoisySums, shares: Floats, public: PublicWords) -> Floats:
    """Return the log odds of words for labels; sums that do not stand out of the noise say 0."""
    columns, sigma = noisy.columns, noisy.sigma(WORDS) / sums.WORDS_SIDE
    words = noisy.words.reshape(len(shares), len(columns)) / sums.WORDS_SIDE
    usual = (
        public.frequency[np.searchsorted(public.rows, columns)]
        * sums.word_rarity(columns)
        / sums.RARITY
    )
    usual *= max(words.sum(), 1) / usual.sum()
    total = words.sum(axis=0)
    trust = (total - usual) ** 2
    trust /= trust + 2 * sigma**2 * len(shares)
    total = np.maximum(usual + (total - usual) * trust, 0.1 * usual)
    base = shares[:, None] * total
    apart = words - base
    trust = np.maximum(1 - (STANDS_OUT * sigma) ** 2 / np.maximum(apart**2, 1e-12), 0)
    expected = np.maximum(base + apart * trust, 0.1 * base)
    return np.asarray(np.log((expected + sigma) / (base + sigma)))
