"""Make the embedded word-vector table and the default output vocabulary from GloVe.

    python tools/build_data.py glove.6B.100d.txt[.gz]

Reads GloVe's text format, most frequent word first, and writes into src/syntf/data:

    vectors.npy     int8, one row a word, the 100,000 most frequent
    words.txt       the words, one a line
    topical.npy     float32, how much each word tells of a topic
    vocabulary.txt  the default outputs: the most frequent of these words that are their own
                    lemma, may name something, are spelled in three or more letters a–z, no
                    stop word and no number
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
from syntf.vocabulary.topicality import names, weigh

WORDS = 100_000
OUTPUTS = 10_000
DATA = Path(__file__).parent.parent / "src" / "syntf" / "data"


def lengths(glove: str, words: Sequence[str]) -> NDArray[np.float64]:
    """Of the raw vectors, which the int8 ones no longer tell."""
    found = {}
    with gzip.open(glove, "rt", encoding="utf-8") if glove.endswith(".gz") else open(glove) as file:
        for line in islice(file, 2 * len(words)):
            word, *numbers = line.rstrip("\n").split(" ")
            found[word] = float(np.linalg.norm(np.array(numbers, dtype=np.float64)))
    return np.array([found[word] for word in words])


def main(glove: str) -> None:
    vectors = WordVectors.read(glove)
    words = vectors.words[:WORDS]
    np.save(DATA / "vectors.npy", vectors.matrix[:WORDS])
    (DATA / "words.txt").write_text("\n".join(words), encoding="utf-8")
    weights = weigh(words, lengths(glove, words))
    np.save(DATA / "topical.npy", weights.astype(np.float32))
    analyzer = Analyzer()
    plain = re.compile("[a-z]{3,}")
    outputs = [
        word
        for word, naming in zip(words, names(words), strict=True)
        if naming and plain.fullmatch(word) and analyzer.candidates(word)[:1] == (word,)
    ][:OUTPUTS]
    (DATA / "vocabulary.txt").write_text("\n".join(outputs) + "\n", encoding="utf-8")
    size = sum((DATA / name).stat().st_size for name in ("vectors.npy", "words.txt"))
    print(f"{len(words):,} words in {size / 1e6:.1f} MB, {len(outputs):,} outputs")


if __name__ == "__main__":
    main(*sys.argv[1:])
