import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.analysis import Analyzer
from syntf.errors import SyntfError
from syntf.vectors import WordVectors
from syntf.vocabulary import Remembered, Vocabulary, first_known


def test_given_terms_are_inputs_and_outputs_in_order_without_repeats(toy_vectors):
    made = Vocabulary.given(["dog", "cat", "dog", "Cat"], toy_vectors)
    assert list(made.inputs) == list(made.outputs) == ["dog", "cat", "Cat"]
    assert list(made.input_rows) == list(made.output_rows) == [2, 0, 0]
    assert (made.provenance, made.dropped) == ("public", 0)


def test_given_terms_without_a_vector_are_dropped_and_counted(toy_vectors):
    made = Vocabulary.given(["cat", "qwxyz", "dog", "qwxyz", "zzz"], toy_vectors)
    assert (list(made.outputs), made.dropped) == (["cat", "dog"], 2)


def test_read_takes_one_term_a_line(tmp_path, toy_vectors):
    path = tmp_path / "terms.txt"
    path.write_bytes(b"dog\r\n\n  cat \nqwxyz\nmouse\tmice\nPiano")
    for place in (path, str(path)):
        made = Vocabulary.read(place, toy_vectors)
        assert list(made.outputs) == ["dog", "cat", "Piano"]
        assert [toy_vectors.words[row] for row in made.output_rows] == ["dog", "cat", "piano"]
        assert (made.provenance, made.dropped) == ("public", 2)


def test_read_takes_a_file_that_is_not_utf8(tmp_path, toy_vectors):
    (tmp_path / "terms.txt").write_bytes(b"caf\xe9\ncat\n")
    made = Vocabulary.read(tmp_path / "terms.txt", toy_vectors)
    assert (list(made.outputs), made.dropped) == (["cat"], 1)


def test_read_takes_a_file_with_a_byte_order_mark(tmp_path, toy_vectors):
    (tmp_path / "terms.txt").write_text("cat\ndog\n", encoding="utf-8-sig")
    assert list(Vocabulary.read(tmp_path / "terms.txt", toy_vectors).outputs) == ["cat", "dog"]


@pytest.mark.parametrize(("raw", "count"), [(b"", 0), (b"\n \n", 0), (b"qwxyz\nzzz\n", 2)])
def test_read_refuses_a_file_of_which_no_term_is_known(tmp_path, toy_vectors, raw, count):
    path = tmp_path / "terms.txt"
    path.write_bytes(raw)
    with pytest.raises(SyntfError, match=re.escape(f"{path} has {count} terms")):
        Vocabulary.read(path, toy_vectors)


def test_read_names_the_file_that_is_missing(tmp_path, toy_vectors):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(SyntfError, match=re.escape(str(path))):
            Vocabulary.read(path, toy_vectors)


TEXTS = [
    "The cat saw two mice; the mice ran.",
    "A mouse! Mice, mice, mice.",
    "Cats and dogs, qwxyz",
    "dog qwxyz",
    "",
]


@pytest.mark.parametrize(
    ("min_df", "terms"),
    [(1, ["cat", "dog", "mouse", "run"]), (2, ["cat", "dog", "mouse"])],
)
def test_fit_counts_documents_not_occurrences(toy_vectors, min_df, terms):
    made = Vocabulary.fit(TEXTS, Analyzer(), toy_vectors, min_df=min_df)
    assert list(made.inputs) == list(made.outputs) == terms
    assert [toy_vectors.words[row] for row in made.output_rows] == terms
    assert made.provenance == "fitted"


def test_fit_without_lemmas_keeps_the_forms_apart(toy_vectors):
    lower = Vocabulary.fit(TEXTS, Analyzer("lower"), toy_vectors, min_df=1)
    assert list(lower.outputs) == ["cat", "cats", "dog", "dogs", "mice", "mouse"]
    orth = Vocabulary.fit(TEXTS, Analyzer("orth"), toy_vectors, min_df=1)
    assert list(orth.outputs) == ["Cats", "Mice", "cat", "dog", "dogs", "mice", "mouse"]
    by_lower_case = [toy_vectors.words[row] for row in orth.output_rows]
    assert by_lower_case == ["cats", "mice", "cat", "dog", "dogs", "mice", "mouse"]


