"""Make a codebook for opinions: how positive or negative the words of a document are.

Topics hide opinions: "a wonderful film" and "an awful film" are the same topic. In this codebook a
document is a number, the mean polarity of its words, and its topics are levels of polarity.

The polarity of a word comes from public knowledge alone: about fifty praising and fifty blaming
words of English, and the word vectors. The axis that divides the two groups best, compared with how
widely all words spread in each direction (a linear discriminant), gives every word its polarity.
Words count by the square of it, so that words without an opinion hardly count. No text is read.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.build import blank_encoder, general_outputs
from syntf.codebook.codebook import Codebook
from syntf.codebook.topics import group_labels
from syntf.codebook.tree import grow_tree, unit_rows
from syntf.codebook.weights import occurrence_weights
from syntf.core.errors import SyntfError
from syntf.vectors.word_vectors import WordVectors

PRAISE = (
    "good excellent superb wonderful brilliant fantastic terrific delightful charming masterful "
    "beautiful hilarious enjoyable memorable outstanding perfect best great amazing love "
    "fascinating impressive clever witty funny touching moving engaging captivating compelling "
    "entertaining gorgeous magnificent marvelous splendid exciting thrilling refreshing "
    "intelligent powerful fun pleasant happy success inspired graceful elegant honest warm sweet "
    "vivid rich"
).split()
BLAME = (
    "bad terrible awful horrible dreadful poor boring dull stupid lame worst ridiculous pointless "
    "mediocre annoying tedious disappointing pathetic waste worse dumb silly ugly weak bland "
    "predictable shallow unfunny tiresome lifeless empty messy clumsy incoherent contrived inept "
    "forgettable lousy crap garbage mess failure fail fails wrong sad worthless flawed "
    "unconvincing pretentious irritating hopeless miserable idiotic absurd cheap cheesy dreary"
).split()
FEWEST_SEEDS = 10
"""Words of each group that must have a vector."""

WORDS = 30_000
"""The most frequent words, which have a polarity."""
SHOWN = 4_000
"""Words of the largest polarity, which are output words beside the general ones."""
SHRINKAGE = 0.1
"""The share of the mean variance that is added to each direction."""
LEVELS = 32
WIDEST = 0.75
"""The angle, in radians, of the most positive and the most negative level."""
STEEPNESS = 0.5
"""The mean polarity of a document, in the largest polarity of a word, at an angle of 45 degrees."""


def opinion_codebook(vectors: WordVectors, levels: int = LEVELS) -> Codebook:
    """Make a codebook whose topics are levels of polarity, from very negative to very positive.

    Raises
    ------
    SyntfError
        If too few of the praising or blaming words have a vector: the vectors are not English.
    """
    polarity = word_polarity(vectors)
    size, rows = vectors.matrix.shape[1], np.arange(len(polarity), dtype=np.int32)
    own_vectors = np.stack(
        [np.rint(127 * polarity), np.full(len(rows), np.rint(127 * STEEPNESS))], axis=1
    ).astype(np.int8)
    none = np.zeros(size, dtype=np.int16)
    encoder = blank_encoder(
        vectors,
        weight=np.zeros(len(vectors.words), dtype=np.uint16), tf=occurrence_weights(),
        centre=none, word_centre=none, whiten=np.zeros((size, size), dtype=np.int16), common=none,
        own_rows=rows, own_weight=np.rint(65_535 * polarity**2).astype(np.uint16),
        own_vectors=own_vectors, own_centre=np.zeros(2, dtype=np.int16),
        origin="supplied", made_from="praising and blaming words of English",
    )  # fmt: skip
    angles = np.linspace(-WIDEST, WIDEST, levels)
    points = np.zeros((levels, size + 2), dtype=np.float32)
    points[:, size], points[:, size + 1] = np.sin(angles), np.cos(angles)
    tree = grow_tree(unit_rows(points), levels, divisible=2, smallest=1)
    names = [_name(place, levels) for place in range(levels)]
    opinions = np.argsort(-np.abs(polarity), kind="stable")[:SHOWN]
    others = general_outputs(vectors)
    shown = np.union1d(opinions, others[others < len(polarity)])
    return Codebook(
        **{
            **vars(encoder.codebook),
            "nodes": tree.vectors, "child": tree.child, "points": tree.points,
            "spread": tree.spread, "outputs": shown.astype(np.int32),
            "labels": group_labels(tree, (2000 * points).astype(np.int16), names),
        }
    )  # fmt: skip


def word_polarity(vectors: WordVectors) -> NDArray[np.float64]:
    """Return the polarity of the most frequent words, from −1 to 1; about 0 for most words."""
    rows = np.asarray(vectors.matrix[:WORDS], dtype=np.float64)
    units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    units -= units.mean(axis=0)
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-9)
    place = {word: row for row, word in enumerate(vectors.words[: len(units)])}
    seeds = [[place[word] for word in group if word in place] for group in (PRAISE, BLAME)]
    if min(map(len, seeds)) < FEWEST_SEEDS:
        raise SyntfError(
            "too few praising and blaming words have a vector: a codebook of opinions needs word "
            "vectors of English"
        )
    covariance = units.T @ units / len(units)
    shrunk = covariance + SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(
        len(covariance)
    )
    axis = np.linalg.solve(shrunk, units[seeds[0]].mean(axis=0) - units[seeds[1]].mean(axis=0))
    polarity = units @ axis
    polarity -= polarity.mean()
    return np.asarray(polarity / np.abs(polarity).max(), dtype=np.float64)


def _name(place: int, levels: int) -> str:
    """Name a level.

    >>> [_name(place, 4) for place in range(4)]
    ['negative 2', 'negative 1', 'positive 1', 'positive 2']
    """
    half = levels // 2
    return f"negative {half - place}" if place < half else f"positive {place - half + 1}"
