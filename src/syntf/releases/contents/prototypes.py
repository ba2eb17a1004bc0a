"""What a release says about its prototypes: columns of the documents, and ``prototypes.csv``.

Everything here is computed from released and public data, so it costs no privacy, and
``syntf verify`` computes it again from the other files of a release.
"""

from collections.abc import Sequence

import numpy as np
from arro3.core import Array, Table
from numpy.typing import NDArray

from syntf.codebook.frequency import estimate
from syntf.codebook.lists import EntryList
from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.pipeline.document import RELEASED_COLUMNS, DocumentMechanism, Drawn
from syntf.report.document_summary import DocumentSummary, PrototypeCount

PILOT, PROTOTYPES, LABELS = RELEASED_COLUMNS
"""Columns that a release of the document unit adds to those that are kept."""

GENERAL, SHARPENED = "general", "sharpened"
"""The names of the two lists in ``prototypes.csv``."""


def check_kept_columns(columns: Sequence[str]) -> None:
    """Refuse to keep a column whose name a release of the document unit needs."""
    for name in (PILOT, PROTOTYPES, LABELS):
        if name in columns:
            raise SyntfError(
                f"a release has a column {name!r} of its own: rename your column to keep it"
            )


def released_columns(drawn: Drawn, labels: Sequence[str]) -> dict[str, Array]:
    """Return the columns that describe what was released of each document.

    The prototypes are numbers in the general list for documents of the pilot, and in the sharpened
    list for all others. Without a pilot there is no column for it.
    """
    sets = [(drawn.entries(entry_list, places), places) for entry_list, places in drawn.parts()]
    if len({some.shape[1] for some, _ in sets}) == 1:
        together = np.empty((len(drawn), sets[0][0].shape[1]), dtype=np.int32)
        for some, places in sets:
            together[places] = some
        entries = tables.lists(together)
    else:
        order = np.argsort(np.concatenate([places for _, places in sets]), kind="stable")
        rows = [row for some, _ in sets for row in some.astype(np.int32)]
        entries = tables.lists([rows[place] for place in order])
    columns = {PROTOTYPES: entries, LABELS: tables.strings(labels)}
    return columns if drawn.sharpened is None else {PILOT: tables.numbers(drawn.pilot), **columns}


def released_counts(
    documents: Table, general: EntryList, sharpened: EntryList | None
) -> list[NDArray[np.int64]]:
    """Count how often each prototype was released, one array for each list."""
    parts = [(documents, general)]
    if sharpened is not None:
        pilot = np.array(tables.values_of(documents, PILOT), dtype=bool)
        parts = [
            (tables.taken(documents, np.flatnonzero(pilot)), general),
            (tables.taken(documents, np.flatnonzero(~pilot)), sharpened),
        ]
    return [
        np.bincount(tables.flat_lists(rows, PROTOTYPES), minlength=len(entry_list))
        for rows, entry_list in parts
    ]


def summarize(
    mechanism: DocumentMechanism,
    sharpened: EntryList | None,
    released: Sequence[NDArray[np.int64]],
) -> DocumentSummary:
    """Return every released prototype with its count, corrected for the known noise.

    released : what :func:`released_counts` gives for all documents of the release.
    """
    lists = [(GENERAL, mechanism.general)]
    if sharpened is not None:
        lists.append((SHARPENED, sharpened))
    found: list[PrototypeCount] = []
    for (name, entry_list), counts in reversed(list(zip(lists, released, strict=True))):
        estimates = estimate(entry_list, mechanism.response(entry_list), counts)
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        profiles = mechanism.profiles(entry_list, order)
        places = np.searchsorted(profiles.entries, order).tolist()
        found += [
            PrototypeCount(
                name,
                entry,
                profiles.labels[place],
                int(counts[entry]),
                float(estimates.counts[entry]),
                float(estimates.errors[entry]),
            )
            for entry, place in zip(order.tolist(), places, strict=True)
        ]
    used = lists[-1][1]
    kept = float(mechanism.response(used).keep_probability)
    answers = int(released[-1].sum()) // used.size
    return DocumentSummary(kept, len(used), answers // mechanism.plan.draws, found)
