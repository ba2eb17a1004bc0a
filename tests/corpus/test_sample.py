"""Rows are the same on every machine, and have the words and labels that the model wants."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from syntf.core import parallel
from syntf.corpus import sample as sampling
from syntf.corpus.measure import Budget, measure
from syntf.corpus.model import SCALE, fit
from syntf.corpus.sample import sample, shares
from syntf.corpus.stream import Stream
from syntf.topics.integers import LENGTH

LISTED = ("animals", "music", "cars")
SEED = b"a public seed"


@pytest.fixture(scope="module")
def model(corpus_of, public):
    with corpus_of(20_000).documents() as documents:
        return fit(measure(documents, public, Budget(50.0, 1e-6), labels=LISTED), public)


def digest(model, public, count=700, seed=SEED):
    rows, labels = sample(model, public, count, seed)
    rows.sort_indices()
    return sha256(b"".join(a.astype("<i8").tobytes() for a in (
        rows.data, rows.indices, rows.indptr, labels
    ))).hexdigest()  # fmt: skip


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_rows_do_not_depend_on_blocks_and_threads(model, public, monkeypatch, cores, rows):
    expected = digest(model, public)
    monkeypatch.setattr(sampling, "_ROWS", rows)
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    assert digest(model, public) == expected


def test_rows_depend_on_the_seed_and_on_every_part_of_the_model(model, public):
    found = {digest(model, public), digest(model, public, seed=b"another")}
    for name in ("weights", "means", "factor", "discriminants", "offsets", "odds"):
        other = getattr(model, name).copy()
        other.flat[0] += {"odds": 1 << 9, "weights": 5000, "offsets": 5000 * SCALE}.get(
            name, SCALE // 2
        )
        found.add(digest(replace(model, **{name: other}), public))
    assert len(found) == 8


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_any_number_of_rows_can_be_sampled(model, public, count):
    rows, labels = sample(model, public, count, SEED)
    assert rows.shape == (count, len(model.columns))
    assert len(labels) == count


def test_rows_are_divided_among_labels_by_their_weights(model, public):
    labels = sample(model, public, 1000, SEED)[1]
    assert (np.bincount(labels) == shares(model.weights, 1000)).all()
    assert (
        np.abs(shares(model.weights, 1000) - 1000 * model.weights / model.weights.sum()).max() < 1
    )
    assert (labels[:-1] > labels[1:]).any()  # in random order


def test_directions_follow_the_model_and_have_its_labels(model):
    many = np.repeat(np.arange(3), 5000)
    z = sampling._directions(model, many, Stream(SEED))
    scores = z @ (model.discriminants.T / SCALE / LENGTH) + model.offsets / SCALE
    assert (scores.argmax(axis=1) == many).mean() > 0.999
    assert np.abs(np.linalg.norm(z, axis=1) - LENGTH).max() < 5


def expectations(emission, directions, labels, words):
    """The expected words of rows, from the formula, in floating point."""
    logit = sampling._LOGIT
    logits = (directions.astype(float) @ emission._vectors + emission._logits[labels]) / logit
    chosen = np.exp(logits - logits.max(axis=1, keepdims=True))
    usual = emission._frequency / emission._frequency.sum()
    share = chosen / chosen.sum(axis=1, keepdims=True)
    return words * ((1 - sampling.BACKGROUND) * share + sampling.BACKGROUND * usual)


def test_words_occur_as_often_as_expected(model, public):
    emission = sampling._Emission(model, public)
    labels = np.repeat(np.arange(3), 400)
    z = sampling._directions(model, labels, Stream(SEED))
    rows = emission.rows(z, labels, 150, Stream(SEED), "test").toarray()
    expected = expectations(emission, z, labels, 150)
    for label in range(3):
        apart = rows[labels == label].sum(axis=0) - expected[labels == label].sum(axis=0)
        # At most one from the random start, and 2**-16 for each row and a step of the table.
        assert np.abs(apart).max() < 1 + 0.002 * expected[labels == label].sum(axis=0).max()
    assert np.abs(rows - expected).max() < 1 + 0.002 * 150  # evenly along the rows, too


def test_uneven_emission_would_be_found(model, public):
    emission = sampling._Emission(model, public)
    labels = np.zeros(400, dtype=np.int64)
    z = sampling._directions(model, labels, Stream(SEED))
    expected = expectations(emission, z, labels, 150)
    independent = np.random.default_rng(0).poisson(expected)
    apart = independent.sum(axis=0) - expected.sum(axis=0)
    assert np.abs(apart).max() > 1 + 0.002 * expected.sum(axis=0).max()


def test_products_stay_where_float32_is_exact(model, public):
    emission = sampling._Emission(model, public)
    labels = np.repeat(np.arange(3), 200)
    wanted = sampling._directions(model, labels, Stream(SEED))
    moved = sampling._corrected(wanted, labels, emission, public.encoder, Stream(SEED))
    for z in (wanted, moved):
        terms = np.abs(z).astype(np.int64) @ np.abs(emission._vectors).astype(np.int64)
        assert (terms + np.abs(emission._logits[labels]).astype(np.int64)).max() < 1 << 24
    assert (emission._vectors == np.rint(emission._vectors)).all()
    assert (emission._logits == np.rint(emission._logits)).all()


def test_one_correction_brings_means_nearer_to_the_wanted_ones(model, public):
    emission, stream = sampling._Emission(model, public), Stream(SEED)
    labels = np.repeat(np.arange(3), 600)
    wanted = sampling._directions(model, labels, stream)
    moved = sampling._corrected(wanted, labels, emission, public.encoder, stream)

    def apart(directions):
        rows = emission.rows(directions, labels, 150, stream, "test")
        wide = np.zeros((len(labels), 40), dtype=np.int32)
        wide[:, model.columns] = rows.toarray()
        encoded = public.encoder.encode(sampling.csr_matrix(wide))
        cosines = []
        for label in range(3):
            one, two = (a[labels == label].mean(axis=0) for a in (wanted, encoded))
            cosines.append(one @ two / np.linalg.norm(one) / np.linalg.norm(two))
        return 1 - np.mean(cosines)

    assert apart(moved) < apart(wanted)


def test_one_label_and_labels_without_a_difference_are_sampled(model, public):
    one = replace(
        model, weights=model.weights[:1], means=model.means[:1], offsets=model.offsets[:1],
        discriminants=model.discriminants[:1], odds=model.odds[:1],
    )  # fmt: skip
    rows, labels = sample(one, public, 100, SEED)
    assert not labels.any()
    assert 140 < rows.sum() / 100 < 155
    same = replace(model, discriminants=model.discriminants * 0, odds=model.odds[:0])
    assert sample(same, public, 100, SEED)[0].sum() > 14_000
