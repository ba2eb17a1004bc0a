"""One suite that every rating passes, and what is particular to each."""

import os
import pickle
import subprocess
import sys
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.core.exact import GRID
from syntf.mechanism import kernels
from syntf.mechanism.bigrams import bigrams
from syntf.mechanism.rating import MAX_DIMENSIONS, ArrayRating, WithEmptyDocument, WordRating
from syntf.vectors.word_vectors import WordVectors

WORDS = "cat cats dog car cart train trains x y on no banana Banana naïve".split()


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
    assert levels.flags.c_contiguous


def test_levels_do_not_depend_on_the_other_rows(rating):
    rows = np.arange(rating.shape[0])
    whole = rating.levels(rows)
    for row in rows:
        assert (rating.levels(np.array([row]))[0] == whole[row]).all()
    mixed = np.random.default_rng(0).permutation(np.repeat(rows, 3))
    assert (rating.levels(mixed) == whole[mixed]).all()


def test_no_rows_give_no_levels(rating):
    assert rating.levels(np.arange(0)).shape == (0, rating.shape[1])


def test_digest_is_stable_and_distinguishes_ratings(rating):
    again = [make() for make in RATINGS.values()]
    assert sum(other.digest == rating.digest for other in again) == 1


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


@pytest.mark.parametrize("spelling", [0, 0.3, 1])
def test_word_rating_agrees_with_the_papers_formula_to_one_level(spelling):
    matrix = vectors(len(WORDS))
    levels = word_rating(spelling).levels(np.arange(len(WORDS)))
    for i, v in enumerate(WORDS):
        for j, w in enumerate(WORDS):
            exact = exact_level(v, w, matrix[i], matrix[j], spelling)
            assert abs(int(levels[i, j]) - exact) <= Fraction(101, 100), (v, w)


def test_word_rating_is_symmetric_and_own_spelling_costs_all_of_s():
    levels = word_rating(0.3).levels(np.arange(len(WORDS)))
    assert (levels == levels.T).all()
    assert (np.diag(levels) == GRID - round(0.3 * GRID)).all()
    assert (np.diag(word_rating(0).levels(np.arange(len(WORDS)))) == GRID).all()


@given(st.integers(1, MAX_DIMENSIONS), st.integers(0, 2**32))
def test_float32_products_are_exact_in_any_order(dimensions, seed):
    """trust 3: with the largest vectors allowed, whatever the order of summation."""
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
sys.path.insert(0, sys.argv[1])
from test_rating import word_rating
from syntf.mechanism.exponential import ExponentialMechanism
print(ExponentialMechanism(word_rating(), epsilon=47.5).digest)
"""


@pytest.mark.parametrize("core", ["Prescott", "Haswell", "SkylakeX"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_another_blas_kernel_gives_the_same_table(core, threads):
    """trust 3: OpenBLAS made to use the kernels of other processors."""
    outcome = subprocess.run(
        [sys.executable, "-c", DIGEST, os.path.dirname(__file__)],
        env={**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if outcome.returncode < 0:
        pytest.skip(f"this processor cannot run OpenBLAS's {core} kernels")
    from syntf.mechanism.exponential import ExponentialMechanism

    assert outcome.stdout.strip() == ExponentialMechanism(word_rating(), epsilon=47.5).digest


def test_a_zero_vector_is_refused_with_its_word():
    matrix = vectors(len(WORDS)).copy()
    matrix[3] = 0
    with pytest.raises(SyntfError, match="'car' is zero"):
        WordRating(WORDS, matrix, WORDS, vectors(len(WORDS)), spelling=0.3)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), True])
def test_spelling_outside_zero_and_one_is_refused(bad):
    with pytest.raises(SyntfError, match="spelling"):
        word_rating(bad)


@pytest.mark.parametrize("dimensions", [MAX_DIMENSIONS + 1, 50])
def test_vectors_of_wrong_dimensions_are_refused(dimensions):
    with pytest.raises(SyntfError, match="dimensions"):
        WordRating(["a"], vectors(2, dimensions)[:1], ["b"], vectors(2)[:1], spelling=0)


def test_the_empty_document_rates_all_outputs_alike():
    rating = WithEmptyDocument(word_rating())
    levels = rating.levels(np.array([0, len(WORDS), 1]))
    assert (levels[1] == 0).all()
    assert (levels[[0, 2]] == word_rating().levels(np.array([0, 1]))).all()


def test_digest_distinguishes_words():
    matrix = vectors(2)
    made = {
        WordRating(words, matrix, ["a"], matrix[:1], spelling=0.3).digest
        for words in (["a\nb", "c"], ["a", "b\nc"], ["a", "b"], ["b", "a"])
    }
    assert len(made) == 4


def test_a_component_of_minus_128_is_refused():
    matrix = vectors(len(WORDS)).copy()
    matrix[0, 0] = -128
    with pytest.raises(SyntfError, match="-128"):
        WordRating(WORDS, matrix, WORDS, matrix, spelling=0.3)


def test_bigrams_are_computed_only_for_levels(monkeypatch):
    """What a cache knows already is found by the digest: no more is made until levels are."""
    made = word_rating()
    expected = made.levels(np.arange(len(WORDS)))
    monkeypatch.setattr("syntf.mechanism.rating.BigramTable", None)
    again = word_rating()
    assert again.digest == made.digest
    with pytest.raises(AttributeError):
        again.levels(np.arange(1))
    monkeypatch.undo()
    assert (again.levels(np.arange(len(WORDS))) == expected).all()


@pytest.mark.parametrize("elsewhere", ["no compiler", "no products of bytes"])
def test_a_pickled_rating_works_on_another_processor(elsewhere, monkeypatch):
    rating, rows = WithEmptyDocument(word_rating()), np.arange(len(WORDS))
    here = rating.levels(rows)
    carried = pickle.dumps(rating)
    if elsewhere == "no compiler":
        monkeypatch.setattr(kernels, "_compiled", None)
    elif kernels._compiled is None or not kernels._compiled.wide():
        pytest.skip("this processor has none either")
    else:
        monkeypatch.setattr(kernels, "_compiled", Plain(kernels._compiled))
    there = pickle.loads(carried)  # noqa: S301
    assert (there.levels(rows) == here).all()
    assert there.digest == rating.digest


class Plain:
    """The compiled loops of a processor that multiplies no bytes."""

    def __init__(self, compiled):
        self._compiled = compiled

    def __getattr__(self, name):
        assert name != "rate_packed", "an illegal instruction"
        return (lambda: False) if name == "wide" else getattr(self._compiled, name)
