"""Make the embedded codebook from WordNet 3.0 and the embedded words.

    python tools/build_codebook.py [/usr/share/wordnet]      # Debian: apt-get install wordnet-base

Reads the files data.noun, data.verb, data.adj and data.adv of WordNet and writes
src/syntf/data/codebook.zip. No corpus of documents is used.

A document is about something wider than a gloss or a word, so the public points of the codebook are
mixtures. There are four kinds:

1. glosses of nouns, each averaged with the 20 glosses nearest to it;
2. words, each averaged with the 10 words nearest to it;
3. synsets: gloss and lemmas, together with those of related synsets;
4. words, each with the glosses that use it.

A tree of 4,096 leaves over these points is the codebook. The computation uses floating point, so
another processor or another build of NumPy may round a few numbers differently. The file that ships
is what counts; the script says whether it made the same one.
"""

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from syntf.codebook.codebook import Codebook
from syntf.codebook.integers import LENGTH
from syntf.codebook.tree import Points, grow_tree, unit_rows
from syntf.codebook.weights import (
    integer_weights,
    occurrence_weights,
    plain_words,
    word_weights,
)
from syntf.text.documents import term_frequencies
from syntf.text.reader import look_up
from syntf.text.token_table import TokenTable
from syntf.text.tokenizer import Analyzer
from syntf.vectors.word_vectors import WordVectors

WORDNET = "/usr/share/wordnet"
TARGET = Path(__file__).parent.parent / "src" / "syntf" / "data" / "codebook.zip"

LEAVES = 4096
OUTPUTS = 30_000
WHITENING = 0.5  # 0 keeps the directions as they are, 1 makes all of them equally wide
COMMON_SHARE = 0.35  # of the direction that all documents share, which is removed
LEAST_WORDS = 4  # known words of a gloss that helps to estimate means and directions

GLOSS_POINTS, GLOSS_NEIGHBOURS = 30_000, 20
FREQUENT_WORDS, WORD_POINTS, WORD_NEIGHBOURS = 80_000, 40_000, 10
SYNSET_POINTS, LEAST_RELATIVES = 30_000, 4
LEAST_GLOSSES = 3  # that use a word of the fourth kind

KINDS = ("noun", "verb", "adj", "adv")
RELATED = {
    "@": 0.5, "@i": 0.5, "~": 0.5, "~i": 0.5, ";c": 0.5, "-c": 0.5,
    "+": 0.3, "#p": 0.3, "%p": 0.3, "#m": 0.3, "%m": 0.3, "&": 0.3,
}  # fmt: skip
"""How much a related synset adds to a synset, by the symbol of the relation (wndb(5WN))."""


@dataclass(frozen=True)
class WordNet:
    """Synsets of WordNet: glosses, lemmas, parts of speech, and weights of related synsets."""

    glosses: list[str]
    lemmas: list[str]
    nouns: NDArray[np.bool_]
    related: Any  # a CSR matrix, synsets × synsets

    @classmethod
    def read(cls, folder: str) -> "WordNet":
        """Read the data files of WordNet 3.0."""
        glosses: list[str] = []
        lemmas: list[str] = []
        nouns: list[bool] = []
        pointers: list[list[str]] = []
        number: dict[tuple[str, str], int] = {}
        for kind in KINDS:
            for line in (Path(folder) / f"data.{kind}").read_text("latin-1").split("\n"):
                if not line or line.startswith("  "):  # the licence at the beginning of a file
                    continue
                head, _, gloss = line.partition(" | ")
                field = head.split()
                words = int(field[3], 16)
                first = 5 + 2 * words
                number[kind[0], field[0]] = len(glosses)
                glosses.append(gloss.strip())
                lemmas.append(" ".join(_lemma(field[4 + 2 * word]) for word in range(words)))
                nouns.append(kind == "noun")
                pointers.append(field[first : first + 4 * int(field[first - 1])])
        related = _related(pointers, number)
        return cls(glosses, lemmas, np.array(nouns), related)


def _lemma(field: str) -> str:
    return re.sub(r"\(.*\)", "", field.replace("_", " "))


