"""The evaluator: how the words of texts are counted."""

from hypothesis import given
from hypothesis import strategies as st
from numpy import array
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluation.experiment.evaluator import _count_words

TEXT = st.lists(st.sampled_from(["ab", "cd", "ef", "the"]), max_size=6).map(" ".join)


@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=8))
def test_words_are_counted_as_by_a_vectorizer_of_the_training_texts(others):
    rows = [("the gh", True), ("ij the", False), *others]
    texts, train = [text for text, _ in rows], [part for _, part in rows]
    learnt = [text for text, part in rows if part]
    wanted = CountVectorizer().fit(learnt).transform(texts)
    found = _count_words(texts, array(train))
    assert found.toarray().tolist() == wanted.toarray().tolist()
    assert found.has_canonical_format
