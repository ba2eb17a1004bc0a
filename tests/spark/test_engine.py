"""`syntf anonymize --engine spark`, run as a separate process."""

import csv
import json
import os
import subprocess
import sys

import polars as pl
import pytest

from syntf.cli.spark import FIXED, UNSUPPORTED, address, check
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.releases.job import release
from syntf.spark import anonymize
from syntf.spark.inputs import format_of, read
from syntf.verification.verify import verify

SCRIPT = "from syntf.cli import main; main()"
OPTIONS = ["--vocabulary", "words.txt", "--length", "10", "--loss", "3", "--morphology", "lower"]
TEXTS = ["cat, dog", 'a "quoted" cat', "two\nlines, one cat", "", "Ünïcode 猫"]


@pytest.fixture
def call(cluster, tmp_path):
    """Run the program; on the cluster it uses the worker that other tests leave free."""
    (tmp_path / "words.txt").write_text("cat\ndog\nmouse\nhorse\n")
    path = os.pathsep.join(filter(None, sys.path))

    def run(*arguments, master="local[1]"):
        command = [sys.executable, "-c", SCRIPT, "anonymize", *arguments, "--engine", "spark"]
        return subprocess.run(
            [*command, *OPTIONS, *(["--master", master] if master else [])],
            capture_output=True, encoding="utf-8", timeout=300, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip

    return run


def write(folder, format):
    rows = [{"text": text, "topic": f"t{i}"} for i, text in enumerate(TEXTS)]
    path = folder / f"in.{format}"
    if format == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["text", "topic"], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
    elif format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pl.DataFrame(rows).write_parquet(path)
    return path.name


def test_a_file_becomes_a_verified_release(call, tmp_path):
    done = call(write(tmp_path, "csv"), "--keep", "topic", "--out", "release")
    assert done.returncode == 0, done.stderr
    assert "5, 10 words drawn for each" in done.stdout
    assert "the column 'topic' is in the order of the input" in done.stderr
    assert_verified(tmp_path / "release")


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_all_formats_are_read(spark, parameters, tmp_path, format):
    frame = read(spark, [str(tmp_path / write(tmp_path, format))], "text")
    chosen = {**parameters, "length": 10}
    anonymize(frame, keep=["topic"], output="arrays", **chosen).write(str(tmp_path / "release"))
    assert_verified(tmp_path / "release")


def assert_verified(folder):
    report = verify(folder)
    assert report.verified
    assert report.documents == 5
    table = pl.read_parquet(folder / "data" / "*.parquet")
    assert sorted(table["topic"]) == [f"t{i}" for i in range(5)]
    assert table["counts"].list.sum().to_list() == [10] * 5
    assert not report.guarantee.seeded


def test_a_release_on_a_cluster_as_json(call, cluster, tmp_path):
    name = write(tmp_path, "parquet")
    done = call(
        str(tmp_path / name), "--id", "topic", "--out", str(tmp_path / "release"), "--json",
        master=cluster.master,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["documents"] == 5
    assert record["guarantee"] == json.loads((tmp_path / "release/guarantee.json").read_text())


def test_the_ledger_is_charged_as_on_one_machine(call, tmp_path):
    """Both engines charge the same names, so that they can share a ledger."""
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=50)
    name = write(tmp_path, "jsonl")
    done = call(name, "--ledger", "texts.ledger", "--out", "first")
    assert done.returncode == 0, done.stderr
    assert "30.00 for each of 5 documents (run 1)" in done.stdout
    (run,) = ledger.verify().runs
    assert (run.documents, run.named_by) == (5, "text")
    with pytest.raises(BudgetError):
        release(
            tmp_path / name, tmp_path / "third", ledger=ledger, length=10, loss=3,
            vocabulary=tmp_path / "words.txt", morphology="lower",
        )  # fmt: skip
    assert len(ledger.verify().runs) == 1


def test_an_error_of_spark_is_one_line_without_the_text(call, tmp_path):
    (tmp_path / "bad.csv").write_text("text,topic\nfine,1\nconfidential,2,3,4\n")
    done = call("bad.csv", "--out", "release")
    assert done.returncode == 2
    assert "Spark failed" in done.stderr
    assert "confidential" not in done.stderr + done.stdout
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_options_are_refused_with_a_reason(name):
    option = "insecure-seed" if name == "seed" else name.replace("_", "-")
    with pytest.raises(SyntfError, match=f"--{option} cannot be used with --engine spark: "):
        check({name: 17})
    check({name: None})
    check({name: False})


@pytest.mark.parametrize("name", ["seed", "jobs"])
def test_zero_counts_as_given(name):
    with pytest.raises(SyntfError, match="cannot be used with --engine spark: "):
        check({name: 0})


@pytest.mark.parametrize("name", FIXED)
def test_fixed_options_accept_one_value(name):
    check({name: FIXED[name][0]})
    with pytest.raises(
        SyntfError, match=f"--{name.replace('_', '-')} must be {FIXED[name][0]} with"
    ):
        check({name: "other"})


def test_addresses_and_formats(tmp_path):
    from pathlib import Path

    assert address(Path("s3a://bucket/a/b")) == "s3a://bucket/a/b"
    assert address(Path("/a/b")) == "/a/b"
    assert format_of("x/part-*.ndjson.bz2") == "jsonl"
    with pytest.raises(SyntfError, match=r"a cluster reads \.csv"):
        format_of("mails.mbox")


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "pandas"])
def test_a_missing_extra_names_the_pip_command(monkeypatch, missing):
    from syntf.spark import check_installed

    for name in ("pyspark", "pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, name, None if name == missing else sys)
    with pytest.raises(SyntfError, match=rf"needs {missing}.*pip install 'syntf\[spark\]'"):
        check_installed()
