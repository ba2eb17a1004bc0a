"""Whoever holds a text looks for its row, or asks whether it was released at all.

The attacker knows the mechanism, the public lists and all other texts. A row r speaks for a text
t as the odds P(r | t) / P(r) say, where P(r | t) is the probability of the row if it belongs to t,
and P(r) its probability if it belongs to a random other document. Both follow from the interface of
a scheme: the targets of a text, and the integer weights of the mechanism. Where a release lists the
answers of a document, P(r | t) is exact. Elsewhere it releases sums alone, of answers for terms
that were sampled from the text: the attacker samples terms herself, and each answer of the row is
as likely as the mean over them says. P(r) is exact for one draw. For several it is the mean over
the other texts that are held, which are up to 2,000: of more texts, better attacks may find more.

A text is *recognised* if all rows together speak for it more than they speak, without their own
row, for 99 % of the texts. This is measured where P(r) is exact. For rare texts false alarms are
more frequent: they are its chance. Only texts with a known word are looked for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity, kron, vstack
from scipy.special import logsumexp

from syntf.core import entropy
from syntf.evaluate import measures as names
from syntf.evaluate.corpus import Corpus, Numbers
from syntf.evaluate.measures import Measure
from syntf.evaluate.release import Release
from syntf.rows import Drawn, Encoded, Rows, Scheme

Floats = NDArray[np.float64]

MOST_TEXTS = 2000  # whose rows are looked for
CELLS = 1 << 22  # texts times answers at most; with many answers, fewer texts are looked for
BLOCK = 512  # rows, texts or answers that are looked at together
HUNDRED = 100  # of so many texts one may be a false alarm, and so many count as rare


@dataclass(frozen=True, eq=False)
class Holder:
    """Whoever holds some texts: their places in the corpus, and the texts encoded by herself.

    encoded : all documents, as they were encoded for the release.
    has_all : whether she holds all texts with a known word.
    """

    places: NDArray[np.intp]
    held: Encoded
    encoded: Encoded
    has_all: bool
    _of_all: list[tuple[Scheme, Floats]] = field(default_factory=list)

    @classmethod
    def of(cls, corpus: Corpus, rows: Rows, encoded: Encoded, scheme: Scheme) -> "Holder":
        """Choose the texts at random, the same ones every time."""
        known = np.flatnonzero(~rows.unknown(encoded))
        order = entropy.permutation(entropy.Seeded(1), len(known))
        most = min(MOST_TEXTS, max(BLOCK, CELLS // _width(scheme)))
        places = np.sort(known[order[:most]])
        return cls(places, rows.encode(corpus.texts[places]), encoded, len(places) == len(known))

    def chances(self, scheme: Scheme, members: NDArray[np.intp]) -> Floats:
        """Return two log-probabilities of each answer, each texts × columns of a scheme.

        First under each held text, then under any other text of `members`, who answered from it.
        """
        are_all = len(members) == len(self.encoded)  # then the result is the same in every run
        if are_all and self._of_all and self._of_all[0][0] is scheme:
            return self._of_all[0][1]
        known = self.encoded[self.places], self.encoded[members]
        if scheme.draws > 1:  # the held texts stand for all
            members, known = self.places, (self.held, self.held)
        held, own, everyone = (
            _shares(scheme, scheme.find_targets(each)) for each in (self.held, *known)
        )
        total = kron(np.ones((1, len(members))), identity(_positions(scheme))) @ everyone
        texts, found = len(self.places), _chances(scheme, vstack([held, own, total]).tocsc())
        is_member = np.isin(self.places, members)[:, None]
        others = found[2 * texts] - found[texts : 2 * texts] * is_member
        others /= np.maximum(len(members) - is_member, 1)
        both = np.log([found[:texts], np.maximum(others, 1e-15)])
        self._of_all[:] = [(scheme, both)] if are_all else []
        return np.asarray(both)


def linkage(corpus: Corpus, release: Release) -> list[Measure]:
    """Measure how often whoever holds a text finds its row, or recognises that it was released."""
    holder, drawn = release.holder, release.drawn
    if holder is None or drawn is None or len(holder.places) < 2:
        return []
    places = holder.places
    parts = [_Part.of(corpus, holder, drawn, *each) for each in drawn.parts()]
    ranks, of_label, evidence = _compare(parts, corpus.labels[places])

    # By chance all rows are equal, and whoever knows labels alone has equal rows of each label.
    guess = np.array([[0.0], [len(drawn)]])
    _, label, same_label = np.unique(corpus.labels, return_inverse=True, return_counts=True)
    alone = np.array([np.zeros(len(places)), same_label[label[places]]])
    measures = []
    for name, figure in list(_FIGURES.items())[: None if corpus.has_labels else -1]:
        of_rows = of_label if name == names.FIRST_OF_LABEL else ranks
        value, by_chance, by_label = (float(figure(*each)) for each in (of_rows, guess, alone))
        one = Measure(name=name, value=value, chance=by_chance, among=len(drawn))
        measures.append(one.compared(names.LABEL, {name: by_label} if corpus.has_labels else {}))
    if len(places) < HUNDRED or (parts[-1].several and not holder.has_all):
        return measures
    alarm = np.sort(evidence[1])[-1 - len(places) // HUNDRED]
    rare = np.argsort(-parts[-1].distinct, kind="stable")[:HUNDRED]
    for name, some in ((names.MEMBER, np.arange(len(places))), (names.RARE, rare)):
        inside, outside = (evidence[:, some] > alarm).mean(axis=1).tolist()
        measures.append(Measure(name=name, value=inside, chance=outside, among=len(some)))
    return measures


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows that answered from one list. Rows with the same answers and label are of a kind.

    rows, sizes, labels : the kinds as a matrix kinds × columns, how many rows each has, its label.
    own : the kind of the row of each held text; -1 for a text that answered from another list.
    several : whether a document has several draws, so that answers depend on each other.
    given, others : what :meth:`Holder.chances` says of the columns.
    """

    rows: csr_matrix
    sizes: Floats
    labels: Numbers
    own: NDArray[np.intp]
    several: bool
    given: Floats
    others: Floats

    @classmethod
    def of(
        cls, corpus: Corpus, holder: Holder, drawn: Drawn, scheme: Scheme, members: NDArray[np.intp]
    ) -> "_Part":
        """Count the different rows of a list."""
        columns, place = drawn.answers[members], np.arange(scheme.draws)
        width = scheme.mechanism.shape[1]
        columns = columns + place * width if scheme.listed else np.sort(columns, axis=1)
        labelled = np.column_stack([columns, corpus.labels[members]])
        found, kind, sizes = np.unique(labelled, axis=0, return_inverse=True, return_counts=True)
        kind_of = np.full(len(drawn), -1)
        kind_of[members] = kind.ravel()
        ends = np.arange(len(found) + 1) * scheme.draws
        cells = np.ones(len(found) * scheme.draws), found[:, :-1].ravel(), ends
        rows = csr_matrix(cells, shape=(len(found), _width(scheme)))
        sized, own, several = sizes.astype(np.float64), kind_of[holder.places], scheme.draws > 1
        return cls(rows, sized, found[:, -1], own, several, *holder.chances(scheme, members))

    @property
    def distinct(self) -> Floats:
        """How rare the rarest answer of each held text is."""
        return np.asarray((self.given - self.others).max(axis=1))

    def odds(self, kinds: NDArray[np.intp]) -> Floats:
        """Return the log-odds of some kinds under all held texts: kinds × texts."""
        rows = self.rows[kinds]
        given = rows @ self.given.T
        usual = _mean_of_others(given) if self.several else rows @ self.others.T
        return np.asarray(np.round(given - usual, 6))  # equal odds are equal numbers


