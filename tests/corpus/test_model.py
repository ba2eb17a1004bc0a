"""The model follows the sums, whatever they are, and is a function of them alone."""

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from syntf.corpus.measure import Budget, measure
from syntf.corpus.model import SCALE, Model, cleaned, fit
from syntf.corpus.noisy import Measurement, NoisySums
from syntf.topics.integers import LENGTH

LISTED = ("animals", "music", "cars")


@pytest.fixture(scope="module")
def noisy_of(corpus_of, public):
    """A function that measures a corpus of some size."""

    def made(size, epsilon, labels=LISTED):
        with corpus_of(size).documents() as documents:
            return measure(documents, public, Budget(epsilon, 1e-6), labels=labels)

    return made


def test_with_little_noise_the_model_has_the_means_and_labels_of_the_documents(
    corpus_of, noisy_of, public
):
    model = fit(noisy_of(20_000, 50.0), public)
    corpus = corpus_of(20_000)
    own = np.array([LISTED.index(label) for label in corpus.labels])
    for label in range(3):
        mean = corpus.encoded[own == label].mean(axis=0) / LENGTH
        assert model.means[label] / SCALE == pytest.approx(mean, abs=0.01)
    assert model.weights == pytest.approx(np.bincount(own), rel=0.02)
    other = corpus_of(2000, seed=9)
    truth = np.array([LISTED.index(label) for label in other.labels])
    scores = model.scores(other.encoded, other.counts)
    assert (scores.argmax(axis=1) == truth).mean() > 0.95


def test_words_that_stand_out_have_odds(noisy_of, public):
    model = fit(noisy_of(20_000, 50.0), public)
    cat = model.columns.tolist().index(0)
    assert model.odds[0, cat] > 500 > 0 > model.odds[1, cat]


def test_cleaning_brings_eigenvalues_nearer_to_the_truth():
    random = np.random.default_rng(3)
    d, tau = 60, 0.02
    axes = np.linalg.qr(random.normal(size=(d, d)))[0]
    truth = (axes * np.linspace(0.02, 0.5, d)) @ axes.T
    noise = np.triu(random.normal(0, tau, (d, d)), 1)
    noisy = truth + noise + noise.T + np.diag(random.normal(0, tau * np.sqrt(2), d))
    values, found = cleaned(noisy, tau, 0)
    after = np.linalg.norm((found * values) @ found.T - truth)
    assert after < 0.95 * np.linalg.norm(noisy - truth)
    values, found = cleaned(truth, 0.0, 0)
    assert (found * values) @ found.T == pytest.approx(truth, abs=1e-9)


def sums_of_noise(labels, scale, seed):
    """Noisy sums that no corpus explains."""
    random = np.random.default_rng(seed)

    def noise(size):
        return np.rint(random.normal(0, scale, size)).astype(np.int64)

    names = ("size", "labels", "first", "words")
    return NoisySums(
        labels=tuple(f"cat {number}" for number in range(labels)),
        meanings=("",) * labels,
        is_by_topic=False,
        size=noise(1),
        counts=noise(labels),
        first=noise(labels * 9 + 36),
        columns=np.arange(0, 40, 2, dtype=np.int32) if seed % 2 else np.zeros(0, dtype=np.int32),
        words=noise(labels * 20) if seed % 2 else np.zeros(0, dtype=np.int64),
        measurements=tuple(Measurement(name, 100, 10_000) for name in names),
    )


@pytest.mark.parametrize("labels", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.1, 1e4, 1e12])
def test_any_sums_have_a_model(public, labels, scale):
    for seed in range(4):
        model = fit(sums_of_noise(labels, scale, seed), public)
        for field in fields(Model):
            found = getattr(model, field.name)
            assert found.dtype.kind == "i"
            assert (np.abs(found.astype(float)) < 2**52).all()
        assert (model.weights >= 1).all()
        encoded = np.full((2, 8), 700)
        assert np.isfinite(model.scores(encoded, csr_matrix(np.ones((2, 40))))).all()


def test_the_model_is_a_function_of_what_is_stored(noisy_of, public):
    noisy = noisy_of(3000, 4.0)
    arrays = {name: value for name, value in vars(noisy).items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in vars(noisy).items() if name not in arrays}
    rest["measurements"] = [asdict(each) for each in noisy.measurements]
    stored = json.loads(json.dumps(rest))
    stored["measurements"] = tuple(Measurement(**each) for each in stored["measurements"])
    stored["labels"], stored["meanings"] = tuple(stored["labels"]), tuple(stored["meanings"])
    again = fit(NoisySums(**stored, **arrays), public)
    for name, value in vars(fit(noisy, public)).items():
        assert (getattr(again, name) == value).all()


def test_another_order_of_rounding_changes_the_integers_hardly(noisy_of, public):
    noisy = noisy_of(3000, 4.0)
    model = fit(noisy, public)
    other = fit(replace(noisy, first=noisy.first + np.resize([0, 1], len(noisy.first))), public)
    for name in ("means", "factor", "discriminants", "offsets"):
        one, two = getattr(model, name), getattr(other, name)
        assert np.abs(one - two).max() <= 1e-5 * np.abs(one).max() + 2


def test_what_a_label_means_may_be_said_in_words(public, noisy_of):
    noisy = noisy_of(20, 0.1, ("a", "b"))
    meant = replace(noisy, labels=("x1", "x2"), meanings=("cats and dogs", "piano music"))
    assert not replace(meant, meanings=("", "")).directions(public).any()
    directions = meant.directions(public)
    assert directions.any(axis=1).all()
    animals, music = public.directions(["cat_dog", "piano.music"])
    assert (directions == [animals, music]).all()
