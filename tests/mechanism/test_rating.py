"""One suite that every rating passes, and what is particular to each; nearest outputs."""

import os
import pickle
import subprocess
from fractions import Fraction
from hashlib import sha256
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from syntf.core.errors import SyntfError
from syntf.core.exact import GRID
from syntf.mechanism import nearest
from syntf.mechanism.nearest import nearest_outputs
from syntf.mechanism.rating import (
    MAX_BIGRAMS,
    MAX_DIMENSIONS,
    ArrayRating,
    WithEmptyDocument,
    WordRating,
    bigrams,
)  # fmt: skip
from syntf.words.vectors import WordVectors

WORDS = "cat cats dog car cart train trains x y on no banana Banana naïve".split()
LONG = "".join(chr(0x4E00 + i) for i in range(2000))


def vectors(count, dimensions=100, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(count, dimensions))
    matrix[1] = matrix[0] + 0.2 * matrix[1]
    return WordVectors.quantize([str(i) for i in range(count)], matrix).matrix


def word_rating(spelling=0.3, outputs=WORDS):
    matrix = vectors(len(WORDS))
    return WordRating(WORDS, matrix, outputs, matrix[: len(outputs)], spelling=spelling)


RATINGS = {
    "array": lambda: ArrayRating(np.random.default_rng(1).random((9, 5))),
    "words": word_rating,
    "other outputs": lambda: word_rating(outputs=WORDS[:5]),
    "with empty document": lambda: WithEmptyDocument(word_rating()),
}


@pytest.fixture(params=RATINGS, ids=str)
def rating(request):
    return RATINGS[request.param]()


def test_levels_have_a_row_for_each_input_and_a_column_for_each_output(rating):
    levels = rating.levels(np.arange(rating.shape[0]))
    assert levels.shape == rating.shape
    assert levels.dtype == np.uint16
    assert rating.levels(np.arange(0)).shape == (0, rating.shape[1])


def test_levels_do_not_depend_on_the_other_rows(rating):
    rows = np.arange(rating.shape[0])
    whole = rating.levels(rows)
    for row in rows:
        assert (rating.levels(np.array([row]))[0] == whole[row]).all()
    mixed = np.random.default_rng(0).permutation(np.repeat(rows, 3))
    assert (rating.levels(mixed) == whole[mixed]).all()


def test_digest_is_stable_and_distinguishes_ratings(rating):
    again = [make() for make in RATINGS.values()]
    assert sum(other.digest == rating.digest for other in again) == 1


def test_a_pickled_rating_is_the_same(rating):
    there = pickle.loads(pickle.dumps(rating))  # noqa: S301
    rows = np.arange(rating.shape[0])
    assert (there.levels(rows) == rating.levels(rows)).all()
    assert there.digest == rating.digest


def test_array_values_are_rounded_to_the_grid():
    levels = ArrayRating([[0.0, 1.0, 0.5, 1 / GRID, 1.4 / GRID]]).levels(np.array([0]))
    assert levels.tolist() == [[0, GRID, 32768, 1, 1]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1e-9, 1 + 1e-9, -float("inf")])
def test_a_rating_outside_zero_and_one_is_refused_with_its_place(bad):
    with pytest.raises(SyntfError, match=r"row 1, column 2") as error:
        ArrayRating([[0, 0, 0], [0, 0, bad]])
    assert str(bad) in str(error.value)


@pytest.mark.parametrize("bad", [[], [[]], [0.5], 0.5, [[[0.5]]]])
def test_values_that_are_not_a_table_are_refused(bad):
    with pytest.raises(SyntfError, match="inputs × outputs"):
        ArrayRating(bad)


def exact_level(v, w, a, b, spelling):
    """The definition in exact arithmetic, cosine to 60 binary places."""
    dot = int(a.astype(int) @ b.astype(int))
    norms = int(a.astype(int) @ a.astype(int)) * int(b.astype(int) @ b.astype(int))
    cosine = Fraction(dot << 60, isqrt(norms << 120))
    shared = len(set(bigrams(v)) & set(bigrams(w)))
    overlap = Fraction(2 * shared, len(bigrams(v)) + len(bigrams(w)))
    return max(Fraction(0), GRID * (cosine - Fraction(spelling) * overlap))


words = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.text("abA", max_size=9),
        st.sampled_from(["İ", "Σ", "ΑΣ", "\ud800", "\U0010ffff", "\x00", "\x00\x00", LONG]),
    ),
    min_size=2,
    max_size=8,
)


@settings(max_examples=60)
@given(words, words, st.sampled_from([0, 0.3, 1]))
def test_word_rating_agrees_with_the_papers_formula_to_one_level(inputs, outputs, spelling):
    a, b = vectors(len(inputs), seed=1), vectors(len(outputs), seed=1)  # some are equal
    levels = WordRating(inputs, a, outputs, b, spelling=spelling).levels(np.arange(len(inputs)))
    for i, v in enumerate(inputs):
        for j, w in enumerate(outputs):
            exact = exact_level(v, w, a[i], b[j], spelling)
            assert abs(int(levels[i, j]) - exact) <= Fraction(101, 100), (v, w)


def test_word_rating_is_symmetric_and_own_spelling_costs_all_of_s():
    levels = word_rating(0.3).levels(np.arange(len(WORDS)))
    assert (levels == levels.T).all()
    assert (np.diag(levels) == GRID - round(0.3 * GRID)).all()
    assert (np.diag(word_rating(0).levels(np.arange(len(WORDS)))) == GRID).all()


