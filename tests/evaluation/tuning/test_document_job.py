"""The search for the smallest loss of whole documents."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.tuning import document_job as module
from syntf.evaluation.tuning.document_job import (
    LOSSES,
    find_loss,
    smallest_sufficient,
    tried_losses,
)
from syntf.evaluation.tuning.outcome import Case, Trial
from syntf.evaluation.tuning.search import Goal
from syntf.pipeline.settings import Settings

TOPICS = {"ice": "hockey goalie puck", "space": "planet orbit rocket", "car": "engine wheel brake"}


@pytest.fixture
def corpus():
    generator = np.random.default_rng(4)
    labels = np.array(list(TOPICS))[np.arange(90) % 3]
    texts = [" ".join(generator.choice(TOPICS[label].split(), 3)) for label in labels.tolist()]
    return LabelledCorpus(texts, labels, np.full(90, ""), np.arange(90) < 60)


@pytest.fixture
def cases(corpus):
    return [Case("", "topic", corpus)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1))
def test_bisection_finds_the_smallest_sufficient_loss(kept, wanted):
    kept = sorted(kept)
    losses = [float(number + 1) for number in range(len(kept))]
    calls = []

    def measure(loss):
        calls.append(loss)
        return Trial({"document_loss": loss}, loss, {}, utility=kept[int(loss) - 1])

    found = smallest_sufficient(losses, wanted, measure)
    sufficient = [loss for loss, share in zip(losses, kept, strict=True) if share >= wanted]
    assert (None if found is None else found.document_loss) == (
        sufficient[0] if sufficient else None
    )
    assert len(calls) <= 2 + np.ceil(np.log2(len(losses) + 1))


def test_limit_is_the_largest_loss_tried():
    assert tried_losses(6.2)[-2:] == [6.0, 6.2]
    assert tried_losses(0.7) == [0.7]
    assert tried_losses(None) == tried_losses(500.0) == list(LOSSES)


def test_loss_is_found_confirmed_and_written(cases, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOSSES", (1.0, 4.0, 10.0))
    monkeypatch.setattr(module, "FEWEST_RUNS", 2)
    monkeypatch.setattr(module, "MOST_RUNS", 2)
    settings = Settings(document_loss=10.0)
    outcome = find_loss(cases, settings, Goal(utility=0.8), tmp_path / "tuned", runs=1)
    assert outcome.chosen is not None
    assert outcome.chosen.utility == max(outcome.chosen.kept.values()) >= 0.8
    assert outcome.chosen.settings == {"document_loss": outcome.chosen.document_loss}
    ((name, results, parameters),) = outcome.confirmed
    assert (name, results.document_loss(parameters)) == ("", outcome.chosen.document_loss)
    with (tmp_path / "tuned" / "candidates.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["chosen"] for row in rows].count("True") == 1
    assert float(rows[-1]["loss_per_document"]) == 10.0
    assert (tmp_path / "tuned" / "pareto.png").exists()

    encoded = []
    monkeypatch.setattr(module.DocumentTrials, "_release", lambda *more: encoded.append(more))
    again = find_loss(cases, settings, Goal(utility=0.8), tmp_path / "tuned", runs=1)
    assert again.trials == outcome.trials
    assert encoded == []  # every measurement was in the log


def test_target_out_of_reach_is_explained(cases, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_RUNS", 1)
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    goal = Goal(utility=1.0, max_loss=0.1)
    outcome = find_loss(cases, Settings(document_loss=10.0), goal, tmp_path / "t", runs=1)
    assert outcome.chosen is None
    assert "keeping 100.0% of the utility is out of reach: a loss of 0.1" in outcome.failure


def test_most_utility_under_a_limit(cases, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_RUNS", 1)
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    goal = Goal(max_loss=6.0)
    outcome = find_loss(cases, Settings(document_loss=10.0), goal, tmp_path / "t", runs=1)
    assert [trial.document_loss for trial in outcome.trials] == [5.0, 5.5, 6.0]
    assert outcome.chosen.utility == max(trial.utility for trial in outcome.trials)


def test_limit_per_word_is_refused(cases, tmp_path):
    with pytest.raises(SyntfError, match="add --unit words"):
        find_loss(cases, Settings(document_loss=10.0), Goal(0.5, None, 8.0), tmp_path / "t")


def test_goal_holds_for_the_labels_that_are_kept_least(corpus, tmp_path, monkeypatch):
    """The second column is random, so hardly anything of it can be kept."""
    monkeypatch.setattr(module, "FEWEST_RUNS", 1)
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    mixed = np.random.default_rng(0).permutation(corpus.labels)
    coin = replace(corpus, labels=mixed)
    cases = [Case("topic-ann", "topic", corpus), Case("coin-ann", "coin", coin)]
    cases.append(Case("topic-bob", "topic", corpus))  # its labels were measured already
    settings, goal = Settings(document_loss=10.0), Goal(max_loss=6.0)
    outcome = find_loss(cases, settings, goal, tmp_path / "t", runs=1)
    lines = (tmp_path / "t" / "runs.jsonl").read_text().splitlines()[1:]
    logged = [json.loads(line) for line in lines]
    assert {run["columns"] for run in logged} == {"topic-ann", "coin-ann"}

    def kept(name, loss):
        runs = [run for run in logged if run["columns"] == name]
        (original,) = (run for run in runs if run.get("method"))
        best = max(score["f1"] for score in original["scores"])
        (released,) = (run for run in runs if run.get("document_loss") == loss)
        return max(score["f1"] for score in released["scores"]) / best

    for trial in outcome.trials:
        shares = [kept(name, trial.document_loss) for name in ("topic-ann", "coin-ann")]
        assert trial.utility == pytest.approx(min(shares))
    assert [name for name, _, _ in outcome.confirmed] == ["topic-ann", "coin-ann", "topic-bob"]
    folders = sorted((tmp_path / "t").glob("confirmed-*/*/results.csv"))
    assert [path.parent.name for path in folders] == ["coin-ann", "topic-ann", "topic-bob"]
