"""How much a corpus-level release keeps: weighted F1 on real documents that took no part.

    python benchmarks/synthesize.py --data-home DATA news=20newsgroups titles=titles.csv.gz

A corpus is ``20newsgroups`` (the official split without headers, footers and quotes; --data-home is
scikit-learn's), or a CSV file with the columns text and label. Of a file, two thirds are learned
from, or those that a column given by --split does not call ``test``; --only COLUMN=VALUE selects
rows. Columns of the table: the model itself (direct); naive Bayes and a linear SVM on tf-idf of the
synthetic rows; LDA on their encoded directions. Each cell is the mean over runs, and ± its
standard deviation.
"""

import time
from pathlib import Path

import click
import numpy as np
import polars as pl
from scipy.sparse import csr_matrix
from sklearn.datasets import fetch_20newsgroups
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from syntf.corpus.documents import Documents
from syntf.corpus.measure import Budget, measure
from syntf.corpus.model import fit
from syntf.corpus.public import PublicWords
from syntf.corpus.sample import sample
from syntf.rows import TopicRows, build
from syntf.settings import Settings

BATCH = 4096
NAMES = ("direct", "naive Bayes", "SVM", "LDA")


def newsgroups(data_home: str | None) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the texts and labels of 20 newsgroups, and which are learned from."""
    parts = []
    for subset in ("train", "test"):
        found = fetch_20newsgroups(
            data_home=data_home, subset=subset, shuffle=False,
            remove=("headers", "footers", "quotes"), download_if_missing=data_home is None,
        )  # fmt: skip
        labels = [found.target_names[target] for target in found.target]
        parts.append(pl.DataFrame({"text": found.data, "label": labels}))
    return pl.concat(parts), np.repeat([True, False], [len(part) for part in parts])


def from_file(path: str, split: str | None, only: str | None) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the texts and labels of a file, and which are learned from."""
    frame = pl.read_csv(path)
    column, _, value = (only or "").partition("=")
    if column in frame.columns:
        frame = frame.filter(pl.col(column).cast(pl.String) == value)
    if split in frame.columns:
        learned = (frame[split] != "test").to_numpy()
    else:
        learned = np.zeros(len(frame), dtype=bool)
        learned[train_test_split(np.arange(len(frame)), test_size=1 / 3, random_state=0)[0]] = True
    return frame.select("text", pl.col("label").cast(pl.String)), learned


def analysts(rows: csr_matrix, labels: np.ndarray, directions: np.ndarray) -> list:
    """Return functions from counts and directions of real documents to their labels."""
    bayes = make_pipeline(TfidfTransformer(sublinear_tf=True), MultinomialNB(alpha=0.1))
    vectors = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(C=0.1))
    discriminant = LinearDiscriminantAnalysis().fit(directions, labels)
    words = [model.fit(rows, labels).predict for model in (bayes, vectors)]
    return [*(lambda counts, _, f=f: f(counts) for f in words),
            lambda _, encoded: discriminant.predict(encoded)]  # fmt: skip


class Corpus:
    """A corpus that was read and encoded once."""

    def __init__(self, rows: TopicRows, frame: pl.DataFrame, learned: np.ndarray) -> None:
        self.encoder, self.public = rows.encoder, PublicWords(rows.reader, rows.encoder)
        counts = rows.reader.counts(frame["text"])
        encoded = rows.encoder.encode(counts)
        dimensions = rows.encoder.codebook.dimensions
        self.documents = Documents(len(rows.reader.words), dimensions)
        places = np.flatnonzero(learned)
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            self.documents.add(frame["label"].gather(some), encoded[some], counts[some])
        self.labels = sorted(frame["label"].unique())
        self.counts, self.encoded = counts[~learned], encoded[~learned]
        self.truth = np.searchsorted(self.labels, frame["label"].to_numpy()[~learned].astype(str))

    def f1(self, predicted: np.ndarray) -> float:
        """Return the weighted F1 of labels of real documents."""
        return f1_score(self.truth, predicted, average="weighted", zero_division=0)

    def run(self, budget: Budget, count: int) -> tuple[list[float], list[float]]:
        """Return the F1 of the model and of each analyst, and the CPU seconds of two steps."""
        labels = None if budget.selects_labels else self.labels
        begin = time.process_time()
        noisy = measure(self.documents, self.public, budget, labels=labels)
        model = fit(noisy, self.public)
        measured = time.process_time()
        rows, numbers = sample(model, self.public, count, noisy.first.tobytes()[:32])
        sampled = time.process_time()
        if noisy.is_by_topic:  # no label was frequent enough
            return [0.0] * 4, [measured - begin, sampled - measured]
        own = np.searchsorted(self.labels, noisy.labels)
        words = model.columns[rows.indices]
        wide = csr_matrix((rows.data, words, rows.indptr), (count, self.counts.shape[1]))
        models = analysts(rows, own[numbers], self.encoder.encode(wide))
        columns = self.counts[:, model.columns]
        found = [self.f1(own[model.scores(self.encoded, self.counts).argmax(axis=1)])]
        found += [self.f1(predict(columns, self.encoded)) for predict in models]
        return found, [measured - begin, sampled - measured]


@click.command()
@click.argument("corpora", nargs=-1, required=True)
@click.option("--data-home", help="scikit-learn's data home with 20 newsgroups.")
@click.option("--split", help="Column that says which rows are for tests.")
@click.option("--only", help="COLUMN=VALUE: use these rows of a file alone.")
@click.option("--loss", "losses", multiple=True, type=float, default=(0.5, 1, 2, 4))
@click.option("--delta", default=1e-6, show_default=True)
@click.option("--runs", default=3, show_default=True)
@click.option("--rows", "count", default=8000, show_default=True, help="Rows to sample.")
@click.option("--select-labels", is_flag=True, help="Labels are private: their counts decide.")
@click.option("--documents-per-author", "most", default=1, show_default=True)
def main(corpora, data_home, split, only, losses, delta, runs, count, select_labels, most) -> None:
    """Print one line for each corpus and loss."""
    rows = build(Settings())
    assert isinstance(rows, TopicRows)
    click.echo(f"{'corpus':24}{'ε':>5}  " + "".join(f"{name:>16}" for name in NAMES) + "   CPU s")
    for given in corpora:
        name, _, path = given.rpartition("=")
        read = newsgroups(data_home) if path == "20newsgroups" else from_file(path, split, only)
        corpus = Corpus(rows, *read)
        for loss in losses:
            done = [
                corpus.run(Budget(loss, delta, most, select_labels), count) for _ in range(runs)
            ]
            found = np.array([one[0] for one in done])
            cells = "".join(
                f"{mean:>10.3f} ± {spread:.3f}"
                for mean, spread in zip(found.mean(axis=0), found.std(axis=0), strict=True)
            )
            seconds = np.mean([one[1] for one in done], axis=0)
            shown = name or Path(path).name.partition(".")[0]
            click.echo(f"{shown:24}{loss:>5}  {cells}   {seconds[0]:.1f} + {seconds[1]:.1f}")


if __name__ == "__main__":
    main()