def _mean_of_others(given: Floats) -> Floats:
    """Return the logarithm of the mean over all other columns, for each cell of a matrix."""
    each, best = np.arange(len(given)), given.argmax(axis=1)
    shares = np.exp(given - given[each, best][:, None])
    with np.errstate(divide="ignore"):
        others = given[each, best][:, None] + np.log(shares.sum(axis=1, keepdims=True) - shares)
    rest = given.copy()
    rest[each, best] = -np.inf
    others[each, best] = logsumexp(rest, axis=1)  # what is far below the best is not lost
    return np.asarray(others - np.log(given.shape[1] - 1))


def _blocks(numbers: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    return (numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK))


def _compare(parts: Sequence[_Part], labels: Numbers) -> Floats:
    """Compare all rows with the own row of each held text, whose labels are given.

    Returns three pairs of figures for each text: how many rows score above its own, and how many as
    much; the same of rows of its label; and the mean odds of all rows, with and without its own.
    """
    mine = np.zeros(len(labels))
    for part in parts:
        for texts in _blocks(np.flatnonzero(part.own >= 0)):
            mine[texts] = part.odds(part.own[texts])[np.arange(len(texts)), texts]
    ranks, of_label = np.zeros((2, 2, len(labels)))
    evidence = np.full((2, len(labels)), -np.inf)
    rows = sum(part.sizes.sum() for part in parts)
    for part in parts:
        for kinds in _blocks(np.arange(len(part.sizes))):
            odds, sizes = part.odds(kinds), part.sizes[kinds]
            compared = np.array([odds > mine, odds == mine])
            ranks += sizes @ compared
            of_label += sizes @ (compared & (part.labels[kinds][:, None] == labels))
            for place, own in enumerate((0, part.own == kinds[:, None])):
                found = logsumexp(odds, b=sizes[:, None] - own, axis=0) - np.log(rows - place)
                evidence[place] = np.logaddexp(evidence[place], found)
    return np.stack([ranks, of_label, evidence])


