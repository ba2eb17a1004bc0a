import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from syntf.core.errors import SyntfError
from syntf.mechanism.nearest import nearest
from syntf.mechanism.rating import ArrayRating, WordRating

# Few different values, so that many are equal.
ratings = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


def brute_force(rating, count):
    levels = rating.levels(np.arange(rating.shape[0])).tolist()
    return [sorted(range(len(row)), key=lambda w: (-row[w], w))[:count] for row in levels]


@given(ratings, st.data())
def test_nearest_outputs_have_the_highest_levels_and_ties_go_to_the_first(values, data):
    rating = ArrayRating(values)
    count = data.draw(st.integers(1, rating.shape[1]))
    found = nearest(rating, count)
    assert found.dtype == np.int32
    assert found.tolist() == brute_force(rating, count)


@pytest.mark.parametrize("spelling", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_nearest_words_follow_the_rating_with_spelling(toy_vectors, toy_words, spelling, count):
    matrix = toy_vectors.matrix
    rating = WordRating(toy_words, matrix, toy_words, matrix, spelling=spelling)
    found = nearest(rating, count)
    assert found.tolist() == brute_force(rating, count)
    if spelling == 0:
        assert found[:, 0].tolist() == list(range(40))


def test_spelling_decides_between_similar_neighbours():
    vectors = np.array([[100, 0], [100, 3], [100, 20], [0, 100]], dtype=np.int8)
    words = ["cat", "cats", "tiger", "bus"]
    chosen = {
        s: nearest(WordRating(words[:1], vectors[:1], words[1:], vectors[1:], spelling=s), 1)
        for s in (0.0, 0.3)
    }
    assert [words[1 + int(found[0, 0])] for found in chosen.values()] == ["cats", "tiger"]


def test_an_input_without_a_similar_output_gets_the_first_outputs():
    assert nearest(ArrayRating(np.zeros((2, 5))), 3).tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("count", [0, -1, 6])
def test_an_invalid_number_of_neighbours_is_refused(count):
    with pytest.raises(SyntfError, match=rf"at most the number of outputs, 5; got {count}"):
        nearest(ArrayRating(np.zeros((2, 5))), count)


@pytest.mark.parametrize(("entries", "blocks"), [(100, 33), (10, 97)])
def test_blocks_do_not_change_neighbours(monkeypatch, entries, blocks):
    rating = ArrayRating(np.random.default_rng(3).random((97, 31)).round(1))
    whole = nearest(rating, 5)
    monkeypatch.setattr("syntf.core.parallel.BLOCK", entries)
    progress_calls = []
    assert (nearest(rating, 5, progress_calls.append) == whole).all()
    assert (len(progress_calls), sum(progress_calls)) == (blocks, 97)
