"""Synonyms from WordNet's database files, whole and damaged, wherever they are."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.words import wordnet
from syntf.words.wordnet import FILES, synonyms

DEBIAN = Path("/usr/share/wordnet")

# The same in WordNet 3.0 and 3.1.
KNOWN = {
    "car": {"auto", "automobile", "machine", "motorcar", "railcar", "gondola"},
    "sofa": {"couch", "lounge"},
    "asleep": {"benumbed", "numb", "deceased", "departed", "gone"},
    "january": {"Jan"},
    "happy": {"felicitous", "glad", "well-chosen"},
}


@pytest.fixture
def copy(toy_wordnet, tmp_path):
    return shutil.copytree(toy_wordnet, tmp_path / "copy")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine without WordNet: only an empty folder of NLTK is looked at."""
    monkeypatch.delenv("SYNTF_WORDNET", raising=False)
    monkeypatch.setattr(wordnet, "nltk_folders", lambda: [tmp_path / "nltk_data"])
    real = wordnet._usual_places

    def places():
        for place in real():
            yield tmp_path / "usual" if str(place) == "/usr/share/wordnet" else place

    monkeypatch.setattr(wordnet, "_usual_places", places)
    return tmp_path


def test_synonyms_are_the_other_single_words_of_all_synsets_of_a_word(toy_wordnet):
    found = synonyms(["car", "Asleep", "JANUARY", "piano", "absent", "run"], toy_wordnet)
    assert found == {
        "car": {"auto", "machine", "gondola"},
        "asleep": {"numb", "gone", "slumbering"},
        "january": {"Jan"},
        "run": {"track", "Rush"},
    }
    assert synonyms(["cable_car"], toy_wordnet) == {"cable_car": {"car", "gondola"}}


def test_counts_are_hexadecimal_and_markers_belong_to_adjectives(toy_wordnet):
    assert "n 12 a 0 b 1" in (toy_wordnet / "data.noun").read_text()
    assert synonyms("r", toy_wordnet) == {"r": set("abcdefghijklmnopq")}
    assert synonyms(["numb"], toy_wordnet) == {"numb": {"asleep"}}
    assert synonyms(["odd(p)"], toy_wordnet) == {"odd(p)": {"curio"}}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "line",
    [
        "00000017 03 n 02 cat 0",
        "00000017 03 n 02 cat 0 tom 0",
        "00000017 03 n 02 cat 0 000 | fewer words than it says",
        "00000017 03 n 01 cat 0 tom 0 000 | more words than it says",
        "00000017 03 n 00 000 | no words",
        "00000017 03 x 01 cat 0 000 | no such part of speech",
        "\x00" * 40,
        "cat",
    ],
)
def test_a_damaged_line_is_reported(copy, name, line):
    with (copy / name).open("a") as file:
        file.write(line + "\n")
    number = len((copy / name).read_text().splitlines())
    with pytest.raises(SyntfError, match=rf"{name} is damaged: line {number} .*install WordNet"):
        synonyms(["car"], copy)


def test_a_truncated_file_gives_an_error_or_complete_synsets(copy):
    path = copy / "data.noun"
    whole, words = path.read_bytes(), {"car", "january", "run"}
    full = synonyms(words, copy)
    refused = 0
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        try:
            found = synonyms(words, copy)
        except SyntfError as error:
            refused += "is damaged" in str(error)
        else:
            assert all(found[word] <= full[word] for word in found)
    assert refused > 100


def test_empty_and_binary_files_are_reported(copy):
    (copy / "data.adv").write_bytes(b"")
    with pytest.raises(SyntfError, match=r"data\.adv is damaged: it has no synset"):
        synonyms(["car"], copy)
    (copy / "data.noun").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SyntfError, match=r"cannot read .*data\.noun"):
        synonyms(["car"], copy)


def zipped(folder, archive, inside="wordnet/"):
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in FILES:
            file.write(folder / name, inside + name)


