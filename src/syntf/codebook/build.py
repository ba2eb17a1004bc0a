"""Build a codebook from public texts that are about the same things as the texts to release.

The prototypes are the middles of groups of public texts, in a tree of groups. The numbers of the
encoder are learnt from the public texts too: their mean, the directions in which they differ, and
word vectors of their own, from the words that occur together in them (latent semantic analysis).

The computation uses floating point. The codebook keeps integers, and its digest is recorded in
every release that uses it. The same texts give the same file on the same machine; another
processor or build of NumPy may round a few of its numbers differently.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.codebook import Codebook, Origin
from syntf.codebook.encoder import Encoded, Encoder, sums
from syntf.codebook.integers import CENTRE_LENGTH, WHITENING_SCALE, stretch
from syntf.codebook.lists import best_words
from syntf.codebook.text_encoder import TextEncoder
from syntf.codebook.tree import grow_tree, to_int8, unit_rows
from syntf.codebook.weights import (
    WEIGHT_SCALE,
    integer_weights,
    occurrence_weights,
    plain_words,
    word_weights,
)
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.text.documents import Documents, term_frequencies
from syntf.text.tokenizer import Analysis
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SIZE = 1000
"""Topics of a codebook, unless another number is asked for."""
MOST_TOPICS = 10_000
MOST_TEXTS = 100_000
"""Of more public texts, this many are used, evenly spaced."""

WHITENING = 0.5
"""How far the directions of public texts are evened out: 0 not at all, 1 fully."""
GENERAL_TEXTS = 100
"""The mean and the directions of the embedded codebook count like this many public texts."""

OWN_DIMENSIONS = 100
OWN_FROM = 200
"""From this number of public texts on, a codebook has word vectors of its own."""
OWN_TEXTS = 2
"""Public texts that must have a word that gets a vector of its own."""
OWN_STEPS = 8
"""Steps that find the directions in which the words of public texts vary together."""

OUTPUT_TEXTS = 3
"""Public texts that must have a word that a release may show."""
OUTPUTS = 16_000
LEAST_OUTPUTS = 3_000
"""If the public texts have fewer such words, frequent words of the word vectors are added."""
BEST_WORDS = 10
"""Output words are ranked by the number of texts that have them among this many best words."""

_LARGEST_WEIGHT = 65_535
_WORD = re.compile(r"[^\W\d_][^\W_]+")  # what a release may show: letters and digits

Numbers = dict[str, NDArray[Any]]
"""Some of the arrays of a codebook, by the names of its fields."""

NO_OWN_VECTORS: Numbers = {
    "own_rows": np.zeros(0, dtype=np.int32),
    "own_weight": np.zeros(0, dtype=np.uint16),
    "own_vectors": np.zeros((0, 1), dtype=np.int8),
    "own_centre": np.zeros(0, dtype=np.int16),
}


def build_codebook(
    texts: Sequence[str],
    vectors: WordVectors,
    analyzer: Analysis[Any],
    size: int = SIZE,
    *,
    encoder: TextEncoder | None = None,
    private: bool = False,
    made_from: str = "public texts",
    stages: Stages = silent,
) -> Codebook:
    """Build a codebook from public texts.

    Parameters
    ----------
    texts : public texts, about the same things as the texts to release.
    vectors : the word vectors.
    analyzer : finds the words of a text. Use the same one for the release.
    size : the number of topics at most, 2 to 10,000; few texts give fewer topics.
    encoder : encodes texts in place of the word vectors; use the same one for the release.
    private : declare that the texts are not public: a release with this codebook is then marked
        as not private.
    made_from : one line about the texts, kept in the file.
    stages : receives the progress.

    Raises
    ------
    SyntfError
        If `size` is out of range, or if no two texts have different known words.

    Examples
    --------
    >>> from syntf.text.tokenizer import Analyzer
    >>> texts = ["The goalie saved the puck.", "A rocket left its orbit.", "The team won the cup."]
    >>> codebook = build_codebook(texts, WordVectors.embedded(), Analyzer(), 2)
    >>> int(codebook.leaves.sum()), codebook.origin
    (2, 'supplied')
    """
    texts, counts = read_public_texts(texts, vectors, analyzer, size, stages)
    origin: Origin = "private" if private else "supplied"
    if encoder is not None:
        from syntf.codebook.build_encoded import build_with_encoder

        return build_with_encoder(
            texts, counts, vectors, encoder, size, origin=origin, made_from=made_from, stages=stages
        )
    with stages("learning word vectors", 1):
        general = general_numbers(vectors)
        total = _sums(counts, general["weight"], general["tf"], vectors.matrix)
        frequency = _texts_with_word(counts)
        weights = _topic_weights(general, vectors) * frequency
        blank = blank_encoder(
            vectors,
            **general
            | learn_directions(total, general)
            | {"word_centre": _mean_of_words(vectors, weights)},
            **_learn_word_vectors(counts, vectors, general),
            origin=origin,
            made_from=made_from,
        )
        encoded = blank.encode(_as_documents(counts))
    outputs = output_rows(counts, encoded, blank)
    return with_topics(blank.codebook, encoded, size, outputs, stages)


def read_public_texts(
    texts: Sequence[str], vectors: WordVectors, analyzer: Analysis[Any], size: int, stages: Stages
) -> tuple[Sequence[str], "csr_matrix"]:
    """Return the public texts that have a known word, and their counts of words."""
    if not 2 <= size <= MOST_TOPICS:
        raise SyntfError(f"a codebook has 2 to {MOST_TOPICS:,} topics, not {size:,}")
    texts = texts[:: -(-len(texts) // MOST_TEXTS) or 1]
    with stages("reading words", len(texts)) as advance:
        documents = WordReader(analyzer, vectors.words).read(texts, advance)
    counts = term_frequencies(documents, len(vectors.words))
    known = np.flatnonzero(np.diff(counts.indptr) > 0)
    if not len(known):
        raise SyntfError(
            "no public text has a known word: choose the column with --text, or word vectors of "
            "the same language with --vectors"
        )
    return [texts[place] for place in known.tolist()], counts[known]


def with_topics(
    codebook: Codebook, encoded: Encoded, size: int, outputs: NDArray[np.int32], stages: Stages
) -> Codebook:
    """Group the encoded public texts, and return the codebook with these groups as topics."""
    points = unit_rows(encoded.vectors.astype(np.float32))
    with stages("grouping texts", size) as advance:
        tree = grow_tree(points, size, divisible=2, smallest=1, progress=advance)
    if len(tree.child) < 3:
        raise SyntfError("the public texts all have the same words: use texts on several topics")
    return replace(
        codebook,
        nodes=tree.vectors, child=tree.child, points=tree.points, spread=tree.spread,
        outputs=outputs,
    )  # fmt: skip


def blank_encoder(vectors: WordVectors, **numbers: Any) -> Encoder:
    """Return an encoder with these numbers, whose codebook has no topics yet."""
    own = numbers["own_vectors"].shape[1] if len(numbers["own_rows"]) else 0
    if numbers.get("encoder"):
        own = 0  # the encoder's vectors of words take the place of the word vectors
    one = np.zeros(1, dtype=np.int32)
    blank = Codebook(
        nodes=np.zeros((1, len(numbers["centre"]) + own), dtype=np.int8),
        child=one, points=one, spread=one, outputs=one,
        vectors_digest=vectors.digest,
        **numbers,
    )  # fmt: skip
    return Encoder(blank, vectors)


def general_numbers(vectors: WordVectors) -> Numbers:
    """Return the numbers of the encoder that need no public texts.

    For the vectors of a language pack, the embedded one too, these are the numbers of its
    codebook. For others, words are weighted by their rank and an English lexicon, and directions
    are kept as they are.
    """
    if vectors.pack is not None:
        book = Codebook.of_pack(vectors.pack)
        names = ("weight", "tf", "centre", "word_centre", "whiten", "common")
        return {name: getattr(book, name) for name in names}
    weights = word_weights(vectors)
    size = vectors.matrix.shape[1]
    return {
        "weight": integer_weights(weights, vectors.matrix),
        "tf": occurrence_weights(),
        "centre": np.zeros(size, dtype=np.int16),
        "word_centre": _mean_of_words(vectors, weights),
        "whiten": (np.eye(size) * WHITENING_SCALE).astype(np.int16),
        "common": np.zeros(size, dtype=np.int16),
    }


def general_outputs(vectors: WordVectors) -> NDArray[np.int32]:
    """Return the rows of frequent words that a release may show, without public texts."""
    if vectors.pack is not None:
        return Codebook.of_pack(vectors.pack).outputs
    return _showable(vectors, ~plain_words(vectors))[: 2 * OUTPUTS]


def learn_directions(total: NDArray[np.int64], general: Numbers) -> Numbers:
    """Learn the mean of public texts, and how wide they are in every direction.

    total : a vector of integers for each text; its direction counts.
    general : the mean and the whitening to begin with.
    """
    directions = stretch(total, CENTRE_LENGTH) / CENTRE_LENGTH
    texts, size = directions.shape
    share = GENERAL_TEXTS / (GENERAL_TEXTS + texts)
    centre = (1 - share) * directions.mean(axis=0) + share * general["centre"] / CENTRE_LENGTH
    centred = directions - centre
    covariance = centred.T @ centred / texts
    before = np.linalg.matrix_power(np.linalg.inv(general["whiten"] / WHITENING_SCALE), 4)
    covariance = (1 - share) * _with_mean_width_one(covariance)
    widths, axes = np.linalg.eigh(covariance + share * _with_mean_width_one(before))
    whiten = (axes * widths ** (-WHITENING / 2)) @ axes.T
    return {
        "centre": np.rint(centre * CENTRE_LENGTH).astype(np.int16),
        "whiten": np.rint(whiten * WHITENING_SCALE).astype(np.int16),
        "common": np.zeros(size, dtype=np.int16),
    }


def _learn_word_vectors(counts: "csr_matrix", vectors: WordVectors, general: Numbers) -> Numbers:
    """Learn word vectors from the words that occur together in the public texts."""
    texts = counts.shape[0]
    frequency = _texts_with_word(counts)
    rows = np.flatnonzero(frequency >= OWN_TEXTS)
    if texts < OWN_FROM or len(rows) < OWN_FROM:
        return NO_OWN_VECTORS
    rarity = np.log((1 + texts) / (1 + frequency[rows]))
    weights = _topic_weights(general, vectors)[rows] * rarity
    counts = counts[:, rows].tocsr()
    loadings = _leading_directions(_weighted(counts, weights), vectors.matrix[rows], texts // 10)
    own_vectors = to_int8(loadings)
    lengths = np.linalg.norm(own_vectors.astype(np.float64), axis=1)
    factors = weights * np.linalg.norm(loadings, axis=1) / np.maximum(lengths, 1)
    own_weight = np.rint(factors * (_LARGEST_WEIGHT / factors.max())).astype(np.uint16)
    centre = stretch(_sums(counts, own_weight, general["tf"], own_vectors), CENTRE_LENGTH).mean(
        axis=0
    )
    return {
        "own_rows": rows.astype(np.int32),
        "own_weight": own_weight,
        "own_vectors": own_vectors,
        "own_centre": np.rint(centre).astype(np.int16),
    }


def _weighted(counts: "csr_matrix", weights: NDArray[np.float64]) -> "csr_matrix":
    """Weight the words of each text, and scale every text to length 1."""
    from scipy.sparse import diags

    weighted = counts.astype(np.float64)
    weighted.data = (1 + np.log(weighted.data)) * weights[weighted.indices]
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return diags(1 / np.where(lengths > 0, lengths, 1)).dot(weighted)


def _leading_directions(
    texts: "csr_matrix", start: NDArray[np.int8], most: int
) -> NDArray[np.float64]:
    """Return the right singular vectors of the largest singular values, one a column.

    This is subspace iteration. It begins with the word vectors, so it needs no random numbers.
    """
    found = texts @ start[:, : min(OWN_DIMENSIONS, most)].astype(np.float64)
    for _ in range(OWN_STEPS):
        found, _ = np.linalg.qr(texts @ (texts.T @ found))
    _, strengths, directions = np.linalg.svd((texts.T @ found).T, full_matrices=False)
    kept: NDArray[np.float64] = directions[strengths > 1e-6 * strengths[0]].T
    return kept


def output_rows(counts: "csr_matrix", encoded: Encoded, encoder: Encoder) -> NDArray[np.int32]:
    """Rank the words that a release may show by the number of public texts they describe best."""
    vectors = encoder.vectors
    frequency = _texts_with_word(counts)
    rows = showable_rows(counts, vectors)
    if len(rows) > 2 * BEST_WORDS:
        best = best_words(encoded, encoder, rows, encoder.word_vectors(rows), BEST_WORDS)
        times = np.bincount(best.ravel(), minlength=len(rows))
        rows = rows[np.lexsort((rows, -frequency[rows], -times))][:OUTPUTS]
    others = general_outputs(vectors)
    more = others[~np.isin(others, rows)][: max(0, LEAST_OUTPUTS - len(rows))]
    return np.concatenate([rows, more])


def showable_rows(counts: "csr_matrix", vectors: WordVectors) -> NDArray[np.int32]:
    """Return the rows of words that a release may show because enough public texts have them."""
    enough = _texts_with_word(counts) >= OUTPUT_TEXTS
    return _showable(vectors, enough & ~plain_words(vectors))


def _showable(vectors: WordVectors, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the rows of the chosen words that consist of letters and digits."""
    words = vectors.words
    rows = [row for row in np.flatnonzero(chosen).tolist() if _WORD.fullmatch(words[row])]
    return np.array(rows, dtype=np.int32)


