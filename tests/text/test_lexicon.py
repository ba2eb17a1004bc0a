"""The lexicon, against lemminflect's own look-ups, and that of a language pack."""

import gzip
from dataclasses import replace

import pytest

from syntf.core.errors import SyntfError
from syntf.text import lexicon
from syntf.text.lexicon import lemmas
from syntf.words.language import embedded_pack


def pack_with(folder, lines, name="lemmas.csv.gz"):
    """A language pack whose lexicon has these lines."""
    raw = lines.encode()
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    files = {**embedded_pack().files, "lemmas": (name, "")}
    return replace(embedded_pack(), folder=folder, lexicon="lemmas", files=files)


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


@pytest.mark.parametrize("name", ["lemmas.csv.gz", "lemmas.csv"])
def test_a_pack_has_a_lexicon_of_its_own(tmp_path, name):
    lines = (
        "# a comment\n\nallait,verb,aller\nport,verb,porter\nport,NOUN,Port\r\nport,adj,x\n"
        "suis,aux,suivre\nsuis,aux,être/suivre\nNice,noun,nice\n\"l,other,l'\nfait,?,faire\n"
    )
    pack = pack_with(tmp_path, lines, name)
    assert dict(lemmas(pack).iter_rows()) == {
        "suis": "être", "port": "port", "allait": "aller", '"l': "l'", "fait": "faire"
    }  # fmt: skip


@pytest.mark.parametrize("lines", ["", "\n", "# nothing"])
def test_a_lexicon_may_be_empty(tmp_path, lines):
    assert lemmas(pack_with(tmp_path, lines)).shape == (0, 2)
    assert lemmas(replace(embedded_pack(), lexicon="")).shape == (0, 2)


def test_a_damaged_lexicon_is_reported_with_its_file(tmp_path):
    pack = pack_with(tmp_path, "cats,noun,cat\n" * 1000)
    path = pack.path("lemmas")
    raw = path.read_bytes()
    for damaged in (raw[:30], raw[:-9] + b"123456789", b"no gzip"):
        path.write_bytes(damaged)
        with pytest.raises(SyntfError, match=r"cannot read .*lemmas\.csv\.gz"):
            lemmas(replace(pack))
    path.unlink()
    with pytest.raises(SyntfError, match=r"cannot read .*lemmas\.csv\.gz"):
        lemmas(replace(pack))


def test_a_missing_lexicon_of_english_is_reported_with_the_command(monkeypatch):
    monkeypatch.setattr(lexicon, "find_spec", lambda name: None)
    with pytest.raises(SyntfError, match=r"lemma_lu.*pip install 'lemminflect==0\.2\.3'"):
        lemmas(replace(embedded_pack()))
