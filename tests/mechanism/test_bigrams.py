"""Bigrams of many words at once are those of each word."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.mechanism import bigrams as bigrams_module
from syntf.mechanism.bigrams import Spelling, bigrams

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


@pytest.mark.parametrize("at_once", [3, 1 << 16])
@settings(max_examples=150, deadline=None)
@given(inputs=words, outputs=words)
def test_spelling_is_that_of_each_word(at_once, inputs, outputs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bigrams_module, "WORDS", at_once)
        found = Spelling.of(inputs, outputs)
    assert found.count_in.tolist() == [len(bigrams(word)) for word in inputs]
    assert found.count_out.tolist() == [len(bigrams(word)) for word in outputs]
    has_bigram = found.has_bigram().astype(np.intp)
    assert has_bigram.sum(axis=0).tolist() == found.count_out.tolist()
    for v, word in enumerate(inputs):
        ids = found.ids[found.ptr[v] : found.ptr[v + 1]]
        shared = has_bigram[ids].sum(axis=0)
        own = set(bigrams(word))
        assert shared.tolist() == [len(own & set(bigrams(other))) for other in outputs]
