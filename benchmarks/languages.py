"""Measure what releases keep in other languages, and how fast texts are read.

    python benchmarks/languages.py CORPORA [--runs 3] [--train-only] [--speed] [--together en,fr]

CORPORA is a folder with ``sib200_14languages.csv.gz`` (SIB-200: 1,004 sentences of FLORES-200, 7
topics, in each language; Apache-2.0 as its repository states), ``english_masakhanews.csv.gz`` and
``french_masakhanews.csv.gz`` (MasakhaNEWS: news with 6 and 5 topics; no licence stated), each with
the columns text, label and split, and SIB-200 also with language. They are not part of syntf. What
is missing, a corpus or a language pack, is named and left out.

An analyst trains a linear SVM on the rows of the training texts and predicts the topics of the
others. *original* has the tf-idf weighted words of the texts, *words* and *document* have what is
released with these presets. The mean accuracy of several draws is printed. With ``--train-only``
the training texts are divided in two, for choosing settings; test texts are then not looked at.
With ``--together`` the sentences of SIB-200 in several languages, whose packs must be aligned, are
released together, and an analyst learns from the training texts of all languages, or of one.
"""

import argparse
import gzip
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.language import store
from syntf.pipeline import prepare
from syntf.pipeline.settings import Settings
from syntf.text.documents import term_frequencies
from syntf.text.several import reader_for as reader_for_several
from syntf.text.word_reader import WordReader

SIB = {"en": "eng_Latn", "fr": "fra_Latn", "ru": "rus_Cyrl", "ja": "jpn_Jpan"}
NEWS = {"en": "english_masakhanews.csv.gz", "fr": "french_masakhanews.csv.gz"}
PRESETS = ("words", "document")


def analyst() -> Pipeline:
    """Return the classifier that learns topics from rows of counts."""
    return make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(C=0.5))


class Corpus:
    """Texts with labels, and which of them are for testing."""

    def __init__(self, name: str, language: str, table: pl.DataFrame, train_only: bool) -> None:
        self.name, self.language = name, language
        table = table.filter(pl.col("split") == "train") if train_only else table
        self.texts = table["text"].to_list()
        self.labels = table["label"].to_numpy()
        odd = np.arange(len(table)) % 2 == 1
        self.test = odd if train_only else (table["split"] == "test").to_numpy()

    def accuracy(self, rows: csr_matrix) -> float:
        """Train on the rows of training texts; return the share of correct test labels."""
        model = analyst()
        model.fit(rows[~self.test], self.labels[~self.test])
        return float(model.score(rows[self.test], self.labels[self.test]))

    @property
    def chance(self) -> float:
        """The accuracy of naming the most frequent topic."""
        _, counts = np.unique(self.labels[self.test], return_counts=True)
        return float(counts.max() / counts.sum())


def read_corpora(folder: Path, train_only: bool) -> list[Corpus]:
    """Read the corpora that are there; print what is missing."""
    found = []
    path = folder / "sib200_14languages.csv.gz"
    if path.is_file():
        table = _read(path)
        found += [
            Corpus("SIB-200", code, table.filter(pl.col("language") == name), train_only)
            for code, name in SIB.items()
        ]
    else:
        print(f"left out: {path} is missing")
    for code, name in NEWS.items():
        if (folder / name).is_file():
            found.append(Corpus("MasakhaNEWS", code, _read(folder / name), train_only))
        else:
            print(f"left out: {folder / name} is missing")
    return found


def _read(path: Path) -> pl.DataFrame:
    return pl.read_csv(gzip.decompress(path.read_bytes())).drop_nulls(["text", "label"])


def reader_for(language: str) -> WordReader:
    """Return the reader of a language pack."""
    settings = Settings(language=language)
    vectors = prepare.vectors_for(settings)
    return WordReader(prepare.analyzer_for(settings), vectors.words)


def original(corpus: Corpus) -> csr_matrix:
    """Return the counts of known words of the texts."""
    reader = reader_for(corpus.language)
    return term_frequencies(reader.read(corpus.texts), len(reader.words))