def test_bigrams_of_short_long_and_repeating_words():
    assert bigrams("Banana") == ["an", "ba", "na"]
    assert bigrams("x") == ["x"]
    assert bigrams("") == [""]
    assert len(bigrams(LONG)) == MAX_BIGRAMS


@given(st.integers(1, MAX_DIMENSIONS), st.integers(0, 2**32))
def test_float32_products_are_exact_in_any_order(dimensions, seed):
    """With the largest vectors allowed, whatever the order of summation."""
    rng = np.random.default_rng(seed)
    a = rng.choice(np.array([-127, 127], dtype=np.int8), dimensions)
    exact = int(a.astype(np.int64) @ a.astype(np.int64))
    for order in (np.arange(dimensions), rng.permutation(dimensions)):
        x = a[order].astype(np.float32)
        assert int(x @ x) == exact
        assert int(np.add.accumulate(x * x, dtype=np.float32)[-1]) == exact


DIGEST = """
import sys
import numpy as np
from syntf.mechanism import ExponentialMechanism
from syntf.mechanism.rating import WordRating
matrix = np.load(sys.argv[1])
words = [chr(97 + i % 26) * (1 + i // 26) for i in range(len(matrix))]
rating = WordRating(words, matrix, words, matrix, spelling=0.3)
print(ExponentialMechanism(rating, epsilon=47.5).digest)
"""


def test_another_blas_kernel_gives_the_same_table(tmp_path, python):
    """OpenBLAS made to use the kernels of other processors."""
    np.save(tmp_path / "vectors.npy", vectors(120))
    digests = set()
    for core, threads in [("Prescott", "1"), ("Haswell", "2"), ("SkylakeX", "1")]:
        outcome = subprocess.run(
            [python, "-c", DIGEST, tmp_path / "vectors.npy"],
            env={**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if outcome.returncode >= 0:  # a processor without these instructions ends the process
            digests.add(outcome.stdout or outcome.stderr)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


def test_a_zero_vector_is_refused_with_its_word():
    matrix = vectors(len(WORDS)).copy()
    matrix[3] = 0
    with pytest.raises(SyntfError, match="'car' is zero"):
        WordRating(WORDS, matrix, WORDS, vectors(len(WORDS)), spelling=0.3)


def test_a_component_of_minus_128_is_refused():
    matrix = vectors(len(WORDS)).copy()
    matrix[0, 0] = -128
    with pytest.raises(SyntfError, match="-128"):
        WordRating(WORDS, matrix, WORDS, matrix, spelling=0.3)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), True])
def test_spelling_outside_zero_and_one_is_refused(bad):
    with pytest.raises(SyntfError, match="spelling"):
        word_rating(bad)


@pytest.mark.parametrize("dimensions", [MAX_DIMENSIONS + 1, 50])
def test_vectors_of_wrong_dimensions_are_refused(dimensions):
    with pytest.raises(SyntfError, match="dimensions"):
        WordRating(["a"], vectors(2, dimensions)[:1], ["b"], vectors(2)[:1], spelling=0)


def test_the_empty_document_rates_all_outputs_alike():
    levels = WithEmptyDocument(word_rating()).levels(np.array([0, len(WORDS), 1]))
    assert (levels[1] == 0).all()
    assert (levels[[0, 2]] == word_rating().levels(np.array([0, 1]))).all()


def test_digest_distinguishes_words():
    matrix = vectors(2)
    made = {
        WordRating(words, matrix, ["a"], matrix[:1], spelling=0.3).digest
        for words in (["a\nb", "c"], ["a", "b\nc"], ["a", "b"], ["b", "a"])
    }
    assert len(made) == 4


# Few different values, so that many are equal.
tied = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


@given(tied)
def test_nearest_outputs_have_the_highest_level_and_ties_go_to_the_first(values):
    found = nearest_outputs(ArrayRating(values), keep=False)
    assert found.dtype == np.int32
    assert found.tolist() == [row.index(max(row)) for row in values.tolist()]


def test_spelling_decides_between_similar_words():
    matrix = np.array([[100, 0], [100, 3], [100, 20], [0, 100]], dtype=np.int8)
    names = ["cat", "cats", "tiger", "dog"]
    chosen = [
        WordRating(names[:1], matrix[:1], names[1:], matrix[1:], spelling=s) for s in (0.0, 0.3)
    ]
    assert [names[1 + nearest_outputs(rating)[0]] for rating in chosen] == ["cats", "tiger"]


def test_nearest_words_are_those_of_version_0_2_in_any_blocks(embedded, monkeypatch, empty_cache):
    names, matrix = embedded.words[:3000], embedded.at(range(3000))
    rating = WordRating(names, matrix, names[500:1500], matrix[500:1500], spelling=0.3)
    found = nearest_outputs(rating)
    monkeypatch.setattr(nearest, "BLOCK", 70_000)
    assert (nearest_outputs(rating, keep=False) == found).all()
    digest = sha256(found.astype("<i4").tobytes()).hexdigest()
    assert digest == "8a8167939034a8e067c773c0a4456f07802c40787b5ec8fc8fd75cb61e64e9ab"


def test_nearest_outputs_are_kept_in_the_cache_only_if_wished(empty_cache, monkeypatch):
    rating = ArrayRating([[0.1, 0.9], [0.7, 0.2]])
    assert nearest_outputs(rating, keep=False).tolist() == [1, 0]
    assert not empty_cache.exists()
    assert nearest_outputs(rating).tolist() == [1, 0]
    assert len(list(empty_cache.iterdir())) == 1
    monkeypatch.setattr(ArrayRating, "levels", None)
    assert nearest_outputs(rating).tolist() == [1, 0]
    with pytest.raises(TypeError):  # computed again
        nearest_outputs(rating, keep=False)
