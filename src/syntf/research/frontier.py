"""Utility against loss: draw and score each point of each curve, run by run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

from joblib import Parallel

from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.analysts import ANALYSTS
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.experiment.experiment import process_pool
from syntf.evaluation.experiment.run_log import SCORES, RunLog, experiment_key
from syntf.evaluation.experiment.word_runs import WordRelease, release_jobs
from syntf.pipeline.anonymizer import Anonymizer
from syntf.privacy import bounds
from syntf.research.curves import Change, Curve, anonymizer_factory
from syntf.research.document_curves import DocumentCurve, run_document_curves

POINT_FIELDS = ("mechanism", "vocabulary", "varied", "asked")
"""The values that distinguish the points in a log."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The mean of the runs at one point of a curve: a row of ``frontier.csv``.

    `varied` is the setting that changes along the curve. `outputs` is the number of output words M,
    `k` the number of neighbours or substitutes, and `length` the words drawn for a document. Losses
    are tight over all pairs of documents; those of CusText are infinite, and its `epsilon` is the
    loss that it states. Mechanisms that release whole documents have no loss per word; their
    `vocabulary` is the codebook, and their `outputs` the entries of its list. `f1_std` is the
    sample standard deviation, None for a single run.
    """

    mechanism: str
    vocabulary: str
    varied: str
    outputs: int
    k: int | None
    length: int
    epsilon: float
    loss_per_word: float | None
    loss_per_document: float
    model: str
    runs: int
    f1: float
    f1_std: float | None = None

    @property
    def curve(self) -> tuple[str, str]:
        """The curve to which the point belongs."""
        return self.mechanism, self.vocabulary


@dataclass
class Frontier:
    """Runs over all curves that share a corpus; fitting uses the training documents."""

    corpus: LabelledCorpus
    curves: Sequence[Curve]
    runs: int = 10
    stages: Stages = silent
    document_curves: Sequence[DocumentCurve] = ()
    _advance: Advance = field(default=lambda steps: None, init=False)

    @property
    def key(self) -> str:
        """A hash of everything that runs in one log must share; points and runs may be added."""
        fixed = {
            json.dumps([curve.mechanism, {**vars(curve.settings), "max_size": None}], default=str)
            for curve in self.curves
        }
        return experiment_key(self.corpus.digest, sorted(fixed))

    def run(self, log: RunLog) -> Iterator[None]:
        """Do the runs that the log does not have; yields after each point."""
        evaluator = replace(Evaluator.for_corpus(self.corpus), analysts=ANALYSTS)
        total = self.runs * sum(len(curve.changes) for curve in self.curves)
        with self.stages("curves", total) as self._advance, process_pool() as pool:
            for curve in self.curves:
                yield from self._run_curve(log, pool, evaluator, curve)
        yield from run_document_curves(
            self.corpus, self.document_curves, self.runs, log, self.stages
        )

    def _run_curve(
        self, log: RunLog, pool: Parallel, evaluator: Evaluator, curve: Curve
    ) -> Iterator[None]:
        missing = {change: self._missing_runs(log, curve, change) for change in curve.changes}
        self._advance(sum(self.runs - len(runs) for runs in missing.values()))
        make, documents = None, None
        for change, runs in missing.items():
            if not runs:
                continue
            make = make or anonymizer_factory(curve, self.corpus.training_texts, self.stages)
            anonymizer = make(change)
            if documents is None:
                documents = anonymizer.read(self.corpus.texts, stages=self.stages)
            about = _describe(curve, change, anonymizer)
            releases = [WordRelease(run, anonymizer.settings.length, (), run) for run in runs]
            for run, scores in pool(
                release_jobs(anonymizer, documents, releases, evaluator, self.stages)
            ):
                log.add({**about, "run": run}, scores)
                self._advance(1)
            yield

    def _missing_runs(self, log: RunLog, curve: Curve, change: Change) -> list[int]:
        finished = log.finished(_identify(curve, change))
        return [run for run in range(self.runs) if run not in finished]


def mean_points(log: RunLog) -> list[Point]:
    """Return the means of the runs in a log, in the order in which points were first reached."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for run in log:
        for score in run[SCORES]:
            key = json.dumps([*(run[name] for name in POINT_FIELDS), score["model"]])
            groups.setdefault(key, []).append({**run, **score})
    return [_mean(runs) for runs in groups.values()]


def best_models(points: Iterable[Point]) -> list[Point]:
    """Return, of the models at each place of a curve, the one with the highest F1."""
    best: dict[tuple[Any, ...], Point] = {}
    for point in points:
        key = (*point.curve, point.varied, point.outputs, point.k, point.epsilon, point.length)
        if key not in best or point.f1 > best[key].f1:
            best[key] = point
    return list(best.values())


def _identify(curve: Curve, change: Change) -> dict[str, Any]:
    one = curve.settings_at(change)
    asked = [one.max_size, curve.neighbours, one.loss, one.epsilon, one.length]
    values = (curve.mechanism, curve.vocabulary, change.name, asked)
    return dict(zip(POINT_FIELDS, values, strict=True))


def _describe(curve: Curve, change: Change, anonymizer: Anonymizer) -> dict[str, Any]:
    return {
        **_identify(curve, change),
        "outputs": len(anonymizer.vocabulary.outputs),
        "k": curve.neighbours,
        "length": anonymizer.settings.length,
        "epsilon": anonymizer.mechanism.epsilon,
        "loss_per_word": anonymizer.mechanism.loss,
    }


def _mean(runs: Sequence[Mapping[str, Any]]) -> Point:
    first, scores = runs[0], [run["f1"] for run in runs]
    same = ("mechanism", "vocabulary", "varied", "outputs", "k", "length", "epsilon")
    per_document = first.get("loss_per_document")
    if per_document is None:
        per_document = bounds.document_loss(first["loss_per_word"], first["length"])
    return Point(
        **{name: first[name] for name in (*same, "loss_per_word", "model")},
        loss_per_document=per_document,
        runs=len(runs),
        f1=fmean(scores),
        f1_std=stdev(scores) if len(scores) > 1 else None,
    )
