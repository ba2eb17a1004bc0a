"""Linking: does this release belong to this text, does it belong to this author?

Attacks by someone who knows the mechanism, its rows being public, and holds original texts:

- ``document``: a text and its own release, against the releases of other documents.
- ``membership``: a text that was released, somewhere in a corpus, against one that was not.
- ``author``: a text and the release of another one by the same author, against those of
  different authors.
- ``author-releases``: the same with two releases, and no text at hand.

*Any* pairs can often be told by their topic alone. That is no link, so pairs with the *same
label* are measured apart. Documents are sampled, the same ones every time; all their pairs
count, but of an author's documents each is in one pair at most. Documents without a known word
are left out, as there is nothing in them to link.
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
from syntf.evaluation.experiment.labelled import Labelled
from syntf.mechanism.base import Mechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.text.documents import fitted_idf, term_frequencies

DOCUMENTS = 1200
"""Documents sampled for each part in the attacks: a false-positive rate of 0.1 % needs 1,000."""

Scores = NDArray[np.floating[Any]]
"""How much a text (row) speaks for a release (column)."""

Names = NDArray[np.str_]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Linkage:
    """How well scores tell linked pairs from others; chance is an area of 0.5, a rate of 0.01.

    Parameters
    ----------
    auc : float
        Area under the curve: the chance that a linked pair scores higher than another.
    tpr_at_1pct, tpr_at_01pct : float, optional
        Linked pairs found, as a share, when 1 % or 0.1 % of the others may be taken for linked;
        None if the others are fewer than 100 or 1,000.
    pairs_same, pairs_other : int

    Examples
    --------
    >>> import numpy as np
    >>> from syntf.evaluation.attack.linkage import curve
    >>> curve(np.array([3.0, 1.0]), np.arange(200) / 100)
    Linkage(auc=0.75125, tpr_at_1pct=0.5, tpr_at_01pct=None, pairs_same=2, pairs_other=200)
    """

    auc: float
    tpr_at_1pct: float | None
    tpr_at_01pct: float | None
    pairs_same: int
    pairs_other: int


@dataclass(frozen=True)
class Linked:
    """One attack: its task, which pairs, on which stage of the texts, and how well it went."""

    task: str
    pairs: str
    method: str
    found: Linkage


def curve(scores_same: Scores, scores_other: Scores) -> Linkage:
    """What every threshold on the scores gives; a tie counts half in the area."""
    others = np.sort(scores_other)
    below, upto = (np.searchsorted(others, scores_same, side) for side in ("left", "right"))

    def found(one_in: int) -> float | None:
        allowed = len(others) // one_in
        if not allowed:
            return None
        return float(np.mean(scores_same > others[-1 - allowed]))

    pairs = len(scores_same) * len(others)
    auc = (int(below.sum()) + int(upto.sum())) / (2 * pairs)
    return Linkage(auc, found(100), found(1000), len(scores_same), len(others))


def measure(
    corpus: Labelled, anonymizer: Anonymizer, *, stages: Stages = silent
) -> Iterator[Linked]:
    """Attack one release of a sample of the corpus, by every task that the corpus allows."""
    parts = sample(corpus.authors)
    chosen = np.concatenate(parts)
    if not chosen.size:
        return
    documents = anonymizer.read([corpus.texts[i] for i in chosen.tolist()], stages=stages)
    terms = anonymizer.mechanism.shape[0]
    counts = term_frequencies(documents, terms)
    wordless = documents.terms[documents.starts[:-1]] == terms - 1
    own, known, partners = _with_words(parts, wordless)
    if len(own) < 2 or not known.size:
        return
    released = anonymizer.draw(documents, stages=stages)
    held = np.concatenate([own, known])
    theta = composition(counts[held], anonymizer.weights)
    with stages("linking", np.unique(theta.indices).size) as advance:
        chances = expected(theta, anonymizer.mechanism, advance)
    labels, authors = corpus.labels[chosen], corpus.authors[chosen]

    odds = log_odds(released[own], chances[: len(own)], chances[len(own) :])
    for pairs, found in pairings(odds, labels[own], labels[own]):
        yield Linked("document", pairs, "syntf", found)
    yield Linked("membership", "any", "syntf", membership(odds))

    known = known[: len(partners)]
    if not known.size:
        return
    texts = chances[len(own) :][: len(known)] * anonymizer.settings.length
    different = np.not_equal.outer(authors[known], authors[partners])
    for task, method, first, second in (
        ("author", "vectorised", counts[known], counts[partners]),
        ("author", "syntf", texts, released[partners]),
        ("author-releases", "syntf", released[known], released[partners]),
    ):
        scores = standing(alike(first, second))
        for pairs, found in pairings(scores, labels[known], labels[partners], different):
            yield Linked(task, pairs, method, found)


def sample(authors: Names, most: int = DOCUMENTS) -> tuple[Indices, Indices, Indices]:
    """Documents to link with themselves, others, and partners of the first of these others.

    A partner is another document by the same author. Every author has a pair before any has
    two; each part has at most a third of all documents, and none is in two parts.
    """
    order = check_random_state(0).permutation(len(authors))
    most = min(most, len(order) // 3)
    by_author: dict[str, list[int]] = {}
    for i in order.tolist():
        if authors[i]:
            by_author.setdefault(str(authors[i]), []).append(i)
    pairs = [
        (rank, first, second)
        for theirs in by_author.values()
        for rank, (first, second) in enumerate(zip(theirs[::2], theirs[1::2], strict=False))
    ]
    pairs.sort(key=lambda pair: pair[0])
    first, second = (np.array([pair[i] for pair in pairs[:most]], dtype=np.intp) for i in (1, 2))
    rest = order[~np.isin(order, np.concatenate([first, second]))]
    return rest[:most], np.concatenate([first, rest[most:]])[:most], second


def composition(counts: csr_matrix, weights: NDArray[np.float64] | None) -> csr_matrix:
    """θ of each document."""
    return normalize(counts if weights is None else counts @ diags(weights), norm="l1")


def expected(
    theta: csr_matrix, mechanism: Mechanism, advance: Advance = lambda steps: None
) -> NDArray[np.float32]:
    """The chance of each output in one draw for each document: its θ through the mechanism.

    Goes through the rows of the terms once, as a row may be costly and there are too many
    to keep. `advance` hears of terms done.
    """
    by_term = theta.tocsc()
    chances = np.zeros((theta.shape[0], mechanism.shape[1]), dtype=np.float32)
    for term in np.flatnonzero(np.diff(by_term.indptr)).tolist():
        part = slice(by_term.indptr[term], by_term.indptr[term + 1])
        row = (mechanism.weights(term) / mechanism.total).astype(np.float32)
        chances[by_term.indices[part]] += np.outer(by_term.data[part].astype(np.float32), row)
        advance(1)
    return chances


def log_odds(
    released: csr_matrix, chances: NDArray[np.float32], others: NDArray[np.float32]
) -> Scores:
    """How much likelier each text (row) makes each release than the best of other texts does.

    The likelihood is exact, up to rounding and the number of orders that words may come in.
    The other texts were not released: they stand for all that a release might be of. Each is
    mixed with the mean of all, or none would be near a release of words it does not have.
    """
    counts = released.astype(np.float32)
    best = (counts @ np.log((others + others.mean(axis=0)) / 2).T).max(axis=1)
    scores: Scores = (counts @ np.log(chances).T).T - best
    return scores


def membership(odds: Scores) -> Linkage:
    """Each text's best release, against its best in a corpus that lacks its own."""
    left_out = odds.copy()
    np.fill_diagonal(left_out, -np.inf)
    return curve(odds.max(axis=1), left_out.max(axis=1))


