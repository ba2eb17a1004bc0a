"""The format of language packs, and where they are kept."""

import json
import shutil
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.words import language
from syntf.words.language import FILES, MANIFEST, LanguagePack, embedded_pack


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
    named = {FILES[role] for role in pack.digests}
    others = {MANIFEST, "NOTICE.md", "example.csv", "words_not_shown.txt"}
    assert {path.name for path in pack.folder.iterdir() if path.is_file()} == named | others


def test_a_pack_is_read_as_it_was_written(toy_pack):
    again = LanguagePack.read(toy_pack.folder)
    assert again.digest == toy_pack.digest
    assert (toy_pack.folder / MANIFEST).read_text() == toy_pack.manifest
    assert toy_pack.sources[0].licence == "CC0"
    assert not toy_pack.is_embedded


@pytest.mark.parametrize("name", ["words.txt", "vectors.npy", "codebook.npz", "lemmas.csv.gz"])
def test_a_damaged_file_is_refused(copy, name):
    raw = bytearray((copy / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (copy / name).write_bytes(raw)
    with pytest.raises(SyntfError, match=f"is damaged: {name} does not have the digest"):
        LanguagePack.read(copy)
    (copy / name).unlink()
    with pytest.raises(SyntfError, match=f"is damaged: {name}"):
        LanguagePack.read(copy)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "syntf language pack 1"}, {"language": "../x"}, {"language": 3},
        {"tokenizer": "guess"}, {"lexicon": "guess"}, {"lexicon": ""}, {"files": {}}, {"files": []},
        {"files": {"../words.txt": {"sha256": ""}}}, {"sources": [{"what": 1}]},
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_refused(copy, changes):
    rewrite(copy, **changes)
    with pytest.raises(SyntfError, match="is not a language pack of this version"):
        LanguagePack.read(copy)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"format": null}'])
def test_a_file_that_is_no_manifest_is_refused(copy, raw):
    (copy / MANIFEST).write_bytes(raw)
    with pytest.raises(SyntfError, match=MANIFEST):
        LanguagePack.read(copy)


def test_a_name_in_a_manifest_leads_nowhere_else(copy, installed):
    """A pack has the files that every pack has, whatever names its maker wrote."""
    files = json.loads((copy / MANIFEST).read_text())["files"]
    files["words"]["name"] = "../words.txt"
    rewrite(copy, files=files)
    assert language.add(copy).path("words") == installed / "uk" / "words.txt"
    assert [path.name for path in installed.iterdir()] == ["uk"]


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
    with pytest.raises(SyntfError, match=r"no language pack"):
        language.find(name.format(tmp_path))


def test_a_pack_in_the_present_folder_is_found_by_its_name(copy, monkeypatch):
    monkeypatch.chdir(copy.parent)
    assert language.find("pack").folder == Path(copy)
