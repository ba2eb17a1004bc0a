"""`syntf reproduce` on 20 newsgroups: the scores that the paper's evaluation is known to give."""

import csv
import json

import pytest

from syntf.evaluation.experiment import newsgroups
from syntf.research import grid

pytest.importorskip("scrubadub", reason="needs scrubadub: pip install 'syntf[evaluate]'")


def as_text(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # textblob's files
def test_command_on_a_small_corpus(call, corpus, tmp_path, monkeypatch):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    monkeypatch.setattr(newsgroups, "newsgroups", lambda home: corpus)
    monkeypatch.setattr(grid, "QUICK", grid.combinations())
    out = tmp_path / "r"
    code, printed, error = call(
        "reproduce", "--quick", "--runs", 1, "--tagger", "pattern", "--out", out
    )
    assert (code, error) == (0, "")
    assert "per word at the optimum (the paper: 25.4)" in printed
    methods = {row["method"] for row in rows(out / "results.csv")}
    assert methods == {"original", "vectorised", "syntf", "scrubadub", "scrubadub-names"}
    tables = (out / "tables.md").read_text()
    assert "| combinations | 810 | 1 | – |" in tables
    assert "| authors | 3 | 5,735 |" in tables
    for name in ("performance", "scrubbing", "attackers", "bounds"):
        assert (out / f"{name}.svg").exists()
    assert not (out / "spelling.svg").exists()  # only one s was run


def test_best_needs_a_grid(call, tmp_path):
    code, _, error = call("reproduce", "--best", 3, "--out", tmp_path / "r")
    assert code == 2
    assert "--best needs combinations to choose from: add --grid full" in error
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_scores_on_20_newsgroups_are_as_expected(call, tmp_path, monkeypatch, newsgroups_home):
    """One run of the optimum gives the scores that the paper's evaluation is known to give."""
    monkeypatch.setattr(grid, "QUICK", grid.combinations(spelling=(0.0, 0.3)))
    folder = tmp_path / "r"
    where = ["--data-home", newsgroups_home, "--out", folder]
    done = call("reproduce", *where, "--quick", "--runs", 1, "--quiet")
    assert done == (0, "", "")
    found = rows(folder / "results.csv")
    code, out, _ = call("reproduce", *where, "--quick", "--runs", 1, "--json")
    record = json.loads(out)
    assert (code, record["loss_of_the_paper"], record["runs"]) == (0, 25.4, 1)
    assert [{k: as_text(v) for k, v in row.items()} for row in record["results"]] == found

    def score(method, task, model="nb", scenario="", attacker="", epsilon=None):
        (row,) = [
            row for row in found
            if (row["method"], row["task"], row["model"], row["scenario"], row["attacker"])
            == (method, task, model, scenario, attacker) and epsilon in (None, row["epsilon"])
            and row["spelling"] in ("", "0.3")
        ]  # fmt: skip
        return row

    utility = score("original", "utility")
    expected = {"f1": 0.694, "precision": 0.708, "recall": 0.700}
    for name, value in expected.items():
        assert float(utility[name]) == pytest.approx(value, abs=0.002)
    synthetic = score("syntf", "utility", epsilon="47.5")
    assert float(synthetic["loss_per_word"]) == pytest.approx(25.6, abs=0.3)
    assert float(synthetic["f1"]) == pytest.approx(0.61, abs=0.02)
    assert float(score("scrubadub", "utility")["f1"]) == pytest.approx(0.692, abs=0.002)
    attack = score("original", "attack", scenario="top10-any", attacker="writeprints")
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()[1:]]
    if all(run["tagger"].startswith("spacy:en_core_web_sm") for run in runs):
        assert float(attack["f1"]) == pytest.approx(0.66, abs=0.03)
    sorted_words, random_words = (
        float(score("syntf", "attack", scenario="top10-any", attacker=name, epsilon="47.5")["f1"])
        for name in ("writeprints", "writeprints-random")
    )
    assert random_words < 0.3 < sorted_words
    tables = (folder / "tables.md").read_text()
    assert "| Top 10/Multi | 10 (10) | 21 (21) | 8 (8) | 301 | 196 |" in tables
    for name in ("performance", "spelling", "scrubbing", "attackers", "bounds"):
        assert (folder / f"{name}.png").stat().st_size > 10_000
        assert (folder / f"{name}.svg").exists()
