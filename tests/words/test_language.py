"""The format of language packs, and where they are kept."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.words import language
from syntf.words.language import MANIFEST, LanguagePack, Source, embedded_pack


def rewrite(folder, **changes):
    """Change fields of a manifest, in the spelling that syntf writes."""
    path = folder / MANIFEST
    record = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


@pytest.fixture
def copy(toy_pack, tmp_path):
    return shutil.copytree(toy_pack.folder, tmp_path / "pack")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An empty folder of installed packs."""
    monkeypatch.setenv("SYNTF_LANGUAGES", str(tmp_path / "languages"))
    return tmp_path / "languages"


def test_the_manifest_of_the_embedded_pack_has_the_digests_of_its_files():
    """After a change of a file, write its SHA-256 into language.json."""
    pack = embedded_pack()
    assert LanguagePack.read(pack.folder).digest == pack.digest
    assert (pack.code, pack.tokenizer, pack.is_embedded) == ("en", "words", True)
    named = {name for name, _ in pack.files.values()}
    others = {MANIFEST, "NOTICE.md", "example.csv"}
    assert {path.name for path in pack.folder.iterdir() if path.is_file()} == named | others


def test_a_pack_is_read_as_it_was_written(toy_pack):
    again = LanguagePack.read(toy_pack.folder)
    assert again.digest == toy_pack.digest
    assert (toy_pack.folder / MANIFEST).read_text() == toy_pack.manifest
    assert toy_pack.sources[0].licence == "CC0"
    assert not toy_pack.is_embedded


def test_a_pickled_pack_is_opened_only_where_the_same_pack_is(copy, toy_pack):
    """Executors of a cluster read the files of their own machine, not those of the driver."""
    raw = pickle.dumps(LanguagePack.read(copy))
    assert pickle.loads(raw).lines("words") == toy_pack.lines("words")  # noqa: S301 - made here
    replace(toy_pack, folder=copy, sources=[Source("another", "pack", "CC0")]).write_manifest()
    with pytest.raises(SyntfError, match="is not the one that this process was given"):
        pickle.loads(raw)  # noqa: S301 - made here
    shutil.rmtree(copy)
    with pytest.raises(SyntfError, match="is not a language pack"):
        pickle.loads(raw)  # noqa: S301 - made here
    assert str(embedded_pack().folder).encode() not in pickle.dumps(embedded_pack())
    assert pickle.loads(pickle.dumps(embedded_pack())) is embedded_pack()  # noqa: S301 - made here


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
        ({"format": "syntf language pack 1"}, "has the format 'syntf language pack 1', and this"),
        ({"language": "../x"}, "not a manifest as syntf writes it"),
        ({"tokenizer": "guess"}, "not a manifest as syntf writes it"),
        ({"lexicon": "guess"}, "not a manifest as syntf writes it"),
        ({"lexicon": ""}, "not a manifest as syntf writes it"),  # there is a file of lemmas
        ({"files": {}}, "not a manifest as syntf writes it"),
        ({"more": 1}, "not a manifest as syntf writes it"),
        ({"files": []}, "is not a valid manifest"),
        ({"language": 3}, "is not a valid manifest"),
        ({"sources": [{"what": 1}]}, "is not a valid manifest"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(copy, changes, message):
    rewrite(copy, **changes)
    with pytest.raises(SyntfError, match=message):
        LanguagePack.read(copy)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"format": null}'])
def test_a_file_that_is_no_manifest_is_refused(copy, raw):
    (copy / MANIFEST).write_bytes(raw)
    with pytest.raises(SyntfError, match=MANIFEST):
        LanguagePack.read(copy)


@pytest.mark.parametrize("name", ["../words.txt", "/etc/passwd", "a/b", "", ".words", "w" * 99])
def test_a_file_outside_the_folder_is_refused(copy, name):
    files = json.loads((copy / MANIFEST).read_text())["files"]
    files["words"]["name"] = name
    rewrite(copy, files=files)
    with pytest.raises(SyntfError, match="not a manifest as syntf writes it"):
        LanguagePack.read(copy)


def test_an_installed_pack_is_found_by_its_code(installed, toy_pack, copy):
    with pytest.raises(SyntfError, match=r"no language pack 'uk' \(installed: en\)"):
        language.find("uk")
    added = language.add(toy_pack.folder)
    assert added.folder == installed / "uk"
    assert language.installed() == ["uk"]
    assert language.find("uk").digest == language.find(toy_pack.folder).digest == toy_pack.digest
    assert language.find("uk") is language.find("uk")
    assert language.find("en") is language.find(None) is embedded_pack()
    with pytest.raises(SyntfError, match=r"did you mean 'uk'\?"):
        language.find("ukr")
    with pytest.raises(SyntfError, match="replace it with --force"):
        language.add(toy_pack.folder)
    rewrite(copy, tokenizer="elision")
    replaced = language.add(copy, force=True)
    assert language.find("uk").digest == replaced.digest != toy_pack.digest
    assert sorted(path.name for path in installed.iterdir()) == ["uk"]


def test_the_code_of_the_embedded_pack_is_not_taken(installed, copy):
    rewrite(copy, language="en")
    with pytest.raises(SyntfError, match="that of the embedded pack"):
        language.add(copy)
    assert not installed.exists()


@pytest.mark.parametrize("name", ["{}/", "{}/none", ""])
def test_a_folder_that_is_no_pack_is_refused(tmp_path, installed, name):
    with pytest.raises(SyntfError, match=r"language pack"):
        language.find(name.format(tmp_path))


def test_a_pack_in_the_present_folder_is_found_by_its_name(copy, monkeypatch):
    monkeypatch.chdir(copy.parent)
    assert language.find("pack").folder == Path(copy)
