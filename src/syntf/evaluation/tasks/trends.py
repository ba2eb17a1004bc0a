"""Trends: the share of each label in each period, estimated from released documents.

Counting predicted labels gives wrong shares, because predictions are noisy: rare labels are
predicted too often and frequent ones too rarely. The training documents show how noisy: C[p, t] is
the share of documents with the label t for which p is predicted. If this is the same in all
periods, predicted shares are C times the true shares, and C can be undone.

Inverting C alone ("adjusted classify and count") fails where labels are often confused: small
errors of the counts become large ones of the shares. So shares are estimated by Bayes' rule in a
linear model. Before anything is counted, the shares of a period are those of the training documents
give or take a factor, whose size is the one under which the counts of all periods are most
probable. Where the counts say little, the estimate stays near the shares of the training documents,
and its interval is as wide as shares are expected to vary: with few periods and poor predictions, a
sudden change can lie outside.

The error of the counts has two parts: predictions of the counted documents vary, and so does C,
which was measured on a limited number of documents.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.frequency import NORMAL_95
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.splits import time_order

Labels = NDArray[np.str_]
Floats = NDArray[np.float64]

MOST_PERIODS = 24
"""If a column has more different values than this, values are joined into 12 periods."""
JOINED_PERIODS = 12

WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
"""How much shares may differ between periods, in the share of the training documents."""
USUAL_WIDTH = 0.3
"""The likeliest width before anything is counted."""


class LabelShare(NamedTuple):
    """The share of a label among the documents of a period.

    counted : the share of predictions; estimate, low, high : corrected, with its 95 % interval.
    """

    period: str
    documents: int
    label: str
    truth: float
    counted: float
    estimate: float
    low: float
    high: float


class TrendScore(NamedTuple):
    """How far shares are from the truth, and how often the interval holds the truth.

    counted, estimate : the mean absolute error over all labels and periods.
    coverage : the share of intervals that hold the truth; 95 % are meant to.
    """

    counted: float
    estimate: float
    coverage: float


def periods_of(values: Sequence[str]) -> tuple[NDArray[np.intp], list[str]]:
    """Return the period of each document and the names of the periods in order.

    Every value is a period. Of more than 24 values, neighbours are joined into 12
    periods of about the same number of documents. A document without a value has the period −1.

    >>> periods, names = periods_of(["1990", "1985", "", "1990"])
    >>> periods.tolist(), names
    ([1, 0, -1, 1], ['1985', '1990'])
    """
    distinct = sorted({value for value in values if value}, key=time_order(values))
    if len(distinct) < 2:
        raise SyntfError("the column of --time needs two different values at least")
    place = {value: number for number, value in enumerate(distinct)}
    found = np.array([place.get(value, -1) for value in values], dtype=np.intp)
    if len(distinct) <= MOST_PERIODS:
        return found, distinct
    sizes = np.bincount(found[found >= 0], minlength=len(distinct))
    middles = np.cumsum(sizes) - sizes / 2
    joined = np.minimum(
        (middles * JOINED_PERIODS / sizes.sum()).astype(np.intp), JOINED_PERIODS - 1
    )
    used, joined = np.unique(joined, return_inverse=True)
    names = []
    for period in range(len(used)):
        own = np.flatnonzero(joined == period)
        first, last = distinct[own[0]], distinct[own[-1]]
        names.append(first if first == last else f"{first} to {last}")
    return np.where(found >= 0, joined[found], -1), names


def label_shares(
    predicted: Labels,
    labels: Labels,
    train: NDArray[np.bool_],
    periods: NDArray[np.intp],
    names: Sequence[str],
) -> list[LabelShare]:
    """Estimate the share of each label in each period from predictions of the test documents.

    Parameters
    ----------
    predicted : for all documents; those of training documents by models not trained on them.
    labels : the truth; empty if it is unknown.
    train : which documents are for training.
    periods, names : see :func:`periods_of`.
    """
    known = labels != ""
    kinds = np.unique(labels[known & train])
    number = {name: place for place, name in enumerate(kinds.tolist())}
    code = np.array([number.get(name, -1) for name in labels.tolist()])
    guess = np.array([number.get(name, -1) for name in predicted.tolist()])
    learn = train & known
    confusion = np.zeros((len(kinds), len(kinds)))
    np.add.at(confusion, (guess[learn], code[learn]), 1)
    sizes = confusion.sum(axis=0)
    confusion /= np.maximum(sizes, 1)
    usual = sizes / sizes.sum()
    own = [np.flatnonzero(~train & (code >= 0) & (periods == one)) for one in range(len(names))]
    filled = [period for period in range(len(names)) if len(own[period])]
    counted = np.array([_shares(guess[own[period]], len(kinds)) for period in filled])
    documents = np.array([len(own[period]) for period in filled])
    found, errors = estimate_shares(counted, documents, confusion, sizes, usual)
    rows = []
    for row, period in enumerate(filled):
        truth = _shares(code[own[period]], len(kinds))
        half = NORMAL_95 * errors[row]
        values = np.stack([truth, counted[row], found[row], found[row] - half, found[row] + half])
        for label, (true, count, middle, low, high) in zip(
            kinds.tolist(), values.T.tolist(), strict=True
        ):
            size = len(own[period])
            rows.append(LabelShare(names[period], size, label, true, count, middle, low, high))
    return rows


def estimate_shares(
    counted: Floats, documents: NDArray[Any], confusion: Floats, sizes: Floats, usual: Floats
) -> tuple[Floats, Floats]:
    """Estimate the shares of labels in each period, with their standard errors.

    Parameters
    ----------
    counted : periods × labels, the shares of predictions.
    documents : the number of documents of each period.
    confusion : C of this module.
    sizes : the number of training documents of each label, which C was measured on.
    usual : the shares of labels in the training documents.
    """
    squares = usual**2
    free = np.diag(squares) - np.outer(squares, squares) / squares.sum()  # shares sum to 1
    single = [np.diag(column) - np.outer(column, column) for column in confusion.T]
    last = len(usual) - 1  # predicted shares sum to 1, so the last one says nothing new
    seen = confusion[:last]
    rest = counted[:, :last] - seen @ usual

    def noise(count: int) -> Floats:
        factors = usual / count + squares / np.maximum(sizes, 1)
        total = sum(factor * one for factor, one in zip(factors, single, strict=True))
        return np.asarray(total[:last, :last] + 1e-9 * np.eye(last))

    noises = [noise(int(count)) for count in documents]

    def fit(width: float) -> float:
        total = -(np.log(width / USUAL_WIDTH) ** 2)
        for row, own in zip(rest, noises, strict=True):
            variance = width**2 * seen @ free @ seen.T + own
            total -= np.linalg.slogdet(variance)[1] + row @ np.linalg.solve(variance, row)
        return float(total)

    width = max(WIDTHS, key=fit)
    prior = width**2 * free
    found, errors = np.zeros(counted.shape), np.zeros(counted.shape)
    for period, (row, own) in enumerate(zip(rest, noises, strict=True)):
        gain = np.linalg.solve(seen @ prior @ seen.T + own, seen @ prior).T
        found[period] = usual + gain @ row
        errors[period] = np.sqrt(np.maximum(np.diag(prior - gain @ seen @ prior), 0))
    return found, errors


def _shares(codes: NDArray[Any], kinds: int) -> Floats:
    return np.asarray(np.bincount(codes, minlength=kinds) / max(1, len(codes)), dtype=np.float64)


def score_trends(rows: Sequence[LabelShare]) -> TrendScore:
    """Compare estimated shares with the truth."""
    truth = np.array([one.truth for one in rows])
    counted = np.array([one.counted for one in rows])
    found = np.array([one.estimate for one in rows])
    held = [one.low <= one.truth <= one.high for one in rows]
    return TrendScore(
        float(np.abs(counted - truth).mean()),
        float(np.abs(found - truth).mean()),
        float(np.mean(held)),
    )
