"""Trials of candidates on training texts only, each measured once, and the figure of them."""

import json

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.run_log import RunLog
from syntf.evaluation.tuning import search as searching
from syntf.evaluation.tuning import trials as module
from syntf.evaluation.tuning.outcome import Case, Trial
from syntf.evaluation.tuning.pareto import pareto_figure
from syntf.evaluation.tuning.search import Candidate, Goal, search
from syntf.evaluation.tuning.trials import Trials
from syntf.pipeline.settings import Settings

pytest.importorskip("joblib", reason="needs joblib: pip install 'syntf[evaluate]'")

TOPICS = {
    "animal": "cat dog mouse horse cow bird fish",
    "road": "car train bus boat road wheel engine",
    "home": "house garden tree flower bread cheese apple",
}
FAR = "ship plane river mountain water music song piano guitar"
ONE = Candidate(1, 8.0, 40, 40, "tf")


def texts(count, noise=6):
    rng = np.random.default_rng(7)
    for i in range(count):
        topic = list(TOPICS)[i % 3]
        words = [*rng.choice(TOPICS[topic].split(), 2), *rng.choice(FAR.split(), noise)]
        yield topic, " ".join(words)


@pytest.fixture
def corpus():
    rows = list(texts(120))
    train = np.arange(120) < 90
    labels, authors = np.array([topic for topic, _ in rows]), np.array(["ann", "bob"] * 60)
    return LabelledCorpus([text for _, text in rows], labels, authors, train)


@pytest.fixture
def made(corpus, toy_vectors, toy_words, monkeypatch):
    """Trials with small rounds over 40 words."""
    monkeypatch.setattr(module, "DOCUMENTS", (20, 40, 80, 180, 180))
    monkeypatch.setattr(searching, "FIRST_CANDIDATES", 8)
    monkeypatch.setattr(searching, "LATER_CANDIDATES", 4)

    def make(path, **more):
        settings = Settings(vectors=toy_vectors, vocabulary=toy_words)
        found = Trials(Case("", "topic", corpus), settings, **more)
        found.log = RunLog(path / "runs.jsonl", found.key)
        return found

    return make


def lines(path):
    return [json.loads(line) for line in (path / "runs.jsonl").read_text().splitlines()[1:]]


def test_only_training_texts_are_read(made, corpus, tmp_path, monkeypatch):
    trials = made(tmp_path)
    assert sorted(trials.validation.texts) == sorted(corpus.training_texts)
    assert trials.validation.train.sum() == 54
    seen, read = [], module.Anonymizer.read
    monkeypatch.setattr(
        module.Anonymizer, "read", lambda self, texts, **o: seen.extend(texts) or read(self, texts)
    )
    trials.measure(ONE, 3)
    trials.confirm(ONE, 2)
    assert sorted(seen) == sorted(corpus.training_texts)  # read once


def test_rounds_use_more_documents_or_more_repetitions(made, tmp_path):
    trials = made(tmp_path)
    for number in range(5):
        trials.measure(ONE, number)
    runs = [line for line in lines(tmp_path) if "loss" in line]
    assert [len(line["scores"]) for line in runs] == [1, 1, 1, 2, 2]
    originals = [line["documents"] for line in lines(tmp_path) if "method" in line]
    assert originals == [20, 40, 80, 90]


def test_more_loss_keeps_more_utility(made, tmp_path):
    trials = made(tmp_path)
    low, high = (ONE._replace(loss=loss, length=length) for loss, length in ((1.0, 5), (14.0, 200)))
    kept = [trials.measure(one, 3) for one in (low, high)]
    assert kept[0] < 0.7
    assert kept[1] > 0.9


