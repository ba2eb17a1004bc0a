"""The experiment: what is run, drawn and written, and how an interrupted one continues."""

import csv
import json
import runpy
import sys

import pytest
from click.testing import CliRunner

pytest.importorskip("matplotlib", reason="needs the extra paper: pip install '.[paper]'")
pytest.importorskip("joblib", reason="needs the extra paper: pip install '.[paper]'")

from paper import __main__ as program
from paper import experiment as module
from paper.corpus import newsgroups
from paper.evaluator import Evaluator
from paper.experiment import Experiment
from paper.published import combinations
from paper.results import average
from paper.tagging import default_tagger
from syntf.core.errors import SyntfError
from syntf.settings import Settings

FIGURES = combinations(epsilon=(40.0,), length=(10,))
GRID = combinations(epsilon=(10.0, 20.0, 40.0), length=(5, 10))

RESULTS = (
    "method,task,scenario,model,attacker,epsilon,length,spelling,morphology,synsets,loss_per_word,"
    "loss_per_document,runs,f1,f1_std,precision,recall"
)
SCENARIOS = "scenario,authors,min_train,min_test,train,test"
"""The first lines of ``results.csv`` and ``scenarios.csv``, the same as in syntf 0.2."""


def tags(text):
    return [f"T{len(word)}" for word in text.split()]


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """Processes take a second to start, and a tagger of a test cannot be sent to them."""
    monkeypatch.setattr(module, "cores", lambda: 1)


@pytest.fixture
def new(corpus, tmp_path):
    settings = Settings.of("paper", fit_vocabulary=1)
    return lambda: Experiment(corpus, tags, tmp_path / "runs.jsonl", settings)


def finished(experiment):
    return {one: experiment.log.finished("syntf", one._asdict()) for one in GRID}


def test_best_cells_are_run_often_and_an_interrupted_search_goes_on_with_the_same(new, tmp_path):
    path = tmp_path / "runs.jsonl"
    first = new()
    scores = first.evaluator.score_texts(first.corpus.texts)
    first.log.add({"method": "original", "run": 0}, scores)
    for _ in first.run_grid(FIGURES, GRID, 1, 3):
        pass
    once = average(run for run in first.log if run["run"] == 0)
    best = {max(GRID, key=lambda one, m=m: once.smallest_gain(one, m)) for m in ("nb", "svm")}
    often = best | set(FIGURES)
    assert finished(first) == {one: {0, 1, 2} if one in often else {0} for one in GRID}
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(one for one in lines if json.loads(one).get("run") != 2))
    again = new()
    for _ in again.run_grid(FIGURES, GRID, 1, 3):
        pass
    assert finished(again) == finished(first)
    assert len(path.read_text().splitlines()) == len(lines)


