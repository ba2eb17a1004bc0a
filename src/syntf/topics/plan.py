"""How a loss per document is spent: how many topics, how many draws, how large a pilot.

The rules look at the loss per document and at the number of documents, which is public, and never
at a text. They were chosen on the training half of 20 newsgroups and on three smaller corpora.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from syntf.topics.codebook import Codebook

MOST_PER_DRAW = 12.0
"""A larger loss is split among several draws, each with at most this part."""

PILOT_SHARE, PILOT_ENOUGH, PILOT_LARGE_SHARE = Fraction(15, 100), 1500, Fraction(10, 100)
"""The pilot is 15 % of the documents until it has enough of them, and then at least 10 %.

A pilot document answers from the general list, which keeps less, so no more answer than help."""
PILOT_FROM = 1000
"""Releases of fewer documents have no pilot."""
PILOT_MOST = 1 << 15

ROUNDS = 10
"""Steps of weighted k-means by which a list of topics is moved to the middle of its points."""

FEW_DOCUMENTS, MANY_DOCUMENTS = 1500, 7500
"""Up to and from these numbers of documents, the number of topics depends on the loss alone."""

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
_NEAR_LOSSES = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0)
_NEAR = (3, 6, 20, 50, 120, 400, 700)
"""Topics of a codebook from public texts near in topic, where no pilot is needed."""


@dataclass(frozen=True)
class Plan:
    """How the loss of a document is spent.

    topics : topics of the general list.
    draws : answers drawn for each document.
    loss_per_draw : `draws` times this is at most the loss per document, exactly.
    rounds : steps of k-means that move the topics of the general list.
    pilot : documents that answer from the general list before it is sharpened; 0 for no pilot.
    sharpened_topics : topics of the list that all other documents answer from; 0 for no pilot.
    """

    topics: int
    draws: int
    loss_per_draw: float
    rounds: int = 0
    pilot: int = 0
    sharpened_topics: int = 0


def make_plan(
    loss: float, documents: int | None, codebook: Codebook, *, pilot: bool = True
) -> Plan:
    """Return the plan for a loss per document and a number of documents.

    Parameters
    ----------
    loss : the loss per document.
    documents : how many documents are released together; None where that is not known, as in a
        service, which then has no pilot.
    codebook : how many topics it has, and whether somebody supplied it, so that its topics are
        those of the documents already: there is no pilot then.
    pilot : whether a pilot is allowed.

    >>> make_plan(10.0, 18_846, Codebook.embedded())
    Plan(topics=300, draws=1, loss_per_draw=10.0, rounds=0, pilot=1884, sharpened_topics=290)
    >>> make_plan(10.0, 100, Codebook.embedded()).pilot
    0
    """
    leaves = int(np.count_nonzero(codebook.leaves))
    draws = min(int(-(-Fraction(loss) // Fraction(MOST_PER_DRAW))), leaves)
    each = min(split_loss(loss, draws), MOST_PER_DRAW)
    if codebook.is_near:
        topics = min(leaves, int(np.interp(each, _NEAR_LOSSES, _NEAR)))
        return Plan(max(2, draws, topics), draws, each, ROUNDS)
    several = pilot_size(documents) if pilot and documents is not None else 0
    many = MANY_DOCUMENTS if documents is None else documents
    general = _topics("pilot" if several else "general", each, many, draws, leaves)
    sharpened = _topics("sharpened", each, many, draws, leaves) if several else 0
    return Plan(general, draws, each, 0, several, sharpened)


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


def _topics(name: str, loss: float, documents: int, draws: int, leaves: int) -> int:
    few, many = (float(np.interp(loss, _LOSSES, table[name])) for table in (_FEW, _MANY))
    share = (documents - FEW_DOCUMENTS) / (MANY_DOCUMENTS - FEW_DOCUMENTS)
    return min(leaves, max(2, draws, int(few + (many - few) * min(1.0, max(0.0, share)))))