def _positions(scheme: Scheme) -> int:
    """Return how many answers of a row can be told apart by their place."""
    return scheme.draws if scheme.listed else 1


def _width(scheme: Scheme) -> int:
    """Return the number of columns of a scheme: its answers, at each place that is told apart."""
    return _positions(scheme) * scheme.mechanism.shape[1]


def _shares(scheme: Scheme, targets: NDArray[np.int64]) -> csr_matrix:
    """Return the share of each target, for each text and each place that is told apart."""
    draws = targets.shape[1] // _positions(scheme)
    cells = np.arange(targets.size) // draws, targets.ravel()
    shape = (targets.size // draws, scheme.mechanism.shape[0])
    return csr_matrix((np.full(targets.size, 1 / draws), cells), shape=shape)


def _chances(scheme: Scheme, shares: csr_matrix) -> Floats:
    """Return the probability of each column, for each text; `shares` is stored by columns."""
    mechanism = scheme.mechanism
    found = np.zeros((shares.shape[0], mechanism.shape[1]))
    used = np.flatnonzero(np.diff(shares.indptr))
    for start in range(0, len(used), BLOCK):
        some = used[start : start + BLOCK]
        weights = np.stack([mechanism.weights(target) for target in some.tolist()])
        found += shares[:, some] @ (weights / mechanism.total)
    return found.reshape(-1, _width(scheme))


def _first(before: Floats, equal: Floats) -> Any:
    return np.mean((before == 0) / equal)


_FIGURES: dict[str, Callable[[Floats, Floats], Any]] = {
    names.FIRST: _first,
    names.TEN: lambda before, equal: np.mean(np.clip((10 - before) / equal, 0, 1)),
    names.PLACE: lambda before, equal: np.mean(before + (equal + 1) / 2),
    names.FIRST_OF_LABEL: _first,
}
"""What ranks come to. Rows that score as much as the own one are looked at in a random order."""
