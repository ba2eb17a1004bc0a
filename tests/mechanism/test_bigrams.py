"""Bigrams of many words at once are those of each word."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.mechanism import bigrams as bigrams_module
from syntf.mechanism.bigrams import BigramTable, bigrams

LONG = "".join(chr(0x4E00 + i) for i in range(2000))

words = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.text("abA", max_size=9),
        st.sampled_from(["İ", "Σ", "ΑΣ", "\ud800", "\U0010ffff", "\x00", "\x00\x00", LONG]),
    ),
    min_size=1,
    max_size=12,
)


def test_bigrams_of_short_long_and_repeating_words():
    assert bigrams("Banana") == ["an", "ba", "na"]
    assert bigrams("x") == ["x"]
    assert bigrams("") == [""]
    assert len(bigrams(LONG)) == 255


@pytest.mark.parametrize("block", [3, 1 << 16])
@settings(max_examples=150, deadline=None)
@given(inputs=words, outputs=words)
def test_a_table_of_bigrams_agrees_with_the_bigrams_of_each_word(block, inputs, outputs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bigrams_module, "_BLOCK_WORDS", block)
        found = BigramTable.build(inputs, outputs)
    assert found.input_counts.tolist() == [len(bigrams(word)) for word in inputs]
    assert found.output_counts.tolist() == [len(bigrams(word)) for word in outputs]
    incidence = found.incidence().astype(np.intp)
    assert incidence.sum(axis=0).tolist() == found.output_counts.tolist()
    for v, word in enumerate(inputs):
        ids = found.input_bigrams[found.input_starts[v] : found.input_starts[v + 1]]
        shared = incidence[ids].sum(axis=0)
        own = set(bigrams(word))
        assert shared.tolist() == [len(own & set(bigrams(other))) for other in outputs]


def test_words_of_very_many_letters_have_the_same_numbers(monkeypatch):
    words = ["".join(map(chr, range(start, start + 9))) for start in range(0x4E00, 0x5000, 3)]
    few = BigramTable.build(words, words[::2])
    monkeypatch.setattr(bigrams_module, "_MOST_LETTERS", 3)
    many = BigramTable.build(words, words[::2])
    for name, values in vars(few).items():
        assert np.array_equal(values, getattr(many, name))
