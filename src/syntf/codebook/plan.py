"""How a budget is spent: which list, how many entries, how large a pilot.

The rules look at the loss per document and at the number of documents, never at a text. They were
chosen on the training half of 20 newsgroups and on three smaller corpora; ``docs/documents.md``
has the measurements.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from syntf.codebook.lists import Kind

WORDS_FROM = 11.0
"""From this loss on, sets of a document's own words keep more than one topic does."""

MOST_PER_DRAW = 40.0
"""A draw of 62 bits cannot use a larger loss; a larger budget is split among several draws."""

PILOT_SHARE, PILOT_ENOUGH, PILOT_LARGE_SHARE = Fraction(15, 100), 1500, Fraction(10, 100)
"""The pilot is 15 % of the documents until it has enough of them, and then at least 10 %.

A pilot document answers from the general list, which keeps less, so no more answer than help."""
PILOT_FROM = 1000
"""Releases of fewer documents have no pilot."""
PILOT_MOST = 1 << 15

_LOSSES = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 11.0)
_MANY = {  # of 7,500 documents or more
    "general": (4, 10, 50, 100, 300, 600, 1000),
    "pilot": (4, 20, 100, 300, 300, 300, 300),
    "sharpened": (3, 6, 40, 75, 150, 290, 400),
}
_FEW = {  # of 1,500 documents or less
    "general": (3, 8, 30, 60, 150, 300, 450),
    "pilot": (3, 10, 50, 100, 200, 300, 450),
    "sharpened": (3, 5, 15, 40, 100, 200, 300),
}
_NEAR_LOSSES = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 30.0)
_NEAR = (3, 6, 20, 50, 120, 400, 700, 1000, 600, 1000, 2000)
"""Topics of a codebook from public texts near in topic, where no pilot is needed."""
_NEAR_SIZES = (15.0, 24.0)
"""Losses from which an answer holds one more of these topics."""
_NEAR_WORDS_FROM = 38.0
"""From this loss per document on, own words keep more than 3 topics do."""
_NEAR_WORD_SIZES = (24.0, 31.0, 38.0)
"""Losses per draw from which an answer holds 3, 4 and 5 of these words."""
_GENERAL_SIZES = (13.0, 30.0, 37.0)
_SHARPENED_SIZES = (13.0, 25.0, 31.0, 37.0)
"""Losses from which an answer holds one more word."""
FEW_DOCUMENTS, MANY_DOCUMENTS = 1500, 7500
"""Up to and from these numbers of documents, the number of topics depends on the loss alone."""


@dataclass(frozen=True)
class Plan:
    """How the loss of a document is spent.

    kind : whether entries are topics or words.
    draws : answers drawn for each document.
    loss_per_draw : `draws` times this is at most the loss per document, exactly.
    entries, size : entries of the general list, and entries in an answer.
    pilot : documents that answer from the general list before it is sharpened; 0 for no pilot.
    sharpened_entries, sharpened_size : the same for the list that all other documents use.
    """

    kind: Kind
    draws: int
    loss_per_draw: float
    entries: int
    size: int
    pilot: int = 0
    sharpened_entries: int = 0
    sharpened_size: int = 1


def make_plan(
    loss: float,
    documents: int | None,
    *,
    pilot: bool = True,
    leaves: int = 1 << 12,
    near: bool = False,
    named: bool = False,
) -> Plan:
    """Return the plan for a loss per document and a number of documents.

    Parameters
    ----------
    loss : the loss per document.
    documents : how many documents are released together; None where that is not known, as in a
        service, which then has no pilot.
    pilot : whether a pilot is allowed.
    leaves : the number of topics that the codebook has at most.
    near : whether somebody supplied the codebook, so that its topics are those of the documents
        already: there is no pilot.
    named : whether a person has named the topics: an answer then never consists of words.

    >>> make_plan(10.0, 18_846).pilot, make_plan(10.0, 18_846).sharpened_entries
    (1884, 290)
    >>> make_plan(10.0, 100).pilot, make_plan(100.0, None).draws
    (0, 3)
    """
    if near:
        return _near_plan(loss, leaves, named)
    several = pilot_size(documents) if pilot and documents is not None else 0
    many = MANY_DOCUMENTS if documents is None else documents
    if loss < WORDS_FROM:
        name = "pilot" if several else "general"
        return Plan(
            "topics", 1, loss,
            min(leaves, _entries(name, loss, many)), 1,
            several, min(leaves, _entries("sharpened", loss, many)), 1,
        )  # fmt: skip
    draws = _draws_of(loss)
    each = split_loss(loss, draws)
    size = 1 + bisect_right(_GENERAL_SIZES, each)
    sharpened = 1 + bisect_right(_SHARPENED_SIZES, each)
    entries = 16_000 if several or each >= 30 else 8_000
    most = min(entries // size, 2_000 // sharpened) if several else entries // size
    draws, each = _limited(loss, draws, most)
    return Plan("words", draws, each, entries, size, several, 2_000, sharpened)


def _near_plan(loss: float, leaves: int, named: bool) -> Plan:
    """Return the plan for a codebook that somebody has supplied."""
    draws = _draws_of(loss)
    each = split_loss(loss, draws)
    if loss >= _NEAR_WORDS_FROM and not named:
        size = 2 + bisect_right(_NEAR_WORD_SIZES, each)
        entries = 2_000 if each < MOST_PER_DRAW else 3_000
        draws, each = _limited(loss, draws, entries // size)
        return Plan("words", draws, each, entries, size)
    entries = max(2, min(leaves, int(np.interp(each, _NEAR_LOSSES, _NEAR))))
    size = min(1 + bisect_right(_NEAR_SIZES, each), max(1, entries // 2))
    draws, each = _limited(loss, draws, entries // size)
    return Plan("topics", draws, each, entries, size)


def _draws_of(loss: float) -> int:
    """Return how many draws a loss is split among."""
    return int(-(-Fraction(loss) // Fraction(MOST_PER_DRAW)))


def _limited(loss: float, draws: int, most: int) -> tuple[int, float]:
    """Return at most `most` draws, and the loss of each: a document has no more than the list."""
    draws = min(draws, most)
    return draws, min(split_loss(loss, draws), MOST_PER_DRAW)


def pilot_size(documents: int) -> int:
    """Return how many of the documents form the pilot."""
    if documents < PILOT_FROM:
        return 0
    share = min(int(documents * PILOT_SHARE), PILOT_ENOUGH)
    return min(max(share, int(documents * PILOT_LARGE_SHARE)), PILOT_MOST)


def split_loss(loss: float, draws: int) -> float:
    """Return the largest loss per draw that `draws` draws may have together.

    >>> split_loss(10.0, 3) * 3 <= 10.0
    True
    """
    each = loss / draws
    while Fraction(each) * draws > Fraction(loss):
        each = nextafter(each, -inf)
    return each


def _entries(name: str, loss: float, documents: int) -> int:
    few, many = (float(np.interp(loss, _LOSSES, table[name])) for table in (_FEW, _MANY))
    share = (documents - FEW_DOCUMENTS) / (MANY_DOCUMENTS - FEW_DOCUMENTS)
    return max(2, int(few + (many - few) * min(1.0, max(0.0, share))))
