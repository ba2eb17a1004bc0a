"""The search of the grid: every combination once, the best again, and how it continues."""

import json
from dataclasses import replace

import pytest

from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.results import Results, average_runs
from syntf.evaluation.experiment.run_log import RunLog
from syntf.pipeline.settings import Settings
from syntf.research.criterion import smallest_gain
from syntf.research.grid import combinations
from syntf.research.grid_search import best_of_first_runs, run_experiment

FIGURES = combinations(epsilon=(40.0,), length=(10,))
GRID = combinations(epsilon=(10.0, 20.0, 40.0), length=(5, 10))


def tags(text):
    return [f"T{len(word)}" for word in text.split()]


@pytest.fixture
def experiment(corpus):
    scenarios, _ = find_scenarios(corpus)
    settings = Settings(fit_vocabulary=True)
    return Experiment(corpus, Evaluator.for_corpus(corpus, scenarios, tags), settings, runs=3)


def finished(log):
    return {
        parameters: log.finished({"method": "syntf", **parameters._asdict()}) for parameters in GRID
    }


def test_best_combinations_are_run_again_and_an_interrupted_search_chooses_the_same(
    experiment, tmp_path
):
    path = tmp_path / "runs.jsonl"
    log = RunLog(path, experiment.key)
    for _ in run_experiment(experiment, log, FIGURES, GRID, best=1):
        pass
    first = Results(average_runs(score for score in log.run_scores() if score.run == 0))
    best = {
        max(GRID, key=lambda one, model=model: smallest_gain(first, one, model))
        for model in ("nb", "svm")
    }
    often = best | set(FIGURES)
    assert finished(log) == {one: {0, 1, 2} if one in often else {0} for one in GRID}

    lines = path.read_text().splitlines(keepends=True)
    lost = [line for line in lines[1:] if json.loads(line)["run"] == 2]
    path.write_text("".join(line for line in lines if line not in lost))
    again = RunLog(path, experiment.key)
    assert best_of_first_runs(again, GRID, 1) == best_of_first_runs(log, GRID, 1)
    for _ in run_experiment(experiment, again, FIGURES, GRID, best=1):
        pass
    assert finished(again) == finished(log)
    assert len(path.read_text().splitlines()) == len(lines)


def test_without_best_every_combination_is_run_as_often(experiment, tmp_path):
    log = RunLog(tmp_path / "runs.jsonl", experiment.key)
    for _ in run_experiment(replace(experiment, runs=2), log, FIGURES, GRID[:2]):
        pass
    assert {one: runs for one, runs in finished(log).items() if runs} == {
        one: {0, 1} for one in (*FIGURES, *GRID[:2])
    }
