"""Estimated numbers of documents of each prototype of a release, beside the true numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.encoder import Encoded
from syntf.codebook.frequency import NORMAL_95, estimate
from syntf.pipeline.document import DocumentMechanism, Drawn
from syntf.report.document_summary import DocumentSummary, PrototypeCount


class PrototypeShare(NamedTuple):
    """The share of documents that have a prototype: released, estimated with interval, and true.

    documents : the number of documents that answered from the list of this prototype.
    """

    label: str
    documents: int
    released: float
    estimate: float
    low: float
    high: float
    truth: float


def prototype_shares(
    mechanism: DocumentMechanism,
    encoded: Encoded,
    drawn: Drawn,
    places: NDArray[np.intp] | None = None,
) -> list[PrototypeShare]:
    """Estimate the share of every prototype of the list that most documents answered from.

    places : documents to count, by default all; those of the pilot are left out if there is one.
    The prototypes are ordered by how often they were released, the most frequent first.
    """
    entry_list, own = drawn.parts()[-1]
    chosen = own if places is None else np.intersect1d(own, places)
    size = len(entry_list)
    released = np.bincount(drawn.entries(entry_list, chosen).ravel(), minlength=size)
    answers = entry_list.targets(encoded.at(chosen), mechanism.encoder, mechanism.plan.draws)
    truth = np.bincount(entry_list.entries(answers.ravel()).ravel(), minlength=size)
    found = estimate(entry_list, mechanism.response(entry_list), released)
    low, high = found.interval()
    order = np.argsort(-released, kind="stable")
    profiles = mechanism.profiles(entry_list, order)
    labels = [profiles.labels[at] for at in np.searchsorted(profiles.entries, order)]
    rows = np.array([released, found.counts, low, high, truth])[:, order] / max(1, len(chosen))
    return [
        PrototypeShare(label, len(chosen), *row)
        for label, row in zip(labels, rows.T.tolist(), strict=True)
    ]


def prototype_summary(
    mechanism: DocumentMechanism, drawn: Drawn, shares: list[PrototypeShare]
) -> DocumentSummary:
    """Return the leading prototypes as a report shows them, with the true numbers."""
    entry_list = drawn.parts()[-1][0]
    counts = [
        PrototypeCount(
            "released", place, one.label, round(one.released * one.documents),
            one.estimate * one.documents,
            (one.high - one.low) / 2 / NORMAL_95 * one.documents,
            round(one.truth * one.documents),
        )
        for place, one in enumerate(shares)
        if one.released
    ]  # fmt: skip
    kept = float(mechanism.response(entry_list).keep_probability)
    return DocumentSummary(kept, len(entry_list), shares[0].documents, counts)
