"""Curves of the frontier along the loss of whole documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from syntf.core.progress import Stages, silent
from syntf.evaluation.analysts import score_predictions
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.document_runs import score_document_releases
from syntf.evaluation.experiment.evaluator import Evaluator, TaskScore
from syntf.evaluation.experiment.experiment import process_pool
from syntf.evaluation.experiment.names import INFORMED
from syntf.evaluation.experiment.run_log import RunLog
from syntf.evaluation.informed import discriminant_probabilities, labels_for_f1
from syntf.research.documents import Case, embedded_case, near_case
from syntf.research.privunit import PrivUnit

EMBEDDED, NEAR = "embedded", "near in topic"


@dataclass(frozen=True)
class DocumentCurve:
    """Losses per document at which one mechanism releases whole documents.

    mechanism : ``document``, ours, or ``privunit``.
    codebook : ``embedded`` or ``near in topic``.
    """

    mechanism: str
    codebook: str
    losses: Sequence[float]


DOCUMENT_CURVES = (
    DocumentCurve("document", EMBEDDED, (4.0, 6.0, 8.0, 10.0, 20.0, 40.0, 60.0, 100.0)),
    DocumentCurve("document", NEAR, (4.0, 6.0, 8.0, 10.0, 20.0, 40.0, 60.0, 100.0)),
    DocumentCurve("privunit", EMBEDDED, (10.0, 20.0, 40.0, 60.0, 100.0, 200.0)),
)
QUICK_DOCUMENT_CURVES = (
    DocumentCurve("document", EMBEDDED, (4.0, 10.0, 40.0)),
    DocumentCurve("document", NEAR, (10.0,)),
    DocumentCurve("privunit", EMBEDDED, (40.0,)),
)


def run_document_curves(
    corpus: LabelledCorpus,
    curves: Sequence[DocumentCurve],
    runs: int,
    log: RunLog,
    stages: Stages = silent,
) -> Iterator[None]:
    """Do the runs that the log does not have; yields after each point."""
    cases: dict[str, Case] = {}
    make: dict[str, Callable[..., Case]] = {EMBEDDED: embedded_case, NEAR: near_case}
    total = runs * sum(len(curve.losses) for curve in curves)
    with stages("whole documents", total) as advance:
        for curve in curves:
            for loss in curve.losses:
                about = _identify(curve, loss)
                missing = [run for run in range(runs) if run not in log.finished(about)]
                advance(runs - len(missing))
                if not missing:
                    continue
                if curve.codebook not in cases:
                    cases[curve.codebook] = make[curve.codebook]("frontier", corpus, stages)
                case = cases[curve.codebook]
                score = _score_privunit if curve.mechanism == "privunit" else _score_document
                known = {**about, **_describe(curve, case, loss), "loss_per_word": None}
                for run, scores in score(case, loss, missing):
                    log.add({**known, "loss_per_document": loss, "run": run}, scores)
                    advance(1)
                yield


def _score_document(
    case: Case, loss: float, runs: Sequence[int]
) -> Iterator[tuple[int, list[TaskScore]]]:
    evaluator = Evaluator.for_corpus(case.corpus)
    with process_pool() as pool:
        yield from score_document_releases(
            case.mechanism(loss), case.encoded, runs, evaluator, (), pool
        )


def _score_privunit(
    case: Case, loss: float, runs: Sequence[int]
) -> Iterator[tuple[int, list[TaskScore]]]:
    """Score an analyst who applies a linear discriminant to the released points."""
    vectors, corpus = case.encoded.vectors, case.corpus
    mechanism = PrivUnit.with_loss(vectors.shape[1], loss)
    names, labels = np.unique(corpus.labels[corpus.train], return_inverse=True)
    for run in runs:
        points = mechanism.release(vectors, run)
        chances = discriminant_probabilities(
            points[corpus.train], labels, points[~corpus.train], len(names)
        )
        predicted = names[labels_for_f1(chances, np.ones(len(chances)))]
        scores = score_predictions(corpus.labels[~corpus.train], predicted)
        yield run, [TaskScore("utility", "", INFORMED, "", *scores)]


def _identify(curve: DocumentCurve, loss: float) -> dict[str, Any]:
    return {
        "mechanism": curve.mechanism,
        "vocabulary": curve.codebook,
        "varied": "loss",
        "asked": [None, None, None, loss, None],
    }


def _describe(curve: DocumentCurve, case: Case, loss: float) -> dict[str, Any]:
    """Return the length of the list, and the number of entries or points of a document."""
    plan = case.mechanism(loss).plan
    if curve.mechanism == "privunit":
        return {"outputs": 0, "k": None, "length": 1, "epsilon": loss}
    outputs = plan.sharpened_entries if plan.pilot else plan.entries
    size = plan.sharpened_size if plan.pilot else plan.size
    return {"outputs": outputs, "k": None, "length": plan.draws * size, "epsilon": loss}