def _sums(
    counts: "csr_matrix",
    weights: NDArray[np.uint16],
    occurrences: NDArray[np.uint8],
    vectors: NDArray[np.int8],
) -> NDArray[np.int64]:
    """Add up the weighted word vectors of each text."""
    starts = counts.indptr.astype(np.int64)
    return sums(starts, counts.indices, counts.data, weights, occurrences, vectors)


def _topic_weights(general: Numbers, vectors: WordVectors) -> NDArray[np.float64]:
    """Return the weights of words without the lengths of their vectors."""
    lengths = np.linalg.norm(vectors.matrix.astype(np.float64), axis=1)
    return np.asarray(general["weight"] * lengths / WEIGHT_SCALE, dtype=np.float64)


def _mean_of_words(vectors: WordVectors, weights: NDArray[np.floating]) -> NDArray[np.int16]:
    """Return the weighted mean direction of words, at the scale of the encoder."""
    rows = np.flatnonzero(weights)
    directions = unit_rows(vectors.matrix[rows].astype(np.float64))
    mean = directions.T @ weights[rows] / max(float(weights.sum()), 1e-300)
    return np.asarray(np.rint(mean * CENTRE_LENGTH), dtype=np.int16)


def _with_mean_width_one(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    width = float(np.trace(covariance)) / len(covariance)
    return covariance / (width if width > 0 else 1.0)


def _texts_with_word(counts: "csr_matrix") -> NDArray[np.intp]:
    """Count the texts that have each word."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _as_documents(counts: "csr_matrix") -> Documents:
    """Write counts out as documents, each word as often as it occurs."""
    words = np.repeat(counts.indices, counts.data).astype(np.int32)
    ends = np.cumsum(counts.data, dtype=np.int64)
    return Documents(np.concatenate([[0], ends])[counts.indptr], words)
