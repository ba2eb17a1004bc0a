"""What was tried to keep more topics, or fewer authors, at the same loss: a line for each idea.

    python benchmarks/ideas.py DATA_HOME [--runs 3] [--only WORD]

On the training half of 20 newsgroups alone, divided by date as the corpus is: of each newsgroup the
first 65 % to learn from, the last 35 % to test on. Each idea changes one thing of the preset
*accurate*, within the same loss per word, and the same per document unless it says so. Columns: F1
of naive Bayes on the counts; the same where the analyst takes ½ from each count; and the F1 of the
attacker who learns words (linear SVM) among the ten authors who wrote most.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import fetch_20newsgroups

from syntf.evaluation.attack.classifiers import analyst, measured
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment.judge import Judge
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.evaluation.experiment.paper import FLOORS
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import names

MODELS = ("nb", "nb-less")


@dataclass
class Idea:
    """One change: of the settings, of θ's weights, of the documents, or of the counts received."""

    name: str
    settings: Settings
    weigh: Callable[[Anonymizer], Any] | None = None
    read: Callable[[Documents], Documents] = lambda documents: documents
    receive: Callable[[Anonymizer, csr_matrix], Any] = lambda anonymizer, counts: counts


def ideas(seen: Sequence[str]) -> Iterator[Idea]:
    base = Settings.from_preset("accurate")
    vectors = WordVectors.embedded()
    ranks = np.arange(1.0, len(vectors.words) + 1)

    def idea(name: str, **changes: Any) -> Idea:
        return Idea(name, replace(base, **changes))

    yield idea("accurate, as it is")
    yield Idea("default", Settings.from_preset())
    for loss in (7.0, 6.0, 5.0):
        yield Idea(f"default, ℓ = {loss:g}", Settings.from_preset(loss=loss))
    yield idea("independent draws", draws="independent")
    yield idea("θ by tf", weights="tf")
    yield idea("θ by tf-idf, public", weights="tfidf")
    yield replace(idea("θ by rank, without a cap", weights="tf"), weigh=lambda one: one_more(ranks))
    alone = np.where(names(vectors.words), 1.0, 1e-4)
    yield replace(idea("θ of nouns and unknown words", weights="tf"),
                  weigh=lambda one: one_more(alone))  # fmt: skip
    yield replace(idea("every distinct word once"), read=once)
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
    yield idea("outputs nearest to 3,500 centres", vocabulary=centres(vectors, 3500), max_size=None)
    yield idea("outputs fitted, those in most texts (not private)", fit_vocabulary=True)
    yield idea("vectors without mean and two main directions", vectors=even(vectors))
    yield replace(idea("analyst spreads counts over neighbours"), receive=spread)
    yield replace(idea("analyst squares counts"), receive=lambda one, counts: counts.power(2))
    yield replace(idea("analyst drops words seen once"), receive=lambda one, counts: often(counts))


def one_more(weights: Any) -> Any:
    """Weights of words, and that of the document without any."""
    return np.append(weights / weights.mean(), 1.0)


def once(documents: Documents) -> Documents:
    parts = [np.unique(documents.terms[a:b])
             for a, b in zip(documents.starts[:-1], documents.starts[1:], strict=True)]  # fmt: skip
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Documents(starts, np.concatenate(parts))


def centres(vectors: WordVectors, count: int) -> list[str]:
    """Frequent words, each the nearest to the centre of a cluster of 20,000."""
    rows = np.flatnonzero(names(vectors.words[:20_000]))
    found = unit(vectors.matrix[rows])
    means = MiniBatchKMeans(count, random_state=0, n_init=1, batch_size=4096).fit(found)
    nearest = {int((found @ centre).argmax()) for centre in means.cluster_centers_}
    return [vectors.words[rows[place]] for place in sorted(nearest)]


def even(vectors: WordVectors) -> WordVectors:
    """All-but-the-top: what frequent words share says little of each."""
    found = unit(vectors.matrix)
    found -= found[:30_000].mean(axis=0)
    top = np.linalg.svd(found[:30_000], full_matrices=False)[2][:2]
    return WordVectors.quantize(vectors.words, found - (found @ top.T) @ top)


def unit(matrix: Any) -> Any:
    found = np.asarray(matrix, dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def spread(anonymizer: Anonymizer, counts: csr_matrix) -> Any:
    """Half of each count to the five words nearest to its own."""
    vectors = WordVectors.embedded()
    found = unit(vectors.matrix[np.asarray(anonymizer.vocabulary.output_rows)])
    alike = found @ found.T
    np.fill_diagonal(alike, 0)
    least = np.partition(alike, -5, axis=1)[:, -5:-4]
    near = csr_matrix(np.where(alike >= least, 0.1, 0))
    return counts + counts @ near


def often(counts: csr_matrix) -> csr_matrix:
    kept = counts.copy()
    kept.data[kept.data < 2] = 0
    kept.eliminate_zeros()
    return kept


def by_date(data_home: Path) -> Labelled:
    """The training half, divided again by the numbers of its messages."""
    corpus = newsgroups(data_home)
    files = fetch_20newsgroups(data_home=data_home, subset="train", shuffle=False).filenames
    half = np.flatnonzero(corpus.train)
    number = np.array([int(Path(str(name)).name) for name in files])
    train = np.zeros(len(half), dtype=bool)
    for label in np.unique(corpus.labels[half]):
        group = np.flatnonzero(corpus.labels[half] == label)
        ordered = group[np.argsort(number[group], kind="stable")]
        train[ordered[: int(0.65 * len(ordered))]] = True
    texts = [corpus.texts[i] for i in half.tolist()]
    return Labelled(texts, corpus.labels[half], corpus.authors[half], train)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data_home", type=Path)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    corpus = by_date(chosen.data_home)
    (suspects,) = (one for one in scenarios(corpus)[0] if one.name == "top10-any")
    judge = Judge.of(corpus, [suspects], None)
    floor = max(one.quality.f1 for one in judge.texts(corpus.texts, [FLOORS[0]]) if one.scenario)
    print(f"Whoever knows the topic alone reaches {floor:.3f}.\n")
    read: dict[tuple[Any, ...], Documents] = {}
    print("| idea | n·ℓ | naive Bayes | less ½ | attacker |\n|---|---|---|---|---|")
    for idea in ideas(corpus.seen):
        if chosen.only not in idea.name:
            continue
        anonymizer = Anonymizer.build(idea.settings, corpus.seen)
        if idea.weigh is not None:
            anonymizer.weights = idea.weigh(anonymizer)
        same = tuple(anonymizer.vocabulary.inputs)
        documents = read.setdefault(same, anonymizer.read(corpus.texts))
        scores: list[list[float]] = []
        for run in range(chosen.runs):
            counts = anonymizer.draw(idea.read(documents))
            got = idea.receive(anonymizer, counts)
            told = analyst(csr_matrix(got), corpus.labels, corpus.train, MODELS)
            found = measured(corpus.labels[~corpus.train], told)
            attacks = judge.counts(counts, anonymizer.vocabulary.outputs, ["words"], run)
            best = max(one.quality.f1 for one in attacks if one.task == "attack")
            scores.append([*(found[model].f1 for model in MODELS), best])
        means = (fmean(column) for column in zip(*scores, strict=True))
        loss = anonymizer.mechanism.loss * idea.settings.length
        cells = [idea.name, f"{loss:,.0f}", *(f"{mean:.3f}".removeprefix("0") for mean in means)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
