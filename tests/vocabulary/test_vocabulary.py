import re
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from syntf.core.errors import SyntfError
from syntf.text.tokenizer import Analyzer, Memo, first_known, tokenize
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.fit import fit_vocabulary
from syntf.vocabulary.vocabulary import Vocabulary


def test_given_terms_are_inputs_and_outputs_in_order_without_repeats(toy_vectors):
    made = Vocabulary.given(["dog", "cat", "dog", "Cat"], toy_vectors)
    assert list(made.inputs) == list(made.outputs) == ["dog", "cat", "Cat"]
    assert list(made.input_rows) == list(made.output_rows) == [2, 0, 0]
    assert (made.provenance, made.dropped) == ("public", 0)


def test_given_terms_without_a_vector_are_dropped_and_counted(toy_vectors):
    made = Vocabulary.given(["cat", "qwxyz", "dog", "qwxyz", "zzz"], toy_vectors)
    assert (list(made.outputs), made.dropped) == (["cat", "dog"], 2)


def test_with_every_input_adds_all_words_with_a_vector(toy_vectors, toy_words):
    made = Vocabulary.given(["dog", "Cat", "bus"], toy_vectors, provenance="fitted")
    wide = made.with_every_input(toy_vectors)
    assert list(wide.inputs) == [*toy_words, "Cat"]
    assert list(wide.input_rows) == [*range(40), 0]
    assert (wide.outputs, wide.output_rows) == (made.outputs, made.output_rows)
    assert (wide.provenance, wide.digest) == ("fitted", made.digest)


def test_read_expects_one_term_on_each_line(tmp_path, toy_vectors):
    path = tmp_path / "terms.txt"
    path.write_bytes(b"dog\r\n\n  cat \nqwxyz\nmouse\tmice\nPiano")
    for place in (path, str(path)):
        made = Vocabulary.read(place, toy_vectors)
        assert list(made.outputs) == ["dog", "cat", "Piano"]
        assert [toy_vectors.words[row] for row in made.output_rows] == ["dog", "cat", "piano"]
        assert (made.provenance, made.dropped) == ("public", 2)


def test_read_accepts_a_file_that_is_not_utf8(tmp_path, toy_vectors):
    (tmp_path / "terms.txt").write_bytes(b"caf\xe9\ncat\n")
    made = Vocabulary.read(tmp_path / "terms.txt", toy_vectors)
    assert (list(made.outputs), made.dropped) == (["cat"], 1)


def test_read_accepts_a_byte_order_mark(tmp_path, toy_vectors):
    (tmp_path / "terms.txt").write_text("cat\ndog\n", encoding="utf-8-sig")
    assert list(Vocabulary.read(tmp_path / "terms.txt", toy_vectors).outputs) == ["cat", "dog"]


@pytest.mark.parametrize(("raw", "count"), [(b"", 0), (b"\n \n", 0), (b"qwxyz\nzzz\n", 2)])
def test_read_refuses_a_file_without_a_known_term(tmp_path, toy_vectors, raw, count):
    path = tmp_path / "terms.txt"
    path.write_bytes(raw)
    with pytest.raises(SyntfError, match=re.escape(f"{path} has {count} terms")):
        Vocabulary.read(path, toy_vectors)


def test_read_reports_a_missing_file(tmp_path, toy_vectors):
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
    made = fit_vocabulary(TEXTS, Analyzer(), toy_vectors, min_df=min_df)
    assert list(made.inputs) == list(made.outputs) == terms
    assert [toy_vectors.words[row] for row in made.output_rows] == terms
    assert made.provenance == "fitted"


def test_fit_without_lemmas_distinguishes_word_forms(toy_vectors):
    lower = fit_vocabulary(TEXTS, Analyzer("lower"), toy_vectors, min_df=1)
    assert list(lower.outputs) == ["cat", "cats", "dog", "dogs", "mice", "mouse"]
    orth = fit_vocabulary(TEXTS, Analyzer("orth"), toy_vectors, min_df=1)
    assert list(orth.outputs) == ["Cats", "Mice", "cat", "dog", "dogs", "mice", "mouse"]
    by_lower_case = [toy_vectors.words[row] for row in orth.output_rows]
    assert by_lower_case == ["cats", "mice", "cat", "dog", "dogs", "mice", "mouse"]


def test_fit_uses_the_word_as_written_if_the_lemma_has_no_vector():
    vectors = WordVectors(["mice", "cat"], np.eye(2, dtype=np.int8))
    made = fit_vocabulary(["mice cat mouse"], Analyzer(), vectors, min_df=1)
    assert list(made.outputs) == ["cat", "mice"]


