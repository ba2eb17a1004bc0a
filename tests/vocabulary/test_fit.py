"""Counting by the table of tokens gives the counts of the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.text import token_table
from syntf.text.tokenizer import Analyzer
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary import fit
from syntf.vocabulary.fit import count_by_definition, count_documents

WORDS = "cat cats Cat CAT mouse run ran be the two 2 café CAFÉ o'clock straße".split()
VECTORS = WordVectors(WORDS, np.ones((len(WORDS), 2), dtype=np.int8))
TEXT = st.lists(
    st.sampled_from([*WORDS, *(word.upper() for word in WORDS), "mice’s", "Ran", "qwxyz", "İ"]),
    max_size=12,
).map(" ".join)


@pytest.mark.slow
@pytest.mark.parametrize("morphology", ["lemma", "lower", "orth"])
@pytest.mark.parametrize("numbers", [False, True])
@given(texts=st.lists(TEXT, max_size=8))
def test_counts_agree_with_the_definition(morphology, numbers, texts):
    analyzer = Analyzer(morphology, numbers=numbers)
    counts, size = count_documents(iter(texts), analyzer, VECTORS)
    assert (dict(counts), size) == (
        dict(count_by_definition(texts, analyzer, VECTORS)[0]),
        len(texts),
    )


def test_counts_of_several_batches_are_added_up(monkeypatch):
    monkeypatch.setattr(fit, "BATCH_TEXTS", 3)
    texts = ["a cat", "mice; mice", "", "the", "Cats", "mouse’s cat", "run"]
    assert count_documents(texts, Analyzer(), VECTORS) == ({"cat": 3, "mouse": 2, "run": 1}, 7)
    monkeypatch.setattr(token_table, "compiled", None)
    assert count_documents(texts, Analyzer(), VECTORS) == ({"cat": 3, "mouse": 2, "run": 1}, 7)
