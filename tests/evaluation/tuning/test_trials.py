"""Candidates on real counts: the training half alone, each measured once; the command itself."""

import csv
import json
import shlex

import numpy as np
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.cli import tune
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.log import Log
from syntf.evaluation.tuning import trials as module
from syntf.evaluation.tuning.pareto import pareto
from syntf.evaluation.tuning.search import Candidate, Goal, search
from syntf.evaluation.tuning.trials import Trial, Trials
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


def table(count=90, noise=6):
    rows = list(texts(count, noise))
    return pl.DataFrame(
        {
            "body": [text for _, text in rows],
            "topic": [topic for topic, _ in rows],
            "who": [["ann", "bob"][i // 3 % 2] for i in range(count)],
        }
    )


@pytest.fixture
def corpus():
    rows = list(texts(120))
    train = np.arange(120) < 90
    labels, authors = np.array([topic for topic, _ in rows]), np.array(["ann", "bob"] * 60)
    return Labelled([text for _, text in rows], labels, authors, train)


@pytest.fixture
def made(corpus, toy_vectors, toy_words, monkeypatch):
    """Trials of small rungs over 40 words."""
    monkeypatch.setattr(module, "DOCUMENTS", (20, 40, 80, 180, 180))
    monkeypatch.setattr(search, "FIRST", 16)
    monkeypatch.setattr(search, "LATER", 8)

    def make(path, **more):
        settings = Settings(vectors=toy_vectors, vocabulary=toy_words)
        found = Trials(corpus, settings, **more)
        found.log = Log(path / "runs.jsonl", found.key)
        return found

    return make


def lines(path):
    return [json.loads(line) for line in (path / "runs.jsonl").read_text().splitlines()[1:]]


def test_only_the_training_half_is_tried_on(made, corpus, tmp_path, monkeypatch):
    trials = made(tmp_path)
    assert sorted(trials.part.texts) == sorted(corpus.seen)
    assert trials.part.train.sum() == 54
    seen, read = [], module.Anonymizer.read
    monkeypatch.setattr(
        module.Anonymizer, "read", lambda self, texts, **o: seen.extend(texts) or read(self, texts)
    )
    trials.utility(ONE, 3)
    trials.confirm(ONE, 2)
    assert sorted(seen) == sorted(corpus.seen)  # read once


def test_a_rung_is_a_part_of_a_large_corpus_or_a_small_one_several_times(made, tmp_path):
    trials = made(tmp_path)
    for rung in range(5):
        trials.utility(ONE, rung)
    runs = [line for line in lines(tmp_path) if "loss" in line]
    assert [len(line["findings"]) for line in runs] == [1, 1, 1, 2, 2]
    originals = [line["documents"] for line in lines(tmp_path) if "method" in line]
    assert originals == [20, 40, 80, 90]


def test_more_loss_keeps_more_and_all_of_it_is_about_one(made, tmp_path):
    trials = made(tmp_path)
    low, high = (ONE._replace(loss=loss, length=length) for loss, length in ((1.0, 5), (14.0, 200)))
    kept = [trials.utility(one, 3) for one in (low, high)]
    assert kept[0] < 0.7
    assert kept[1] > 0.9


def test_nothing_is_measured_twice_even_after_a_kill(made, tmp_path):
    goal = Goal(utility=0.6)
    whole = made(tmp_path / "whole")
    counted = []
    whole.advance = counted.append
    search(goal, whole.space, whole.utility)
    assert len(counted) == sum(1 for line in lines(tmp_path / "whole") if "loss" in line)

    killed = made(tmp_path / "killed")
    left = iter(range(25))

    def dying(steps):
        if next(left, None) is None:
            raise KeyboardInterrupt

    killed.advance = dying
    with pytest.raises(KeyboardInterrupt):
        search(goal, killed.space, killed.utility)
    before = (tmp_path / "killed" / "runs.jsonl").read_bytes()
    (tmp_path / "killed" / "runs.jsonl").write_bytes(before + b'{"cut sho')
    again = made(tmp_path / "killed")
    scores = search(goal, again.space, again.utility)
    after = (tmp_path / "killed" / "runs.jsonl").read_bytes()
    assert after.startswith(before)
    names = (*Candidate._fields, "rung", "method", "documents")
    keys = [tuple(line.get(name) for name in names) for line in lines(tmp_path / "killed")]
    assert len(keys) == len(set(keys)) > 27
    assert search(goal, again.space, again.utility) == scores
    assert (tmp_path / "killed" / "runs.jsonl").read_bytes() == after


def test_a_finalist_has_runs_of_its_own_by_both_models_and_is_attacked(made, tmp_path):
    trials = made(tmp_path)
    rung = trials.utility(ONE, 3)
    found = trials.confirm(ONE, 3)
    runs = [line for line in lines(tmp_path) if line["rung"] == "final" and "loss" in line]
    assert [line["run"] for line in runs] == [0, 1, 2]
    assert set(found.utility) == {"nb", "svm"}
    assert found.utility["nb"] == pytest.approx(rung, abs=0.3)
    assert trials.scenario == "top5-any"
    f1 = {}
    for line in runs:
        for one in line["findings"]:
            if one["task"] == "attack" and one["scenario"] == "top5-any":
                f1.setdefault((one["attacker"], one["model"]), []).append(one["quality"]["f1"])
    assert {attacker for attacker, _ in f1} == {"words", "characters", "embeddings"}
    assert found.attack == pytest.approx(max(np.mean(each) for each in f1.values()))
    assert set(trials.levels) == {"original", "topic"}
    assert trials.confirm(ONE, 3) == found


def test_the_space_ends_with_the_vocabulary(made, tmp_path):
    assert made(tmp_path).space.sizes == [40]


def test_other_parameters_are_another_experiment(made, tmp_path):
    first = made(tmp_path)
    assert made(tmp_path).key == first.key
    with pytest.raises(SyntfError, match="another corpus or other parameters"):
        made(tmp_path, min_test=2)


def points(collection):
    return [tuple(map(float, point)) for point in collection.get_offsets()]


@pytest.mark.parametrize("attack", [0.4, None])
def test_the_figure_shows_every_candidate_and_colours_finalists_by_attack(attack):
    scores = {ONE._replace(length=n): n / 200 for n in (50, 80, 100, 150)}
    _, second, third, _ = scores
    tried = {ONE._replace(length=60): 0.2, second: 0.9}
    ends = [Trial(second, {"nb": 0.42}, attack), Trial(third, {"nb": 0.55}, attack and 0.6)]
    goal = Goal(utility=0.5, max_loss=900.0)
    levels = {"original": 0.9, "topic": 0.1} if attack else {}
    figure = pareto(scores, tried, ends, third, goal, scenario="top5-any", levels=levels)
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


@pytest.fixture
def here(tmp_path, monkeypatch, capsys, toy_vectors, toy_words):
    """Runs a command in this process, beside t.csv and 40 word vectors: code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "DOCUMENTS", (20, 40, 80, 100, 100))
    monkeypatch.setattr(search, "FIRST", 16)
    monkeypatch.setattr(search, "LATER", 8)
    table().write_csv("t.csv")
    np.savez("v.npz", words=np.array(toy_words), vectors=toy_vectors.matrix.astype(np.float32))
    (tmp_path / "words.txt").write_text("\n".join(toy_words))

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return call


COLUMNS = ["--text", "body", "--label", "topic"]
WORDS = ["--vectors", "v.npz", "--vocabulary", "words.txt"]
FAST = ["--runs", "1", "--tagger", "pattern", "--out", "tuned"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # textblob's files
def test_the_command_it_prints_runs_and_has_the_loss_it_prints(here, tmp_path):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    code, out, error = here(
        "tune", "t.csv", *COLUMNS, "--author", "who", "--target-utility", "0.7", *WORDS, *FAST
    )
    assert (code, error) == (0, "")
    assert "no part of any release" in out
    assert "a way that no loss covers" in " ".join(out.split())
    (line,) = [line for line in out.splitlines() if line.startswith("syntf anonymize")]
    said = next(line for line in out.splitlines() if "To run" in line)
    assert here(*shlex.split(line)[1:])[0] == 0
    promised = json.loads((tmp_path / "release" / "guarantee.json").read_text())
    word, document = promised["loss_per_word"]["tight"], promised["loss_per_document"]
    assert said.startswith(f"loss {word:.4f} a word, {document:,.2f} a document")
    assert promised["private"]
    with (tmp_path / "tuned" / "candidates.csv").open() as file:
        rows = list(csv.DictReader(file))
    (chosen,) = [row for row in rows if row["chosen"] == "True"]
    assert float(chosen["loss_per_document"]) == pytest.approx(document, abs=1e-6)
    assert float(chosen["kept_nb"]) >= 0.7
    cheaper = [r for r in rows if float(r["loss_per_document"]) < document and r["kept_nb"]]
    assert all(float(row["kept_nb"]) < 0.7 for row in cheaper)
    for suffix in (".png", ".svg"):
        assert (tmp_path / "tuned" / f"pareto{suffix}").stat().st_size > 10_000
    assert max(map(len, out.splitlines())) <= max(80, len(line))
    before = (tmp_path / "tuned" / "runs.jsonl").read_bytes()
    code, again, _ = here(
        "tune", "t.csv", *COLUMNS, "--author", "who", "--target-utility", "0.7", *WORDS, *FAST
    )
    assert (code, again) == (0, out)
    code, again, _ = here(
        "tune", "t.csv", *COLUMNS, "--author", "who", "--target-utility", "0.7", *WORDS, *FAST,
        "--json",
    )  # fmt: skip
    record = json.loads(again)
    assert record["command"] == line
    assert record["loss_per_document"] == pytest.approx(document, abs=1e-6)
    assert record["chosen"]["length"] == int(chosen["length"])
    assert [one["chosen"] for one in record["finalists"]].count(True) == 1
    assert (tmp_path / "tuned" / "runs.jsonl").read_bytes() == before


def test_public_texts_stand_in_and_the_file_is_not_read(here, tmp_path):
    code, out, _ = here(
        "tune", "absent file.csv", *COLUMNS, "--stand-in", "t.csv", "--max-loss", "300",
        "--max-loss-per-word", "7.3", *WORDS, "--spelling", "0.1", *FAST,
    )  # fmt: skip
    assert code == 0
    assert "were not read" in " ".join(out.split())
    (line,) = [line for line in out.splitlines() if line.startswith("syntf anonymize")]
    words = shlex.split(line)
    assert words[2] == "absent file.csv"
    assert words[words.index("--spelling") + 1] == "0.1"
    loss, length = (float(words[words.index(name) + 1]) for name in ("--loss", "--length"))
    assert loss <= 7.3
    assert loss * length <= 300


def test_an_impossible_target_says_what_can_be_reached(here, tmp_path):
    table(noise=60).write_csv("t.csv")
    code, out, error = here(
        "tune", "t.csv", *COLUMNS, "--target-utility", "1", "--max-loss", "100", *WORDS, *FAST
    )
    assert code == 1
    assert len(error.strip().splitlines()) == 1
    assert "keeping 100.0% is out of reach here: the best found keeps" in error
    assert "at a loss of 100 a document" in error
    assert "raise the loss allowed" in error
    assert "syntf anonymize" not in out
    assert (tmp_path / "tuned" / "pareto.png").exists()
    code, out, again = here(
        "tune", "t.csv", *COLUMNS, "--target-utility", "1", "--max-loss", "100", *WORDS, *FAST,
        "--json",
    )  # fmt: skip
    record = json.loads(out)
    assert (code, again, record["chosen"]) == (1, error, None)
    assert not any(one["chosen"] for one in record["finalists"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([*COLUMNS], "name a goal"),
        ([*COLUMNS, "--target-utility", "87"], "more than all of it"),
        ([*COLUMNS, "--target-utility", "0"], "must be above 0"),
        ([*COLUMNS, "--max-loss", "5"], "the least that is tried is 100"),
        ([*COLUMNS, "--max-loss-per-word", "1"], "the least that is tried is 4"),
        (["--text", "body", "--max-loss", "500"], "name a column with --label"),
        (["--text", "body", "--label", "who?", "--max-loss", "500"], "no column 'who?'"),
        ([*COLUMNS, "--stand-in", "nowhere.csv", "--max-loss", "500"], "nowhere.csv"),
        (["--text", "body", "--label", "same", "--max-loss", "500"], "nothing to tune by"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(here, tmp_path, options, says):
    table().with_columns(same=pl.lit("x")).write_csv("t.csv")
    code, _, error = here("tune", "t.csv", *options, *WORDS, *FAST)
    assert code == 2
    assert says in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "tuned").exists()


def test_the_example_is_a_stand_in_with_columns_of_its_own(tmp_path):
    columns = {"text": "body", "label": None, "author": None, "split": None}
    found = tune._texts(tmp_path / "absent", "example", None, columns, 0.4)
    assert len(found) == 320
    assert len(set(found.labels.tolist())) == 5
    assert len(set(found.authors.tolist())) == 8


def test_what_differs_from_the_defaults_is_in_the_command():
    best = Candidate(2, 9.0, 80, 5_000, "tfidf")
    plain = tune.command("a b.csv", "text", Settings(), best)
    assert plain == (
        "syntf anonymize 'a b.csv' --text text --neighbours 2 --loss 9 --length 80 "
        "--max-size 5000 --weights tfidf --out release"
    )
    settings = Settings(morphology="orth", synsets=True, numbers=True, vectors="v.txt")
    made = shlex.split(tune.command("t.csv", "text", settings, best._replace(loss=1 / 3)))
    assert made[made.index("--loss") + 1] == repr(1 / 3)
    pairs = ("--morphology", "orth"), ("--vectors", "v.txt"), ("--synsets", "--keep-numbers")
    for words in map(list, pairs):
        place = made.index(words[0])
        assert made[place : place + 2] == words
