"""How documents become answers and answers become counts."""

import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix
from scipy.stats import chisquare

from syntf import Settings
from syntf.core import entropy
from syntf.privacy.guarantee import SEEDED, Guarantee
from syntf.rows import build, draw, guarantee, sample_terms

TEXTS = pl.Series(
    ["My cat chased the dog.", "", "The rocket flew to the moon, the moon!", "xqzt", "Cats. cats"]
)
PRESETS = ("document", "words", "accurate", "paper")


@pytest.fixture(scope="module")
def prepared():
    """The method of each preset, built once. A short vocabulary keeps the table of paper small."""
    small = {"vocabulary": ["cat", "dog", "moon", "rocket", "car"]}
    return {
        name: build(Settings.of(name, **(small if name != "document" else {}))) for name in PRESETS
    }


@given(
    counts=arrays(np.int32, (4, 6), elements=st.integers(0, 3)),
    units=st.one_of(st.none(), arrays(np.int64, 6, elements=st.integers(1, 9))),
    systematic=st.booleans(),
)
def test_a_documents_terms_depend_on_it_alone(counts, units, systematic):
    """Together or one by one, with the same bits, a document gets the same terms."""
    raw = entropy.Seeded(1)(8 * 4 * 5)
    used = 8 * (1 if systematic else 5)
    together = sample_terms(csr_matrix(counts), 5, lambda size: raw[:size], units, systematic)
    for place, row in enumerate(counts):
        own = raw[place * used : (place + 1) * used]
        alone = sample_terms(csr_matrix(row[None]), 5, lambda size, own=own: own, units, systematic)
        assert alone[0].tolist() == together[place].tolist()
        known = set(np.flatnonzero(row)) or {6}
        assert set(alone[0].tolist()) <= known


def test_terms_are_sampled_in_proportion_to_their_weight():
    counts = csr_matrix(np.array([[1, 2, 0, 3]], dtype=np.int32))
    units = np.array([5, 1, 9, 2])
    drawn = sample_terms(counts, 60_000, entropy.Seeded(2), units)[0]
    seen = np.bincount(drawn, minlength=4)
    mass = np.array([5, 2, 0, 6]) / 13
    assert seen[2] == 0
    assert chisquare(seen[[0, 1, 3]], (mass * 60_000)[[0, 1, 3]]).pvalue > 1e-6
    even = np.bincount(sample_terms(counts, 26, entropy.Seeded(2), units, True)[0], minlength=4)
    assert np.abs(even - mass * 26).max() <= 1  # systematic: as often as its share says


@pytest.mark.parametrize("preset", PRESETS)
def test_every_text_is_drawn_for_alike(prepared, preset, recorded):
    """Any texts use the same random bytes and give rows of the same sum (the replay test)."""
    sizes, sums = [], []
    for texts in (TEXTS, pl.Series(["moon"] * 5), pl.Series(["word " * 9999, *["\0"] * 4])):
        source = recorded()
        rows = prepared[preset]
        drawn = draw(rows.scheme(5), rows.encode(texts, source), source)
        sizes.append(source.sizes)
        assert drawn.answers.shape == (5, rows.scheme(5).draws)
        sums.append(drawn.counts().sum())
    assert sizes[0] == sizes[1] == sizes[2]
    if preset != "document":
        assert sums[0] == sums[1] == sums[2] == 5 * prepared[preset].settings.length


@pytest.mark.parametrize("preset", ["words", "paper"])
def test_counts_show_the_answers_where_these_are_not_listed(prepared, preset):
    rows = prepared[preset]
    scheme = rows.scheme(5)
    drawn = draw(scheme, rows.encode(TEXTS))
    shown = scheme.counted_answers(drawn.counts())
    assert shown.tolist() == np.sort(drawn.answers, axis=1).tolist()


def test_a_text_without_known_words_answers_with_nothing_known(prepared):
    rows = prepared["document"]
    scheme = rows.scheme(5)
    encoded = rows.encode(TEXTS)
    assert rows.unknown(encoded).tolist() == [False, True, False, True, False]
    targets = scheme.find_targets(encoded)[:, 0]
    assert [scheme.names[target] == "nothing known" for target in targets] == [
        False, True, False, True, False,
    ]  # fmt: skip
    assert scheme.counts(targets[[1]][:, None]).nnz == 0


@pytest.mark.parametrize("preset", PRESETS)
def test_the_guarantee_is_read_back_and_a_seed_voids_it(prepared, preset):
    rows = prepared[preset]
    made = guarantee(rows, [rows.scheme(5)], documents=5)
    assert Guarantee.from_json(made.as_json()) == made
    assert made.private
    part = made.composition[0]
    assert made.loss_per_document >= part.loss * part.draws * (1 - 1e-12)
    seeded = guarantee(rows, [rows.scheme(5)], source=entropy.Seeded(1))
    assert seeded.entropy == SEEDED
    assert not seeded.private


def _digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


FROZEN = json.loads((Path(__file__).parent / "frozen.json").read_text())
"""What 0.2.0 made of the example: known words, encoded vectors, sampled answers."""


def test_the_example_is_read_and_encoded_as_before():
    texts = pl.read_csv(Path("src/syntf/data/example.csv"))["text"]
    rows = build(Settings())
    counts = rows.reader.counts(texts)
    assert _digest(counts.indices.astype(np.int32)) == FROZEN["example"]["cols"]
    assert _digest(counts.data.astype(np.int32)) == FROZEN["example"]["known"]
    assert _digest(rows.encode(texts)) == FROZEN["example"]["vectors"]


def test_newsgroups_are_read_and_encoded_as_before(newsgroups_home):
    from sklearn.datasets import fetch_20newsgroups

    texts = fetch_20newsgroups(
        data_home=newsgroups_home, subset="train", remove=("headers", "footers", "quotes"),
        download_if_missing=False,
    ).data[:3000]  # fmt: skip
    rows = build(Settings())
    counts = rows.reader.counts(pl.Series(texts))
    assert _digest(counts.indices.astype(np.int32)) == FROZEN["newsgroups"]["cols"]
    assert _digest(counts.data.astype(np.int32)) == FROZEN["newsgroups"]["known"]
    assert _digest(rows.encode(pl.Series(texts))) == FROZEN["newsgroups"]["vectors"]
