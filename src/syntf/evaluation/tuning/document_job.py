"""The job of `syntf tune` for whole documents: find the smallest loss that keeps a utility.

Only the loss per document is searched: how it is spent follows from it by a public rule. Each loss
is measured on releases of the training documents, which are divided again into documents to learn
from and documents to compare on. More loss keeps more, so the smallest sufficient loss is found by
bisection. Only the chosen loss is evaluated on the test documents.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure

from syntf.codebook.encoder import Encoded
from syntf.core.csv_files import write_table
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.evaluation.experiment import folder
from syntf.evaluation.experiment.corpus import validation_split
from syntf.evaluation.experiment.document_runs import score_document_releases
from syntf.evaluation.experiment.evaluator import DOCUMENT_ATTACKERS, Evaluator, TaskScore
from syntf.evaluation.experiment.experiment import process_pool
from syntf.evaluation.experiment.names import INFORMED, MODELS
from syntf.evaluation.experiment.run_log import RunLog, experiment_key, fixed_settings, resumable
from syntf.evaluation.figures import GREY, save_figures, single_figure
from syntf.evaluation.tuning.outcome import (
    Case,
    TestTexts,
    Trial,
    TuningOutcome,
    with_different_labels,
    worst_of,
)
from syntf.evaluation.tuning.search import Goal
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings

LOSSES = (
    *(half / 2 for half in range(2, 21)), 11.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 25.0, 28.0,
    31.0, 35.0, 40.0, 50.0, 60.0, 80.0, 100.0,
)  # fmt: skip
"""The losses per document that are tried."""

MEASURED_DOCUMENTS, FEWEST_RUNS, MOST_RUNS = 24_000, 3, 10
"""A loss is measured on about this many released documents, in this many releases."""

ANALYSTS = (*MODELS, INFORMED)


def find_loss(
    cases: Sequence[Case],
    settings: Settings,
    goal: Goal,
    out: Path,
    *,
    min_test: int = 5,
    runs: int = 10,
    tagger: str | None = None,
    force: bool = False,
    stages: Stages = silent,
) -> TuningOutcome:
    """Find the loss per document for a goal and write candidates, figure and results to a folder.

    The goal must hold for every column of labels. Without a wanted utility, the loss under the
    limit that keeps the most is chosen.
    """
    if goal.max_loss_per_word is not None:
        raise SyntfError("--max-loss-per-word belongs to the unit words: add --unit words")
    losses = tried_losses(goal.max_loss)
    columns = [DocumentTrials(case, settings, stages) for case in with_different_labels(cases)]
    for each in columns:
        if each.evaluator.why_no_labels:
            raise SyntfError(f"there is nothing to tune by: {each.evaluator.why_no_labels}")
    test = TestTexts.prepare(cases, tagger, min_test)
    log = folder.open_run_log(out, experiment_key(*(each.key for each in columns)), force=force)
    measured: dict[float, Trial] = {}

    def measure(loss: float) -> Trial:
        measured[loss] = worst_of([each.measure(loss, log) for each in columns])
        return measured[loss]

    with resumable():
        if goal.utility is None:
            best: Trial | None = max(map(measure, losses[-3:]), key=lambda one: one.utility)
        else:
            best = smallest_sufficient(losses, goal.utility, measure)
    found = [measured[loss] for loss in sorted(measured)]
    _write_trials(out / "candidates.csv", found, best)
    save_figures(out, {"pareto": _figure(found, best, goal)})
    if best is None:
        top = max(found, key=lambda one: one.utility)
        failure = (
            f"keeping {goal.utility:.1%} of the utility is out of reach: a loss of "
            f"{top.document_loss:g} per document keeps {top.utility:.1%}; lower --target-utility "
            "or raise the largest loss"
        )
        return TuningOutcome(found, test.notices, None, failure=failure)
    confirmed = test.confirm(
        settings.changed(**best.settings), out / f"confirmed-{best.document_loss:g}",
        runs, DOCUMENT_ATTACKERS, force=force, stages=stages,
    )  # fmt: skip
    return TuningOutcome(found, test.notices, best, confirmed)


def tried_losses(limit: float | None) -> list[float]:
    """Return the losses that are tried under a limit, the limit itself included."""
    if limit is None or limit > LOSSES[-1]:
        return list(LOSSES)
    return [*(loss for loss in LOSSES if loss < limit), limit]


def smallest_sufficient(
    losses: list[float], utility: float, measure: Callable[[float], Trial]
) -> Trial | None:
    """Return the smallest loss that keeps a utility, found by bisection; None if none does.

    >>> measured = lambda loss: Trial({"document_loss": loss}, loss, {}, utility=loss / 10)
    >>> smallest_sufficient([1.0, 2.0, 3.0, 4.0, 5.0], 0.3, measured).document_loss
    3.0
    """
    best = measure(losses[-1])
    if best.utility < utility:
        return None
    low, high = 0, len(losses) - 1
    while low < high:
        middle = (low + high) // 2
        trial = measure(losses[middle])
        if trial.utility >= utility:
            best, high = trial, middle
        else:
            low = middle + 1
    return best


class DocumentTrials:
    """Measures losses on the training documents, each once: the log remembers the scores."""

    def __init__(self, case: Case, settings: Settings, stages: Stages) -> None:
        self._corpus, self._settings, self._stages = case.corpus, settings, stages
        self._validation = validation_split(case.corpus)
        self._column = {"columns": case.name} if case.name else {}
        self.evaluator = Evaluator.for_corpus(self._validation)
        self._encoded: Encoded | None = None
        self._anonymizer: DocumentAnonymizer | None = None

    @property
    def key(self) -> str:
        """A hash of everything that trials in one log must share."""
        fixed = fixed_settings(self._settings, ("document_loss",))
        return experiment_key("documents", self._corpus.digest, fixed)

    def measure(self, loss: float, log: RunLog) -> Trial:
        """Return what releases with this loss keep, on average over several of them."""
        about = {**self._column, "document_loss": loss}
        size = len(self._validation)
        runs = min(MOST_RUNS, max(FEWEST_RUNS, MEASURED_DOCUMENTS // size))
        missing = [run for run in range(runs) if run not in log.finished(about)]
        if missing:
            for run, found in self._release(loss, missing):
                log.add({**about, "run": run}, found)
        original = self._original(log)
        scores = [score for run in log.scores_of(about) for score in run]
        kept = {
            model: fmean(score.f1 for score in scores if score.model == model) / original
            for model in ANALYSTS
        }
        return Trial({"document_loss": loss}, loss, kept, utility=max(kept.values()))

    def _release(self, loss: float, runs: list[int]) -> Iterator[tuple[int, list[TaskScore]]]:
        """Yield the scores of releases, each with the number of its run."""
        if self._anonymizer is None or self._encoded is None:
            self._anonymizer = DocumentAnonymizer.build(self._settings, stages=self._stages)
            self._encoded = self._anonymizer.read(self._validation.texts, stages=self._stages)
        settings = self._settings.changed(document_loss=loss)
        anonymizer = replace(self._anonymizer, settings=settings)
        mechanism = anonymizer.mechanism(len(self._encoded))
        with self._stages(f"loss {loss:g}", len(runs)) as advance, process_pool() as pool:
            for run, scores in score_document_releases(
                mechanism, self._encoded, runs, self.evaluator, (), pool
            ):
                yield run, scores
                advance(1)

    def _original(self, log: RunLog) -> float:
        """Return the F1 of the best analyst on the texts."""
        about = {**self._column, "method": "original"}
        if not log.finished(about):
            scores = self.evaluator.score_texts(self._validation.texts, ())
            log.add({**about, "run": 0}, scores)
        (scores,) = log.scores_of(about)
        best = max(score.f1 for score in scores)
        if not best:
            raise SyntfError(
                "the analyst predicts no label correctly even from the texts, so there is no "
                "utility to keep: check the column named with --label"
            )
        return best


def _write_trials(path: Path, trials: list[Trial], best: Trial | None) -> None:
    """Write ``candidates.csv``: every measured loss and what each analyst keeps."""
    rows = [
        [one.document_loss, one.utility, *(one.kept[model] for model in ANALYSTS), one == best]
        for one in trials
    ]
    kept = (f"kept_{model}" for model in ANALYSTS)
    write_table(path, ["loss_per_document", "kept", *kept, "chosen"], rows)


def _figure(trials: list[Trial], best: Trial | None, goal: Goal) -> Figure:
    """Draw what the best analyst keeps over the loss per document."""
    labels = "loss per document", "F1 kept by the best analyst on validation texts"
    figure, axes = single_figure((6.4, 4.8), *labels)
    axes.set_xscale("log")
    x, y = [one.document_loss for one in trials], [one.utility for one in trials]
    axes.plot(x, y, "o-", color="#0072B2", label="measured")
    axes.set_xticks(x, [f"{loss:g}" for loss in x])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    if goal.utility is not None:
        axes.axhline(goal.utility, color=GREY, linestyle="--", label="wanted")
    if best is not None:
        x, y = [best.document_loss], [best.utility]
        axes.plot(x, y, "o", ms=12, mfc="none", color="#D55E00", label="chosen")
    axes.legend()
    return figure