def test_fit_falls_back_to_the_word_as_written_where_the_lemma_has_no_vector():
    vectors = WordVectors(["mice", "cat"], np.eye(2, dtype=np.int8))
    made = Vocabulary.fit(["mice cat mouse"], Analyzer(), vectors, min_df=1)
    assert list(made.outputs) == ["cat", "mice"]


def test_fit_refuses_texts_without_a_term_often_enough(toy_vectors):
    for texts, min_df in ((TEXTS, 4), ([], 1), (["the of qwxyz"], 1)):
        with pytest.raises(SyntfError, match=f"terms in {min_df} documents.* has 0 terms"):
            Vocabulary.fit(texts, Analyzer(), toy_vectors, min_df=min_df)


@given(
    st.lists(st.lists(st.sampled_from(["cat", "dog", "car", "the", "qwxyz"])), min_size=1),
    st.integers(1, 4),
)
def test_fit_agrees_with_counting(toy_vectors, documents, min_df):
    counts = Counter(word for document in documents for word in set(document))
    wanted = sorted(w for w in ("cat", "dog", "car") if counts[w] >= min_df)
    texts = [" ".join(document) for document in documents]
    if wanted:
        made = Vocabulary.fit(texts, Analyzer("lower"), toy_vectors, min_df=min_df)
        assert list(made.outputs) == wanted
    else:
        with pytest.raises(SyntfError):
            Vocabulary.fit(texts, Analyzer("lower"), toy_vectors, min_df=min_df)


def test_default_outputs_are_10000_known_words_without_stop_words_or_numbers(embedded):
    made = Vocabulary.default(embedded)
    assert len(made.outputs) == len(set(made.outputs)) == 10_000
    assert (made.provenance, made.dropped) == ("public", 0)
    assert [embedded.words[row] for row in made.output_rows] == list(made.outputs)
    analyzer = Analyzer()
    assert [word for word in made.outputs if word not in analyzer.candidates(word)] == []


def test_default_inputs_are_all_words_with_a_vector(embedded):
    made = Vocabulary.default(embedded)
    assert list(made.inputs) == list(embedded.words)
    assert list(made.input_rows) == list(range(len(embedded.words)))


def test_default_with_other_vectors_shows_only_words_they_know(toy_vectors):
    made = Vocabulary.default(toy_vectors)
    assert list(made.inputs) == list(toy_vectors.words)
    assert set(made.outputs) <= set(toy_vectors.words)
    assert {"dog", "house", "music"} <= set(made.outputs)
    assert made.dropped == 10_000 - len(made.outputs)


def test_first_known_prefers_the_first_candidate_that_is_known():
    def term(*known):
        return first_known(Analyzer(), set(known).__contains__)

    assert term("mouse", "mice")("Mice") == "mouse"
    assert term("mice")("Mice") == "mice"
    assert term("Mice")("Mice") == ""
    assert term("the", "mice")("the") == ""


@given(st.lists(st.sampled_from("abcdef")))
def test_remembered_asks_once_for_each_token(asked):
    calls = []
    remembered = Remembered(lambda token: calls.append(token) or token * 2)
    assert [remembered[token] for token in asked] == [token * 2 for token in asked]
    assert calls == list(dict.fromkeys(asked))


@given(st.lists(st.text(max_size=2)))
def test_remembered_stays_bounded_and_right(asked):
    class Small(Remembered):
        MOST = 3

    remembered = Small(len)
    for token in asked:
        assert remembered[token] == len(token)
        assert len(remembered) <= 3


def test_remembered_is_bounded_by_default():
    assert Remembered.MOST <= 10_000_000
