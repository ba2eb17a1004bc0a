"""A fitted vocabulary has the terms that occur in enough texts."""

from collections import Counter

import hypothesis
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.settings import Settings
from syntf.text.fit import document_frequency, fit_vocabulary
from syntf.words.language import embedded_pack
from syntf.words.vectors import WordVectors

WORDS = "cat cats Cat CAT mouse run ran be the two 2 café CAFÉ o'clock straße".split()
VECTORS = WordVectors.quantize(WORDS, [[1.0, 2.0]] * len(WORDS))
TEXT = st.lists(
    st.sampled_from([*WORDS, *map(str.upper, WORDS), "mice’s", "Ran", "qwxyz"]), max_size=12
).map(" ".join)


def settings(least=2, **options):
    return Settings.of("paper", fit_vocabulary=least, **options)


def fit(texts, vectors=VECTORS, **options):
    batches = [pl.Series(texts[start : start + 3]) for start in range(0, len(texts), 3)]
    return fit_vocabulary(settings(**options), None, vectors, batches)


@pytest.mark.parametrize("morphology", ["lemma", "lower", "orth"])
@hypothesis.settings(max_examples=40)
@given(batches=st.lists(st.lists(TEXT, max_size=4), max_size=3), numbers=st.booleans())
def test_frequencies_are_those_of_the_definition(defined, morphology, batches, numbers):
    texts = [text for batch in batches for text in batch]
    # As written, each capitalisation of a word with a vector is a term of its own.
    spellings = {"Ran", *WORDS, *map(str.upper, WORDS)} - {"STRASSE"}  # strasse has no vector
    terms = sorted(spellings) if morphology == "orth" else WORDS
    pack = embedded_pack()
    counted = defined(
        texts, terms, morphology=morphology, stop_words=pack.stop_words, numbers=numbers,
        number_words=pack.number_words,
    )  # fmt: skip
    wanted = Counter(terms[column] for row in counted for column in row)
    chosen = settings(morphology=morphology, numbers=numbers)
    series = [pl.Series(batch, dtype=pl.String) for batch in batches]
    assert document_frequency(chosen, None, VECTORS, series) == wanted


TEXTS = [
    "cats run",
    "a cat, a mouse",
    "mice; mice",
    "The Cat ran",
    "two 2 café",
    "straße run",
    None,
]


def test_terms_of_enough_texts_are_kept_sorted():
    assert fit(TEXTS).inputs == ["cat", "mouse", "run"]
    assert fit(TEXTS, least=3).outputs == ["cat", "run"]
    assert fit(TEXTS, least=1).inputs == ["café", "cat", "mouse", "run", "straße"]
    assert fit(TEXTS).provenance == "fitted"


def test_of_equally_frequent_terms_the_first_in_the_alphabet_are_kept():
    assert fit(TEXTS, max_size=2).inputs == ["cat", "run"]
    assert fit(TEXTS, least=1, max_size=4).inputs == ["café", "cat", "mouse", "run"]


def test_texts_without_enough_words_are_refused_with_advice():
    with pytest.raises(SyntfError, match="in 4 or more texts: lower fit_vocabulary"):
        fit(TEXTS, least=4)
    with pytest.raises(SyntfError, match="check their column and language"):
        fit(["qwxyz", "qwxyz"])


def test_a_vocabulary_is_fitted_on_what_a_pipeline_reads():
    pytest.importorskip("spacy", reason="needs spaCy: run pip install '.[spacy]' in the clone")
    texts = ["U.K. mice", "the mouse of the U.K.", "cat"]
    vectors = WordVectors.quantize(["u.k.", "mouse", "cat"], [[1.0], [2.0], [3.0]])
    assert fit(texts, vectors, analyzer="spacy:blank:en").inputs == ["mouse", "u.k."]
    orth = fit(
        [*texts, "Mouse MOUSE", "Mouse"], vectors, analyzer="spacy:blank:en", morphology="orth"
    )
    assert orth.inputs == ["Mouse", "U.K."]
