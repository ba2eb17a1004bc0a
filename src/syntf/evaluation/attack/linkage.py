"""Linkage attacks: does this release belong to this text, or to this author?

The attacker knows the mechanism, whose table is public, and holds original texts. There are four
tasks:

- ``document``: link a text with its own release, among the releases of other documents.
- ``membership``: tell a text that was released from a text that was not.
- ``author``: link a text with the release of another text by the same author.
- ``author-releases``: link two releases of the same author, without any text.

Many pairs can be told apart by their topics alone, and this is not linkage. So pairs with the same
label are also measured separately. The documents are a sample, the same one every time. All pairs
of sampled documents count, but each document of an author is in at most one linked pair. Documents
without a known word are left out, because they contain nothing to link.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.mechanism.base import Mechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.text.documents import fitted_idf, term_frequencies

SAMPLE_SIZE = 1200
"""Documents in each part of the sample: a false-positive rate of 0.1 % needs at least 1,000."""

Similarity = NDArray[np.floating[Any]]
"""How strongly a text (row) points to a release (column)."""

Names = NDArray[np.str_]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class LinkageScore:
    """How well scores separate linked pairs from other pairs.

    Chance gives an area of 0.5 and rates of 0.01 and 0.001.

    Parameters
    ----------
    auc : float
        Area under the curve: the probability that a linked pair scores higher than another pair.
    tpr_at_1pct, tpr_at_01pct : float, optional
        Share of linked pairs that are found when 1 % or 0.1 % of the other pairs may be mistaken
        for linked ones. None if there are fewer than 100 or 1,000 other pairs.
    linked_pairs, other_pairs : int

    Examples
    --------
    >>> import numpy as np
    >>> from syntf.evaluation.attack.linkage import score_separation
    >>> score_separation(np.array([3.0, 1.0]), np.arange(200) / 100)
    LinkageScore(auc=0.75125, tpr_at_1pct=0.5, tpr_at_01pct=None, linked_pairs=2, other_pairs=200)
    """

    auc: float
    tpr_at_1pct: float | None
    tpr_at_01pct: float | None
    linked_pairs: int
    other_pairs: int


@dataclass(frozen=True)
class FirstGuess:
    """How often the release that a text points to most is its own.

    Parameters
    ----------
    share : float
        Share of texts. Where a text points to several releases equally, a random one is guessed.
    among : int
        Number of releases to choose from.
    """

    share: float
    among: int


@dataclass(frozen=True)
class LinkageAttack:
    """The score of one attack: its task, the pairs compared, and the data that was attacked."""

    task: str
    pairs: str
    method: str
    score: LinkageScore
    first_guess: FirstGuess | None = None


def score_separation(linked: Similarity, other: Similarity) -> LinkageScore:
    """Score how well any threshold separates linked from other pairs; a tie counts half."""
    others = np.sort(other)
    below, upto = (np.searchsorted(others, linked, side) for side in ("left", "right"))

    def true_positive_rate(one_in: int) -> float | None:
        allowed = len(others) // one_in
        return float(np.mean(linked > others[-1 - allowed])) if allowed else None

    auc = (int(below.sum()) + int(upto.sum())) / (2 * len(linked) * len(others))
    rates = true_positive_rate(100), true_positive_rate(1000)
    return LinkageScore(auc, *rates, len(linked), len(others))


def attack_release(
    corpus: LabelledCorpus, anonymizer: Anonymizer, *, stages: Stages = silent
) -> Iterator[LinkageAttack]:
    """Release a sample of the corpus and attack it in every task that the corpus allows."""
    parts = sample_documents(corpus.authors)
    chosen = np.concatenate(parts)
    if not chosen.size:
        return
    documents = anonymizer.read([corpus.texts[i] for i in chosen.tolist()], stages=stages)
    terms = anonymizer.mechanism.shape[0]
    counts = term_frequencies(documents, terms)
    without_words = documents.terms[documents.starts[:-1]] == terms - 1
    own, known, partners = _drop_documents(parts, without_words)
    if len(own) < 2 or not known.size:
        return
    released = anonymizer.draw(documents, stages=stages)
    shares = term_shares(counts[np.concatenate([own, known])], anonymizer.weights)
    with stages("linking", np.unique(shares.indices).size) as advance:
        probabilities = output_probabilities(shares, anonymizer.mechanism, advance)
    labels, authors = corpus.labels[chosen], corpus.authors[chosen]

    odds = log_odds(released[own], probabilities[: len(own)], probabilities[len(own) :])
    for pairs, score in score_pairs(odds, labels[own], labels[own]):
        guess = FirstGuess(first_guess_share(odds, np.arange(len(odds))), len(odds))
        yield LinkageAttack("document", pairs, "syntf", score, guess if pairs == "any" else None)
    yield LinkageAttack("membership", "any", "syntf", score_membership(odds))

    known = known[: len(partners)]
    if not known.size:
        return
    expected = probabilities[len(own) :][: len(known)] * anonymizer.settings.length
    different = np.not_equal.outer(authors[known], authors[partners])
    for task, method, first, second in (
        ("author", "vectorised", counts[known], counts[partners]),
        ("author", "syntf", expected, released[partners]),
        ("author-releases", "syntf", released[known], released[partners]),
    ):
        similarity = standardize(cosine_similarity(first, second))
        for pairs, score in score_pairs(similarity, labels[known], labels[partners], different):
            yield LinkageAttack(task, pairs, method, score)


def sample_documents(authors: Names, limit: int = SAMPLE_SIZE) -> tuple[Indices, Indices, Indices]:
    """Choose documents to link with their own releases, other documents, and their partners.

    The partner of a document is another document by the same author; the first of the other
    documents have one. Every author gets one pair before any author gets two. Each part has at
    most a third of all documents, and no document is in two parts.
    """
    order = check_random_state(0).permutation(len(authors))
    limit = min(limit, len(order) // 3)
    by_author: dict[str, list[int]] = {}
    for i in order.tolist():
        if authors[i]:
            by_author.setdefault(str(authors[i]), []).append(i)
    pairs = [
        (rank, first, second)
        for documents in by_author.values()
        for rank, (first, second) in enumerate(zip(documents[::2], documents[1::2], strict=False))
    ]
    pairs.sort(key=lambda pair: pair[0])
    first, second = (np.array([pair[i] for pair in pairs[:limit]], dtype=np.intp) for i in (1, 2))
    rest = order[~np.isin(order, np.concatenate([first, second]))]
    return rest[:limit], np.concatenate([first, rest[limit:]])[:limit], second


def term_shares(counts: csr_matrix, weights: NDArray[np.float64] | None) -> csr_matrix:
    """Return θ, the weighted share of each term in each document."""
    return normalize(counts if weights is None else counts @ diags(weights), norm="l1")


def output_probabilities(
    shares: csr_matrix, mechanism: Mechanism, advance: Advance = lambda steps: None
) -> NDArray[np.float32]:
    """Return the probability of each output word in one draw, for each document.

    Each row of the mechanism is computed once, because rows can be expensive and are too many to
    keep. `advance` is called after each term.
    """
    by_term = shares.tocsc()
    probabilities = np.zeros((shares.shape[0], mechanism.shape[1]), dtype=np.float32)
    for term in np.flatnonzero(np.diff(by_term.indptr)).tolist():
        part = slice(by_term.indptr[term], by_term.indptr[term + 1])
        row = (mechanism.weights(term) / mechanism.total).astype(np.float32)
        share = by_term.data[part].astype(np.float32)
        probabilities[by_term.indices[part]] += np.outer(share, row)
        advance(1)
    return probabilities


def log_odds(
    released: csr_matrix, probabilities: NDArray[np.float32], others: NDArray[np.float32]
) -> Similarity:
    """Return how much more likely each text (row) makes each release than other texts do.

    The likelihood is exact up to rounding and up to the number of orders in which the words can
    be drawn. The other texts were not released; they stand for everything else that could have
    been. Each is mixed with the mean of all of them, or else a release of words that it does not
    contain would be far from it.
    """
    counts = released.astype(np.float32)
    best_other = (counts @ np.log((others + others.mean(axis=0)) / 2).T).max(axis=1)
    odds: Similarity = (counts @ np.log(probabilities).T).T - best_other
    return odds


def first_guess_share(scores: Similarity, own: Indices) -> float:
    """Return how often the highest score of a row is that of its own column.

    Of several columns with the highest score, each is guessed with the same probability.

    >>> first_guess_share(np.array([[2.0, 2.0, 0.0], [0.0, 3.0, 5.0]]), np.array([0, 1]))
    0.25
    """
    best = scores == scores.max(axis=1, keepdims=True)
    found = best[np.arange(len(scores)), own]
    return float(np.mean(found / best.sum(axis=1)))


def score_membership(odds: Similarity) -> LinkageScore:
    """Compare each text's best release with its best in a corpus that lacks its own release."""
    without_own = odds.copy()
    np.fill_diagonal(without_own, -np.inf)
    return score_separation(odds.max(axis=1), without_own.max(axis=1))


