"""`syntf evaluate` and `syntf reproduce`, as a person runs them."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.pipeline.settings import PRESETS
from syntf.research import grid, reproduction

pytest.importorskip("scrubadub", reason="needs scrubadub: pip install 'syntf[evaluate]'")

FAST = ["--runs", "2", "--length", "40", "--tagger", "pattern"]
SMALL = [*FAST, "--fit-vocabulary", "--min-df", "1"]
COLUMNS = (
    "method task scenario model attacker epsilon length spelling morphology synsets loss_per_word "
    "runs f1 f1_std precision recall"
).split()


def syntf(*arguments, cwd, check=True, **more):
    done = subprocess.run(
        [sys.executable, "-m", "syntf", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, timeout=600, **more,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """Runs a command in this process and an empty folder: code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), " ".join(captured.out.split()), captured.err

    return call


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluate")
    syntf("example", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def evaluated(example):
    done = syntf(
        "evaluate", "example.csv", "--label", "topic", "--author", "author", "--scrub", *FAST,
        "--out", "proof", cwd=example, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    return example / "proof", done


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def small(path, **columns):
    """A table of 40 short texts, with columns replaced."""
    number = range(40)
    data = {
        "text": [f"{['cat dog bird', 'car bus road'][i % 2]} {'!' * (i % 4)} {i}" for i in number],
        "topic": [["animal", "road"][i % 2] for i in number],
        "author": [["ann", "bob"][i // 2 % 2] for i in number],
    }
    pl.DataFrame({**data, **columns}).write_csv(path)


def test_results_are_tidy_and_complete(evaluated):
    folder, _ = evaluated
    found = rows(folder / "results.csv")
    assert list(found[0]) == COLUMNS
    kinds = {tuple(row[name] for name in COLUMNS[:5]) for row in found}
    methods = ("original", "vectorised", "syntf", "scrubadub", "scrubadub-names")
    scenarios = ("top5-any", "top10-any", "top5-multi", "top10-multi")
    pairs = {"writeprints", "words", "characters", "topic", "topic-guessed"}
    static = {"words-static", "characters-static", "embeddings-static"}
    assert kinds == {
        (method, "utility", "", model, "") for method in methods for model in ("nb", "svm")
    } | {
        (method, "attack", scenario, model, attacker)
        for method in methods
        for scenario in scenarios
        for attacker in pairs | {"embeddings"} | (static if method != "original" else set())
        for model in (["logistic"] if attacker.startswith("emb") else ["nb", "svm"])
    }
    for row in found:
        assert 0 <= float(row["f1"]) <= 1
        synthetic = row["method"] == "syntf"
        assert (row["epsilon"], row["length"], row["spelling"], row["runs"]) == (
            (str(2 * PRESETS["default"]["loss"]), "40", "0.3", "2")
            if synthetic
            else ("", "", "", "1")
        )
        assert bool(row["f1_std"]) == bool(row["loss_per_word"]) == synthetic


def test_who_knows_the_topic_alone_does_as_well_at_every_stage(evaluated):
    found = rows(evaluated[0] / "results.csv")
    for scenario in ("top5-any", "top10-multi"):
        floors = {
            row["f1"] for row in found
            if (row["attacker"], row["scenario"], row["model"]) == ("topic", scenario, "nb")
        }  # fmt: skip
        assert len(floors) == 1


def test_scenarios_are_listed(evaluated):
    found = rows(evaluated[0] / "scenarios.csv")
    assert list(found[0]) == ["scenario", "authors", "min_train", "min_test", "train", "test"]
    assert [row["authors"] for row in found] == ["5", "8", "5", "8"]


def test_the_table_fits_80_columns_and_says_what_is_lacking(evaluated):
    folder, done = evaluated
    assert max(map(len, done.stdout.replace(str(folder), "").splitlines())) <= 80
    assert "top10-any has 8 authors" in done.stdout
    assert "no part of any release" in done.stdout
    assert "pattern, textblob" in done.stdout
    (analyst,) = [line for line in done.stdout.splitlines() if line.startswith("analyst nb")]
    original = next(
        float(row["f1"]) for row in rows(folder / "results.csv")
        if (row["method"], row["task"], row["model"]) == ("original", "utility", "nb")
    )  # fmt: skip
    assert f"{original:.3f}".removeprefix("0") in analyst


def test_links_are_listed_and_shown(evaluated):
    folder, done = evaluated
    found = rows(folder / "linkage.csv")
    assert list(found[0]) == ("task pairs method auc tpr_at_1pct tpr_at_0.1pct same other".split())
    tasks = [(row["task"], row["method"], row["pairs"]) for row in found]
    assert tasks == [
        ("document", "syntf", "any"), ("document", "syntf", "same label"),
        ("membership", "syntf", "any"),
        ("author", "vectorised", "any"), ("author", "vectorised", "same label"),
        ("author", "syntf", "any"), ("author", "syntf", "same label"),
        ("author-releases", "syntf", "any"), ("author-releases", "syntf", "same label"),
    ]  # fmt: skip
    assert float(found[0]["auc"]) > 0.99
    assert found[2]["tpr_at_0.1pct"] == ""  # too few texts to say
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("a text and its")]
    assert line.count("1.000") >= 2


def test_figures_are_written(evaluated):
    folder, _ = evaluated
    for name in ("performance", "scrubbing"):
        assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (folder / f"{name}.svg").read_text()[:1000]


def test_nothing_of_the_texts_is_written(evaluated):
    folder, done = evaluated
    example = (folder.parent / "example.csv").read_text().lower()
    authors = {row["author"] for row in rows(folder.parent / "example.csv")}
    written = "".join(
        (folder / name).read_text() for name in ("results.csv", "scenarios.csv", "runs.jsonl")
    )
    assert not any(author in written + done.stdout for author in authors)
    for word in set(example.split()):
        assert len(word) < 9 or f'"{word}"' not in written


def test_a_second_run_repeats_nothing(evaluated):
    folder, _ = evaluated
    before = (folder / "runs.jsonl").read_text()
    syntf(
        "evaluate", "example.csv", "--label", "topic", "--author", "author", "--scrub", *FAST,
        "--out", "proof", "--quiet", cwd=folder.parent,
    )  # fmt: skip
    assert (folder / "runs.jsonl").read_text() == before


def test_other_parameters_in_the_same_folder_are_refused(evaluated):
    folder, _ = evaluated
    before = (folder / "runs.jsonl").read_text()
    done = syntf(
        "evaluate", "example.csv", "--label", "topic", "--author", "author", *FAST, "--split",
        "topic", "--out", "proof", cwd=folder.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "must say train or test" in done.stderr
    done = syntf(
        "evaluate", "example.csv", "--label", "topic", "--author", "author", *FAST,
        "--test-share", "0.5", "--out", "proof", cwd=folder.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "another corpus or other parameters" in done.stderr
    assert (folder / "runs.jsonl").read_text() == before


def test_a_wanted_loss_is_that_of_the_results(here, tmp_path):
    small(tmp_path / "t.csv")
    here("evaluate", "t.csv", "--label", "topic", "--loss", "9", *SMALL, "--out", "o")
    losses = {row["loss_per_word"] for row in rows(tmp_path / "o" / "results.csv")} - {""}
    assert len(losses) == 1
    assert float(losses.pop()) == pytest.approx(9, abs=0.01)


@pytest.mark.parametrize(
    ("columns", "options", "says", "tasks"),
    [
        ({"topic": ["one"] * 40}, ["--label", "topic", "--author", "author"], "labels",
         {"attack"}),
        ({"author": ["ann"] * 40}, ["--label", "topic", "--author", "author"], "cannot be formed",
         {"utility"}),
        ({"topic": ["animal"] * 20 + [None] * 10 + ["road"] * 10},
         ["--label", "topic", "--author", "author"], "10 of 40 texts have nothing", {"utility",
                                                                                   "attack"}),
        ({"author": ["ann"] * 19 + ["bob"] * 20 + ["once"]},
         ["--label", "topic", "--author", "author"], "1 of 3 groups has a single text",
         {"utility", "attack"}),
        ({}, ["--label", "topic"], "", {"utility"}),
        ({}, ["--author", "author"], "", {"attack"}),
    ],
)  # fmt: skip
def test_what_can_be_measured_is_measured(here, tmp_path, columns, options, says, tasks):
    small(tmp_path / "t.csv", **columns)
    code, out, _ = here("evaluate", "t.csv", *options, *SMALL, "--out", "o")
    assert code == 0
    assert says in out
    assert {row["task"] for row in rows(tmp_path / "o" / "results.csv")} == tasks


def as_text(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # textblob's files
def test_json_has_the_lines_of_the_files(here, tmp_path):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    small(tmp_path / "t.csv", topic=["animal", None] + ["animal", "road"] * 19)
    options = ["--label", "topic", "--author", "author", "--tagger", "pattern", "--json"]
    code, out, error = here("evaluate", "t.csv", *options, *SMALL, "--out", "o")
    assert (code, error) == (0, "")
    record = json.loads(out)
    for name, key in (("results.csv", "results"), ("linkage.csv", "linkage")):
        lines = [{k: as_text(v) for k, v in row.items()} for row in record[key]]
        assert lines == rows(tmp_path / "o" / name)
    assert any("1 of 40 texts" in notice for notice in record["notices"])
    (loss,) = {row["loss_per_word"] for row in record["results"]} - {None}
    assert record["loss_per_word"] == {"tight": loss}
    (length,) = {row["length"] for row in record["results"]} - {None}
    assert record["loss_per_document"] == pytest.approx(loss * length)
    assert (record["runs"], record["out"]) == (2, "o")
    assert record["tagger"].startswith("pattern")
    assert "no part of any release" in record["note"]


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({}, [], "--label, --author or both"),
        ({}, ["--label", "subject"], "no column 'subject'"),
        ({"topic": ["one"] * 40}, ["--label", "topic"], "nothing to measure"),
        ({"author": ["ann"] * 40}, ["--author", "author"], "nothing to measure"),
        ({}, ["--author", "author", "--tagger", "magic"], "a tagger is pattern or spacy:MODEL"),
        ({}, ["--label", "topic", "--test-share", "2"], "between 0 and 1"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(here, tmp_path, columns, options, says):
    small(tmp_path / "t.csv", **columns)
    code, _, error = here("evaluate", "t.csv", *options, "--out", "o")
    assert code == 2
    assert says in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_a_folder_with_other_files_is_left_alone(here, tmp_path):
    small(tmp_path / "t.csv")
    code, _, error = here("evaluate", "t.csv", "--label", "topic", "--out", ".")
    assert code == 2
    assert "holds other files" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupted_evaluation_goes_on(tmp_path):
    small(tmp_path / "t.csv")
    command = [sys.executable, "-m", "syntf", "evaluate", "t.csv", "--label", "topic", "--author",
               "author", *SMALL, "--runs", "200", "--out", "o"]  # fmt: skip
    log = tmp_path / "o" / "runs.jsonl"
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(1200):
            if log.exists() and log.read_text().count("\n") > 6:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "the same command goes on from there" in error
    assert "Traceback" not in error
    kept = log.read_text()
    assert 6 < kept.count("\n") < 203
    command[command.index("200")] = str(kept.count("\n"))
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    after = log.read_text()
    assert after.startswith(kept)
    runs = [json.loads(line) for line in after.splitlines()[1:]]
    numbers = [run["run"] for run in runs if run["method"] == "syntf"]
    assert len(numbers) == len(set(numbers)) >= kept.count("\n") - 3


def test_reproduction_gives_tables_figures_and_the_expected_figures(
    here, tmp_path, monkeypatch, newsgroups_home
):
    """One run of the optimum: the figures that the paper's evaluation is known to give."""
    monkeypatch.setattr(reproduction, "QUICK", grid.cells(spelling=(0.0, 0.3)))
    where = ["--data-home", newsgroups_home, "--out", "r"]
    done = here("reproduce", *where, "--quick", "--runs", 1, "--quiet")
    assert done == (0, "", "")
    folder = tmp_path / "r"
    found = rows(folder / "results.csv")
    code, out, _ = here("reproduce", *where, "--quick", "--runs", 1, "--json")
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