def test_fit_refuses_texts_without_a_frequent_term(toy_vectors):
    for texts, min_df in ((TEXTS, 4), ([], 1), (["the of qwxyz"], 1)):
        with pytest.raises(SyntfError, match=f"terms in {min_df} documents.* has 0 terms"):
            fit_vocabulary(texts, Analyzer(), toy_vectors, min_df=min_df)


@given(
    st.lists(st.lists(st.sampled_from(["cat", "dog", "car", "the", "qwxyz"])), min_size=1),
    st.integers(1, 4),
)
def test_fit_agrees_with_counting(toy_vectors, documents, min_df):
    counts = Counter(word for document in documents for word in set(document))
    wanted = sorted(w for w in ("cat", "dog", "car") if counts[w] >= min_df)
    texts = [" ".join(document) for document in documents]
    if wanted:
        made = fit_vocabulary(texts, Analyzer("lower"), toy_vectors, min_df=min_df)
        assert list(made.outputs) == wanted
    else:
        with pytest.raises(SyntfError):
            fit_vocabulary(texts, Analyzer("lower"), toy_vectors, min_df=min_df)


LIMITS = [1, 2, 3, 4, 7, 0.1, 0.3, 1 / 3, 0.5, 0.7, 0.99]


def document_frequencies(texts, analyzer, vectors):
    """Term by term and text by text: in how many texts each term is the reading of a token."""

    def known(term):
        return term in vectors.words or term.lower() in vectors.words

    def read(token):
        return next((term for term in analyzer.candidates(token) if known(term)), None)

    everything = {read(token) for text in texts for token in tokenize(text)} - {None}
    return {
        term: sum(any(read(token) == term for token in tokenize(text)) for text in texts)
        for term in everything
    }


@pytest.mark.slow
def test_fit_selects_exactly_the_terms_within_both_limits(toy_vectors):
    texts = [
        "Dogs, dogs and a mouse in the garden", "the mice ran to a tree", "MOUSE mouse mice",
        "a dog runs; mice run", "fish swim", "", "qwxyz 17", "Garden trees, garden flowers",
        "the mouse and the fish", "mice ran",
    ]  # fmt: skip
    found = document_frequencies(texts, Analyzer(), toy_vectors)
    assert found == {
        "mouse": 6, "run": 3, "dog": 2, "garden": 2, "tree": 2, "fish": 2, "swim": 1, "flower": 1,
    }  # fmt: skip
    outcomes = set()
    for low, high, size in product(LIMITS, [*LIMITS, 1.0], [None, 1, 2, 3, 5, 99]):
        least = low if isinstance(low, int) else low * 10
        most = high if isinstance(high, int) else high * 10
        kept = [term for term, count in found.items() if least <= count <= most]
        kept = sorted(sorted(kept), key=found.__getitem__, reverse=True)[:size]
        limits = {"min_df": low, "max_df": high, "max_size": size}
        if kept:
            made = fit_vocabulary(texts, Analyzer(), toy_vectors, **limits)
            assert list(made.inputs) == list(made.outputs) == sorted(kept)
            outcomes.add(tuple(made.outputs))
        else:
            with pytest.raises(SyntfError, match="has 0 terms"):
                fit_vocabulary(texts, Analyzer(), toy_vectors, **limits)
    assert len(outcomes) > 15  # the limits do cut, in many places


def test_ties_are_broken_by_the_alphabet(toy_vectors):
    texts = ["tree road house", "house road tree bird", "bird"]
    for size, terms in ((1, ["bird"]), (2, ["bird", "house"]), (3, ["bird", "house", "road"])):
        made = fit_vocabulary(texts, Analyzer(), toy_vectors, max_size=size)
        assert list(made.outputs) == terms


