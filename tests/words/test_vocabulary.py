"""Vocabularies: given, read, embedded, cut and extended; and how much words say about topics."""

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.words.topicality import (
    HALF_WEIGHT_RANK,
    OTHER_WEIGHT,
    names_something,
    topical_weights,
    weigh,
)
from syntf.words.vectors import WordVectors
from syntf.words.vocabulary import Vocabulary, is_single_word


def test_given_terms_are_inputs_and_outputs_in_order_without_repeats(toy_vectors):
    made = Vocabulary.given(["dog", "qwxyz", "cat", "dog", "Cat", "qwxyz", "zzz"], toy_vectors)
    assert list(made.inputs) == list(made.outputs) == ["dog", "cat", "Cat"]
    assert list(made.input_rows) == list(made.output_rows) == [2, 0, 0]
    assert (made.provenance, made.dropped) == ("public", 2)
    with pytest.raises(SyntfError, match="must be words, not 7"):
        Vocabulary.given(["dog", 7], toy_vectors)


def test_every_word_with_a_vector_can_be_an_input(toy_vectors, toy_words):
    made = Vocabulary.given(["dog", "Cat", "bus"], toy_vectors, provenance="fitted")
    wide = made.with_every_input(toy_vectors)
    assert list(wide.inputs) == [*toy_words, "Cat"]
    assert list(wide.input_rows) == [*range(40), 0]
    assert (wide.outputs, wide.output_rows) == (made.outputs, made.output_rows)
    assert (wide.provenance, wide.digest) == ("fitted", made.digest)


def test_a_file_has_one_term_on_each_line(tmp_path, toy_vectors):
    path = tmp_path / "terms.txt"
    path.write_bytes(b"\xef\xbb\xbfdog\r\n\n  cat \ncaf\xe9\nmouse\tmice\nPiano")
    for place in (path, str(path)):
        made = Vocabulary.read(place, toy_vectors)
        assert list(made.outputs) == ["dog", "cat", "Piano"]
        assert [toy_vectors.words[row] for row in made.output_rows] == ["dog", "cat", "piano"]
        assert (made.provenance, made.dropped) == ("public", 2)


def test_a_file_that_cannot_be_used_is_refused(tmp_path, toy_vectors):
    path = tmp_path / "terms.txt"
    for raw, says in (
        (b"", "terms.txt has 0 terms"), (b"qwxyz\nzzz\n", "terms.txt has 2 terms"),
        (b"# syntf vocabulary\n# public: no\ndog\n", "a vocabulary of version 0.2"),
    ):  # fmt: skip
        path.write_bytes(raw)
        with pytest.raises(SyntfError, match=says):
            Vocabulary.read(path, toy_vectors)
    with pytest.raises(SyntfError, match="cannot read the vocabulary"):
        Vocabulary.read(tmp_path, toy_vectors)


def test_the_digest_is_that_of_the_output_lines(toy_vectors):
    made = Vocabulary.given(["dog", "cat", "qwxyz"], toy_vectors)
    assert made.digest == sha256(b"dog\ncat\n").hexdigest()
    assert made.digest != Vocabulary.given(["cat", "dog"], toy_vectors).digest


def test_the_default_is_public_and_has_every_word_as_input(embedded):
    made = Vocabulary.default(embedded)
    assert made.digest == "3e80bae54804c34745acc4ca891464293846ffbae04cd01c54b7d76c93f6bf4f"
    assert len(made.outputs) == len(set(made.outputs)) == 10_000
    assert (made.provenance, made.dropped) == ("public", 0)
    assert [embedded.words[row] for row in made.output_rows] == list(made.outputs)
    assert list(made.inputs) == list(embedded.words)
    assert list(made.input_rows) == list(range(len(embedded.words)))
    assert not {*embedded.pack.stop_words, *embedded.pack.number_words} & {*made.outputs}
    assert made.with_every_input(embedded) is made
    cut = made.most_frequent(500)
    assert (list(cut.outputs), cut.inputs) == (list(made.outputs[:500]), made.inputs)


def test_the_default_with_other_vectors_has_only_their_words(toy_vectors):
    made = Vocabulary.default(toy_vectors)
    assert list(made.inputs) == list(toy_vectors.words)
    assert {"dog", "house", "music"} <= set(made.outputs) <= set(toy_vectors.words)
    assert made.dropped == 10_000 - len(made.outputs)


@given(st.data())
def test_most_frequent_outputs_have_the_first_vectors(toy_vectors, data):
    """Whatever the order they are given in, which they keep; public stays public."""
    words = data.draw(st.lists(st.sampled_from(toy_vectors.words), min_size=1, unique=True))
    size = data.draw(st.integers(1, 45) | st.none())
    made = Vocabulary.given(words, toy_vectors).most_frequent(size)
    ranks = sorted(toy_vectors.words.index(word) for word in words)[:size]
    assert list(made.outputs) == [w for w in words if toy_vectors.words.index(w) in ranks]
    assert [toy_vectors.words[row] for row in made.output_rows] == list(made.outputs)
    assert (made.inputs, made.input_rows) == (made.outputs, made.output_rows)
    assert made.provenance == "public"


