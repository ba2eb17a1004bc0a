"""How a loss per document is spent: how many topics, how many draws, how large a pilot.

The rules look at the loss per document and at the number of documents, which is public, and never
at a text. They were chosen on the training halves of 20 newsgroups and of MasakhaNEWS, and checked
on two other corpora.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from syntf.topics.codebook import Codebook

MOST_PER_DRAW = 12.0
"""A draw gets at most this loss: with more, the true answer is hardly released more often."""

DRAWS_FROM = (16.0, 27.0)
"""Losses from which a document has 2 and 3 draws. From 40 on, it has one draw for every 10.

Below, fewer draws tell more, although some of the loss is not spent: of 14, one draw of 12 keeps
more than two draws of 7."""

LEAST_OF_SEVERAL = 9.5
"""Without a pilot, several draws use a list as long as for this loss per draw, or longer.

One of several answers that is wrong harms less than the only one."""

TOPICS_PER_DRAW = 20
"""A list has at least this many topics for each draw: a document is not about most of the topics,
so that more draws from a short list would hide what it is about."""

PILOT_SHARE, PILOT_ENOUGH, PILOT_LARGE_SHARE = Fraction(15, 100), 1500, Fraction(10, 100)
"""The pilot is 15 % of the documents until it has enough of them, and then at least 10 %.

A pilot document answers from the general list, which keeps less, so no more answer than help."""
PILOT_FROM = 1000
"""Releases of fewer documents have no pilot."""
PILOT_MOST = 1 << 15

ROUNDS = 10
"""Steps of weighted k-means by which a list of topics is moved to the middle of its points."""

MANY_DOCUMENTS = 7500
"""From this number of documents on, the number of topics depends on the loss alone."""

_LOSSES = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 11.0, 12.0)
_TOPICS = {
    "general": {  # without a pilot
        300: (3, 8, 30, 60, 80, 100, 100, 100),
        1500: (3, 8, 30, 60, 150, 300, 300, 300),
        MANY_DOCUMENTS: (4, 10, 50, 100, 300, 600, 1000, 1000),
    },
    "pilot": {
        1500: (3, 10, 50, 100, 200, 300, 450, 450),
        MANY_DOCUMENTS: (4, 20, 100, 300, 300, 300, 300, 300),
    },
    "sharpened": {
        1500: (3, 5, 15, 40, 100, 200, 300, 450),
        MANY_DOCUMENTS: (3, 6, 40, 75, 150, 290, 400, 600),
    },
    "near": {0: (3, 6, 20, 50, 120, 400, 550, 700)},  # a codebook near in topic: no pilot
}
"""The number of topics at these losses per draw, for numbers of documents."""


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

    @property
    def shortest(self) -> int:
        """The number of topics of the shortest list that a document may answer from."""
        return min(self.topics, self.sharpened_topics) if self.pilot else self.topics


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
    >>> make_plan(30.0, 300, Codebook.embedded())
    Plan(topics=100, draws=3, loss_per_draw=10.0, rounds=0, pilot=0, sharpened_topics=0)
    """
    leaves = int(np.count_nonzero(codebook.leaves))
    many = MANY_DOCUMENTS if documents is None else documents
    first = 0 if codebook.is_near or not pilot or documents is None else pilot_size(documents)

    def plan(draws: int) -> Plan:
        each = min(split_loss(loss, draws), MOST_PER_DRAW)
        if codebook.is_near:
            return Plan(_topics("near", each, many, leaves), draws, each, ROUNDS)
        if not first:
            as_long = max(each, LEAST_OF_SEVERAL) if draws > 1 else each
            return Plan(_topics("general", as_long, many, leaves), draws, each)
        lists = [_topics(name, each, many, leaves) for name in ("pilot", "sharpened")]
        return Plan(lists[0], draws, each, 0, first, lists[1])

    plans = map(plan, range(_draws(loss), 0, -1))
    return next(one for one in plans if one.draws <= max(1, one.shortest // TOPICS_PER_DRAW))


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


def _topics(name: str, loss: float, documents: int, leaves: int) -> int:
    table = _TOPICS[name]
    of_loss = [np.interp(loss, _LOSSES, row) for row in table.values()]
    return min(leaves, max(2, int(np.interp(documents, list(table), of_loss))))


def _draws(loss: float) -> int:
    """Return how many draws a loss is split among.

    >>> [_draws(loss) for loss in (1.0, 12.0, 16.0, 39.9, 40.0, 49.9, 50.0)]
    [1, 1, 2, 3, 4, 4, 5]
    """
    return int(loss // 10) if loss >= 40 else 1 + bisect_right(DRAWS_FROM, loss)