def alike(first: Any, second: csr_matrix) -> Scores:
    """The cosine of each two documents, weighed by log(1 + tf) · idf; counts may be expected."""
    idf = diags(fitted_idf(second.getnnz(axis=0), second.shape[0]))
    rows, columns = (normalize(np.log1p(counts) @ idf) for counts in (first, second))
    scores: Scores = safe_sparse_dot(columns, rows.T, dense_output=True).T
    return scores


def standing(scores: Scores) -> Scores:
    """Scores in standard deviations above the mean of their row, and of their column, summed.

    What resembles everything says little by resembling one thing more.
    """
    total = np.zeros_like(scores)
    for axis in (0, 1):
        apart = scores - scores.mean(axis=axis, keepdims=True)
        spread = scores.std(axis=axis, keepdims=True)
        total += np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return total


def pairings(
    scores: Scores, rows: Names, columns: Names, different: NDArray[np.bool_] | None = None
) -> Iterator[tuple[str, Linkage]]:
    """The diagonal against all other pairs, or those `different`; then of the same label."""
    same = np.eye(len(scores), dtype=bool)
    other = ~same if different is None else different
    labelled = np.equal.outer(rows, columns) & (rows != "")[:, None]
    for name, among in (("any", np.ones_like(same)), ("same label", labelled)):
        if (same & among).any() and (other & among).any():
            yield name, curve(scores[same & among], scores[other & among])


def _with_words(parts: tuple[Indices, ...], wordless: NDArray[np.bool_]) -> list[Indices]:
    """The sample's parts as rows of what was read, less the documents without a known word."""
    own, known, partners = np.split(np.arange(len(wordless)), np.cumsum([*map(len, parts[:2])]))
    paired = ~(wordless[known[: len(partners)]] | wordless[partners])
    alone = known[len(partners) :]
    return [
        own[~wordless[own]],
        np.concatenate([known[: len(partners)][paired], alone[~wordless[alone]]]),
        partners[paired],
    ]
