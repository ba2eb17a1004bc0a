"""Build a codebook from public texts that are about the same things as the texts to release.

The topics are the middles of groups of public texts, in a tree of groups. Beside the word vectors
stand others that are learnt from the words that occur together in the public texts (latent semantic
analysis).

The computation uses floating point. The codebook keeps integers, and its digest is recorded in
every release that uses it. The same texts give the same file on the same machine; another
processor or build of NumPy may round a few of its numbers differently.
"""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from syntf.core.errors import SyntfError
from syntf.core.progress import stage
from syntf.text.reader import Reader
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import COLUMNS, Encoder, sums
from syntf.topics.integers import CENTRE_LENGTH, WHITENING_SCALE, Vectors, stretch
from syntf.topics.text_encoder import TextEncoder
from syntf.topics.tree import Points, grow_tree, to_int8, unit_rows
from syntf.topics.weights import WEIGHT_SCALE, integer_weights, occurrence_weights, word_weights
from syntf.words.language import embedded_pack
from syntf.words.topicality import names_something
from syntf.words.vectors import WordVectors

SIZE = 1000
"""Topics of a codebook, unless another number is asked for."""
MOST_TOPICS = 10_000
MOST_TEXTS = 100_000
"""Of more public texts, this many are used, evenly spaced."""

WHITENING = 0.5
"""How far the directions of public documents are evened out: 0 not at all, 1 fully."""

OWN_DIMENSIONS = 100
OWN_FROM = 200
"""From this number of public texts on, a codebook has word vectors of its own."""
OWN_TEXTS = 2
"""Public texts that must have a word that gets a vector of its own."""

OUTPUT_TEXTS = 3
"""Public texts that must have a word that a release may show."""
LEAST_OUTPUTS = 3_000
"""If the public texts have fewer such words, frequent words of the word vectors are added."""

_LARGEST_WEIGHT = 65_535
_WORD = re.compile(r"[^\W\d_][^\W_]+")  # what a release may show: letters and digits

Numbers = dict[str, Any]
"""Some of the arrays of a codebook, by the names of its fields."""

NO_OWN_VECTORS: Numbers = {
    "own_rows": np.zeros(0, dtype=np.int32),
    "own_weight": np.zeros(0, dtype=np.uint16),
    "own_vectors": np.zeros((0, 1), dtype=np.int8),
    "own_centre": np.zeros(0, dtype=np.int16),
}