def test_nothing_is_measured_twice_after_an_interruption(made, tmp_path):
    goal = Goal(utility=0.6)
    whole = made(tmp_path / "whole")
    counted = []

    def counting(*given):
        counted.append(given)
        return whole.measure(*given)

    search(goal, whole.space, counting)
    assert len(counted) == sum(1 for line in lines(tmp_path / "whole") if "loss" in line)

    killed = made(tmp_path / "killed")
    left = iter(range(25))

    def dying(*given):
        found = killed.measure(*given)
        if next(left, None) is None:
            raise KeyboardInterrupt
        return found

    with pytest.raises(KeyboardInterrupt):
        search(goal, killed.space, dying)
    before = (tmp_path / "killed" / "runs.jsonl").read_bytes()
    (tmp_path / "killed" / "runs.jsonl").write_bytes(before + b'{"cut sho')
    again = made(tmp_path / "killed")
    scores = search(goal, again.space, again.measure)
    after = (tmp_path / "killed" / "runs.jsonl").read_bytes()
    assert after.startswith(before)
    names = (*Candidate._fields, "round", "method", "documents")
    keys = [tuple(line.get(name) for name in names) for line in lines(tmp_path / "killed")]
    assert len(keys) == len(set(keys)) > 27
    assert search(goal, again.space, again.measure) == scores
    assert (tmp_path / "killed" / "runs.jsonl").read_bytes() == after


def test_finalist_has_its_own_runs_with_both_models_and_attacks(made, tmp_path):
    trials = made(tmp_path)
    kept = trials.measure(ONE, 3)
    found = trials.confirm(ONE, 3)
    runs = [line for line in lines(tmp_path) if line["round"] == "final" and "loss" in line]
    assert [line["run"] for line in runs] == [0, 1, 2]
    assert set(found.kept) == {"nb", "svm"}
    assert found.kept["nb"] == pytest.approx(kept, abs=0.3)
    assert trials.scenario == "top5-any"
    f1 = {}
    for line in runs:
        for one in line["scores"]:
            if one["task"] == "attack" and one["scenario"] == "top5-any":
                f1.setdefault((one["attacker"], one["model"]), []).append(one["f1"])
    assert {attacker for attacker, _ in f1} == {"words", "characters", "embeddings"}
    assert found.attack == pytest.approx(max(np.mean(each) for each in f1.values()))
    assert set(trials.reference_attacks) == {"original", "topic"}
    assert trials.confirm(ONE, 3) == found


def test_search_space_ends_with_the_vocabulary(made, tmp_path):
    assert made(tmp_path).space.sizes == [40]


def test_other_parameters_have_another_key(made, tmp_path):
    first = made(tmp_path)
    assert made(tmp_path).key == first.key
    with pytest.raises(SyntfError, match="another corpus, other parameters"):
        made(tmp_path, min_test=2)


def points(collection):
    return [tuple(map(float, point)) for point in collection.get_offsets()]


@pytest.mark.parametrize("attack", [0.4, None])
def test_figure_draws_candidates_and_colours_finalists_by_attack(attack):
    scores = {ONE._replace(length=n): n / 200 for n in (50, 80, 100, 150)}
    _, second, third, _ = scores
    tried = {ONE._replace(length=60): 0.2, second: 0.9}
    ends = {
        second: Trial({}, second.document_loss, {}, 0.42, attack),
        third: Trial({}, third.document_loss, {}, 0.55, attack and 0.6),
    }
    goal = Goal(utility=0.5, max_loss=900.0)
    levels = {"original": 0.9, "topic": 0.1} if attack else {}
    figure = pareto_figure(scores, tried, ends, third, goal, scenario="top5-any", references=levels)
    axes, *bar = figure.axes
    few, others, finalists, chosen = axes.collections
    assert points(few) == [(480.0, 0.2)]
    assert points(others) == [(400.0, 0.25), (1200.0, 0.75)]
    assert points(finalists) == [(640.0, 0.42), (800.0, 0.55)]
    assert points(chosen) == [(800.0, 0.55)]
    assert bool(bar) == bool(attack)
    if attack:
        assert finalists.get_array().tolist() == [0.4, 0.6]
        assert finalists.get_clim() == (0.1, 0.9)
        assert "Top 5/Any" in bar[0].get_xlabel()
    names = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {"wanted: 50%", "at most 900", "chosen"} <= names
