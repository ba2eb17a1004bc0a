"""The lexicon, against lemminflect's own look-ups."""

import subprocess
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.text import lexicon
from syntf.text.tokenizer import lemmatize
from syntf.vocabulary.topicality import names_something


@pytest.fixture(scope="module")
def lemminflect():
    return pytest.importorskip("lemminflect")


@pytest.fixture(scope="module")
def forms(lemminflect):
    """Every word lemminflect knows, those with capitals included."""
    from lemminflect.core.Lemmatizer import Lemmatizer

    known = Lemmatizer()
    found = sorted({*known._getLemmaDict(), *known._getOverridesDict()})
    assert len(found) > 60_000
    return found


def by_lemminflect(lemminflect, word):
    found = lemminflect.getAllLemmas(word)
    for part in ("AUX", "NOUN", "VERB", "ADJ", "ADV"):
        if part in found:
            return found[part][0].lower()
    return word


def test_lemmas_agree_with_lemminflect(lemminflect, forms):
    wanted = {form: by_lemminflect(lemminflect, form) for form in forms}
    assert {form: lemmatize(form) for form in forms} == wanted
    assert len(set(wanted.values())) < len(wanted)


def test_nouns_agree_with_lemminflect(lemminflect, forms):
    found = [lemminflect.getAllLemmas(form) for form in forms]
    wanted = [not parts or "NOUN" in parts for parts in found]
    assert names_something(forms).tolist() == wanted
    assert set(wanted) == {True, False}


@given(word=st.one_of(st.text(max_size=12), st.text(ascii_lowercase, max_size=8)))
def test_any_word_has_lemminflects_lemma_or_stays(lemminflect, word):
    assert lemmatize(word) == by_lemminflect(lemminflect, word)


def test_reading_the_lexicon_imports_neither_lemminflect_nor_spacy(python):
    script = (
        "import sys; from syntf.text.tokenizer import lemmatize; assert lemmatize('mice') == "
        "'mouse';"
        "assert not {'lemminflect', 'spacy'} & set(sys.modules)"
    )
    subprocess.run([python, "-c", script], check=True)


def test_offsets_point_to_the_forms(forms):
    places, raw = lexicon.offsets(), lexicon.raw_lines()
    for form in forms:
        key = form.encode()
        assert raw[places[form] : places[form] + len(key) + 1] == key + b","


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A lexicon of two files that a test may change."""
    package = type("Package", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(lexicon, "find_spec", lambda name: package)
    (tmp_path / "resources").mkdir()
    for name in lexicon._FILES:
        (tmp_path / "resources" / name).write_bytes(name.encode())
    return tmp_path / "resources"


@pytest.mark.parametrize("name", lexicon._FILES)
def test_the_digest_covers_both_files(files, name):
    before = lexicon.digest()
    assert lexicon.digest() == before
    (files / name).write_bytes(b"other")
    assert lexicon.digest() != before


def test_a_missing_lexicon_is_reported(files, monkeypatch):
    (files / lexicon._FILES[0]).unlink()
    with pytest.raises(SyntfError, match=r"lemma_lu.*pip install"):
        lexicon.raw_lines.__wrapped__()
    monkeypatch.setattr(lexicon, "find_spec", lambda name: None)
    with pytest.raises(SyntfError, match=r"lemma_lu.*pip install"):
        lexicon.digest()
