"""A toy language pack, made from a file of invented word vectors."""

import numpy as np
import pytest
from toy_language import SYLLABLES, WORDS

from syntf.packs.build import build_pack


@pytest.fixture(scope="session")
def vectors_file(tmp_path_factory):
    """A word2vec file: words with the same first syllable are similar."""
    directions = np.random.default_rng(1).normal(size=(len(WORDS), 24))
    lines = [f"{len(WORDS) + 2} 24", "</s>" + " 1" * 24, "12" + " 2" * 24]
    for place, word in enumerate(WORDS):
        middle = directions[place // len(SYLLABLES)]
        values = middle + 0.3 * directions[place]
        lines.append(" ".join([word.capitalize(), *(f"{value:.4f}" for value in values)]))
    path = tmp_path_factory.mktemp("toy") / "toy.vec"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def pieces(tmp_path_factory):
    """Files of lemmas, stop words and words for numbers."""
    folder = tmp_path_factory.mktemp("pieces")
    lines = ["\t".join((f"{WORDS[0]}м", WORDS[0], "NOUN")), "\t".join((WORDS[1], WORDS[1], "VERB"))]
    lines += ["\t".join((word, word, "NOUN")) for word in WORDS[2:]]
    (folder / "lemmas.tsv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "stop.txt").write_text(f"{WORDS[5]}\n{WORDS[6]}\n", encoding="utf-8")
    (folder / "numbers.txt").write_text(f"{WORDS[7]}\n", encoding="utf-8")
    return {
        "lemmas": str(folder / "lemmas.tsv"),
        "stop_words": str(folder / "stop.txt"),
        "numbers": str(folder / "numbers.txt"),
    }


@pytest.fixture(scope="session")
def toy_pack(tmp_path_factory, vectors_file, pieces):
    """A pack for the invented language, under the code of Ukrainian."""
    out = tmp_path_factory.mktemp("packs") / "toy"
    return build_pack("uk", out, vectors=str(vectors_file), licence="CC0", **pieces)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An empty folder of installed packs."""
    monkeypatch.setenv("SYNTF_LANGUAGES", str(tmp_path / "languages"))
    return tmp_path / "languages"
