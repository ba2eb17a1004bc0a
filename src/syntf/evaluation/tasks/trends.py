"""Trends: the share of each label in each period, estimated from released documents.

Counting predicted labels gives wrong shares, because predictions are noisy: rare labels are
predicted too often and frequent ones too rarely. The training documents show how noisy: C[p, t] is
the share of documents with the label t for which p is predicted. If this is the same in all
periods, predicted shares are C times the true shares, so C is inverted ("adjusted classify and
count").

The confidence interval has two parts: predictions of the counted documents vary, and so does C,
which was measured on a limited number of documents.
"""

from collections.abc import Sequence
from typing import NamedTuple

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
    inverse: Floats = np.asarray(np.linalg.pinv(confusion, rcond=1e-6), dtype=np.float64)
    rows = []
    for period, name in enumerate(names):
        own = np.flatnonzero(~train & (code >= 0) & (periods == period))
        if not len(own):
            continue
        truth = np.bincount(code[own], minlength=len(kinds)) / len(own)
        counted = np.bincount(guess[own], minlength=len(kinds)) / len(own)
        found, error = corrected_shares(counted, confusion, inverse, sizes, len(own))
        for place, label in enumerate(kinds.tolist()):
            half = NORMAL_95 * error[place]
            rows.append(
                LabelShare(
                    name, len(own), label, float(truth[place]), float(counted[place]),
                    float(found[place]), float(found[place] - half), float(found[place] + half),
                )
            )  # fmt: skip
    return rows


def corrected_shares(
    counted: Floats, confusion: Floats, inverse: Floats, sizes: Floats, documents: int
) -> tuple[Floats, Floats]:
    """Correct predicted shares; return the shares and their standard errors.

    confusion : C of this module, and `inverse` its inverse.
    sizes : the number of training documents of each label, which C was measured on.
    documents : the number of documents that were counted.
    """
    found = inverse @ counted
    shares = np.clip(found, 0, None)
    shares = shares / (shares.sum() or 1.0)
    covariance = np.zeros_like(confusion)
    for label, share in enumerate(shares):
        column = confusion[:, label]
        single = np.diag(column) - np.outer(column, column)
        covariance += (share / documents + share**2 / max(1.0, sizes[label])) * single
    variances = np.einsum("ij,jk,ik->i", inverse, covariance, inverse)
    return found, np.sqrt(np.maximum(variances, 0))


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
