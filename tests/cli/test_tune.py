"""`syntf tune`, as a person runs it."""

import csv
import json
import shlex

import numpy as np
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.cli.commands import tune
from syntf.cli.options import column_pairs
from syntf.evaluation.tuning import job, search, trials
from syntf.evaluation.tuning.search import Candidate
from syntf.pipeline.settings import Settings

pytest.importorskip("joblib", reason="needs joblib: pip install 'syntf[evaluate]'")

TOPICS = {
    "animal": "cat dog mouse horse cow bird fish",
    "road": "car train bus boat road wheel engine",
    "home": "house garden tree flower bread cheese apple",
}
FAR = "ship plane river mountain water music song piano guitar"


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
def here(tmp_path, monkeypatch, capsys, toy_vectors, toy_words):
    """Runs a command in this process, beside t.csv and 40 word vectors: code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trials, "DOCUMENTS", (20, 40, 80, 100, 100))
    monkeypatch.setattr(search, "FIRST_CANDIDATES", 8)
    monkeypatch.setattr(search, "LATER_CANDIDATES", 4)
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
WORDS = ["--unit", "words", "--vectors", "v.npz", "--vocabulary", "words.txt"]
FAST = ["--runs", "1", "--tagger", "pattern", "--out", "tuned"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # textblob's files
@pytest.mark.slow
def test_printed_command_runs_and_has_the_printed_loss(here, tmp_path):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    code, out, error = here(
        "tune", "t.csv", *COLUMNS, "--author", "who", "--target-utility", "0.7", *WORDS, *FAST
    )
    assert (code, error) == (0, "")
    assert "not part of any release" in out
    assert "not part of any loss" in " ".join(out.split())
    (line,) = [line for line in out.splitlines() if line.startswith("syntf anonymize")]
    said = next(line for line in out.splitlines() if "To run" in line)
    assert here(*shlex.split(line)[1:])[0] == 0
    promised = json.loads((tmp_path / "release" / "guarantee.json").read_text())
    word, document = promised["loss_per_word"]["tight"], promised["loss_per_document"]
    assert said.startswith(f"loss {word:.4f} per word, {document:,.2f} per document")
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


def test_public_texts_replace_the_file(here, tmp_path):
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


def test_impossible_target_says_what_can_be_reached(here, tmp_path):
    table(noise=60).write_csv("t.csv")
    code, out, error = here(
        "tune", "t.csv", *COLUMNS, "--target-utility", "1", "--max-loss", "100", *WORDS, *FAST
    )
    assert code == 1
    assert len(error.strip().splitlines()) == 1
    assert "keeping 100.0% of the utility is out of reach: the best parameters keep" in error
    assert "at a loss of 100 per document" in error
    assert "raise the largest loss" in error
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
        ([*COLUMNS], "no goal: use at least one of --target-utility"),
        ([*COLUMNS, "--target-utility", "87"], "must not be greater than 1"),
        ([*COLUMNS, "--target-utility", "0"], "must be greater than 0"),
        ([*COLUMNS, "--max-loss", "5"], "the smallest that is tried is 100"),
        ([*COLUMNS, "--max-loss-per-word", "1"], "that is tried is 4"),
        (["--text", "body", "--max-loss", "500"], "with --label"),
        (["--text", "body", "--label", "who?", "--max-loss", "500"], "no column 'who?'"),
        ([*COLUMNS, "--stand-in", "nowhere.csv", "--max-loss", "500"], "nowhere.csv"),
        (["--text", "body", "--label", "same", "--max-loss", "500"], "nothing to tune by"),
    ],
)
def test_bad_input_gives_one_line_and_no_files(here, tmp_path, options, says):
    table().with_columns(same=pl.lit("x")).write_csv("t.csv")
    code, _, error = here("tune", "t.csv", *options, *WORDS, *FAST)
    assert code == 2
    assert says in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "tuned").exists()


def test_example_corpus_has_its_own_columns(tmp_path):
    columns = {"text": "body", "split": None, "test_share": 0.4, "group": "thread"}
    (case,) = job.read_cases(tmp_path / "absent", "example", None, [], columns, {})
    found = case.corpus
    assert len(found) == 320
    assert len(set(found.labels.tolist())) == 5
    assert len(set(found.authors.tolist())) == 8


def test_command_has_all_settings_that_differ_from_the_defaults():
    best = Candidate(2, 9.0, 80, 5_000, "tfidf")
    plain = tune.release_command("a b.csv", "text", Settings(), best._asdict(), {})
    assert plain == (
        "syntf anonymize 'a b.csv' --text text --neighbours 2 --loss 9 --length 80 "
        "--max-size 5000 --weights tfidf --out release"
    )
    settings = Settings(morphology="orth", synsets=True, numbers=True, vectors="v.txt")
    candidate = best._replace(loss=1 / 3)._asdict()
    reader = {"format": "csv", "encoding": "cp1252", "bad_rows": "stop"}
    made = shlex.split(tune.release_command("t.csv", "text", settings, candidate, reader))
    assert made[5:9] == ["--encoding", "cp1252", "--input-format", "csv"]
    assert made[made.index("--loss") + 1] == repr(1 / 3)
    pairs = ("--morphology", "orth"), ("--vectors", "v.txt"), ("--synsets", "--keep-numbers")
    for words in map(list, pairs):
        place = made.index(words[0])
        assert made[place : place + 2] == words


def test_command_for_whole_documents_names_what_differs_from_the_defaults(tmp_path):
    trial = {"document_loss": 7.5}
    plain = Settings(document_loss=10.0)
    line = tune.release_command(str(tmp_path / "a b.csv"), "body", plain, trial, {})
    assert shlex.split(line) == [
        "syntf", "anonymize", str(tmp_path / "a b.csv"), "--text", "body", "--document-loss",
        "7.5", "--out", "release",
    ]  # fmt: skip
    near = Settings(document_loss=10.0, codebook="my.codebook", pilot=False, numbers=True)
    line = tune.release_command(str(tmp_path / "t.csv"), "body", near, trial, {})
    assert "--codebook my.codebook --no-pilot --keep-numbers --out release" in line


@pytest.mark.slow
def test_loss_of_whole_documents_is_found_and_its_command_printed(here):
    done = here(
        "tune", "t.csv", *COLUMNS, "--unit", "document", "--target-utility", "0.5", *FAST, "--json"
    )
    assert done[0] == 0, done[2]
    found = json.loads(done[1])
    chosen = [trial for trial in found["trials"] if trial["chosen"]]
    assert found["loss_per_document"] == chosen[0]["loss_per_document"]
    assert "loss_per_word" not in found
    assert found["command"].startswith("syntf anonymize t.csv --text body --document-loss")


def test_all_columns_have_the_same_test_texts(tmp_path):
    rows = table().with_columns(day=pl.int_range(90), second=pl.col("topic").shuffle(seed=1))
    rows.write_csv(tmp_path / "t.csv")
    pairs = column_pairs(["topic", "second"], ["who", "topic"])
    columns = {"text": "body", "test_share": 0.3}
    made = job.read_cases(tmp_path / "t.csv", None, None, pairs, columns, {})
    assert [(case.name, case.label) for case in made] == [
        ("topic-who", "topic"), ("second-who", "second"), ("topic-topic", "topic")
    ]  # fmt: skip
    first, second, third = (case.corpus for case in made)
    assert not first.train.all()
    assert (second.train == first.train).all()
    assert (third.train == first.train).all()
    assert (second.labels != first.labels).any()
    assert (third.authors == first.labels).all()
    by_time = {**columns, "time": "day", "split_by": "time"}
    made = job.read_cases(tmp_path / "t.csv", None, None, pairs, by_time, {})
    assert all((case.corpus.train == (np.arange(90) < 63)).all() for case in made)


@pytest.mark.slow
def test_several_columns_are_tuned_together(here, tmp_path):
    table().with_columns(home=pl.col("topic") == "home").write_csv("t.csv")
    code, out, error = here(
        "tune", "t.csv", *COLUMNS, "--label", "home", "--max-loss", "300", *WORDS, *FAST, "--json"
    )
    assert (code, error) == (0, "")
    record = json.loads(out)
    assert set(record["results"]) == {"topic", "home"}
    runs = [json.loads(line) for line in (tmp_path / "tuned/runs.jsonl").read_text().splitlines()]
    final = [run for run in runs[1:] if run["round"] == "final"]
    analyst = ("utility", "nb")
    for finalist in record["finalists"]:
        own = [run for run in final if all(run.get(n) == finalist[n] for n in Candidate._fields)]
        kept = []
        for name in ("topic", "home"):
            means = [
                np.mean([
                    score["f1"] for run in group if run["columns"] == name
                    for score in run["scores"] if (score["task"], score["model"]) == analyst
                ])
                for group in (own, [run for run in final if run.get("method")])
            ]  # fmt: skip
            kept.append(means[0] / means[1])
        assert finalist["kept"]["nb"] == pytest.approx(min(kept))
    folders = tmp_path.glob("tuned/confirmed-*/*/results.csv")
    assert sorted(path.parent.name for path in folders) == ["home", "topic"]


def test_unreadable_texts_are_refused_before_the_search(here, tmp_path):
    rows = [f"4711,{topic}" for topic in ("a", "b") * 15]
    (tmp_path / "numbers.csv").write_text("\n".join(["body,topic", *rows]) + "\n")
    options = ("--text", "body", "--label", "topic", "--target-utility", "0.5", "--out", "tuned")
    code, out, err = here("tune", "numbers.csv", *options)
    assert (code, out) == (2, "")
    assert "100% of the texts hold numbers and no word" in err
    assert not (tmp_path / "tuned").exists()