def test_places_are_tried_in_order(nowhere, toy_wordnet, monkeypatch):
    """Each is put in place, from the last to the first, and then it is the one found."""
    with pytest.raises(SyntfError, match=r"not installed.*apt-get.*nltk\.downloader"):
        synonyms(["car"])
    zipped(toy_wordnet, nowhere / "nltk_data/corpora/wordnet.zip")
    assert "wordnet.zip" in str(wordnet.find_wordnet())
    assert synonyms(["car"])["car"] == {"auto", "machine", "gondola"}
    for place in ("nltk_data/corpora/wordnet", "usual"):
        shutil.copytree(toy_wordnet, nowhere / place)
        assert wordnet.find_wordnet() == nowhere / place
    (nowhere / "usual/data.verb").unlink()  # it is incomplete, so it is skipped
    assert wordnet.find_wordnet() == nowhere / "nltk_data/corpora/wordnet"
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))
    assert wordnet.find_wordnet() == toy_wordnet
    monkeypatch.setenv("SYNTF_WORDNET", str(nowhere))
    with pytest.raises(SyntfError, match=r"it is not in .* \(SYNTF_WORDNET\)"):
        wordnet.find_wordnet()


def test_damaged_and_other_archives_are_skipped(nowhere, toy_wordnet):
    archive = nowhere / "nltk_data/corpora/wordnet.zip"
    zipped(toy_wordnet, archive, inside="other/")
    with pytest.raises(SyntfError, match="not installed"):
        wordnet.find_wordnet()
    archive.write_bytes(b"PK no archive")
    with pytest.raises(SyntfError, match="not installed"):
        wordnet.find_wordnet()
    zipped(toy_wordnet, archive)
    broken = bytearray(archive.read_bytes())
    broken[60:70] = bytes(10)  # inside the first file
    archive.write_bytes(broken)
    with pytest.raises(SyntfError, match=r"cannot read .*data\.noun"):
        synonyms(["car"])


@pytest.mark.slow
def test_nltk_folders_agree_with_nltk(monkeypatch, tmp_path):
    pytest.importorskip("nltk", reason="NLTK is not here: pip install nltk")
    monkeypatch.setenv("NLTK_DATA", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    code = "import nltk.data; print(*nltk.data.path, sep='\\n')"
    theirs = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert [str(folder) for folder in wordnet.nltk_folders()] == theirs[:-1]


# The real WordNet


@pytest.fixture(scope="module")
def debian():
    if not DEBIAN.is_dir():
        pytest.skip("Debian's WordNet is not here: apt-get install wordnet-base")
    return DEBIAN


def test_known_words_of_the_real_wordnet(debian, embedded):
    assert re.search(r"WordNet 3\.[01] Copyright", (debian / "data.noun").read_text())
    assert synonyms(KNOWN, debian) == KNOWN
    assert len(synonyms(embedded.words, debian)) > 20_000


NLTK = """
import json
from nltk.corpus import wordnet

result = {}
for word in sorted(wordnet.all_lemma_names())[::20]:
    synsets = [synset.lemma_names() for synset in wordnet.synsets(word)]
    with_word = [names for names in synsets if word in map(str.lower, names)]
    single = {name for names in with_word for name in names if "_" not in name}
    result[word] = sorted(name for name in single if name.lower() != word)
print(json.dumps(result))
"""


@pytest.mark.slow
def test_the_reader_agrees_with_nltk(debian, tmp_path, monkeypatch):
    """On every 20th of all 147,000 words; NLTK goes through index files, this reader does not."""
    pytest.importorskip("nltk", reason="NLTK is not here: pip install nltk")
    corpus = tmp_path / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for path in debian.iterdir():
        if path.is_file():
            shutil.copy(path, corpus)
    # What NLTK wants and Debian leaves out; synonyms do not depend on it.
    (corpus / "index.sense").touch()
    (corpus / "lexnames").write_text("".join(f"{i:02}\tname{i}\t1\n" for i in range(45)))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    printed = subprocess.run(
        [sys.executable, "-c", NLTK], capture_output=True, text=True, check=True
    ).stdout
    theirs = json.loads(printed)
    assert len(theirs) > 7_000
    assert synonyms(theirs, corpus) == {word: set(found) for word, found in theirs.items() if found}
