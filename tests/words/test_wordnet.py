"""Synonyms from WordNet's database files, whole and damaged, wherever they are."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.words.wordnet import synonyms

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


@pytest.mark.parametrize("name", ["data.noun", "data.adj"])
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


def test_places_of_wordnet(copy, monkeypatch):
    monkeypatch.setenv("SYNTF_WORDNET", str(copy))
    assert synonyms(["car"])["car"] == {"auto", "machine", "gondola"}
    (copy / "data.adv").write_bytes(b"")
    with pytest.raises(SyntfError, match=r"data\.adv is damaged: it has no synset"):
        synonyms(["car"])
    (copy / "data.adv").unlink()
    with pytest.raises(SyntfError, match=r"apt-get.* or set SYNTF_WORDNET"):
        synonyms(["car"])


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