def released(corpus: Corpus, preset: str, runs: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the accuracy over several releases."""
    scores = []
    for _ in range(runs):
        synthetic = SynTF(preset=preset, language=corpus.language)
        scores.append(corpus.accuracy(synthetic.fit_transform(corpus.texts)))
    return float(np.mean(scores)), float(np.std(scores))


def print_accuracy(corpora: Sequence[Corpus], runs: int) -> None:
    """Print one line for each corpus: chance, original, and the presets."""
    print("corpus       language documents chance original    words  document (kept of original)")
    for corpus in corpora:
        try:
            store.find(corpus.language)
        except SyntfError as error:
            print(f"left out: {corpus.name} in {corpus.language}: {error}")
            continue
        clean = corpus.accuracy(original(corpus))
        line = f"{corpus.name:12} {corpus.language:8} {len(corpus.texts):9,} {corpus.chance:6.3f}"
        line += f" {clean:8.3f}"
        for preset in PRESETS:
            mean, spread = released(corpus, preset, runs)
            line += f"  {mean:.3f}±{spread:.3f} ({mean / clean:.0%})"
        print(line, flush=True)


def print_together(corpora: Sequence[Corpus], language: str, runs: int) -> None:
    """Release texts of several languages together; print the accuracy for each language.

    A line for each choice of training texts, a column for each language of test texts.
    """
    codes = language.split(",")
    chosen = [corpus for code in codes for corpus in corpora if corpus.language == code]
    texts = [text for corpus in chosen for text in corpus.texts]
    labels = np.concatenate([corpus.labels for corpus in chosen])
    test = np.concatenate([corpus.test for corpus in chosen])
    of = np.repeat(codes, [len(corpus.texts) for corpus in chosen])
    settings = Settings.from_preset("document", language=language)
    analyzer = prepare.analyzer_for(settings)
    right = np.array(codes)[analyzer.choose(texts)] == of
    print(f"{len(texts):,} texts, {np.count_nonzero(~right):,} read as another language")
    reader = reader_for_several(analyzer, prepare.vectors_for(settings).words)
    tables = [[term_frequencies(reader.read(texts), len(reader.words))]]
    tables += [[SynTF(language=language).fit_transform(texts) for _ in range(runs)]]
    print("table     learnt from   " + "  ".join(f"{code:>11}" for code in codes))
    for name, draws in zip(("original", "document"), tables, strict=True):
        for learnt in (language, *codes):
            train = ~test & np.isin(of, learnt.split(","))
            scores = np.array([_accuracies(rows, labels, train, test, of, codes) for rows in draws])
            cells = zip(scores.mean(axis=0), scores.std(axis=0), strict=True)
            line = "  ".join(f"{mean:.3f}±{spread:.3f}" for mean, spread in cells)
            print(f"{name:9} {learnt:13} {line}", flush=True)


def _accuracies(
    rows: csr_matrix,
    labels: NDArray[np.object_],
    train: NDArray[np.bool_],
    test: NDArray[np.bool_],
    of: NDArray[np.str_],
    codes: Sequence[str],
) -> list[float]:
    model = analyst().fit(rows[train], labels[train])
    return [float(model.score(rows[own], labels[own])) for own in (test & (of == c) for c in codes)]


def print_speed(corpora: Sequence[Corpus]) -> None:
    """Print tokens and bytes in UTF-8 read in a second of processor time."""
    print("language      tokens/s   bytes/s")
    for corpus in corpora:
        try:
            reader = reader_for(corpus.language)
        except SyntfError as error:
            print(f"left out: {corpus.language}: {error}")
            continue
        times = 1 if corpus.language == "ja" else 200
        texts = corpus.texts * times
        tokens = times * sum(map(len, reader.analyzer.read(corpus.texts)))
        reader.read(corpus.texts)
        seconds: NDArray[np.float64] = np.array([_seconds(reader, texts) for _ in range(5)])
        best = float(seconds.min())
        size = times * sum(len(text.encode()) for text in corpus.texts)
        print(f"{corpus.language:8} {tokens / best:11,.0f}  {size / best:11,.0f}")


def _seconds(reader: WordReader, texts: Sequence[str]) -> float:
    before = time.process_time()
    reader.read(texts)
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--train-only", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--together", metavar="CODES")
    chosen = parser.parse_args()
    corpora = read_corpora(chosen.corpora, chosen.train_only)
    sentences = [corpus for corpus in corpora if corpus.name == "SIB-200"]
    if chosen.together:
        print_together(sentences, chosen.together, chosen.runs)
    elif chosen.speed:
        print_speed(sentences)
    else:
        print_accuracy(corpora, chosen.runs)


if __name__ == "__main__":
    main()
