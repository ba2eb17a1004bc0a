"""The whole job of `syntf tune`: search, confirm finalists, evaluate the chosen candidate."""

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

from syntf.core.csv_files import write_table
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.evaluation.experiment import folder, newsgroups
from syntf.evaluation.experiment.corpus import LabelledCorpus, corpus_from_table
from syntf.evaluation.experiment.evaluator import ALL_ATTACKERS, Evaluator
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.results import Parameters, Results
from syntf.evaluation.experiment.run_log import resumable
from syntf.evaluation.figures import save_figures
from syntf.evaluation.tuning.pareto import pareto_figure
from syntf.evaluation.tuning.search import (
    Candidate,
    Goal,
    KeptUtility,
    confirm_finalists,
    max_measurements,
    search,
)
from syntf.evaluation.tuning.trials import Finalist, Trials
from syntf.inputs import corpus as inputs
from syntf.pipeline.settings import Settings

MAX_FINALIST_RUNS = 5
"""The test texts, on which the choice is confirmed, get all runs that were asked for."""


class ChosenParameters(NamedTuple):
    """The candidate that reaches the goal, its settings, and its results on the test texts."""

    candidate: Candidate
    settings: Settings
    results: Results
    parameters: Parameters


class TuningOutcome(NamedTuple):
    """The finalists by their loss and the choice among them; notices are for the user.

    If no candidate reaches the goal, `chosen` is None and `failure` says what can be reached.
    """

    finalists: list[Finalist]
    notices: list[str]
    chosen: ChosenParameters | None
    failure: str = ""


def find_parameters(
    corpus: LabelledCorpus,
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
    """Find the best candidate for a goal and write candidates, figure and results to a folder."""
    trials = Trials(corpus, settings, min_test, stages)
    if trials.evaluator.why_no_labels:
        raise SyntfError(f"there is nothing to tune by: {trials.evaluator.why_no_labels}")
    goal.restrict(trials.space)  # raises an error if nothing is left to search
    evaluator, missing = Evaluator.prepare(corpus, tagger, min_test=min_test)
    trials.log = folder.open_run_log(out, trials.key, force=force)
    finalists: dict[Candidate, Finalist] = {}

    def confirm(candidate: Candidate) -> float:
        finalists[candidate] = trials.confirm(candidate, min(runs, MAX_FINALIST_RUNS))
        return finalists[candidate].kept["nb"]

    with resumable():
        with stages("tuning", max_measurements(trials.space)) as trials.advance:
            kept = search(goal, trials.space, trials.measure)
        with stages("finalists", 5) as trials.advance:
            confirmed = confirm_finalists(goal, kept, confirm)
    best = goal.best(confirmed)
    ranked = sorted(finalists.values(), key=lambda one: one.candidate.document_loss)
    _write_candidates(out / "candidates.csv", kept, finalists, best)
    figure = pareto_figure(
        kept, trials.second_last_scores, list(finalists.values()), best, goal,
        scenario=trials.scenario, references=trials.reference_attacks,
    )  # fmt: skip
    save_figures(out, {"pareto": figure})
    notices = [*corpus.notices, *(missing if evaluator.scenarios else [])]
    if best is None:
        return TuningOutcome(ranked, notices, None, _explain_failure(goal, confirmed))
    tuned = settings.changed(**best._asdict())
    experiment = Experiment(corpus, evaluator, tuned, runs, ALL_ATTACKERS, stages=stages)
    # A folder for each choice, so that another goal keeps the results of the first.
    name = f"confirmed-{best.loss:g}x{best.length}-{best.neighbours}-{best.max_size}-{best.weights}"
    evaluated = folder.evaluate_settings(experiment, out / name, force=force)
    return TuningOutcome(ranked, notices, ChosenParameters(best, tuned, *evaluated))


def read_corpus(
    input: str | Path,
    stand_in: str | None,
    data_home: Path | None,
    columns: Mapping[str, Any],
    reader: Mapping[str, Any],
) -> LabelledCorpus:
    """Read the texts to tune on: those of the input, or public texts in their place.

    `columns` are the arguments of :func:`corpus_from_table`; `reader` says how to read a file.
    """
    if stand_in == "newsgroups":
        return newsgroups.newsgroups(data_home)
    if stand_in == "example":
        own = {"text": "text", "label": "topic", "author": "author"}
        none = dict.fromkeys(("split", "group", "time", "split_by"))
        columns = {**columns, **own, **none}
        with as_file(files("syntf").joinpath("data", "example.csv")) as path:
            table = inputs.read(path)
    elif columns["label"] is None:
        raise SyntfError("name the column to predict, such as the topic, with --label")
    else:
        table = inputs.read(input if stand_in is None else stand_in, **reader)
    return corpus_from_table(table, **columns)


def _explain_failure(goal: Goal, confirmed: KeptUtility) -> str:
    best = max(filter(goal.allows, confirmed), key=confirmed.__getitem__)
    limited = goal.max_loss is not None or goal.max_loss_per_word is not None
    return (
        f"keeping {goal.utility:.1%} of the utility is out of reach: the best parameters keep "
        f"{confirmed[best]:.1%} at a loss of {best.document_loss:,g} per document; lower "
        f"--target-utility{' or raise the largest loss' * limited}"
    )


def _write_candidates(
    path: Path, kept: KeptUtility, finalists: Mapping[Candidate, Finalist], best: Candidate | None
) -> None:
    """Write ``candidates.csv``: all candidates of last rounds, and the scores of finalists."""
    rows = []
    for one in sorted(kept, key=lambda one: (one.document_loss, -kept[one])):
        final = finalists.get(one)
        scores = [final.kept["nb"], final.kept["svm"], final.attack] if final else [""] * 3
        rows.append([*one, one.document_loss, kept[one], *scores, one == best])
    columns = ("loss_per_document", "kept", "kept_nb", "kept_svm", "attack", "chosen")
    write_table(path, [*Candidate._fields, *columns], rows)
