"""Linkage attacks on a release of whole documents.

The tasks are those of :mod:`syntf.evaluation.attack.linkage`. The attacker holds a text and knows
the encoder, the lists of the release and the noise, so she computes which answer the text has in
each list. A release with this answer is more likely by the known odds than any other; and the fewer
releases show it, the more it says. All documents of the corpus are released together, and the
attacker chooses among all of them.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.encoder import Encoded
from syntf.core.counts import matrix
from syntf.core.progress import Stages, silent
from syntf.evaluation.attack.linkage import (
    FirstGuess,
    Indices,
    LinkageAttack,
    Similarity,
    cosine_similarity,
    first_guess_share,
    sample_documents,
    score_membership,
    score_pairs,
    standardize,
)
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.informed import Floats, ReleasedEntries
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism, Drawn

BLOCK = 256
"""Texts that are compared with all releases at once."""


def attack_document_release(
    corpus: LabelledCorpus, anonymizer: DocumentAnonymizer, *, stages: Stages = silent
) -> Iterator[LinkageAttack]:
    """Release the corpus once and attack it in every task that the corpus allows.

    Documents without a known word are released too, but the attacker does not look for them.
    """
    encoded = anonymizer.read(corpus.texts, stages=stages)
    parts = sample_documents(corpus.authors)
    known_word: NDArray[np.bool_] = np.asarray(encoded.vectors.any(axis=1))
    own = parts[0][known_word[parts[0]]]
    pairs_known = known_word[parts[1][: len(parts[2])]] & known_word[parts[2]]
    known, partners = parts[1][: len(parts[2])][pairs_known], parts[2][pairs_known]
    if len(own) < 2:
        return
    mechanism = anonymizer.mechanism(len(corpus))
    drawn = mechanism.release(encoded)
    attacker = Linker(mechanism, drawn, encoded)
    labels, authors = corpus.labels, corpus.authors
    with stages("linking", len(own)) as advance:
        shares = []
        for first in range(0, len(own), BLOCK):
            some = own[first : first + BLOCK]
            shares.append(first_guess_share(attacker.odds(some), some) * len(some))
            advance(len(some))
    guess = FirstGuess(float(sum(shares)) / len(own), len(corpus))
    odds = attacker.odds(own, own)
    for pairs, score in score_pairs(odds, labels[own], labels[own]):
        yield LinkageAttack("document", pairs, "syntf", score, guess if pairs == "any" else None)
    yield LinkageAttack("membership", "any", "syntf", score_membership(odds))
    if not known.size:
        return
    different = np.not_equal.outer(authors[known], authors[partners])
    counts = matrix(encoded.counts)
    released = ReleasedEntries.of(drawn).vectors
    texts = encoded.vectors.astype(np.float64)
    for task, method, similarity in (
        ("author", "vectorised", cosine_similarity(counts[known], counts[partners])),
        ("author", "syntf", _cosines(texts[known], released[partners])),
        ("author-releases", "syntf", _cosines(released[known], released[partners])),
    ):
        scores = standardize(similarity)
        for pairs, score in score_pairs(scores, labels[known], labels[partners], different):
            yield LinkageAttack(task, pairs, method, score)


class Linker:
    """Compares texts with the releases of documents.

    Parameters
    ----------
    mechanism, drawn : how the documents were released, and what was released.
    encoded : the documents, encoded: the attacker encodes the texts she holds in the same way.
    """

    def __init__(self, mechanism: DocumentMechanism, drawn: Drawn, encoded: Encoded) -> None:
        self._drawn, self._mechanism, self._encoded = drawn, mechanism, encoded
        self._frequencies = {
            id(entry_list): [_frequencies(column) for column in drawn.answers[places].T]
            for entry_list, places in drawn.parts()
        }

    def odds(self, texts: Indices, releases: Indices | None = None) -> Similarity:
        """Return the log-odds of each text (row) for each release (column), by default all.

        They compare the probability of the release under this text with the share of all releases
        from the same list that show the same answer.
        """
        chosen = np.arange(len(self._drawn)) if releases is None else releases
        found = np.zeros((len(texts), len(chosen)))
        held = self._encoded.at(texts)
        for entry_list, places in self._drawn.parts():
            response = self._mechanism.response(entry_list)
            kept = float(response.keep_probability)
            other = response.background / response.total
            columns = np.flatnonzero(np.isin(chosen, places))
            answers = self._drawn.answers[chosen[columns]]
            targets = entry_list.targets(held, self._mechanism.encoder, answers.shape[1])
            for draw, (values, shares) in enumerate(self._frequencies[id(entry_list)]):
                usual = shares[np.searchsorted(values, answers[:, draw])]
                same = targets[:, draw, None] == answers[None, :, draw]
                found[:, columns] += np.where(same, np.log(kept), np.log(other)) - np.log(usual)
        return found


def _frequencies(answers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return the different answers in ascending order, with the share of each."""
    values, counts = np.unique(answers, return_counts=True)
    return values, counts / len(answers)


def _cosines(first: Floats, second: Floats) -> Similarity:
    """Return the cosine of each pair of rows; a row of zeros is similar to none."""
    lengths = (np.sqrt((rows * rows).sum(axis=1, keepdims=True)) for rows in (first, second))
    units = [
        rows / np.where(length > 0, length, 1.0)
        for rows, length in zip((first, second), lengths, strict=True)
    ]
    return np.asarray(units[0] @ units[1].T)