def _related(pointers: list[list[str]], number: dict[tuple[str, str], int]) -> Any:
    """Return the shares of synsets in each other; the shares of each row sum to 1."""
    rows, columns, shares = [], [], []
    for synset, own in enumerate(pointers):
        rows.append(synset)
        columns.append(synset)
        shares.append(1.0)
        for symbol, offset, kind in zip(own[0::4], own[1::4], own[2::4], strict=True):
            other = number.get(("a" if kind == "s" else kind, offset))
            if symbol in RELATED and other is not None:
                rows.append(synset)
                columns.append(other)
                shares.append(RELATED[symbol])
    matrix = sp.csr_matrix((shares, (rows, columns)), shape=(len(pointers),) * 2)
    return sp.csr_matrix(sp.diags(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix)


class Source:
    """WordNet over the embedded words, and the statistics of the encoder."""

    def __init__(self, wordnet: WordNet, vectors: WordVectors) -> None:
        self.wordnet, self.vectors = wordnet, vectors
        self.words = unit_rows(np.asarray(vectors.matrix, dtype=np.float32))
        self.plain = plain_words(vectors)
        self.weights = word_weights(vectors)

    def counts(self, texts: list[str]) -> Any:
        """Count the known words of each text, as float32."""
        size = len(self.vectors.words)
        table = TokenTable.build(Analyzer(), self.vectors.words)
        return term_frequencies(look_up(texts, table, size), size).astype(np.float32)

    def mean_directions(self, counts: Any) -> Points:
        """Return the direction of the weighted sum of the word vectors of each text."""
        weighted = counts.copy()
        weighted.data = 1 + np.log(weighted.data)
        return unit_rows(weighted.multiply(self.weights[None]).tocsr() @ self.words)

    @cached_property
    def gloss_counts(self) -> Any:
        return self.counts(self.wordnet.glosses)

    @cached_property
    def gloss_directions(self) -> Points:
        return self.mean_directions(self.gloss_counts)

    @cached_property
    def long_glosses(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.gloss_counts.getnnz(1) >= LEAST_WORDS)

    @cached_property
    def centre(self) -> Points:
        mean: Points = self.gloss_directions[self.long_glosses].mean(axis=0)
        return mean

    @cached_property
    def word_centre(self) -> Points:
        mean: Points = (self.words * self.weights[:, None]).sum(axis=0) / self.weights.sum()
        return mean

    @cached_property
    def whitening(self) -> Points:
        """The matrix that makes the directions of glosses more evenly wide."""
        centred = self.gloss_directions[self.long_glosses] - self.centre
        widths, axes = np.linalg.eigh(np.cov(centred.T))
        scaled = axes * (widths / widths.mean()) ** (-WHITENING / 2)
        return np.asarray(scaled @ axes.T, dtype=np.float32)

    @cached_property
    def common(self) -> Points:
        """The direction of a text that has every word as often as it has in public texts."""
        rank = np.arange(1, len(self.words) + 1)
        often = (self.weights / (rank + 2.7))[:, None]  # Zipf's law, as Mandelbrot put it
        total = unit_rows((self.words * often).sum(axis=0)[None])
        found: Points = unit_rows((total - self.centre) @ self.whitening)[0]
        return found

    def points(self) -> Points:
        """Return the public points of all four kinds, as directions of length 1."""
        kinds = (self.gloss_points(), self.word_points(), self.synset_points(), self.use_points())
        return np.vstack(kinds).astype(np.float32)

    def gloss_points(self) -> Points:
        glosses = unit_rows(
            (self.gloss_directions[self.long_glosses] - self.centre) @ self.whitening
        )
        nouns = np.flatnonzero(self.wordnet.nouns[self.long_glosses])
        chosen = fixed_order(nouns)[:GLOSS_POINTS]
        return neighbourhood_means(glosses[chosen], glosses[nouns], GLOSS_NEIGHBOURS)

    def word_points(self) -> Points:
        rows = np.flatnonzero(~self.plain[:FREQUENT_WORDS])[:WORD_POINTS]
        words = unit_rows((self.words[rows] - self.word_centre) @ self.whitening)
        return neighbourhood_means(words[::2], words, WORD_NEIGHBOURS)

    def synset_points(self) -> Points:
        lemmas = self.mean_directions(self.counts(self.wordnet.lemmas))
        mixed = unit_rows(self.wordnet.related @ (self.gloss_directions + lemmas))
        synsets = unit_rows((mixed - self.centre) @ self.whitening)
        connected = np.diff(self.wordnet.related.indptr) >= LEAST_RELATIVES
        rows = np.flatnonzero(connected & self.wordnet.nouns)
        return synsets[fixed_order(rows)[:SYNSET_POINTS]]

    def use_points(self) -> Points:
        used = (self.gloss_counts > 0).astype(np.float32)
        glosses = np.asarray(used.sum(axis=0)).ravel()
        rows = np.flatnonzero((glosses >= LEAST_GLOSSES) & ~self.plain)
        means = unit_rows(
            (used[:, rows].T.tocsr() @ self.gloss_directions) / glosses[rows][:, None]
        )
        mixed = unit_rows((unit_rows(means + self.words[rows]) - self.centre) @ self.whitening)
        return unit_rows(mixed - mixed.mean(axis=0))

    def output_rows(self) -> NDArray[np.int32]:
        """Return the rows of words that a release may show: names that are their own lemma."""
        analyzer, letters = Analyzer(), re.compile("[a-z][a-z0-9]+")
        found = []
        for row in np.flatnonzero(~self.plain).tolist():
            word = self.vectors.words[row]
            if letters.fullmatch(word) and analyzer.candidates(word)[:1] == (word,):
                found.append(row)
        return np.array(found[:OUTPUTS], dtype=np.int32)


def fixed_order(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows in a mixed order that is the same every time."""
    return np.random.default_rng(0).permutation(rows)  # noqa: TID251 - nothing private is drawn


def neighbourhood_means(points: Points, among: Points, count: int) -> Points:
    """Return for each point the mean of the `count` points nearest to it."""
    means = np.empty_like(points)
    for first in range(0, len(points), 2048):
        block = slice(first, first + 2048)
        similar = points[block] @ among.T
        nearest = np.argpartition(-similar, count, axis=1)[:, :count]
        means[block] = among[nearest].mean(axis=1)
    return unit_rows(means)


def build(source: Source) -> Codebook:
    """Compute the codebook and round its numbers to integers."""
    tree = grow_tree(source.points(), LEAVES)
    return Codebook(
        nodes=tree.vectors,
        child=tree.child,
        points=tree.points,
        spread=tree.spread,
        outputs=source.output_rows(),
        weight=integer_weights(source.weights, source.vectors.matrix),
        tf=occurrence_weights(),
        centre=np.rint(source.centre * 2048).astype(np.int16),
        word_centre=np.rint(source.word_centre * 2048).astype(np.int16),
        whiten=np.rint(source.whitening * 1024).astype(np.int16),
        common=np.rint(COMMON_SHARE * LENGTH * source.common).astype(np.int16),
        own_rows=np.zeros(0, dtype=np.int32),
        own_weight=np.zeros(0, dtype=np.uint16),
        own_vectors=np.zeros((0, 1), dtype=np.int8),
        own_centre=np.zeros(0, dtype=np.int16),
        vectors_digest=source.vectors.digest,
        origin="embedded",
        made_from="WordNet 3.0 and GloVe",
    )


def main(folder: str = WORDNET) -> None:
    before = Codebook.embedded().digest if TARGET.exists() else "none"
    codebook = build(Source(WordNet.read(folder), WordVectors.embedded()))
    codebook.check("the new codebook")
    codebook.write(TARGET)
    size = TARGET.stat().st_size / 1e6
    leaves = np.count_nonzero(codebook.leaves)
    print(f"{leaves:,} topics from {codebook.points[0]:,} points in {size:.1f} MB")
    print(f"digest {codebook.digest}: {'as before' if codebook.digest == before else 'CHANGED'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
