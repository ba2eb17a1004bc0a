"""`syntf anonymize --engine spark`, as a process of its own."""

import csv
import json
import os
import subprocess
import sys

import polars as pl
import pytest

from syntf.cli.spark import APART, FIXED, address, check
from syntf.core.errors import SyntfError
from syntf.spark.inputs import kind
from syntf.verification.verify import verify

SCRIPT = "from syntf.cli import main; main()"
OPTIONS = ["--vocabulary", "words.txt", "--length", "10", "--loss", "3", "--morphology", "lower"]
TEXTS = ["cat, dog", 'a "quoted" cat', "two\nlines, one cat", "", "Ünïcode 猫"]


@pytest.fixture
def call(cluster, tmp_path):
    """Runs the program, as long as the session of other tests leaves it a worker."""
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


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_file_in_a_release_out(call, tmp_path, format):
    done = call(write(tmp_path, format), "--keep", "topic", "--out", "release")
    assert done.returncode == 0, done.stderr
    assert "5 documents, 10 words drawn for each" in done.stdout
    report = verify(tmp_path / "release")
    assert report.verified
    assert report.documents == 5
    table = pl.read_parquet(tmp_path / "release" / "data" / "*.parquet")
    assert sorted(table["topic"]) == [f"t{i}" for i in range(5)]
    assert table["counts"].list.sum().to_list() == [10] * 5
    assert not report.guarantee.seeded


def test_on_a_cluster_as_json(call, cluster, tmp_path):
    name = write(tmp_path, "parquet")
    done = call(
        str(tmp_path / name), "--id", "topic", "--out", str(tmp_path / "release"), "--json",
        master=cluster.master,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["documents"] == 5
    assert told["guarantee"] == json.loads((tmp_path / "release/guarantee.json").read_text())


def test_what_stops_spark_is_one_line_without_the_text(call, tmp_path):
    (tmp_path / "bad.csv").write_text("text,topic\nfine,1\nconfidential,2,3,4\n")
    done = call("bad.csv", "--out", "release")
    assert done.returncode == 2
    assert "Spark stopped" in done.stderr
    assert "confidential" not in done.stderr + done.stdout
    assert not (tmp_path / "release" / "guarantee.json").exists()


def test_a_cluster_that_is_not_there_is_no_fault_of_ours(call, tmp_path):
    done = call(write(tmp_path, "jsonl"), "--out", "release", master="nonsense://host:1")
    assert done.returncode == 2
    assert "Spark stopped (JAVA_GATEWAY_EXITED): see that Java 17 is there, and" in done.stderr


@pytest.mark.parametrize("name", APART)
def test_options_that_have_no_place_are_refused_with_a_reason(name):
    option = "insecure-seed" if name == "seed" else name
    with pytest.raises(SyntfError, match=f"--{option} is not for --engine spark: "):
        check({name: 17})
    check({name: None})
    check({name: False})


@pytest.mark.parametrize("name", ["seed", "jobs"])
def test_a_nought_is_said_all_the_same(name):
    with pytest.raises(SyntfError, match="is not for --engine spark: "):
        check({name: 0})


@pytest.mark.parametrize("name", FIXED)
def test_options_with_one_value_take_it_and_no_other(name):
    check({name: FIXED[name][0]})
    with pytest.raises(SyntfError, match=f"--{name.replace('_', '-')} is {FIXED[name][0]} with"):
        check({name: "other"})


def test_addresses_and_kinds(tmp_path):
    from pathlib import Path

    assert address(Path("s3a://bucket/a/b")) == "s3a://bucket/a/b"
    assert address(Path("/a/b")) == "/a/b"
    assert kind("x/part-*.ndjson.bz2") == "jsonl"
    with pytest.raises(SyntfError, match=r"a cluster reads \.csv"):
        kind("mails.mbox")


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "pandas"])
def test_without_the_extra_one_line_says_what_to_install(monkeypatch, missing):
    from syntf.spark import check_installed

    for name in ("pyspark", "pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, name, None if name == missing else sys)
    with pytest.raises(SyntfError, match=rf"needs {missing}.*pip install 'syntf\[spark\]'"):
        check_installed()
