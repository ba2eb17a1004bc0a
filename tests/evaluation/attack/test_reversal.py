"""Reverse vectorisation, in each order of words."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from syntf.evaluation.attack.reversal import ORDERS, reverse

TERMS = ["pear", "apple", "fig", "zoo", "Ant"]


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=6),
    st.sampled_from(ORDERS),
)
def test_every_word_is_repeated_as_often_as_counted(rows, order):
    texts = reverse(csr_matrix(rows), TERMS, order)
    assert len(texts) == len(rows)
    for text, row in zip(texts, rows, strict=True):
        expected = {term: count for term, count in zip(TERMS, row, strict=True) if count}
        assert Counter(text.split()) == expected


def test_words_are_alphabetical_by_default():
    assert reverse(csr_matrix([[1, 2, 0, 1, 1], [0, 0, 3, 0, 0]]), TERMS) == [
        "Ant apple apple pear zoo",
        "fig fig fig",
    ]


def test_frequency_order_puts_most_frequent_words_first():
    rows = csr_matrix([[1, 1, 0, 0, 0], [4, 0, 1, 2, 0], [0, 1, 0, 0, 2]])
    assert reverse(rows, TERMS, "frequency") == [
        "pear apple",
        "pear pear pear pear zoo zoo fig",
        "Ant Ant apple",
    ]


def test_random_order_depends_on_the_seed_only():
    rows = csr_matrix(np.full((3, 5), 4))
    first, again, other = (reverse(rows, TERMS, "random", seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(set(first)) == 3


def test_empty_row_gives_an_empty_text():
    assert reverse(csr_matrix((2, 5), dtype=np.int32), TERMS) == ["", ""]