def build_codebook(
    texts: pl.Series,
    vectors: WordVectors,
    reader: Reader,
    size: int = SIZE,
    *,
    encoder: TextEncoder | None = None,
    private: bool = False,
    made_from: str = "public texts",
) -> Codebook:
    """Build a codebook from public texts.

    Parameters
    ----------
    texts : public texts, about the same things as the texts to release.
    vectors : the word vectors.
    reader : finds the words of a text. Use the same one for the release.
    size : the number of topics at most, 2 to 10,000; few texts give fewer topics.
    encoder : encodes texts in place of the word vectors; use the same one for the release.
    private : declare that the texts are not public: a release with this codebook is then marked
        as not private.
    made_from : one line about the texts, kept in the file.

    Raises
    ------
    SyntfError
        If `size` is out of range, or if no two texts have different known words.

    Examples
    --------
    >>> from syntf.text.reader import reader_for
    >>> vectors = WordVectors.embedded()
    >>> texts = ["The goalie saved the puck.", "A rocket left its orbit.", "The team won the cup."]
    >>> codebook = build_codebook(pl.Series(texts), vectors, reader_for(words=vectors.words), 2)
    >>> int(codebook.leaves.sum()), codebook.origin
    (2, 'supplied')
    """
    if not 2 <= size <= MOST_TOPICS:
        raise SyntfError(f"a codebook has 2 to {MOST_TOPICS:,} topics, not {size:,}")
    texts = texts.gather_every(-(-len(texts) // MOST_TEXTS) or 1)
    counts = reader.counts(texts)
    known = np.flatnonzero(np.diff(counts.indptr))
    if not len(known):
        raise SyntfError(
            "no public text has a known word: choose the column with --text, or word vectors of "
            "the same language with --vectors"
        )
    counts = counts[known]
    about = {"origin": "private" if private else "supplied", "made_from": made_from}
    if encoder is None:
        codebook, encoded = _by_words(counts, vectors, about)
    else:
        codebook, encoded = _by_encoder(texts[known], counts, vectors, encoder, about)
    points = unit_rows(encoded[encoded.any(axis=1)])
    if len(points) < 2 or len((tree := grow_tree(points, size)).child) < 3:
        raise SyntfError("the public texts all have the same words: use texts on several topics")
    return replace(codebook, **tree.arrays())


def _by_words(
    counts: csr_matrix, vectors: WordVectors, about: dict[str, str]
) -> tuple[Codebook, Vectors]:
    """Return a codebook without topics, and the encoded texts."""
    with stage("learning word vectors", 1) as advance:
        general = general_numbers(vectors)
        learnt = _learn_word_vectors(counts, vectors, general)
        outputs = _outputs(counts, vectors, general)
        encoder = blank_encoder(vectors, **{**general, **learnt, "outputs": outputs, **about})
        advance(1)
    return encoder.codebook, encoder.encode(counts)


def _by_encoder(
    texts: pl.Series,
    counts: csr_matrix,
    vectors: WordVectors,
    encoder: TextEncoder,
    about: dict[str, str],
) -> tuple[Codebook, Vectors]:
    """Return a codebook without topics for a supplied encoder, and the encoded texts.

    The directions of single words, by which topics are named and written as counts, are those
    that the encoder gives for texts of one word. They are centred by their own mean: words and
    texts lie in different places.
    """
    with stage("encoding texts", len(texts)) as advance:
        total = encoder.rows(texts, advance=advance)
    found = total.any(axis=1)
    if not found.any():
        raise SyntfError(f"the encoder {encoder.name} gives no direction for any public text")
    general = general_numbers(vectors)
    outputs = _outputs(counts[found], vectors, general)
    words = np.sort(outputs)
    with stage("encoding words", len(words)) as advance:
        names = [vectors.words[row] for row in words.tolist()]
        word_total = encoder.rows(names, total.shape[1], advance=advance)
    none = np.zeros(total.shape[1], dtype=np.int16)
    blank = blank_encoder(
        vectors,
        weight=general["weight"],
        tf=general["tf"],
        word_centre=np.rint(stretch(word_total, CENTRE_LENGTH).mean(axis=0)).astype(np.int16),
        **directions(unit_rows(total[found])),
        common=none,
        outputs=outputs,
        own_rows=words,
        own_weight=np.zeros(len(words), dtype=np.uint16),
        own_vectors=np.zeros((len(words), len(none)), dtype=np.int8),
        own_centre=none,
        encoder=encoder.name,
        **about,
    )
    own_vectors = to_int8(blank.words_from_grid(word_total).astype(np.float64))
    return replace(blank.codebook, own_vectors=own_vectors), blank.from_grid(total[found])


def blank_encoder(vectors: WordVectors, **numbers: Any) -> Encoder:
    """Return an encoder with these numbers, whose codebook has no topics yet."""
    own = len(numbers["own_centre"]) if not numbers.get("encoder") else 0
    one = np.zeros(1, dtype=np.int32)
    nodes = np.zeros((1, len(numbers["centre"]) + own), dtype=np.int8)
    blank = Codebook(
        nodes=nodes, child=one, points=one, spread=one, vectors_digest=vectors.digest, **numbers
    )
    return Encoder(blank, vectors)


def general_numbers(vectors: WordVectors) -> Numbers:
    """Return the numbers of the encoder that need no public texts, and the words to show.

    For the vectors of a language pack, the embedded one too, these are the numbers of its
    codebook. For others, words are weighted by their rank and an English lexicon, and directions
    are kept as they are.
    """
    if vectors.pack is not None:
        book = Codebook.of_pack(vectors.pack)
        names = ("weight", "tf", "centre", "word_centre", "whiten", "common", "outputs")
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
        "outputs": _showable(vectors, names_something(vectors))[: 2 * COLUMNS],
    }


def directions(documents: Points) -> Numbers:
    """Return the mean of public documents, and the matrix that evens out their directions."""
    centre = documents.mean(axis=0)
    centred = documents - centre
    widths, axes = np.linalg.eigh(centred.T @ centred / len(documents))
    widths = np.maximum(widths, 1e-4 * widths.mean() + 1e-9)
    whiten = (axes * (widths / widths.mean()) ** (-WHITENING / 2)) @ axes.T
    return {
        "centre": np.rint(centre * CENTRE_LENGTH).astype(np.int16),
        "whiten": np.rint(whiten * WHITENING_SCALE).astype(np.int16),
    }


def _learn_word_vectors(counts: csr_matrix, vectors: WordVectors, general: Numbers) -> Numbers:
    """Learn word vectors from the words that occur together in the public texts."""
    texts = counts.shape[0]
    frequency = _texts_with_word(counts)
    rows = np.flatnonzero(frequency >= OWN_TEXTS).astype(np.int32)
    if texts < OWN_FROM or len(rows) < OWN_FROM:
        return NO_OWN_VECTORS
    rarity = np.log((1 + texts) / (1 + frequency[rows]))
    weights = _topic_weights(general, vectors)[rows] * rarity
    counts = counts[:, rows]
    dimensions = min(OWN_DIMENSIONS, texts // 10)
    found = TruncatedSVD(dimensions, algorithm="arpack", random_state=0).fit(
        _weighted(counts, weights)
    )
    loadings = found.components_[found.singular_values_ > 1e-6 * found.singular_values_[0]].T
    own_vectors = to_int8(loadings)
    lengths = np.linalg.norm(own_vectors.astype(np.float64), axis=1)
    factors = weights * np.linalg.norm(loadings, axis=1) / np.maximum(lengths, 1)
    own_weight = np.rint(factors * (_LARGEST_WEIGHT / factors.max())).astype(np.uint16)
    totals = stretch(sums(counts, own_weight, general["tf"], own_vectors), CENTRE_LENGTH)
    return {
        "own_rows": rows,
        "own_weight": own_weight,
        "own_vectors": own_vectors,
        "own_centre": np.rint(totals.mean(axis=0)).astype(np.int16),
    }


def _outputs(counts: csr_matrix, vectors: WordVectors, general: Numbers) -> NDArray[np.int32]:
    """Rank the words that a release may show by how much the public texts are about them."""
    frequency = _texts_with_word(counts)
    rows = _showable(vectors, (frequency >= OUTPUT_TEXTS) & names_something(vectors))
    about = np.asarray(_weighted(counts, _topic_weights(general, vectors)).sum(axis=0)).ravel()
    rows = rows[np.lexsort((rows, -about[rows]))][:COLUMNS]
    others = general["outputs"]
    more = others[~np.isin(others, rows)][: max(0, LEAST_OUTPUTS - len(rows))]
    return np.concatenate([rows, more])


def _weighted(counts: csr_matrix, weights: NDArray[np.floating]) -> csr_matrix:
    """Weight the words of each text, and scale every text to length 1."""
    data = (1 + np.log(counts.data)) * weights[counts.indices]
    return normalize(csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape))


def _showable(vectors: WordVectors, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the rows of the chosen words that consist of letters and digits."""
    is_english = vectors.pack is None or vectors.pack.is_embedded
    hidden = words_not_shown() if is_english else frozenset()
    rows = [
        row
        for row in np.flatnonzero(chosen).tolist()
        if _WORD.fullmatch(word := vectors.words[row]) and word.lower() not in hidden
    ]
    return np.array(rows, dtype=np.int32)


@cache
def words_not_shown() -> frozenset[str]:
    """Return English words that no name or profile of a topic shows: sexual terms and slurs."""
    path = embedded_pack().folder / "words_not_shown.txt"
    return frozenset(path.read_text(encoding="utf-8").split())


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


def _texts_with_word(counts: csr_matrix) -> NDArray[np.intp]:
    """Count the texts that have each word."""
    return np.bincount(counts.indices, minlength=counts.shape[1])
