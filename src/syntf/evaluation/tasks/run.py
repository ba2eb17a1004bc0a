"""Measure what analysts do with labels beside predicting them, on a few releases of a corpus."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from syntf.core.csv_files import write_table
from syntf.core.progress import Stages, silent
from syntf.evaluation.analysts import ANALYSTS, predict_all_labels
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.informed import ReleasedEntries
from syntf.evaluation.tasks.clustering import ClusterScore, score_clusters
from syntf.evaluation.tasks.prototypes import PrototypeShare, prototype_shares, prototype_summary
from syntf.evaluation.tasks.releases import DocumentReleases, Release, Releases
from syntf.evaluation.tasks.survival import Labels, LabelScore, score_labels
from syntf.evaluation.tasks.trends import (
    LabelShare,
    TrendScore,
    label_shares,
    periods_of,
    score_trends,
)
from syntf.report.document_summary import DocumentSummary

MOST_RUNS = 3
"""Releases that these tasks are measured on, at most."""
CLUSTERED = 10_000
"""Documents that are grouped, at most: an even selection of all."""

CLUSTERS, LABELS, TRENDS, SHARES = (
    "clusters.csv", "labels.csv", "trends.csv", "shares.csv",
)  # fmt: skip


@dataclass
class LabelTasks:
    """What was measured with labels, times and prototypes; empty for what was not measured.

    clusters : by method, the mean over releases.
    labels : how well each label is predicted from texts and releases.
    trends, trend : shares of labels over time in the first release, and the mean score of all.
    shares : estimated and true shares of the prototypes of the first release.
    summary : the same as a report shows it; None for releases of single words.
    """

    runs: int
    clusters: dict[str, ClusterScore] = field(default_factory=dict)
    labels: Sequence[LabelScore] = ()
    trends: Sequence[LabelShare] = ()
    trend: TrendScore | None = None
    shares: Sequence[PrototypeShare] = ()
    summary: DocumentSummary | None = None


def measure_label_tasks(
    corpus: LabelledCorpus,
    releases: Releases,
    *,
    labels: bool = True,
    runs: int = MOST_RUNS,
    stages: Stages = silent,
) -> LabelTasks:
    """Draw releases and measure clusters, labels, trends and prototypes in them.

    labels : whether the labels can be predicted at all; otherwise only prototypes are measured.
    """
    runs = min(runs, MOST_RUNS) if labels else 1
    found = LabelTasks(runs)
    with stages("other tasks", runs + labels) as advance:
        if labels:
            counts = CountVectorizer().fit(corpus.training_texts).transform(corpus.texts)
            known = np.flatnonzero(corpus.labels != "")
            original = ANALYSTS["nb"](counts[known], corpus.labels[known], corpus.train[known])
            found.clusters["original"] = _clusters(corpus, counts)
            found.clusters["vectorised"] = _clusters(corpus, releases.vectorised)
            advance(1)
        clusters, predicted, trends = [], [], []
        for run in range(runs):
            release = releases.draw()
            if run == 0 and isinstance(releases, DocumentReleases) and release.drawn is not None:
                shares = prototype_shares(releases.mechanism, releases.encoded, release.drawn)
                found.shares = shares
                found.summary = prototype_summary(releases.mechanism, release.drawn, shares)
            if labels:
                clusters.append(_clusters(corpus, release.counts))
                predicted.append(_predict(corpus, release))
                if corpus.times is not None:
                    trends.append(_trends(corpus, release))
            advance(1)
    if labels:
        found.clusters["syntf"] = ClusterScore(*map(float, np.mean(clusters, axis=0)))
        train, test = (corpus.labels[known[corpus.train[known] == part]] for part in (True, False))
        found.labels = score_labels(train, test, original, predicted)
    if trends:
        found.trends = trends[0]
        found.trend = TrendScore(*map(float, np.mean([score_trends(one) for one in trends], 0)))
    return found


def write_label_tasks(out: Path, tasks: LabelTasks) -> None:
    """Write a CSV file for each task that was measured, and remove those of an earlier run."""
    for name in (CLUSTERS, LABELS, TRENDS, SHARES):
        (out / name).unlink(missing_ok=True)
    if tasks.clusters:
        rows = ([method, *score] for method, score in tasks.clusters.items())
        write_table(out / CLUSTERS, ["method", *ClusterScore._fields], rows)
    if tasks.labels:
        scores = ([*one, one.kept, one.verdict] for one in tasks.labels)
        write_table(out / LABELS, [*LabelScore._fields, "kept", "verdict"], scores)
    if tasks.trends:
        write_table(out / TRENDS, LabelShare._fields, tasks.trends)
    if tasks.shares:
        write_table(out / SHARES, PrototypeShare._fields, tasks.shares)


def _clusters(corpus: LabelledCorpus, counts: object) -> ClusterScore:
    known = np.flatnonzero(corpus.labels != "")
    chosen = known[:: -(-len(known) // CLUSTERED)]
    return score_clusters(counts[chosen], corpus.labels[chosen])  # type: ignore[index]


def _predict(corpus: LabelledCorpus, release: Release) -> Labels:
    """Predict the labels of the test documents; of whole documents by the informed analyst."""
    known = np.flatnonzero(corpus.labels != "")
    labels, train = corpus.labels[known], corpus.train[known]
    if release.drawn is not None:
        return ReleasedEntries.of(release.drawn).at(known).predict(labels, train)
    return ANALYSTS["nb"](release.counts[known], labels, train)


def _trends(corpus: LabelledCorpus, release: Release) -> list[LabelShare]:
    assert corpus.times is not None  # nosec B101
    predicted = predict_all_labels(release.counts, corpus.labels, corpus.train)
    periods, names = periods_of(corpus.times.tolist())
    return label_shares(predicted, corpus.labels, corpus.train, periods, names)
