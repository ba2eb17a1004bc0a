"""Mechanisms of other systems, compared with floating point and with all pairs of inputs."""

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntf.core.entropy import Seeded
from syntf.core.exact import GRID
from syntf.mechanism.rating import ArrayRating
from syntf.research.peers import CusText, DistanceRating, randomised_response, santext

VECTORS = arrays(
    np.int8, st.tuples(st.integers(2, 6), st.just(3)), elements=st.integers(-127, 127)
).filter(lambda found: found.any(axis=1).all())


def distances(vectors):
    unit = vectors / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    return np.linalg.norm(unit[:, None] - unit[None, :], axis=2)


def tight(rows):
    """ln of the largest ratio of an output's chances over all pairs of inputs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = [rows[v] / rows[w] for v in range(len(rows)) for w in range(len(rows))]
        return np.log(np.nanmax(pairs))  # 0/0: neither input can give this output


def chances(mechanism):
    weights = [mechanism.weights(row) for row in range(mechanism.shape[0])]
    return np.array(weights, dtype=float) / float(sum(weights[0].tolist()))


@given(VECTORS)
def test_distance_rating_uses_unit_vectors(vectors):
    levels = DistanceRating(vectors, vectors).levels(np.arange(len(vectors)))
    np.testing.assert_allclose(levels / GRID, 1 - distances(vectors) / 2, atol=1.01 / GRID)
    assert (np.diag(levels) == GRID).all()
    assert (levels == levels.T).all()


def test_digest_of_the_rating_depends_on_the_vectors():
    vectors = np.array([[1, 2], [3, 4]], dtype=np.int8)
    digests = {
        DistanceRating(vectors, vectors).digest,
        DistanceRating(vectors, vectors[::-1]).digest,
        DistanceRating(vectors[:1], vectors).digest,
    }
    assert len(digests) == 3


@settings(max_examples=20)  # each is a search for ε
@given(VECTORS, st.floats(0.5, 6))
def test_santext_weights_fall_with_distance(vectors, loss):
    mechanism = santext(DistanceRating(vectors, vectors), loss=loss)
    theirs = mechanism.epsilon / 2  # SanText's own ε
    wanted = np.exp(-theirs * distances(vectors) / 2)
    wanted = np.vstack([wanted, np.ones(len(vectors))])
    wanted /= wanted.sum(axis=1, keepdims=True)
    found = chances(mechanism)
    np.testing.assert_allclose(found, wanted, rtol=4 * mechanism.epsilon / GRID)
    assert mechanism.loss == pytest.approx(tight(found), rel=1e-9, abs=1e-12)
    assert mechanism.loss <= loss


def test_santext_reaches_the_wanted_loss(toy_vectors):
    rating = DistanceRating(toy_vectors.matrix, toy_vectors.matrix)
    for loss in (1.0, 8.0, 20.0):
        assert 0.995 * loss <= santext(rating, loss=loss).loss <= loss


@pytest.mark.parametrize("words", [2, 5, 1000])
@pytest.mark.parametrize("loss", [0.5, 3.0, 9.0])
def test_randomised_response_equals_its_formula(words, loss):
    mechanism = randomised_response(words, loss=loss)
    assert mechanism.shape == (words + 1, words)
    row = mechanism.weights(1) / mechanism.total
    truth = exp(loss) / (exp(loss) + words - 1)
    assert row[1] == pytest.approx(truth, rel=1e-6)
    np.testing.assert_allclose(np.delete(row, 1), (1 - truth) / (words - 1), rtol=1e-6)
    assert mechanism.loss == pytest.approx(loss, rel=1e-6)
    assert mechanism.loss == pytest.approx(log(row[1] / row[0]), rel=1e-6)


RATINGS = arrays(
    float,
    st.tuples(st.integers(1, 5), st.integers(2, 5)),
    elements=st.integers(0, 20).map(lambda level: level / 20),
)


@settings(max_examples=40)
@given(RATINGS, st.floats(0.1, 8), st.data())
def test_custext_draws_only_nearest_words(ratings, epsilon, data):
    size = data.draw(st.integers(1, ratings.shape[1]))
    mechanism = CusText(ArrayRating(ratings), epsilon=epsilon, size=size)
    found = chances(mechanism)
    for row, rated in zip(found, ratings, strict=False):
        near = np.argsort(-rated, kind="stable")[:size]
        low, high = rated[near].min(), rated[near].max()
        share = (rated[near] - low) / (high - low) if high > low else np.zeros(size)
        wanted = np.zeros(len(rated))
        wanted[near] = np.exp(epsilon / 2 * share)
        np.testing.assert_allclose(row, wanted / wanted.sum(), atol=1e-4)
    first = np.repeat([1 / size, 0], [size, len(found[0]) - size])
    np.testing.assert_allclose(found[-1], first, rtol=1e-9)
    assert mechanism.loss == pytest.approx(tight(found), rel=1e-9, abs=1e-9)


def test_custext_loss_is_infinite_if_substitutes_differ():
    near = [[1.0, 0.9, 0.0, 0.1], [0.9, 1.0, 0.0, 0.1], [0.0, 0.1, 1.0, 0.8]]
    for epsilon in (0.001, 1.0, 100.0):
        assert CusText(ArrayRating(near), epsilon=epsilon, size=2).loss == inf
    assert CusText(ArrayRating(near[:2]), epsilon=1.0, size=2).loss == pytest.approx(0.5)
    assert CusText(ArrayRating(near), epsilon=1.0, size=4).loss < 1


def test_custext_draws_follow_its_weights():
    rng = np.random.default_rng(3)
    mechanism = CusText(ArrayRating(rng.random((600, 9))), epsilon=4.0, size=3)
    rows = np.repeat([[0, 599, 600]], 40_000, axis=0)
    drawn = mechanism.sample(rows, source=Seeded(5))
    assert drawn.shape == rows.shape
    for column, row in zip(drawn.T, (0, 599, 600), strict=True):
        shares = np.bincount(column, minlength=9) / len(column)
        weights = mechanism.weights(row)
        assert (shares[weights == 0] == 0).all()
        np.testing.assert_allclose(shares, weights / 2**62, atol=0.012)
