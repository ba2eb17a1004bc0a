"""A toy language pack, made from a file of invented word vectors."""

import numpy as np
import pytest

from syntf.words.packs import build_pack

SYLLABLES = ("ба", "ку", "ле", "мо", "ту", "ши", "жа", "ро", "пи", "су", "на", "ве")


@pytest.fixture(scope="session")
def invented():
    """144 invented words in Cyrillic letters."""
    return [first + second for first in SYLLABLES for second in SYLLABLES]


@pytest.fixture(scope="session")
def topics():
    """A stand-in for what makes the codebook of a pack: it writes what it was given."""

    def write(vectors, outputs, path):
        assert vectors.pack.path("topical").is_file()
        path.write_text(f"{vectors.digest} {outputs.tolist()}")

    return write


@pytest.fixture(scope="session")
def vectors_file(tmp_path_factory, invented):
    """A word2vec file: words with the same first syllable are similar."""
    directions = np.random.default_rng(1).normal(size=(len(invented), 24))
    lines = [f"{len(invented) + 2} 24", "</s>" + " 1" * 24, "12" + " 2" * 24]
    for place, word in enumerate(invented):
        values = directions[place // len(SYLLABLES)] + 0.3 * directions[place]
        lines.append(" ".join([word.capitalize(), *(f"{value:.4f}" for value in values)]))
    path = tmp_path_factory.mktemp("toy") / "toy.vec"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def pieces(tmp_path_factory, invented):
    """Files of lemmas, stop words and words for numbers."""
    folder = tmp_path_factory.mktemp("pieces")
    lines = [f"{invented[0]}м\t{invented[0]}\tNOUN", f"{invented[1]}\t{invented[1]}\tVERB"]
    lines += [f"{invented[3]}\t{invented[2]}", f"{invented[3]}\t{invented[4]}\tAUX"]
    lines += [f"{word}\t{word}\tNOUN" for word in (invented[2], *invented[4:])]
    (folder / "lemmas.tsv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "stop.txt").write_text(f"{invented[5]}\n{invented[6]}\n", encoding="utf-8")
    (folder / "numbers.txt").write_text(f"{invented[7]}\n", encoding="utf-8")
    names = {"lemmas": "lemmas.tsv", "stop_words": "stop.txt", "numbers": "numbers.txt"}
    return {what: str(folder / name) for what, name in names.items()}


@pytest.fixture(scope="session")
def toy_pack(tmp_path_factory, vectors_file, pieces, topics):
    """A pack for the invented language, under the code of Ukrainian."""
    out = tmp_path_factory.mktemp("packs") / "toy"
    return build_pack("uk", out, vectors=vectors_file, licence="CC0", topics=topics, **pieces)
