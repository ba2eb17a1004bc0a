"""The lexicon, against lemminflect's own look-ups, and that of a language pack."""

import gzip
from dataclasses import replace

import pytest

from syntf.text.lexicon import lemmas
from syntf.words.language import embedded_pack


def pack_with(folder, lines):
    """A language pack whose lexicon has these lines."""
    pack = replace(embedded_pack(), folder=folder, lexicon="lemmas")
    pack.path("lemmas").write_bytes(gzip.compress(lines.encode()))
    return pack


def test_lemmas_agree_with_lemminflect():
    """Every form that lemminflect knows; a noun is preferred to a verb."""
    import lemminflect
    from lemminflect.core.Lemmatizer import Lemmatizer

    known = Lemmatizer()
    forms = sorted({*known._getLemmaDict(), *known._getOverridesDict()})
    found = dict(lemmas(embedded_pack()).iter_rows())
    assert set(found) == {form for form in forms if form == form.lower()}
    for form in found:
        parts = lemminflect.getAllLemmas(form)
        part = next(part for part in ("AUX", "NOUN", "VERB", "ADJ", "ADV") if part in parts)
        assert found[form] == parts[part][0].lower()
    assert (found["meeting"], found["saw"], found["was"]) == ("meeting", "saw", "be")
    assert len(found) > 60_000


def test_a_pack_has_a_lexicon_of_its_own(tmp_path):
    lines = (
        "# a comment\n\nallait,verb,aller\nport,verb,porter\nport,NOUN,Port\r\nport,adj,x\n"
        "suis,aux,suivre\nsuis,aux,être/suivre\nNice,noun,nice\n\"l,other,l'\nfait,?,faire\n"
    )
    pack = pack_with(tmp_path, lines)
    assert dict(lemmas(pack).iter_rows()) == {
        "suis": "être", "port": "port", "allait": "aller", '"l': "l'", "fait": "faire"
    }  # fmt: skip


@pytest.mark.parametrize("lines", ["", "\n", "# nothing"])
def test_a_lexicon_may_be_empty(tmp_path, lines):
    assert lemmas(pack_with(tmp_path, lines)).shape == (0, 2)
    assert lemmas(replace(embedded_pack(), lexicon="")).shape == (0, 2)
