"""All tasks with labels on the example corpus, and their files."""

import csv
import json
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import corpus_from_table
from syntf.evaluation.tasks.plots import share_figure, trend_figure
from syntf.evaluation.tasks.releases import releases_of
from syntf.evaluation.tasks.run import LabelTasks, measure_label_tasks, write_label_tasks
from syntf.evaluation.tasks.tables import read_tasks
from syntf.evaluation.tasks.trends import score_trends
from syntf.pipeline.settings import Settings
from syntf.report.evaluation import TaskScores


@pytest.fixture(scope="module")
def table():
    found = pl.read_csv(files("syntf").joinpath("data", "example.csv"))
    return found.with_columns(year=pl.Series(2000 + np.arange(found.height) % 4))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [Settings.from_preset(document_loss=10.0), Settings.from_preset("words")],
    ids=["document", "words"],
)
def test_all_tasks_of_a_corpus(table, settings, tmp_path):
    corpus = corpus_from_table(table, text="text", label="topic", time="year")
    releases = releases_of(corpus.texts, settings, fit=corpus.training_texts)
    tasks = measure_label_tasks(corpus, releases, runs=2)
    assert list(tasks.clusters) == ["original", "vectorised", "syntf"]
    assert tasks.clusters["vectorised"].nmi > tasks.clusters["syntf"].nmi > 0
    assert {one.label for one in tasks.labels} == set(corpus.labels.tolist())
    assert all(0 <= one.released_f1 <= 1 for one in tasks.labels)
    assert {one.period for one in tasks.trends} == {"2000", "2001", "2002", "2003"}
    for period in ("2000", "2003"):
        own = [one for one in tasks.trends if one.period == period]
        assert sum(one.truth for one in own) == pytest.approx(1)
        assert sum(one.estimate for one in own) == pytest.approx(1)
    assert tasks.trend is not None
    assert bool(tasks.shares) == (settings.unit == "document")
    write_label_tasks(tmp_path, tasks)
    with (tmp_path / "labels.csv").open() as file:
        assert {row["verdict"] for row in csv.DictReader(file)} <= {"survives", "weak", "lost"}
    assert trend_figure(tasks.trends).axes[0].get_title()
    shown = read_tasks(tmp_path)
    assert [(one.method, [score for score, _ in one.scores]) for one in shown.clusters] == [
        (method, list(score)) for method, score in tasks.clusters.items()
    ]
    assert [(one.label, one.after) for one in shown.labels] == [
        (one.label, one.released_f1) for one in tasks.labels
    ]
    score = score_trends(tasks.trends)
    assert (shown.trend_error, shown.coverage) == (score.estimate, score.coverage)
    assert sum(len(shares) for _, shares in shown.trends) == len(tasks.trends)
    assert shown.search == []
    write_label_tasks(tmp_path, LabelTasks(1))
    assert read_tasks(tmp_path) == TaskScores([], [], [], [])  # no table of the run before
    if tasks.shares:
        assert tasks.summary is not None
        assert tasks.summary.leading[0].truth is not None
        assert share_figure(tasks.shares).axes[0].get_xlabel() == "share of the documents"


@pytest.mark.slow
def test_several_columns_are_evaluated_in_folders_of_their_own(
    table, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table.write_csv("texts.csv")
    words = "evaluate texts.csv --label topic --label year --time year --group author --runs 1"
    monkeypatch.setattr("sys.argv", ["syntf", *words.split(), "--json", "--out", "proof"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    shown = capsys.readouterr()
    assert not stopped.value.code, shown.err
    found = json.loads(shown.out)["evaluations"]
    assert set(found) == {"topic", "year"}
    for name in found:
        folder = tmp_path / "proof" / name
        assert {"results.csv", "clusters.csv", "labels.csv", "trends.csv", "shares.csv"} <= {
            path.name for path in folder.iterdir()
        }
        page = (folder / "report.html").read_text()
        assert ", truly " in page
        for heading in ("Labels: which", "Clusters: do", "Shares over time"):
            assert heading in page


def test_a_table_of_another_program_is_refused(tmp_path):
    (tmp_path / "clusters.csv").write_text("method,purity\nsyntf,1\n")
    with pytest.raises(SyntfError, match="does not have the columns method, nmi, ari"):
        read_tasks(tmp_path)
