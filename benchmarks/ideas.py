"""Measure ideas that could keep more topics, or reveal fewer authors, at the same loss.

    python benchmarks/ideas.py DATA_HOME [--runs 3] [--only WORD]

Only the training messages of 20 newsgroups are used, divided by date as the corpus is: of each
newsgroup the first 65 % are for training and the last 35 % for testing. Each idea changes one thing
of the preset *accurate* at the same loss per word, and at the same loss per document unless its
name says otherwise. Columns: F1 of naive Bayes on the counts; F1 of naive Bayes on the counts minus
½; F1 of an attacker who uses words and a linear SVM among the ten authors with the most messages.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import fetch_20newsgroups

from syntf.evaluation.analysts import ANALYSTS, score_predictions
from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.experiment.names import TOPIC_FLOOR
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import names_something

MODELS = ("nb", "nb-discounted")


@dataclass
class Idea:
    """A change of the settings, the term weights, the documents, or the released counts."""

    name: str
    settings: Settings
    term_weights: Callable[[Anonymizer], Any] | None = None
    change_documents: Callable[[Documents], Documents] = lambda documents: documents
    change_counts: Callable[[Anonymizer, csr_matrix], Any] = lambda anonymizer, counts: counts


def ideas() -> Iterator[Idea]:
    base = Settings.from_preset("accurate")
    vectors = WordVectors.embedded()
    ranks = np.arange(1.0, len(vectors.words) + 1)

    def idea(name: str, **changes: Any) -> Idea:
        return Idea(name, replace(base, **changes))

    yield idea("accurate, as it is")
    yield Idea("words", Settings.from_preset("words"))
    for loss in (7.0, 6.0, 5.0):
        yield Idea(f"words, ℓ = {loss:g}", Settings.from_preset(loss=loss))
    yield idea("independent draws", draws="independent")
    yield idea("θ by tf", weights="tf")
    yield idea("θ by tf-idf, public", weights="tfidf")
    yield replace(
        idea("θ by rank, without a cap", weights="tf"),
        term_weights=lambda one: with_empty_document(ranks),
    )
    alone = np.where(names_something(vectors.words), 1.0, 1e-4)
    yield replace(idea("θ of nouns and unknown words", weights="tf"),
                  term_weights=lambda one: with_empty_document(alone))  # fmt: skip
    yield replace(idea("every distinct word once"), change_documents=distinct_words)
    for k in (2, 3, 5):
        yield idea(f"k = {k}", neighbours=k)
    for spelling in (0.0, 0.6):
        yield idea(f"s = {spelling:g}", spelling=spelling)
    for size in (1000, 2000, 5000, 10000):
        yield idea(f"{size:,} outputs", max_size=size)
    for loss in (7.0, 7.5, 10.5):
        n = int(base.loss * base.length / loss)  # type: ignore[operator]
        yield idea(f"ℓ = {loss:g}, n = {n}", loss=loss, length=n)
    common = [word for word in vectors.words if re.fullmatch("[a-z]{3,}", word)]
    yield idea("outputs of any part of speech", vocabulary=common, max_size=base.max_size)
    yield idea(
        "outputs nearest to 3,500 centres", vocabulary=cluster_centres(vectors, 3500), max_size=None
    )
    yield idea("outputs fitted, those in most texts (not private)", fit_vocabulary=True)
    yield idea(
        "vectors without mean and two main directions", vectors=without_common_directions(vectors)
    )
    yield replace(idea("analyst spreads counts over neighbours"), change_counts=spread_counts)
    yield replace(idea("analyst squares counts"), change_counts=lambda one, counts: counts.power(2))
    yield replace(
        idea("analyst drops words seen once"),
        change_counts=lambda one, counts: repeated_words(counts),
    )


def with_empty_document(weights: Any) -> Any:
    """Scale the weights to a mean of 1 and append that of a document without known words."""
    return np.append(weights / weights.mean(), 1.0)


def distinct_words(documents: Documents) -> Documents:
    """Keep each word of a document once."""
    parts = [np.unique(documents.terms[a:b])
             for a, b in zip(documents.starts[:-1], documents.starts[1:], strict=True)]  # fmt: skip
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Documents(starts, np.concatenate(parts))


def cluster_centres(vectors: WordVectors, count: int) -> list[str]:
    """Return frequent words, each the nearest to the centre of a cluster of 20,000 words."""
    rows = np.flatnonzero(names_something(vectors.words[:20_000]))
    found = unit_rows(vectors.matrix[rows])
    means = MiniBatchKMeans(count, random_state=0, n_init=1, batch_size=4096).fit(found)
    nearest = {int((found @ centre).argmax()) for centre in means.cluster_centers_}
    return [vectors.words[rows[place]] for place in sorted(nearest)]


def without_common_directions(vectors: WordVectors) -> WordVectors:
    """Remove the mean and the two main directions, which frequent words share (all-but-the-top)."""
    found = unit_rows(vectors.matrix)
    found -= found[:30_000].mean(axis=0)
    top = np.linalg.svd(found[:30_000], full_matrices=False)[2][:2]
    return WordVectors.quantize(vectors.words, found - (found @ top.T) @ top)


def unit_rows(matrix: Any) -> Any:
    """Scale each row to length 1."""
    found = np.asarray(matrix, dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def spread_counts(anonymizer: Anonymizer, counts: csr_matrix) -> Any:
    """Add a tenth of each count to each of the five words nearest to its own."""
    vectors = WordVectors.embedded()
    found = unit_rows(vectors.matrix[np.asarray(anonymizer.vocabulary.output_rows)])
    alike = found @ found.T
    np.fill_diagonal(alike, 0)
    least = np.partition(alike, -5, axis=1)[:, -5:-4]
    near = csr_matrix(np.where(alike >= least, 0.1, 0))
    return counts + counts @ near


def repeated_words(counts: csr_matrix) -> csr_matrix:
    """Remove words that were counted once."""
    kept = counts.copy()
    kept.data[kept.data < 2] = 0
    kept.eliminate_zeros()
    return kept


def training_messages(data_home: Path) -> LabelledCorpus:
    """Divide the training messages again, by their numbers."""
    corpus = newsgroups(data_home)
    files = fetch_20newsgroups(data_home=data_home, subset="train", shuffle=False).filenames
    half = np.flatnonzero(corpus.train)
    number = np.array([int(Path(str(name)).name) for name in files])
    train = np.zeros(len(half), dtype=bool)
    for label in np.unique(corpus.labels[half]):
        group = np.flatnonzero(corpus.labels[half] == label)
        ordered = group[np.argsort(number[group], kind="stable")]
        train[ordered[: int(0.65 * len(ordered))]] = True
    return corpus.select(half, train)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data_home", type=Path)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    corpus = training_messages(chosen.data_home)
    (scenario,) = (one for one in find_scenarios(corpus)[0] if one.name == "top10-any")
    evaluator = Evaluator.for_corpus(corpus, [scenario])
    analysts = {name: ANALYSTS[name] for name in MODELS}
    floor = max(
        one.f1 for one in evaluator.score_texts(corpus.texts, [TOPIC_FLOOR]) if one.scenario
    )
    print(f"An attacker who knows only the topic reaches {floor:.3f}.\n")
    documents_of: dict[tuple[Any, ...], Documents] = {}
    print("| idea | n·ℓ | naive Bayes | counts − ½ | attacker |\n|---|---|---|---|---|")
    for idea in ideas():
        if chosen.only not in idea.name:
            continue
        anonymizer = Anonymizer.build(idea.settings, corpus.training_texts)
        if idea.term_weights is not None:
            anonymizer.weights = idea.term_weights(anonymizer)
        inputs = tuple(anonymizer.vocabulary.inputs)
        documents = documents_of.setdefault(inputs, anonymizer.read(corpus.texts))
        rows: list[list[float]] = []
        for run in range(chosen.runs):
            counts = anonymizer.draw(idea.change_documents(documents))
            changed = csr_matrix(idea.change_counts(anonymizer, counts))
            utility = [
                score_predictions(
                    corpus.labels[~corpus.train], analyst(changed, corpus.labels, corpus.train)
                ).f1
                for analyst in analysts.values()
            ]
            outputs = anonymizer.vocabulary.outputs
            attacks = evaluator.score_counts(counts, outputs, ["words"], run)
            rows.append([*utility, max(one.f1 for one in attacks if one.task == "attack")])
        means = (fmean(column) for column in zip(*rows, strict=True))
        loss = anonymizer.mechanism.loss * idea.settings.length
        cells = [idea.name, f"{loss:,.0f}", *(f"{mean:.3f}".removeprefix("0") for mean in means)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
