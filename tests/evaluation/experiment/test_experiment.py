"""Runs of the experiment: what is measured, what a log keeps, how it goes on."""

import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.attack.classifiers import Quality
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment import experiment as module
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.judge import Finding, Judge
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.log import Log
from syntf.evaluation.experiment.paper import Cell
from syntf.pipeline.settings import Settings

GROWING = """
import sys
from time import sleep
from joblib import delayed
from syntf.evaluation.experiment.experiment import pool_of_processes

def grow(number):
    import sys
    sys.held = getattr(sys, "held", b"") + b"x" * 320_000_000
    sleep(1.1)
    return number

print(*sorted(pool_of_processes()(delayed(grow)(number) for number in range(6))))
"""
ANIMALS = "cat dog mouse horse cow bird fish"
ROADS = "car train bus boat road wheel engine"
CELL = Cell(30.0, 12, 0.3, "lemma", False)


@dataclass(frozen=True)
class Lengths:
    """A tagger for tests: the length of each word is its tag."""

    name: str = "lengths"

    def __call__(self, text):
        return [f"T{len(word)}" for word in text.split()]


@pytest.fixture
def corpus():
    """Two authors, told apart by numbers and marks, and two topics, told apart by words."""
    rng = np.random.default_rng(1)
    texts, labels, authors, train = [], [], [], []
    for number in range(48):
        topic, words = [("animal", ANIMALS), ("road", ROADS)][number % 2]
        author = ["exact", "vague"][number // 2 % 2]
        text = " ".join(rng.choice(words.split(), 9))
        texts.append(f"{text} 1993 1993 ! !" if author == "exact" else text)
        labels.append(topic)
        authors.append(author)
        train.append(number < 28)
    return Labelled(texts, np.array(labels), np.array(authors), np.array(train))


@pytest.fixture
def experiment(corpus, toy_vectors):
    found, _ = scenarios(corpus)
    settings = Settings(fit_vocabulary=True, vectors=toy_vectors)
    return Experiment(corpus, Judge.of(corpus, found, Lengths()), settings, runs=3)


def run(experiment, path, cells=(CELL,), scrubbing=()):
    log = Log(path / "runs.jsonl", experiment.key)
    for _ in experiment.run(log, cells, scrubbing):
        pass
    return log


def spied_draws(monkeypatch):
    """The numbers of documents that each pass draws for, as they come."""
    sizes, draw = [], module.Anonymizer.draw

    def spy(self, documents, **more):
        sizes.append(len(documents))
        return draw(self, documents, **more)

    monkeypatch.setattr(module.Anonymizer, "draw", spy)
    return sizes


def lines(path):
    return [json.loads(line) for line in (path / "runs.jsonl").read_text().splitlines()]


def test_every_stage_is_measured_and_every_run_counted(experiment, tmp_path):
    log = run(experiment, tmp_path)
    scores = list(log.scores())
    counted = {}
    for score in scores:
        key = (score.method, score.task, score.scenario, score.model)
        counted[key] = counted.get(key, 0) + 1
    stages = {"original": 1, "vectorised": 1, "syntf": 3}
    assert counted == {
        (method, task, scenario, model): runs
        for method, runs in stages.items()
        for task, scenario in (("utility", ""), ("attack", "top5-any"), ("attack", "top5-multi"))
        for model in ("nb", "svm")
    }
    assert {score.tagger for score in scores} == {"lengths"}
    losses = {score.loss_per_word for score in scores if score.method == "syntf"}
    assert len(losses) == 1
    assert 0 < losses.pop() < 30


def test_topics_survive_and_numbers_do_not(experiment, tmp_path):
    scores = list(run(experiment, tmp_path).scores())

    def f1(method, task, scenario=""):
        found = [
            score.f1 for score in scores
            if (score.method, score.task, score.scenario, score.model)
            == (method, task, scenario, "nb")
        ]  # fmt: skip
        return np.mean(found)

    assert f1("original", "attack", "top5-any") == 1
    assert f1("vectorised", "attack", "top5-any") < 0.9
    assert f1("original", "utility") == f1("vectorised", "utility") == 1
    assert f1("syntf", "utility") > 0.7


def test_runs_draw_anew(experiment, tmp_path):
    run(experiment, tmp_path)
    found = [line["findings"] for line in lines(tmp_path) if line.get("method") == "syntf"]
    assert len({json.dumps(findings) for findings in found}) > 1


def test_an_experiment_goes_on_where_it_was(experiment, tmp_path, monkeypatch):
    whole = run(experiment, tmp_path)
    text = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    kept = text[:4]  # the head, original, vectorised, one run
    (tmp_path / "runs.jsonl").write_text("".join(kept) + text[4][:50])  # killed while writing
    drawn = spied_draws(monkeypatch)
    again = run(experiment, tmp_path)
    assert drawn == [2 * len(experiment.corpus)]
    assert "".join(kept) == "".join((tmp_path / "runs.jsonl").read_text().splitlines(True)[:4])
    assert len(list(again.scores())) == len(list(whole.scores()))
    assert sorted(line["run"] for line in lines(tmp_path)[3:]) == [0, 1, 2]


def test_what_is_done_is_not_done_again(experiment, tmp_path, monkeypatch):
    run(experiment, tmp_path)
    before = (tmp_path / "runs.jsonl").read_text()
    monkeypatch.setattr(module, "reading", None)  # nothing may be read again
    run(experiment, tmp_path)
    assert (tmp_path / "runs.jsonl").read_text() == before


def test_more_runs_and_more_cells_add_to_what_is_there(experiment, tmp_path):
    experiment.runs = 1
    run(experiment, tmp_path)
    experiment.runs = 2
    log = run(experiment, tmp_path, [CELL, CELL._replace(epsilon=10.0)])
    assert log.done({"method": "syntf", **CELL._asdict()}) == {0, 1}
    assert log.done({"method": "syntf", **CELL._replace(epsilon=10.0)._asdict()}) == {0, 1}
    assert len(log.done({"method": "vectorised"})) == 1


def test_many_runs_are_drawn_in_several_passes(experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_DRAWS", 2 * len(experiment.corpus) * CELL.length)
    sizes = spied_draws(monkeypatch)
    log = run(experiment, tmp_path)
    assert sizes == [2 * len(experiment.corpus), len(experiment.corpus)]
    assert log.done({"method": "syntf"}) == {0, 1, 2}


def test_the_table_is_shared_between_runs(experiment, tmp_path, monkeypatch):
    built = []
    over = module.Anonymizer.over.__func__
    monkeypatch.setattr(
        module.Anonymizer, "over",
        classmethod(lambda cls, *given, **more: built.append(1) or over(cls, *given, **more)),
    )  # fmt: skip
    run(experiment, tmp_path, [CELL, CELL._replace(epsilon=10.0)])
    assert len(built) == 2


def test_the_vocabulary_is_that_of_the_training_half(experiment, tmp_path, monkeypatch):
    seen = []
    reading = module.reading

    def spy(settings, texts, **more):
        seen.append(list(texts))
        return reading(settings, texts, **more)

    monkeypatch.setattr(module, "reading", spy)
    run(experiment, tmp_path)
    assert seen == [experiment.corpus.seen]


def test_attackers_are_those_asked_for(experiment, tmp_path):
    experiment.runs = 1
    experiment.more_attackers = {CELL: ("writeprints-random",)}
    log = run(experiment, tmp_path, [CELL, CELL._replace(epsilon=10.0)])
    attackers = {
        (score.epsilon, score.attacker) for score in log.scores()
        if score.method == "syntf" and score.task == "attack"
    }  # fmt: skip
    assert attackers == {
        (30.0, "writeprints"), (30.0, "writeprints-random"), (10.0, "writeprints")
    }  # fmt: skip


def test_scrubbing_keeps_the_order_of_the_texts(experiment, tmp_path, monkeypatch):
    """Scrubbed in parts on all cores, put together again: with it, topics are told as before."""
    pytest.importorskip("scrubadub", reason="needs scrubadub: pip install 'syntf[evaluate]'")
    log = run(experiment, tmp_path, [], ["scrubadub"])
    for method in ("original", "scrubadub"):
        found = [
            score.f1 for score in log.scores() if score.method == method and not score.scenario
        ]
        assert found == [1, 1]


def test_another_corpus_in_the_same_folder_is_refused(experiment, corpus, tmp_path):
    run(experiment, tmp_path)
    other = Labelled(["x", *corpus.texts[1:]], corpus.labels, corpus.authors, corpus.train)
    changed = Experiment(other, experiment.judge, experiment.settings, 3)
    with pytest.raises(SyntfError, match="another corpus or other parameters"):
        run(changed, tmp_path)


@pytest.mark.parametrize(
    ("change", "same"),
    [(dict(epsilon=1.0), True), (dict(length=7), True), (dict(min_df=3), False),
     (dict(numbers=True), False), (dict(stop_words=frozenset({"cat"})), False)],
)  # fmt: skip
def test_the_key_is_of_what_cells_do_not_vary(experiment, change, same, toy_vectors):
    settings = Settings(fit_vocabulary=True, vectors=toy_vectors, **change)
    other = Experiment(experiment.corpus, experiment.judge, settings)
    assert (other.key == experiment.key) == same


def test_a_log_is_whole_lines(tmp_path):
    log = Log(tmp_path / "deep" / "runs.jsonl", "one")
    finding = Finding("utility", "", "nb", "", Quality(0.5, 0.6, 0.7))
    about = dict(method="original", **Cell()._asdict(), loss_per_word=None, run=0, tagger="")
    log.add(about, [finding])
    (score,) = Log(tmp_path / "deep" / "runs.jsonl", "one").scores()
    assert (score.f1, score.precision, score.recall, score.model) == (0.5, 0.6, 0.7, "nb")
    with pytest.raises(SyntfError, match="another"):
        Log(tmp_path / "deep" / "runs.jsonl", "two")


def test_a_log_with_garbage_is_refused_not_lost(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("not json\n")
    with pytest.raises(SyntfError, match="not a log"):
        Log(path, "one")
    assert path.read_text() == "not json\n"


def test_the_key_is_of_the_content_of_a_vocabulary_file(experiment, tmp_path):
    path = tmp_path / "terms.txt"
    keys = set()
    for words in ("cat\ndog\n", "cat\ncar\n"):
        path.write_text(words)
        keys.add(Experiment(experiment.corpus, experiment.judge, Settings(vocabulary=path)).key)
    assert len(keys) == 2


def test_nothing_is_handed_to_other_processes_in_files(experiment, tmp_path, monkeypatch):
    """Arrays beyond the limit at which joblib would write them to a shared folder."""
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    many = np.full(400_000, "a name of some length")
    assert many.nbytes > 1 << 25
    with module.pool_of_processes() as pool:
        (found,) = pool([module.delayed(kind_of)(many)])
    assert found == "ndarray"
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def kind_of(array):
    return type(array).__name__


def test_processes_that_grow_are_replaced_even_where_warnings_are_errors():
    """joblib ends a process that has grown by 300 MB, and warns in the thread that minds them."""
    pytest.importorskip("psutil", reason="joblib measures memory with psutil: pip install psutil")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", GROWING],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0 1 2 3 4 5\n"), done.stderr
