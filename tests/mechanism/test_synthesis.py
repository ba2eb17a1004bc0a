"""Algorithm 1: every document gives n words, each one draw of the mechanism."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chi2

from syntf.core.counts import matrix
from syntf.core.entropy import Seeded
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import ArrayRating, WithEmptyDocument
from syntf.mechanism.synthesis import draw_terms, synthesize, synthesize_releases
from syntf.text.documents import Documents

EMPTY = 6


@pytest.fixture(scope="module", params=["exponential", "neighbourhood"])
def mechanism(request):
    rating = ArrayRating(np.random.default_rng(5).random((EMPTY, 9)))
    if request.param == "neighbourhood":
        return NeighbourhoodMechanism(nearest(rating, 2), outputs=9, epsilon=4.0)
    return ExponentialMechanism(WithEmptyDocument(rating), epsilon=12.0)


def documents(*terms):
    starts = np.cumsum([0, *map(len, terms)])
    return Documents(starts, np.concatenate(terms).astype(np.int32))


def test_every_document_gives_exactly_n_words(mechanism):
    counts = matrix(synthesize(documents([0], [1, 2, 3] * 500, [EMPTY]), mechanism, length=37))
    assert isinstance(counts, csr_matrix)
    assert counts.dtype == np.int32
    assert counts.shape == (3, 9)
    assert counts.sum(axis=1).ravel().tolist() == [[37, 37, 37]]
    assert counts.has_canonical_format
    assert counts.data.min() >= 1


@pytest.mark.parametrize("systematic", [False, True])
def test_releases_drawn_together_are_those_drawn_one_by_one(mechanism, systematic):
    docs = documents([0, 1, 1, 5], [2, 2, 3], [EMPTY], [4])
    how = {"weights": np.linspace(1, 2, EMPTY + 1), "systematic": systematic}
    lengths, seeds = (25, 1, 40, 25), (1, 2, 3, 4)
    together = synthesize_releases(
        docs, mechanism, lengths=lengths, sources=list(map(Seeded, seeds)), **how
    )
    alone = [
        synthesize(docs, mechanism, length=length, source=Seeded(seed), **how)
        for length, seed in zip(lengths, seeds, strict=True)
    ]
    for one, other in zip(together, alone, strict=True):
        assert (matrix(one) != matrix(other)).nnz == 0
    assert (matrix(together[0]) != matrix(together[3])).nnz > 0  # each has a source of its own


def test_synthesis_agrees_with_algorithm_one(mechanism):
    """The same bits, document by document and draw by draw, give the same counts."""
    docs = documents([0, 1, 1, 5], [2, 2, 3], [EMPTY], [4])
    counts = matrix(synthesize(docs, mechanism, length=25, source=Seeded(1))).toarray()

    source = Seeded(1)
    drawn = draw_terms(docs, 25, source)
    raw = source(8 * 4 * 25)
    expected = np.zeros((4, 9), dtype=int)
    for document in range(4):
        for i in range(25):
            own = raw[8 * (25 * document + i) :]
            word = mechanism.sample(drawn[document, i], source=lambda size, own=own: own[:size])
            expected[document, word] += 1
    assert (counts == expected).all()


def test_a_document_of_one_word_is_drawn_from_its_row(mechanism):
    counts = matrix(synthesize(documents([3]), mechanism, length=200_000)).toarray()[0]
    expected = mechanism.weights(3) / 2.0**62 * 200_000
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 8)
    other = mechanism.weights(2) / 2.0**62 * 200_000
    assert ((counts - other) ** 2 / other).sum() > chi2.isf(1e-6, 8)


def test_the_empty_document_is_uniform_and_part_of_the_loss(mechanism):
    """Point 7."""
    row = mechanism.weights(EMPTY)
    assert row.max() - row.min() <= 2**15 + 9
    for word in range(EMPTY):
        for one, other in zip(row.tolist(), mechanism.weights(word).tolist(), strict=True):
            assert Fraction(max(one, other), min(one, other)) <= mechanism.ratio
    # A table where the uniform row decides the loss: all words avoid output 0.
    values = np.ones((3, 5))
    values[:, 0] = 0
    words = ExponentialMechanism(values, epsilon=6.0)
    whole = ExponentialMechanism(WithEmptyDocument(ArrayRating(values)), epsilon=6.0)
    assert words.loss < 1e-9
    assert whole.loss > 2


def test_different_documents_use_the_same_amount_of_entropy(mechanism):
    """Point 12."""
    asked = []

    def recording(size):
        asked.append(size)
        return Seeded(0)(size)

    shapes = set()
    for document in ([0], [EMPTY], [1, 2, 3, 4, 5] * 2000):
        counts = matrix(synthesize(documents(document), mechanism, length=40, source=recording))
        shapes.add((counts.shape, counts.dtype, int(counts.sum())))
    assert asked == [320, 320] * 3
    assert len(shapes) == 1


def test_weights_change_only_the_drawn_terms(mechanism):
    weights = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    drawn = draw_terms(documents([0, 1, 2]), 500, Seeded(3), weights)
    assert set(drawn.ravel().tolist()) == {1}
    counts = matrix(synthesize(documents([0, 1, 2]), mechanism, length=50, weights=weights))
    assert counts.sum() == 50


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.2, 3.0, 0.01])])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_systematic_draws_lose_no_more_than_independent_ones(weights, length):
    """The exact chance of every release, for all pairs of documents: within e^(length·ℓ).

    The terms change with the offset only at multiples of 1/(places · length · units), so a fine
    grid of offsets goes through all that can happen.
    """
    mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=4, epsilon=3.0)
    rows = [mechanism.weights(i) / mechanism.total for i in range(4)]
    steps = 4200
    offsets = ((np.arange(steps) + 0.5) / steps * 2.0**53).astype(np.uint64)

    def source(size):
        return (offsets << np.uint64(11)).astype("<u8").tobytes()[:size]

    def chances(terms):
        """Of each release, as the sorted outputs of its words."""
        many = documents(*[terms] * steps)
        drawn = draw_terms(many, length, source, weights, systematic=True)
        sequences, counts = np.unique(drawn, axis=0, return_counts=True)
        found = Counter()
        for sequence, count in zip(sequences, counts, strict=True):
            for words in product(range(4), repeat=length):
                chance = np.prod([rows[v][w] for v, w in zip(sequence, words, strict=True)])
                found[tuple(sorted(words))] += chance * count / steps
        return found

    releases = [chances(terms) for terms in ([0], [1, 2], [0, 1, 2, 2], [3], [2, 0, 0])]
    most = max(
        abs(np.log(one[key] / other[key])) for one in releases for other in releases for key in one
    )
    assert most <= length * mechanism.loss * (1 + 1e-9)
    assert most > 0.9 * length * mechanism.loss  # and the bound is nearly reached