@pytest.mark.parametrize(
    ("word", "single", "without"),
    [
        ("cat", True, True), ("b2b", True, True), ("café", True, True), ("हिन्दी", True, True),
        ("o'clock", True, False), ("'tis", False, False), ("a'b'c", False, False),
        ("", False, False), ("e-mail", False, False), ("a b", False, False), ("a_b", False, False),
        ("cafe\u0301", True, True), ("日本", True, True), ("a\x00", False, False),
    ],
)  # fmt: skip
def test_a_single_word_is_letters_digits_and_marks(word, single, without):
    assert is_single_word(word) is single
    assert is_single_word(word, apostrophe=False) is without


# Synonyms

SYNONYM_WORDS = (
    "car auto machine gondola cat the two wagon bus Bus mice mouse e-mail january jan run rush "
    "track path asleep numb gone slumbering"
).split()


@pytest.fixture(scope="module")
def vectors():
    normal = np.random.default_rng(7).normal(size=(len(SYNONYM_WORDS), 8))
    return WordVectors.quantize(list(SYNONYM_WORDS), normal)


@pytest.fixture
def extended(monkeypatch, toy_wordnet, vectors):
    """A function that extends a list of terms by their synonyms in a small WordNet."""
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))

    def extend(terms, **options):
        return Vocabulary.given(terms, vectors).with_synonyms(vectors, **options)

    return extend


def test_synonyms_follow_the_given_terms_sorted_in_inputs_and_outputs(extended, vectors):
    made = extended(["run", "car", "absent"])
    assert made.outputs == ["run", "car", "auto", "gondola", "machine", "rush", "track"]
    assert [vectors.words[row] for row in made.output_rows] == made.outputs
    assert (made.inputs, made.input_rows) == (made.outputs, made.output_rows)
    assert (made.provenance, made.dropped) == ("public", 1)


def test_synonyms_of_synonyms_are_not_added(extended):
    assert extended(["track"]).outputs == ["track", "path", "run"]
    assert "path" not in extended(["run"]).outputs


def test_function_words_numbers_split_words_and_unknown_words_are_left_out(extended):
    assert extended(["cat"]).outputs == ["cat", "bus", "mice", "wagon"]
    assert extended(["cat"], lower=False).outputs == ["cat", "Bus", "mice", "wagon"]
    assert extended(["January"], lower=False).outputs == ["January", "Jan"]


def test_only_outputs_of_the_default_are_extended(embedded, extended):
    default = Vocabulary.default(embedded)
    made = default.with_synonyms(embedded)
    assert made.inputs is default.inputs
    added = made.outputs[10_000:]
    assert added == ["gondola", "mice"]
    assert [embedded.words[row] for row in made.output_rows[10_000:]] == added
    assert (made.provenance, made.dropped) == ("public", 0)


def test_a_fitted_vocabulary_stays_fitted(extended, vectors):
    made = Vocabulary.given(["car"], vectors, provenance="fitted").with_synonyms(vectors)
    assert (made.provenance, len(made.outputs)) == ("fitted", 4)


# Topicality


def test_weights_without_lengths_depend_on_rank_and_on_naming():
    expected = [
        1 / (1 + HALF_WEIGHT_RANK),
        OTHER_WEIGHT * 2 / (2 + HALF_WEIGHT_RANK),
        3 / (3 + HALF_WEIGHT_RANK),
    ]
    assert weigh(np.array([True, False, True])).tolist() == pytest.approx(expected)


def test_embedded_weights_follow_the_formula_and_show_what_names_something(embedded):
    weights, naming = topical_weights(embedded), names_something(embedded)
    relative = weights / weigh(naming)
    assert (weights > 0).all()
    assert 0.9 < np.median(relative) < 1.1  # squares of length over usual length
    assert relative.min() > 0.02
    assert relative.max() < 10
    words = ("engine", "run", "ibm", "quickly", "beautiful")
    assert [bool(naming[embedded.find(w)]) for w in words] == [True, True, True, False, False]


def test_other_vectors_are_weighed_by_their_order_and_the_embedded_nouns(embedded):
    table = WordVectors(["engine", "Quickly", "blorpx"], embedded.matrix[:3])
    assert names_something(table).tolist() == [True, False, True]
    assert topical_weights(table).tolist() == weigh(np.array([True, False, True])).tolist()
    cut = WordVectors(embedded.words[:50], embedded.matrix[:50])
    assert (names_something(cut) == names_something(embedded)[:50]).all()
