import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.text.tokenizer import Analyzer
from syntf.vocabulary.coverage import Coverage, coverage

WORDS = {"the": "left_out", "2": "left_out", "Cats": "known", "qwxyz": "unknown"}


@given(st.lists(st.lists(st.sampled_from(list(WORDS)))))
def test_every_token_is_counted_once_and_every_document_without_a_known_word(documents):
    kinds = [[WORDS[word] for word in document] for document in documents]
    every = [kind for document in kinds for kind in document]
    made = coverage(map(" ".join, documents), Analyzer(), ["cat"])
    assert made == Coverage(
        documents=len(documents),
        left_out=every.count("left_out"),
        known=every.count("known"),
        unknown=every.count("unknown"),
        empty=sum("known" not in document for document in kinds),
    )
    assert made.tokens == len(every)


@pytest.mark.parametrize(
    ("analyzer", "known"),
    [
        (Analyzer(), 2),  # mice are read as mouse
        (Analyzer("lower"), 1),
        (Analyzer(numbers=True), 3),
        (Analyzer(stop_words={"mouse"}), 0),
    ],
)
def test_known_tokens_are_those_the_analyzer_finds(analyzer, known):
    assert coverage(["Mice, mouse 2"], analyzer, ["mouse", "2"]).known == known