def test_an_interrupted_run_keeps_what_is_finished(new, monkeypatch):
    score = Evaluator.score_counts
    calls = []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return score(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "score_counts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(new().run_releases(GRID[:2], 2))
    kept = [dict(run) for run in new().log]
    assert len(kept) == 2
    again = new()
    list(again.run_releases(GRID[:2], 2))
    assert [dict(run) for run in again.log][:2] == kept
    assert len(list(again.log)) == 1 + 2 * 2


def test_releases_have_the_length_of_their_cell_and_are_independent(new, monkeypatch):
    drawn = []

    def keep(self, counts, terms, *rest):
        drawn.append((counts.toarray(), list(terms)))
        return []

    monkeypatch.setattr(Evaluator, "score_counts", keep)
    experiment = new()
    list(experiment.run_releases(combinations(epsilon=(1000.0,), length=(40, 80)), 2))
    (counts, inputs), *releases = drawn
    assert counts.sum() == 144 * 9  # the term vectors: every word is known
    sums = [rows.sum(axis=1).tolist() for rows, _ in releases]
    assert sums == [[40] * 144, [40] * 144, [80] * 144, [80] * 144]
    # At such an ε the mechanism has mostly one answer to each term: what differs is the sample.
    short, again, long, more = (rows for rows, _ in releases)
    for one, other in ((short, again), (long, more), (2 * short, long)):
        assert abs(one - other).sum() > 0.1 * (one + other).sum()
    kinds = (counts > 0).sum(axis=1)
    for rows, terms in releases:
        assert terms == inputs
        assert ((rows > 0).sum(axis=1) <= kinds).mean() > 0.6
    syntf = [run for run in experiment.log if run["method"] == "syntf"]
    (loss,) = {run["loss_per_word"] for run in syntf}
    assert loss > 30
    assert [run["loss_per_document"] for run in syntf] == [loss * n for n in (40, 40, 80, 80)]


def test_a_log_belongs_to_one_corpus(new, corpus, tmp_path):
    new()
    other = type(corpus)(corpus.texts, corpus.labels, corpus.authors[::-1], corpus.train)
    with pytest.raises(SyntfError, match="another corpus"):
        Experiment(other, tags, tmp_path / "runs.jsonl")


def test_analyst_and_attacker_are_scored(corpus):
    analysts, attacks = [], []
    for one in Evaluator.of(corpus, tags).score_texts(corpus.texts):
        (analysts if one["task"] == "utility" else attacks).append(one)
    assert [(one["model"], one["f1"]) for one in analysts] == [("nb", 1.0), ("svm", 1.0)]
    assert [(one["scenario"], one["model"]) for one in attacks] == [
        (f"top{size}-{kind}", model)
        for kind in ("any", "multi")
        for size in (5, 10)
        for model in ("nb", "svm")
    ]
    assert all(0.4 < one["f1"] <= 1 for one in attacks)  # by a word of one's own


# The program


def test_quick_writes_the_files_of_0_2_and_a_page(corpus, tmp_path, monkeypatch):
    pytest.importorskip("scrubadub", reason="needs scrubadub: pip install '.[paper]'")
    monkeypatch.setattr(program, "newsgroups", lambda home: corpus)
    monkeypatch.setattr(program, "QUICK", combinations(spelling=(0.0, 0.3)))
    out = tmp_path / "out"
    arguments = ["--quick", "--tagger", "pattern", "--out", str(out)]
    done = CliRunner().invoke(program.main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert "Loss per word at the optimum" in done.output
    assert (out / "results.csv").read_text().splitlines()[0] == RESULTS
    assert (out / "scenarios.csv").read_text().splitlines() == [
        SCENARIOS, "top5-any,5,6,6,30,30", "top10-any,10,6,6,60,60",
        "top5-multi,5,6,6,30,30", "top10-multi,10,6,6,60,60",
    ]  # fmt: skip
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    methods = {row["method"] for row in rows}
    assert methods == {"original", "vectorised", "syntf", "scrubadub", "scrubadub-names"}
    release = next(row for row in rows if row["attacker"] == "writeprints-random")
    assert (release["epsilon"], release["length"], release["synsets"]) == ("47.5", "150", "false")
    assert (release["spelling"], release["runs"]) == ("0.3", "2")
    page = (out / "results.md").read_text()
    assert "| combinations | 810 | 2 | – |" in page
    assert "| authors | 12 | 5,735 |" in page
    assert "{" not in page.replace("{{", "{")
    figures = {path.stem for path in (out / "results").glob("*.svg")}
    assert figures == {"performance", "spelling", "scrubbing", "attackers", "bounds"}
    lines = (out / "runs.jsonl").read_text()
    CliRunner().invoke(program.main, arguments, catch_exceptions=False)
    assert (out / "runs.jsonl").read_text() == lines  # nothing is run again


def test_attack_on_a_file_of_ones_own(corpus, tmp_path):
    with (tmp_path / "mails.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["body", "who"])
        rows.writerows(zip(corpus.texts, corpus.authors, strict=True))
    arguments = ["attack", str(tmp_path / "mails.csv"), "--text", "body", "--author", "who"]
    arguments += ["--tagger", "pattern"]
    done = CliRunner().invoke(program.main, [*arguments, "--preset", "document"])
    assert done.exception is None
    first, *rest = done.stdout.splitlines()
    assert first.startswith(
        "Top 5/Any: 5 authors, 35 texts to learn from, 25 tested. F1 of a guess"
    )
    names = [line.partition(": F1")[0].strip() for line in rest]
    assert names[:8] == [
        f"{data}: {attacker}, {model}"
        for data in ("texts", "release, document")
        for attacker in ("WritePrints", "words")
        for model in ("naive Bayes", "linear SVM")
    ]


def test_errors_take_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "few.csv").write_text("text,who\n" + "a text,ann\nanother,bob\n" * 3)
    file = str(tmp_path / "few.csv")
    arguments = ["paper", "attack", file, "--text", "text", "--author", "who"]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.delitem(sys.modules, "paper.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("paper", run_name="__main__")
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {file} has fewer than two authors")
    assert error.count("\n") == 1


def test_missing_wordnet_is_named_before_hours_of_work(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTF_WORDNET", str(tmp_path))
    done = CliRunner().invoke(program.main, ["--out", str(tmp_path / "out")])
    assert isinstance(done.exception, SyntfError)
    assert "WordNet" in str(done.exception)


def test_synsets_add_words_to_the_vocabulary(new, toy_wordnet, monkeypatch):
    drawn = []
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))
    monkeypatch.setattr(Evaluator, "score_counts", lambda *all: drawn.append(all[2]) or [])
    experiment = new()
    list(experiment.run_releases(combinations(length=(5,), synsets=(False, True)), 1))
    few, _, more, outputs = map(set, drawn)
    assert few < more == outputs
    assert "auto" in more - few
    methods = [(run["method"], run["synsets"]) for run in experiment.log]
    assert methods == [(method, s) for s in (False, True) for method in ("vectorised", "syntf")]


# 20 newsgroups


@pytest.mark.slow
def test_original_messages_give_the_known_scores(newsgroups_home, tmp_path):
    """What the paper's evaluation is known to give, without any release."""
    corpus = newsgroups(newsgroups_home)
    found = average([{"method": "original", "scores": Evaluator.of(corpus, default_tagger())
                      .score_texts(corpus.texts)}])  # fmt: skip
    utility = found.find("original", "utility", "nb")
    assert (round(utility.f1, 3), round(utility.precision, 3), round(utility.recall, 3)) == (
        0.694, 0.708, 0.700,
    )  # fmt: skip
    attack = found.find("original", "attack", "nb", "top10-any")
    assert attack.f1 == pytest.approx(0.66, abs=0.04)
