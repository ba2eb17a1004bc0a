"""Make the embedded word-vector table and the default output vocabulary from GloVe.

    python tools/build_data.py glove.6B.100d.txt[.gz]

Reads GloVe's text format, most frequent word first, and writes into src/syntf/data:

    vectors.npy     int8 vectors of the 100,000 most frequent words, one row per word
    words.txt       the words, one per line
    topical.npy     float32 weights: how much each word says about a topic
    vocabulary.txt  the default output words: the most frequent of these words that are lemmas
                    and may be nouns, have at least three letters, all of a–z, and are neither
                    stop words nor numbers
"""

import gzip
import re
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.text.tokenizer import Analyzer
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import names_something, weigh

WORDS = 100_000
OUTPUTS = 10_000
DATA = Path(__file__).parent.parent / "src" / "syntf" / "data"


def vector_lengths(glove: str, words: Sequence[str]) -> NDArray[np.float64]:
    """Return the length of each raw vector; the int8 vectors do not keep it."""
    lengths = {}
    with gzip.open(glove, "rt", encoding="utf-8") if glove.endswith(".gz") else open(glove) as file:
        for line in islice(file, 2 * len(words)):
            word, *numbers = line.rstrip("\n").split(" ")
            lengths[word] = float(np.linalg.norm(np.array(numbers, dtype=np.float64)))
    return np.array([lengths[word] for word in words])


def main(glove: str) -> None:
    vectors = WordVectors.read(glove)
    words = vectors.words[:WORDS]
    np.save(DATA / "vectors.npy", vectors.matrix[:WORDS])
    (DATA / "words.txt").write_text("\n".join(words), encoding="utf-8")
    weights = weigh(words, vector_lengths(glove, words))
    np.save(DATA / "topical.npy", weights.astype(np.float32))
    analyzer = Analyzer()
    letters = re.compile("[a-z]{3,}")
    outputs = [
        word
        for word, may_be_noun in zip(words, names_something(words), strict=True)
        if may_be_noun and letters.fullmatch(word) and analyzer.candidates(word)[:1] == (word,)
    ][:OUTPUTS]
    (DATA / "vocabulary.txt").write_text("\n".join(outputs) + "\n", encoding="utf-8")
    size = sum((DATA / name).stat().st_size for name in ("vectors.npy", "words.txt"))
    print(f"{len(words):,} words in {size / 1e6:.1f} MB, {len(outputs):,} outputs")


if __name__ == "__main__":
    main(*sys.argv[1:])
