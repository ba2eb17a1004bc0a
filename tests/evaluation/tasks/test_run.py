"""All tasks with labels on the example corpus, and their files."""

import csv
import json
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.evaluation.experiment.corpus import corpus_from_table
from syntf.evaluation.tasks.plots import share_figure, trend_figure
from syntf.evaluation.tasks.releases import releases_of
from syntf.evaluation.tasks.run import measure_label_tasks, write_label_tasks
from syntf.pipeline.settings import Settings


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
        assert ", truly " in (folder / "report.html").read_text()
