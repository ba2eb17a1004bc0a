"""Runs of the experiment: what is measured, what the log keeps, how it continues."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from syntf.core.counts import matrix
from syntf.core.entropy import Seeded
from syntf.core.errors import SyntfError
from syntf.core.progress import silent
from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment import experiment as module
from syntf.evaluation.experiment import word_runs
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.evaluator import Evaluator, TaskScore
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.results import NO_PARAMETERS, Parameters
from syntf.evaluation.experiment.run_log import RunLog
from syntf.mechanism.synthesis import synthesize_releases
from syntf.pipeline.settings import Settings

GROWING = """
import sys
from time import sleep
from joblib import delayed
from syntf.evaluation.experiment.experiment import process_pool

def grow(number):
    import sys
    sys.held = getattr(sys, "held", b"") + b"x" * 320_000_000
    sleep(1.1)
    return number

print(*sorted(process_pool()(delayed(grow)(number) for number in range(6))))
"""
ANIMALS = "cat dog mouse horse cow bird fish"
ROADS = "car train bus boat road wheel engine"
CHOICE = Parameters(30.0, 12, 0.3, "lemma", False)


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
    return LabelledCorpus(texts, np.array(labels), np.array(authors), np.array(train))


@pytest.fixture
def experiment(corpus, toy_vectors):
    found, _ = find_scenarios(corpus)
    settings = Settings(fit_vocabulary=True, vectors=toy_vectors)
    return Experiment(corpus, Evaluator.for_corpus(corpus, found, Lengths()), settings, runs=3)


def run(experiment, path, grid=(CHOICE,), scrubbing=()):
    log = RunLog(path / "runs.jsonl", experiment.key)
    for _ in experiment.run(log, grid, scrubbing):
        pass
    return log


def spied_draws(monkeypatch):
    """The lengths of the releases that each pass draws, as they come."""
    lengths, draw = [], module.Anonymizer.draw_releases

    def spy(self, documents, some, **more):
        lengths.append(list(some))
        return draw(self, documents, some, **more)

    monkeypatch.setattr(module.Anonymizer, "draw_releases", spy)
    return lengths


def lines(path):
    return [json.loads(line) for line in (path / "runs.jsonl").read_text().splitlines()]


def test_no_scrubbing_is_reported_unless_it_was_asked_for(experiment, tmp_path):
    reported = []

    def stages(name, total):
        reported.append(name)
        return silent(name, total)

    run(replace(experiment, stages=stages), tmp_path)
    assert "evaluating" in reported
    assert "scrubbing" not in reported


def test_every_stage_and_every_run_is_scored(experiment, tmp_path):
    log = run(experiment, tmp_path)
    scores = list(log.run_scores())
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


def test_releases_keep_topics_and_drop_numbers(experiment, tmp_path):
    scores = list(run(experiment, tmp_path).run_scores())

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


def test_each_run_draws_again(experiment, tmp_path):
    run(experiment, tmp_path)
    found = [line["scores"] for line in lines(tmp_path) if line.get("method") == "syntf"]
    assert len({json.dumps(scores) for scores in found}) > 1


def test_interrupted_experiment_continues(experiment, tmp_path, monkeypatch):
    whole = run(experiment, tmp_path)
    text = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    of_runs = [line for line in text if '"syntf"' in line]
    kept = [line for line in text if line not in of_runs] + of_runs[:1]
    (tmp_path / "runs.jsonl").write_text("".join(kept) + of_runs[1][:50])  # killed while writing
    drawn = spied_draws(monkeypatch)
    again = run(experiment, tmp_path)
    assert drawn == [[CHOICE.length] * 2]
    assert "".join(kept) == "".join((tmp_path / "runs.jsonl").read_text().splitlines(True)[:4])
    assert len(list(again.run_scores())) == len(list(whole.run_scores()))
    assert sorted(line["run"] for line in lines(tmp_path)[3:]) == [0, 1, 2]


def test_finished_runs_are_not_repeated(experiment, tmp_path, monkeypatch):
    run(experiment, tmp_path)
    before = (tmp_path / "runs.jsonl").read_text()
    monkeypatch.setattr(module, "load_words", None)  # nothing may be read again
    run(experiment, tmp_path)
    assert (tmp_path / "runs.jsonl").read_text() == before


def test_more_runs_and_parameters_are_added_to_the_log(experiment, tmp_path):
    experiment.runs = 1
    run(experiment, tmp_path)
    experiment.runs = 2
    log = run(experiment, tmp_path, [CHOICE, CHOICE._replace(epsilon=10.0)])
    assert log.finished({"method": "syntf", **CHOICE._asdict()}) == {0, 1}
    assert log.finished({"method": "syntf", **CHOICE._replace(epsilon=10.0)._asdict()}) == {0, 1}
    assert len(log.finished({"method": "vectorised"})) == 1


def test_many_runs_are_drawn_in_several_passes(experiment, tmp_path, monkeypatch):
    limit = 2 * len(experiment.corpus) * CHOICE.length
    monkeypatch.setattr(word_runs, "MAX_DRAWS_PER_PASS", limit)
    drawn = spied_draws(monkeypatch)
    log = run(experiment, tmp_path)
    assert drawn == [[CHOICE.length] * 2, [CHOICE.length]]
    assert log.finished({"method": "syntf"}) == {0, 1, 2}


def built_tables(monkeypatch):
    """Return a list that receives an entry for each table that is built."""
    built = []
    from_parts = module.Anonymizer.from_parts.__func__
    monkeypatch.setattr(
        module.Anonymizer, "from_parts",
        classmethod(lambda cls, *given, **more: built.append(1) or from_parts(cls, *given, **more)),
    )  # fmt: skip
    return built


def test_runs_share_a_mechanism(experiment, tmp_path, monkeypatch):
    built = built_tables(monkeypatch)
    run(experiment, tmp_path, [CHOICE, CHOICE._replace(epsilon=10.0)])
    assert len(built) == 2


def test_lengths_share_a_table_and_are_drawn_together(experiment, tmp_path, monkeypatch):
    """Two ε make two tables, whatever the order in which the grid names the lengths."""
    built = built_tables(monkeypatch)
    drawn = spied_draws(monkeypatch)
    experiment.runs = 2
    grid = [
        CHOICE._replace(length=length, epsilon=epsilon)
        for length in (12, 5)
        for epsilon in (30.0, 10.0)
    ]
    log = run(experiment, tmp_path, grid)
    assert len(built) == 2
    assert drawn == [[12, 12, 5, 5]] * 2
    for parameters in grid:
        assert log.finished({"method": "syntf", **parameters._asdict()}) == {0, 1}
    losses = {(score.epsilon, score.loss_per_word) for score in log.run_scores() if score.epsilon}
    assert len(losses) == 2


def seed_draws(monkeypatch):
    """Draw the same words again for the same parameters."""

    def draw(self, documents, lengths, **more):
        sources = [Seeded(int(1000 * self.mechanism.epsilon) + length) for length in lengths]
        drawn = synthesize_releases(documents, self.mechanism, lengths=lengths, sources=sources)
        return [matrix(counts) for counts in drawn]

    monkeypatch.setattr(module.Anonymizer, "draw_releases", draw)


def test_shared_and_resumed_runs_give_the_lines_of_separate_runs(experiment, tmp_path, monkeypatch):
    seed_draws(monkeypatch)
    experiment.runs = 1
    grid = [
        CHOICE._replace(length=length, epsilon=epsilon)
        for length in (12, 5)
        for epsilon in (30.0, 10.0)
    ]
    run(experiment, tmp_path / "whole", grid)
    whole = (tmp_path / "whole" / "runs.jsonl").read_text().splitlines()
    alone = set()
    for number, parameters in enumerate(grid):
        run(experiment, tmp_path / str(number), [parameters])
        alone |= set((tmp_path / str(number) / "runs.jsonl").read_text().splitlines())
    assert sorted(whole) == sorted(alone)
    assert len({line for line in whole if '"syntf"' in line}) == 4
    resumed = tmp_path / "resumed" / "runs.jsonl"
    resumed.parent.mkdir()
    resumed.write_text("\n".join(whole[:4]) + "\n" + whole[4][:20])
    run(experiment, resumed.parent, grid)
    assert sorted(resumed.read_text().splitlines()) == sorted(whole)


def test_vocabulary_is_fitted_on_training_texts(experiment, tmp_path, monkeypatch):
    seen = []
    load_words = module.load_words

    def spy(settings, texts, **more):
        seen.append(list(texts))
        return load_words(settings, texts, **more)

    monkeypatch.setattr(module, "load_words", spy)
    run(experiment, tmp_path)
    assert seen == [experiment.corpus.training_texts]


def test_extra_attackers_are_tried_on_their_parameters_only(experiment, tmp_path):
    experiment.runs = 1
    experiment.extra_attackers = {CHOICE: ("writeprints-random",)}
    log = run(experiment, tmp_path, [CHOICE, CHOICE._replace(epsilon=10.0)])
    attackers = {
        (score.epsilon, score.attacker) for score in log.run_scores()
        if score.method == "syntf" and score.task == "attack"
    }  # fmt: skip
    assert attackers == {
        (30.0, "writeprints"), (30.0, "writeprints-random"), (10.0, "writeprints")
    }  # fmt: skip


@dataclass(frozen=True)
class KnowsTheLoss:
    """An analyst for tests who was told the loss of the mechanism, and predicts one label."""

    loss: float

    def __call__(self, counts, labels, train):
        assert counts.shape[0] == len(labels) == len(train)
        return np.full((~train).sum(), "animal" if self.loss > 0 else "")


def test_informed_analysts_get_the_mechanism_and_score_releases_only(experiment, tmp_path):
    experiment.runs = 2
    experiment.informed_analysts = {
        "informed": lambda anonymizer: KnowsTheLoss(anonymizer.mechanism.loss)
    }
    scores = [one for one in run(experiment, tmp_path).run_scores() if one.task == "utility"]
    informed = [one for one in scores if one.model == "informed"]
    assert sorted((one.method, one.run) for one in informed) == [("syntf", 0), ("syntf", 1)]
    assert {one.recall for one in informed} == {0.5}
    assert {one.model for one in scores if one.method == "original"} == {"nb", "svm"}


def test_scrubbed_texts_keep_their_order(experiment, tmp_path, monkeypatch):
    """Scrubbed in parts on all cores, put together again: with it, topics are told as before."""
    pytest.importorskip("scrubadub", reason="needs scrubadub: pip install 'syntf[evaluate]'")
    log = run(experiment, tmp_path, [], ["scrubadub"])
    for method in ("original", "scrubadub"):
        found = [
            score.f1 for score in log.run_scores() if score.method == method and not score.scenario
        ]
        assert found == [1, 1]


def test_another_corpus_in_the_same_folder_is_refused(experiment, corpus, tmp_path):
    run(experiment, tmp_path)
    other = LabelledCorpus(["x", *corpus.texts[1:]], corpus.labels, corpus.authors, corpus.train)
    changed = Experiment(other, experiment.evaluator, experiment.settings, 3)
    with pytest.raises(SyntfError, match="another corpus, other parameters"):
        run(changed, tmp_path)


@pytest.mark.parametrize(
    ("change", "same"),
    [(dict(epsilon=1.0), True), (dict(length=7), True), (dict(min_df=3), False),
     (dict(numbers=True), False), (dict(stop_words=frozenset({"cat"})), False)],
)  # fmt: skip
def test_key_depends_on_fixed_settings_only(experiment, change, same, toy_vectors):
    settings = Settings(fit_vocabulary=True, vectors=toy_vectors, **change)
    other = Experiment(experiment.corpus, experiment.evaluator, settings)
    assert (other.key == experiment.key) == same


def test_log_can_be_read_again(tmp_path):
    log = RunLog(tmp_path / "deep" / "runs.jsonl", "one")
    score = TaskScore("utility", "", "nb", "", 0.5, 0.6, 0.7)
    about = dict(method="original", **NO_PARAMETERS._asdict(), loss_per_word=None, run=0, tagger="")
    log.add(about, [score])
    (score,) = RunLog(tmp_path / "deep" / "runs.jsonl", "one").run_scores()
    assert (score.f1, score.precision, score.recall, score.model) == (0.5, 0.6, 0.7, "nb")
    with pytest.raises(SyntfError, match="another"):
        RunLog(tmp_path / "deep" / "runs.jsonl", "two")


def test_damaged_log_is_refused_and_kept(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("not json\n")
    with pytest.raises(SyntfError, match="not a log"):
        RunLog(path, "one")
    assert path.read_text() == "not json\n"


def test_key_depends_on_the_content_of_a_vocabulary_file(experiment, tmp_path):
    path = tmp_path / "terms.txt"
    keys = set()
    for words in ("cat\ndog\n", "cat\ncar\n"):
        path.write_text(words)
        keys.add(Experiment(experiment.corpus, experiment.evaluator, Settings(vocabulary=path)).key)
    assert len(keys) == 2


def test_arrays_are_not_sent_to_processes_through_files(experiment, tmp_path, monkeypatch):
    """Arrays beyond the limit at which joblib would write them to a shared folder."""
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    many = np.full(400_000, "a name of some length")
    assert many.nbytes > 1 << 25
    with module.process_pool() as pool:
        (found,) = pool([module.delayed(kind_of)(many)])
    assert found == "ndarray"
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def kind_of(array):
    return type(array).__name__


@pytest.mark.slow
def test_growing_processes_are_replaced_even_if_warnings_are_errors():
    """joblib ends a process that has grown by 300 MB, and warns in the thread that minds them."""
    pytest.importorskip("psutil", reason="joblib measures memory with psutil: pip install psutil")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", GROWING],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0 1 2 3 4 5\n"), done.stderr


@pytest.fixture
def document_experiment(corpus):
    found, _ = find_scenarios(corpus)
    settings = Settings(document_loss=8.0)
    evaluator = Evaluator.for_corpus(corpus, found, Lengths())
    return Experiment(corpus, evaluator, settings, 2, ("words", "topic", "entries"))


def test_whole_documents_are_released_together_and_scored(document_experiment, tmp_path):
    log = run(document_experiment, tmp_path)
    scores = list(log.run_scores())
    released = [one for one in scores if one.method == "syntf"]
    assert {one.parameters for one in released} == {Parameters(8.0, 1, 0.0, "lemma", False)}
    assert {(one.loss_per_word, one.loss_per_document) for one in released} == {(None, 8.0)}
    assert sorted({one.run for one in released}) == [0, 1]
    models = {(one.method, one.model) for one in scores if one.task == "utility"}
    assert models == {
        (method, model) for method in ("original", "vectorised", "syntf") for model in ("nb", "svm")
    } | {("syntf", "informed")}
    attacks = {(one.attacker, one.model) for one in released if one.task == "attack"}
    assert attacks == {
        ("words", "nb"), ("words", "svm"), ("topic", "nb"), ("topic", "svm"),
        ("entries", "informed"),
    }  # fmt: skip
    informed = [one.f1 for one in released if one.model == "informed" and one.task == "utility"]
    assert np.mean(informed) > 0.7


def test_experiment_with_whole_documents_continues(document_experiment, tmp_path, monkeypatch):
    whole = run(document_experiment, tmp_path)
    text = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_text("".join(text[:4]))  # the head, two stages, one run
    encoded = []
    read = module.DocumentAnonymizer.read
    monkeypatch.setattr(
        module.DocumentAnonymizer, "read",
        lambda self, texts, **more: encoded.append(len(texts)) or read(self, texts, **more),
    )  # fmt: skip
    again = run(document_experiment, tmp_path)
    assert encoded == [48]  # all documents are encoded once, whatever the number of runs
    assert len(list(again.run_scores())) == len(list(whole.run_scores()))
    run(document_experiment, tmp_path)
    assert encoded == [48]  # nothing was missing, so nothing was read


def test_key_depends_on_the_loss_per_document_and_on_the_codebook(document_experiment, tmp_path):
    corpus, evaluator = document_experiment.corpus, document_experiment.evaluator
    path = tmp_path / "my.codebook"
    keys = set()
    for content in (b"one", b"two"):
        path.write_bytes(content)
        settings = Settings(document_loss=8.0, codebook=path)
        keys.add(Experiment(corpus, evaluator, settings).key)
    keys.add(Experiment(corpus, evaluator, Settings(document_loss=8.0)).key)
    keys.add(Experiment(corpus, evaluator, Settings(document_loss=9.0)).key)
    assert len(keys) == 4
