"""Whoever holds a text looks for its row, or asks whether it was released at all.

The attacker knows the mechanism, the public lists and all other texts. A row r speaks for a text
t as the odds P(r | t) / P(r) say, where P(r | t) is the probability of the row if it belongs to t,
and P(r) its probability if it belongs to a random other document. Both follow from the interface of
a scheme: the targets of a text, and the integer weights of the mechanism. Where a release lists the
answers of a document, P(r | t) is exact. Elsewhere it releases sums alone, of answers for terms
that were sampled from the text: the attacker samples terms herself, and each answer of the row is
as likely as the mean over them says.

A text is *recognised* if all rows together speak for it more than they speak, without their own
row, for 99 % of the texts. For rare texts false alarms are more frequent: they are its chance. Only
texts with a known word are looked for.
"""

from collections.abc import Callable, Iterator
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
BLOCK = 256  # texts, or answers, that are looked at together
HUNDRED = 100  # texts of which one may be a false alarm, and texts that count as rare


@dataclass(frozen=True, eq=False)
class Holder:
    """Whoever holds some texts: their places in the corpus, and the texts encoded by herself.

    encoded : all documents, as they were encoded for the release.
    """

    places: NDArray[np.intp]
    held: Encoded
    encoded: Encoded
    _of_all: list[tuple[Scheme, Floats]] = field(default_factory=list)

    @classmethod
    def of(cls, corpus: Corpus, rows: Rows, encoded: Encoded, scheme: Scheme) -> "Holder":
        """Choose the texts at random, the same ones every time."""
        known = np.flatnonzero(~rows.unknown(encoded))
        order = entropy.permutation(entropy.Seeded(1), len(known))
        most = min(MOST_TEXTS, max(BLOCK, CELLS // _width(scheme)))
        places = np.sort(known[order[:most]])
        return cls(places, rows.encode(corpus.texts[places]), encoded)

    def log_odds(self, scheme: Scheme, members: NDArray[np.intp]) -> Floats:
        """Return the log-odds of each answer under each held text: texts × columns of a scheme.

        The targets of `members`, who answered from it, say how likely an answer is else.
        """
        if len(members) < len(self.encoded):
            return self._find_log_odds(scheme, members)
        if not self._of_all or self._of_all[0][0] is not scheme:
            self._of_all[:] = [(scheme, self._find_log_odds(scheme, members))]
        return self._of_all[0][1]  # the same in every run

    def _find_log_odds(self, scheme: Scheme, members: NDArray[np.intp]) -> Floats:
        held, own, everyone = (
            _shares(scheme, scheme.find_targets(encoded))
            for encoded in (self.held, self.encoded[self.places], self.encoded[members])
        )
        positions = _positions(scheme)
        total = kron(np.ones((1, len(members))), identity(positions)) @ everyone
        texts, chances = len(self.places), _chances(scheme, vstack([held, own, total]).tocsc())
        is_member = np.isin(self.places, members)[:, None]
        others = chances[2 * texts] - chances[texts : 2 * texts] * is_member
        others /= np.maximum(len(members) - is_member, 1)
        return np.asarray(np.log(chances[:texts]) - np.log(np.maximum(others, 1e-15)))


def linkage(corpus: Corpus, release: Release) -> list[Measure]:
    """Measure how often whoever holds a text finds its row, or recognises that it was released."""
    holder, drawn = release.holder, release.drawn
    if holder is None or drawn is None or not len(holder.places):
        return []
    kinds, places = _Kinds.of(corpus, holder, drawn), holder.places
    ranks, of_label, evidence = np.zeros((3, 2, len(places)))
    for block, scores in kinds.scores():
        own = kinds.own[block]
        same = kinds.labels[:, None] == corpus.labels[places[block]]
        ranks[:, block] = _ranks(scores, kinds.sizes, own)
        of_label[:, block] = _ranks(scores, kinds.sizes, own, same)
        evidence[:, block] = _evidence(scores, kinds.sizes, own)

    # By chance all rows are equal, and whoever knows labels alone has equal rows of each label.
    guess, rows = np.array([[0.0], [len(drawn)]]), len(drawn)
    _, label, same_label = np.unique(corpus.labels, return_inverse=True, return_counts=True)
    alone = np.array([np.zeros(len(places)), same_label[label[places]]])
    measures = []
    for name, figure in list(_FIGURES.items())[: None if corpus.has_labels else -1]:
        found = of_label if name == names.FIRST_OF_LABEL else ranks
        value, by_chance, by_label = (float(figure(*each)) for each in (found, guess, alone))
        compared = {names.LABEL: by_label} if corpus.has_labels else {}
        measures.append(
            Measure(name=name, value=value, chance=by_chance, among=rows, references=compared)
        )
    if len(places) < HUNDRED:
        return measures
    alarm = np.sort(evidence[1])[-1 - len(places) // HUNDRED]
    rare = np.argsort(-kinds.distinct, kind="stable")[:HUNDRED]
    for name, some in ((names.MEMBER, np.arange(len(places))), (names.RARE, rare)):
        inside, outside = (evidence[:, some] > alarm).mean(axis=1).tolist()
        measures.append(Measure(name=name, value=inside, chance=outside, among=len(some)))
    return measures


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The different rows of a release: those with the same list, answers and label are alike.

    sizes, labels : how many rows are of a kind, and their label.
    parts : for each list, its kinds as a matrix kinds × columns, and the log-odds of the columns.
    own, distinct : for each held text, the kind of its row, and how rare its rarest answer is.
    """

    sizes: Floats
    labels: Numbers
    own: NDArray[np.intp]
    parts: list[tuple[csr_matrix, Floats]]
    distinct: Floats

    @classmethod
    def of(cls, corpus: Corpus, holder: Holder, drawn: Drawn) -> "_Kinds":
        """Count the different rows, and find what they say for each held text."""
        sizes: list[int] = []
        labels: list[int] = []
        parts: list[tuple[csr_matrix, Floats]] = []
        kind_of = np.zeros(len(drawn), dtype=np.intp)
        for scheme, members in drawn.parts():
            columns = np.sort(drawn.answers[members], axis=1)
            if scheme.listed:
                place = np.arange(scheme.draws) * scheme.mechanism.shape[1]
                columns = drawn.answers[members] + place
            labelled = np.column_stack([columns, corpus.labels[members]])
            found, kind, size = np.unique(labelled, axis=0, return_inverse=True, return_counts=True)
            kind_of[members] = kind.ravel() + len(sizes)
            sizes += size.tolist()
            labels += found[:, -1].tolist()
            ends = np.arange(len(found) + 1) * scheme.draws
            cells = np.ones(len(found) * scheme.draws), found[:, :-1].ravel(), ends
            odds = holder.log_odds(scheme, members)
            parts.append((csr_matrix(cells, shape=(len(found), _width(scheme))), odds))
        sized = np.array(sizes, dtype=np.float64)
        return cls(sized, np.array(labels), kind_of[holder.places], parts, odds.max(axis=1))

    def scores(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the log-odds of all kinds under some held texts: kinds × texts."""
        for start in range(0, len(self.own), BLOCK):
            block = slice(start, start + BLOCK)
            scores = [rows @ odds[block].T for rows, odds in self.parts]
            yield block, np.round(np.concatenate(scores), 6)  # equal odds are equal numbers


def _positions(scheme: Scheme) -> int:
    """Return how many answers of a row can be told apart by their place."""
    return scheme.draws if scheme.listed else 1


def _width(scheme: Scheme) -> int:
    """Return the number of columns of a scheme: its answers, at each place that is told apart."""
    return _positions(scheme) * scheme.mechanism.shape[1]


def _shares(scheme: Scheme, targets: NDArray[np.int64]) -> csr_matrix:
    """Return the share of each target, for each text and each place that is told apart."""
    draws = targets.shape[1] // _positions(scheme)
    cells = np.repeat(np.arange(targets.size // draws), draws)
    values = np.full(targets.size, 1 / draws)
    shape = (targets.size // draws, scheme.mechanism.shape[0])
    return csr_matrix((values, (cells, targets.ravel())), shape=shape)


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


def _ranks(
    scores: Floats, sizes: Floats, own: NDArray[np.intp], among: NDArray[np.bool_] | bool = True
) -> tuple[Floats, Floats]:
    """Return how many rows score above the own row of each text, and how many as much as it."""
    mine = scores[own, np.arange(len(own))]
    return sizes @ ((scores > mine) & among), sizes @ ((scores == mine) & among)


def _evidence(scores: Floats, sizes: Floats, own: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return how strongly all rows speak for each text, with its own row and without it.

    Each row belongs to it with the same probability, so this is the mean of the odds of all rows.
    """
    times = np.repeat(sizes[:, None], len(own), axis=1)
    inside = logsumexp(scores, b=times, axis=0) - np.log(sizes.sum())
    times[own, np.arange(len(own))] -= 1
    return inside, logsumexp(scores, b=times, axis=0) - np.log(sizes.sum() - 1)


def _first(before: Floats, equal: Floats) -> Any:
    return np.mean((before == 0) / equal)


_FIGURES: dict[str, Callable[[Floats, Floats], Any]] = {
    names.FIRST: _first,
    names.TEN: lambda before, equal: np.mean(np.clip((10 - before) / equal, 0, 1)),
    names.PLACE: lambda before, equal: np.mean(before + (equal + 1) / 2),
    names.FIRST_OF_LABEL: _first,
}
"""What ranks come to. Rows that score as much as the own one are looked at in a random order."""