@given(
    st.lists(st.lists(st.sampled_from("cat dog car bus road tree fish".split())), min_size=1),
    st.sampled_from(LIMITS),
    st.sampled_from([*LIMITS, 1.0]),
    st.none() | st.integers(1, 8),
)
def test_fit_agrees_with_scikit_learn(toy_vectors, documents, low, high, size):
    texts = [" ".join(document) for document in documents]
    plain = Analyzer("lower", stop_words=frozenset(), numbers=True)
    counts = Counter(word for document in documents for word in set(document))
    # Binary, so that the frequency by which it keeps the first terms is that of documents.
    oracle = CountVectorizer(min_df=low, max_df=high, max_features=size, binary=True)
    try:
        wanted = oracle.fit(texts).get_feature_names_out().tolist()
    except ValueError:
        with pytest.raises(SyntfError, match="has 0 terms"):
            fit_vocabulary(texts, plain, toy_vectors, min_df=low, max_df=high, max_size=size)
        return
    made = fit_vocabulary(texts, plain, toy_vectors, min_df=low, max_df=high, max_size=size)
    found = list(made.outputs)
    assert len(found) == len(wanted)
    assert sorted(map(counts.get, found)) == sorted(map(counts.get, wanted))
    edge = min(map(counts.get, wanted))  # among equals at the edge, it takes any
    if size is None or len(wanted) < size:
        assert found == wanted
    else:
        assert {w for w in found if counts[w] > edge} == {w for w in wanted if counts[w] > edge}


def test_the_digest_is_that_of_the_output_lines(toy_vectors):
    made = Vocabulary.given(["dog", "cat", "qwxyz"], toy_vectors)
    assert made.digest == sha256(b"dog\ncat\n").hexdigest()
    assert made.digest != Vocabulary.given(["cat", "dog"], toy_vectors).digest
    assert Vocabulary.default(toy_vectors).digest != made.digest


@pytest.mark.parametrize(
    ("declared", "provenance"), [("public: yes", "public"), ("public: no", "fitted")]
)
def test_a_file_is_what_its_header_declares(tmp_path, toy_vectors, declared, provenance):
    path = tmp_path / "terms.txt"
    path.write_text(f"# syntf vocabulary\n# documents: 9\n# {declared}\n\ndog\ncat\n")
    made = Vocabulary.read(path, toy_vectors, morphology="lower")
    assert (list(made.outputs), made.provenance, made.dropped) == (["dog", "cat"], provenance, 0)


def test_a_file_of_another_morphology_is_refused(tmp_path, toy_vectors):
    path = tmp_path / "terms.txt"
    path.write_text("# syntf vocabulary\n# morphology: lower\n\ndog\ncat\n")
    for chosen in ("lemma", "orth"):
        with pytest.raises(
            SyntfError, match=f"built with morphology lower, but {chosen} is selected"
        ):
            Vocabulary.read(path, toy_vectors, morphology=chosen)
    assert len(Vocabulary.read(path, toy_vectors).outputs) == 2


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


def test_default_with_other_vectors_has_only_their_words(toy_vectors):
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
def test_memo_computes_each_value_once(asked):
    calls = []
    remembered = Memo(lambda token: calls.append(token) or token * 2)
    assert [remembered[token] for token in asked] == [token * 2 for token in asked]
    assert calls == list(dict.fromkeys(asked))


@given(st.lists(st.text(max_size=2)))
def test_memo_stays_bounded_and_correct(asked):
    class Small(Memo):
        MAX_ENTRIES = 3

    remembered = Small(len)
    for token in asked:
        assert remembered[token] == len(token)
        assert len(remembered) <= 3


def test_memo_is_bounded_by_default():
    assert Memo.MAX_ENTRIES <= 10_000_000


@given(st.data())
def test_most_frequent_outputs_have_the_first_vectors(toy_vectors, data):
    """Whatever the order they are given in, which they keep; public stays public."""
    words = data.draw(st.lists(st.sampled_from(toy_vectors.words), min_size=1, unique=True))
    size = data.draw(st.integers(1, 45) | st.none())
    every = Vocabulary.given(words, toy_vectors)
    made = every.most_frequent(size)
    ranks = sorted(toy_vectors.words.index(word) for word in words)[:size]
    assert list(made.outputs) == [w for w in words if toy_vectors.words.index(w) in ranks]
    assert [toy_vectors.words[row] for row in made.output_rows] == list(made.outputs)
    assert (made.inputs, made.input_rows) == (made.outputs, made.output_rows)
    assert made.provenance == "public"


def test_fewer_outputs_do_not_change_other_inputs(embedded):
    made = Vocabulary.default(embedded).most_frequent(500)
    every = Vocabulary.default(embedded)
    assert list(made.outputs) == list(every.outputs[:500])
    assert list(made.inputs) == list(every.inputs)


def test_the_default_agrees_with_a_given_list(embedded):
    made = Vocabulary.default(embedded)
    again = Vocabulary.given(made.outputs, embedded).with_every_input(embedded)
    assert made == again
    assert len(made.outputs) == 10_000
    assert made.with_every_input(embedded) is made
    others = WordVectors(list(embedded.words), embedded.matrix)
    assert Vocabulary.default(others) == replace(made, inputs=others.words)
