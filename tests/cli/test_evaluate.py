"""`syntf evaluate`, as a person runs it."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.evaluation.experiment import folder
from syntf.pipeline.settings import PRESETS

pytestmark = pytest.mark.slow

pytest.importorskip("scrubadub", reason="needs scrubadub: pip install 'syntf[evaluate]'")

FAST = ["--runs", "2", "--length", "40", "--tagger", "pattern"]
SMALL = [*FAST, "--fit-vocabulary", "--min-df", "1", "--vectors", "toy.npz"]
EVALUATE = [
    *("evaluate", "example.csv", "--label", "topic", "--author", "author", "--min-test", "3"),
]
COLUMNS = (
    "method task scenario model attacker epsilon length spelling morphology synsets loss_per_word "
    "loss_per_document runs f1 f1_std precision recall"
).split()


def syntf(*arguments, cwd, check=True, **more):
    done = subprocess.run(
        [sys.executable, "-m", "syntf", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, timeout=600, **more,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def toy_file(tmp_path_factory, toy_words, toy_vectors):
    """40 word vectors in a file: quicker to read than the embedded ones."""
    path = tmp_path_factory.mktemp("vectors") / "toy.npz"
    matrix = toy_vectors.matrix.astype(np.float32)
    np.savez(path, words=np.array(toy_words), vectors=matrix)
    return path


@pytest.fixture
def here(tmp_path, monkeypatch, capsys, toy_file):
    """Runs a command in this process and an empty folder: code, output and errors.

    No figures are drawn; another test checks them.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(toy_file, tmp_path)
    monkeypatch.setattr(folder, "save_figures", lambda out, figures: None)
    monkeypatch.setattr(folder, "draw_figures", lambda results, parameters: {})

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), " ".join(captured.out.split()), captured.err

    return call


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A folder with a quarter of the example corpus."""
    folder = tmp_path_factory.mktemp("evaluate")
    table = pl.read_csv(files("syntf").joinpath("data", "example.csv"))
    table.gather_every(4).write_csv(folder / "example.csv")
    return folder


@pytest.fixture(scope="module")
def evaluated(example):
    environment = {**os.environ, "COLUMNS": "80"}
    done = syntf(*EVALUATE, "--scrub", *FAST, "--out", "proof", cwd=example, env=environment)
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


def test_results_are_complete(evaluated):
    out, _ = evaluated
    found = rows(out / "results.csv")
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
            (str(2 * PRESETS["words"]["loss"]), "40", "0.3", "2")
            if synthetic
            else ("", "", "", "1")
        )
        assert bool(row["f1_std"]) == bool(row["loss_per_word"]) == synthetic


def test_topic_floor_is_the_same_at_every_stage(evaluated):
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


def test_table_fits_80_columns_and_notices_are_printed(evaluated):
    out, done = evaluated
    assert max(map(len, done.stdout.replace(str(out), "").splitlines())) <= 80
    assert "top10-any has 8 authors" in done.stdout
    assert "not part of any release" in done.stdout
    assert "pattern, textblob" in done.stdout
    (analyst,) = [line for line in done.stdout.splitlines() if line.startswith("analyst nb")]
    original = next(
        float(row["f1"]) for row in rows(out / "results.csv")
        if (row["method"], row["task"], row["model"]) == ("original", "utility", "nb")
    )  # fmt: skip
    assert f"{original:.3f}".removeprefix("0") in analyst


def test_linkage_is_written_and_printed(evaluated):
    out, done = evaluated
    found = rows(out / "linkage.csv")
    columns = "task pairs method auc tpr_at_1pct tpr_at_0.1pct same other first_guess among"
    assert list(found[0]) == columns.split()
    tasks = [(row["task"], row["method"], row["pairs"]) for row in found]
    assert tasks == [
        ("document", "syntf", "any"), ("document", "syntf", "same label"),
        ("membership", "syntf", "any"),
        ("author", "vectorised", "any"), ("author", "vectorised", "same label"),
        ("author", "syntf", "any"), ("author", "syntf", "same label"),
        ("author-releases", "syntf", "any"), ("author-releases", "syntf", "same label"),
    ]  # fmt: skip
    assert float(found[0]["auc"]) > 0.99
    assert float(found[0]["first_guess"]) > 0.9
    assert int(found[0]["among"]) == int(found[0]["same"])
    assert found[2]["tpr_at_0.1pct"] == ""  # too few texts to say
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("a text and its")]
    assert line.count("1.000") >= 2


def test_the_verdict_comes_before_the_tables_and_in_the_report(evaluated):
    out, done = evaluated
    printed = " ".join(done.stdout.split())
    starts = [printed.index(f"{name}: ") for name in ("Topics", "Authors", "Linking")]
    places = [*starts, printed.index("What this means:"), printed.index("F1 original")]
    assert places == sorted(places)
    assert "red Linking: whoever holds a text finds its release at the first guess" in printed
    chance = {(row["task"], row["scenario"]): row["f1"] for row in rows(out / "chance.csv")}
    assert [name for _, name in chance] == [
        "", *(row["scenario"] for row in rows(out / "scenarios.csv"))
    ]  # fmt: skip
    shown = f"by chance {float(chance['utility', '']):.2f}".replace(" 0.", " .")
    assert shown in printed
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.index("Verdict") < page.index("What it means")
    meaning = printed[printed.index("What this means: ") : printed.index("! top10-any has")]
    assert meaning.removeprefix("What this means: ").strip() in page
    assert "Evaluation of example.csv: what a release with these settings promises" in page


def test_figures_are_written(evaluated):
    out, _ = evaluated
    for name in ("performance", "scrubbing"):
        assert (out / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (out / f"{name}.svg").read_text()[:1000]


def test_no_text_and_no_author_is_written(evaluated):
    out, done = evaluated
    example = (out.parent / "example.csv").read_text().lower()
    authors = {row["author"] for row in rows(out.parent / "example.csv")}
    written = "".join(
        (out / name).read_text()
        for name in ("results.csv", "scenarios.csv", "runs.jsonl", "about.json", "report.html")
    )
    assert not any(author in written + done.stdout for author in authors)
    for word in set(example.split()):
        assert len(word) < 9 or f'"{word}"' not in written


def test_finished_runs_are_not_repeated(evaluated, here, monkeypatch):
    out, _ = evaluated
    before = (out / "runs.jsonl").read_text()
    monkeypatch.chdir(out.parent)
    assert here(*EVALUATE, "--scrub", *FAST, "--out", "proof", "--quiet") == (0, "", "")
    assert (out / "runs.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--split", "topic"], "must say train or test"),
        (["--test-share", "0.5"], "another corpus, other parameters"),
    ],
)
def test_other_parameters_in_the_same_folder_are_refused(
    evaluated, here, monkeypatch, options, message
):
    out, _ = evaluated
    before = (out / "runs.jsonl").read_text()
    monkeypatch.chdir(out.parent)
    code, _, error = here(*EVALUATE, *FAST, *options, "--out", "proof")
    assert code == 2
    assert message in error
    assert (out / "runs.jsonl").read_text() == before


def test_results_have_the_wanted_loss(here, tmp_path):
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
         ["--label", "topic", "--author", "author"], "10 of 40 texts have no value", {"utility",
                                                                                   "attack"}),
        ({"author": ["ann"] * 19 + ["bob"] * 20 + ["once"]},
         ["--label", "topic", "--author", "author"], "1 of 3 groups has a single text",
         {"utility", "attack"}),
        ({}, ["--label", "topic"], "", {"utility"}),
        ({}, ["--author", "author"], "", {"attack"}),
    ],
)  # fmt: skip
def test_possible_tasks_are_measured(here, tmp_path, columns, options, says, tasks):
    small(tmp_path / "t.csv", **columns)
    code, out, _ = here("evaluate", "t.csv", *options, *SMALL, "--out", "o")
    assert code == 0
    assert says in out
    assert {row["task"] for row in rows(tmp_path / "o" / "results.csv")} == tasks


def as_text(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # textblob's files
def test_json_has_the_rows_of_the_files(here, tmp_path):
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
    assert "not part of any release" in record["note"]
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert [line["subject"] for line in record["verdict"]["lines"]] == [
        "Topics", "Authors", "Linking"
    ]  # fmt: skip
    for line in record["verdict"]["lines"]:
        assert line["light"] in ("green", "amber", "red")
        assert line["text"] in page
    assert record["verdict"]["meaning"] in page
    assert "No guarantee covers" in record["verdict"]["meaning"]  # the vocabulary is fitted


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({}, [], "--label, --author or both"),
        ({}, ["--label", "subject"], "no column 'subject'"),
        ({"topic": ["one"] * 40}, ["--label", "topic"], "nothing to measure"),
        ({"author": ["ann"] * 40}, ["--author", "author"], "nothing to measure"),
        ({}, ["--author", "author", "--tagger", "magic"], "unknown tagger"),
        ({}, ["--label", "topic", "--test-share", "2"], "between 0 and 1"),
    ],
)
def test_bad_input_gives_one_line_and_no_files(here, tmp_path, columns, options, says):
    small(tmp_path / "t.csv", **columns)
    code, _, error = here("evaluate", "t.csv", *options, "--out", "o")
    assert code == 2
    assert says in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_folder_with_other_files_is_refused(here, tmp_path):
    small(tmp_path / "t.csv")
    code, _, error = here("evaluate", "t.csv", "--label", "topic", "--out", ".")
    assert code == 2
    assert "holds other files" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "toy.npz"]


def test_unreadable_texts_are_refused_before_anything_is_measured(here, tmp_path):
    rows = [f"4711,{topic}" for topic in ("a", "b") * 15]
    (tmp_path / "numbers.csv").write_text("\n".join(["text,topic", *rows]) + "\n")
    code, out, err = here("evaluate", "numbers.csv", "--label", "topic", "--out", "proof")
    assert (code, out) == (2, "")
    assert "100% of the texts hold numbers and no word" in err
    assert "Nothing was measured; --accept-coverage does so all the same" in err
    assert not (tmp_path / "proof").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_interrupted_evaluation_continues(tmp_path, toy_file):
    small(tmp_path / "t.csv")
    shutil.copy(toy_file, tmp_path)
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
    assert "run the same command again to continue" in error
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


def test_whole_documents_are_evaluated(here, example):
    shutil.copy(example / "example.csv", ".")
    done = here(*EVALUATE, "--document-loss", 10, "--runs", 1, "--tagger", "pattern", "--out", "p")
    code, printed = done[0], done[1]
    assert code == 0, done
    assert "loss 10.00 per document; mean of 1 run" in printed
    assert "analyst informed" in printed
    assert "at the first guess, among 80:" in printed
    results = rows(Path("p/results.csv"))
    released = [row for row in results if row["method"] == "syntf"]
    assert {(row["loss_per_word"], row["loss_per_document"]) for row in released} == {("", "10.0")}
    assert {"entries", "words", "topic"} <= {row["attacker"] for row in released}


def test_settings_of_both_units_together_are_refused(here, example):
    shutil.copy(example / "example.csv", ".")
    code, _, errors = here(*EVALUATE, "--document-loss", 10, "--length", 40, "--out", "p")
    assert code != 0
    assert "length is a setting of the words unit" in errors