def cosine_similarity(first: Any, second: csr_matrix) -> Similarity:
    """Return the cosine of each pair of documents, weighted by log(1 + tf) · idf.

    Counts may be expected counts, which are not integers.
    """
    idf = diags(fitted_idf(second.getnnz(axis=0), second.shape[0]))
    rows, columns = (normalize(np.log1p(counts) @ idf) for counts in (first, second))
    similarity: Similarity = safe_sparse_dot(columns, rows.T, dense_output=True).T
    return similarity


def standardize(scores: Similarity) -> Similarity:
    """Express scores in standard deviations from the mean of their row plus that of their column.

    A document that resembles every other document says little when it resembles one more.
    """
    total = np.zeros_like(scores)
    for axis in (0, 1):
        difference = scores - scores.mean(axis=axis, keepdims=True)
        deviation = scores.std(axis=axis, keepdims=True)
        zeros = np.zeros_like(difference)
        total += np.divide(difference, deviation, out=zeros, where=deviation > 0)
    return total


def score_pairs(
    scores: Similarity, rows: Names, columns: Names, different: NDArray[np.bool_] | None = None
) -> Iterator[tuple[str, LinkageScore]]:
    """Compare the diagonal, which holds the linked pairs, with the other pairs.

    First over all pairs, then over pairs with the same label. `different` marks the other pairs;
    by default all pairs off the diagonal.
    """
    linked = np.eye(len(scores), dtype=bool)
    other = ~linked if different is None else different
    same_label = np.equal.outer(rows, columns) & (rows != "")[:, None]
    for name, among in (("any", np.ones_like(linked)), ("same label", same_label)):
        if (linked & among).any() and (other & among).any():
            yield name, score_separation(scores[linked & among], scores[other & among])


def _drop_documents(parts: tuple[Indices, ...], dropped: NDArray[np.bool_]) -> list[Indices]:
    """Return the parts as row numbers of the documents read, without the `dropped` documents."""
    own, known, partners = np.split(np.arange(len(dropped)), np.cumsum([*map(len, parts[:2])]))
    kept_pairs = ~(dropped[known[: len(partners)]] | dropped[partners])
    alone = known[len(partners) :]
    return [
        own[~dropped[own]],
        np.concatenate([known[: len(partners)][kept_pairs], alone[~dropped[alone]]]),
        partners[kept_pairs],
    ]
