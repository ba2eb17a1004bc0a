"""The format of language packs, and where they are kept."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from toy_language import WORDS

from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of
from syntf.language import store
from syntf.language.pack import MANIFEST, LanguagePack, Source, embedded_pack, read_manifest


def rewrite(folder, **changes):
    """Change fields of a manifest, in the spelling that syntf writes."""
    path = folder / MANIFEST
    record = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


@pytest.fixture
def copy(toy_pack, tmp_path):
    return shutil.copytree(toy_pack.folder, tmp_path / "pack")


def test_the_manifest_of_the_embedded_pack_has_the_digests_of_its_files():
    """After a change of the data: python tools/build_manifest.py."""
    pack = embedded_pack()
    assert LanguagePack.read(pack.folder).digest == pack.digest
    assert (pack.code, pack.tokenizer, pack.is_embedded) == ("en", "words", True)


def test_a_pack_is_read_as_it_was_written(toy_pack):
    again = LanguagePack.read(toy_pack.folder)
    assert again == toy_pack
    assert (toy_pack.folder / MANIFEST).read_text() == toy_pack.manifest
    copied = pickle.loads(pickle.dumps(toy_pack))  # noqa: S301 - made here
    assert copied.digest == toy_pack.digest
    assert toy_pack.sources[0].licence == "CC0"


def test_a_pickled_pack_is_only_used_where_the_same_pack_is(toy_pack, tmp_path):
    """Executors of a cluster read the files of their own machine, not those of the driver."""
    place = tmp_path / "pack"
    shutil.copytree(toy_pack.folder, place)
    raw = pickle.dumps(LanguagePack.read(place))
    assert pickle.loads(raw).lines("words") == toy_pack.lines("words")  # noqa: S301 - made here
    other = replace(toy_pack, folder=place, sources=[Source("another", "pack", "CC0")])
    other.write_manifest()
    with pytest.raises(SyntfError, match="is not the one that this process was given"):
        pickle.loads(raw).lines("words")  # noqa: S301 - made here
    shutil.rmtree(place)
    with pytest.raises(SyntfError, match="is not a language pack"):
        pickle.loads(raw).lines("words")  # noqa: S301 - made here


def test_the_embedded_pack_is_found_wherever_syntf_is_installed():
    raw = pickle.dumps(replace(embedded_pack(), folder=Path("/elsewhere/syntf/data")))
    assert pickle.loads(raw).number_words == embedded_pack().number_words  # noqa: S301 - made here


@pytest.mark.parametrize("role", ["words", "vectors", "codebook", "lemmas", "stop_words"])
def test_a_damaged_file_is_refused(copy, toy_pack, role):
    name = toy_pack.files[role][0]
    raw = bytearray((copy / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (copy / name).write_bytes(raw)
    with pytest.raises(SyntfError, match=f"is damaged: {name} does not have the digest"):
        LanguagePack.read(copy)
    (copy / name).unlink()
    with pytest.raises(SyntfError, match=f"is damaged: {name} is missing"):
        LanguagePack.read(copy)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"syntf": ["9.0.0", "10.0.0"]}, "is for syntf from 9.0.0 and before 10.0.0, and this is"),
        ({"syntf": ["0.0.1", "0.1.0"]}, "is for syntf from 0.0.1 and before 0.1.0, and this is"),
        ({"format": "syntf language pack 2"}, "has the format 'syntf language pack 2'"),
        ({"language": "../x"}, "not a manifest as syntf writes it"),
        ({"tokenizer": "guess"}, "not a manifest as syntf writes it"),
        ({"files": {}}, "not a manifest as syntf writes it"),
        ({"sources": [{"what": 1}]}, "is not a valid manifest"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(copy, changes, message):
    rewrite(copy, **changes)
    with pytest.raises(SyntfError, match=message):
        LanguagePack.read(copy)


def test_a_file_outside_the_folder_is_refused(copy, toy_pack):
    files = json.loads((copy / MANIFEST).read_text())["files"]
    files["words"]["name"] = "../words.txt"
    rewrite(copy, files=files)
    with pytest.raises(SyntfError, match="not a manifest as syntf writes it"):
        read_manifest(copy)


def test_every_field_of_a_manifest_changes_the_digest(copy, toy_pack):
    rewrite(copy, tokenizer="elision")
    assert read_manifest(copy).digest != toy_pack.digest


def test_an_installed_pack_is_found_by_its_code_and_its_digest(installed, toy_pack):
    with pytest.raises(SyntfError, match=r"no language pack 'uk' \(installed: en\)"):
        store.find("uk")
    added = store.add(toy_pack.folder)
    assert added.folder == installed / "uk"
    assert store.installed_codes() == ["uk"]
    assert store.find("uk") == store.find(toy_pack.folder) == toy_pack
    assert store.find_by_digest(toy_pack.digest) == toy_pack
    assert store.find_by_digest("0" * 64) is None
    assert store.find("en") is store.find(None) is embedded_pack()
    with pytest.raises(SyntfError, match="replace it with --force"):
        store.add(toy_pack.folder)
    assert store.add(toy_pack.folder, force=True).digest == toy_pack.digest
    assert sorted(path.name for path in installed.iterdir()) == ["uk"]


def test_the_code_of_the_embedded_pack_is_not_taken(installed, copy):
    rewrite(copy, language="en")
    with pytest.raises(SyntfError, match="that of the embedded pack"):
        store.add(copy)


def test_several_languages_are_refused_where_one_is_needed(installed):
    with pytest.raises(SyntfError, match="one language pack is needed here, not 'fr,de'"):
        store.find("fr,de")


def test_a_folder_that_is_no_pack_is_refused(tmp_path):
    with pytest.raises(SyntfError, match=r"is not a language pack: it has no language\.json"):
        store.find(f"{tmp_path}/")


def test_words_are_lower_case_and_without_digits_and_signs(toy_pack):
    assert toy_pack.lines("words") == WORDS
    assert toy_pack.stop_words == {WORDS[5], WORDS[6]}
    assert toy_pack.number_words == {WORDS[7]}
    assert sha256_of(toy_pack.path("words")) == toy_pack.files["words"][1]
    shown = toy_pack.lines("vocabulary")
    assert not {WORDS[1], WORDS[5], WORDS[6], WORDS[7]} & {*shown}  # a verb, stop words, a number
    assert shown == [word for word in WORDS if word in shown]
