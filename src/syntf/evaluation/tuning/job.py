"""The whole job of `syntf tune`: search, confirm finalists, evaluate the chosen candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from syntf.core.csv_files import write_table
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.evaluation.experiment import folder, newsgroups
from syntf.evaluation.experiment.corpus import corpus_from_table
from syntf.evaluation.experiment.evaluator import ALL_ATTACKERS
from syntf.evaluation.experiment.run_log import experiment_key, resumable
from syntf.evaluation.figures import save_figures
from syntf.evaluation.tuning.outcome import (
    Case,
    TestTexts,
    Trial,
    TuningOutcome,
    with_different_labels,
    worst_of,
)
from syntf.evaluation.tuning.pareto import pareto_figure
from syntf.evaluation.tuning.search import (
    ROUNDS,
    Candidate,
    Goal,
    KeptUtility,
    confirm_finalists,
    max_measurements,
    search,
)
from syntf.evaluation.tuning.trials import Trials
from syntf.inputs import corpus as inputs
from syntf.pipeline.settings import Settings

MAX_FINALIST_RUNS = 5
"""The test texts, on which the choice is confirmed, get all runs that were asked for."""


def find_parameters(
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
    """Find the best candidate for a goal and write candidates, figure and results to a folder.

    The goal must hold for every column of labels; each column of authors is attacked.
    """
    prepared: dict[int, Any] = {}
    columns = [Trials(case, settings, min_test, stages, prepared) for case in cases]
    first = {case.name for case in with_different_labels(cases)}
    labels = [each for each in columns if each.case.name in first]
    for each in labels:
        if each.evaluator.why_no_labels:
            raise SyntfError(f"there is nothing to tune by: {each.evaluator.why_no_labels}")
    space = columns[0].space
    goal.restrict(space)  # raises an error if nothing is left to search
    test = TestTexts.prepare(cases, tagger, min_test)
    log = folder.open_run_log(out, experiment_key(*(each.key for each in columns)), force=force)
    for each in columns:
        each.log = log
    finalists: dict[Candidate, Trial] = {}
    second_last: dict[Candidate, float] = {}

    def measure(candidate: Candidate, number: int) -> float:
        kept = min(each.measure(candidate, number) for each in labels)
        if number == ROUNDS - 2:
            second_last[candidate] = kept
        advance(1)
        return kept

    def confirm(candidate: Candidate) -> float:
        least = min(runs, MAX_FINALIST_RUNS)
        finalists[candidate] = worst_of([each.confirm(candidate, least) for each in columns])
        advance(1)
        return finalists[candidate].utility

    with resumable():
        with stages("tuning", max_measurements(space)) as advance:
            kept = search(goal, space, measure)
        with stages("finalists", 5) as advance:
            confirmed = confirm_finalists(goal, kept, confirm)
    best = goal.best(confirmed)
    ranked = sorted(finalists.values(), key=lambda one: one.document_loss)
    _write_candidates(out / "candidates.csv", kept, finalists, best)
    references: dict[str, float] = {}
    for each in columns:
        for name, f1 in each.reference_attacks.items():
            references[name] = max(f1, references.get(name, 0.0))
    scenario = next((each.scenario for each in columns if each.scenario), "")
    figure = pareto_figure(
        kept, second_last, finalists, best, goal, scenario=scenario, references=references
    )
    save_figures(out, {"pareto": figure})
    if best is None:
        failure = _explain_failure(goal, confirmed)
        return TuningOutcome(ranked, test.notices, None, failure=failure)
    # A folder for each choice, so that another goal keeps the results of the first.
    name = f"confirmed-{best.loss:g}x{best.length}-{best.neighbours}-{best.max_size}-{best.weights}"
    tuned = settings.changed(**best._asdict())
    done = test.confirm(tuned, out / name, runs, ALL_ATTACKERS, force=force, stages=stages)
    return TuningOutcome(ranked, test.notices, finalists[best], done)


def read_cases(
    input: str | Path,
    stand_in: str | None,
    data_home: Path | None,
    pairs: Sequence[tuple[str, str | None, str | None]],
    columns: Mapping[str, Any],
    reader: Mapping[str, Any],
) -> list[Case]:
    """Read the texts to tune on: those of the input, or public texts in their place.

    `pairs` are names of cases with their columns of labels and authors, `columns` the other
    arguments of :func:`corpus_from_table`; `reader` says how to read a file. All cases have the
    same test texts, those of the first: no text that a choice is made by may confirm it.
    """
    if stand_in == "newsgroups":
        return [Case("", "newsgroup", newsgroups.newsgroups(data_home))]
    if stand_in == "example":
        pairs = [("", "topic", "author")]
        columns = {"text": "text", "test_share": columns["test_share"]}
        with as_file(files("syntf").joinpath("data", "example.csv")) as path:
            table = inputs.read(path)
    elif not pairs or pairs[0][1] is None:
        raise SyntfError("name the column to predict, such as the topic, with --label")
    else:
        table = inputs.read(input if stand_in is None else stand_in, **reader)
    cases: list[Case] = []
    for name, label, author in pairs:
        corpus = corpus_from_table(table, label=label, author=author, **columns)
        if cases:
            corpus = replace(corpus, train=cases[0].corpus.train)
        cases.append(Case(name, str(label), corpus))
    return cases


def _explain_failure(goal: Goal, confirmed: KeptUtility) -> str:
    best = max(filter(goal.allows, confirmed), key=confirmed.__getitem__)
    limited = goal.max_loss is not None or goal.max_loss_per_word is not None
    return (
        f"keeping {goal.utility:.1%} of the utility is out of reach: the best parameters keep "
        f"{confirmed[best]:.1%} at a loss of {best.document_loss:,g} per document; lower "
        f"--target-utility{' or raise the largest loss' * limited}"
    )


def _write_candidates(
    path: Path, kept: KeptUtility, finalists: Mapping[Candidate, Trial], best: Candidate | None
) -> None:
    """Write ``candidates.csv``: all candidates of last rounds, and the scores of finalists."""
    rows = []
    for one in sorted(kept, key=lambda one: (one.document_loss, -kept[one])):
        final = finalists.get(one)
        scores = [final.kept["nb"], final.kept["svm"], final.attack] if final else [""] * 3
        rows.append([*one, one.document_loss, kept[one], *scores, one == best])
    columns = ("loss_per_document", "kept", "kept_nb", "kept_svm", "attack", "chosen")
    write_table(path, [*Candidate._fields, *columns], rows)
