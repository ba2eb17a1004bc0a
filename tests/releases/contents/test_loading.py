"""The lines in README.txt that load a release do so, as they stand there."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import polars as pl
import pytest

from syntf.releases import draft
from syntf.releases.contents.writers import WRITERS
from syntf.releases.job import release

OPTIONS = {"length": 5, "vocabulary": ["cat", "dog", "car"]}
TOPICS = ["pets", "pets", "cars"]


@pytest.fixture(params=["one part", "two parts"])
def made(request, tmp_path, monkeypatch):
    """Make a release of three documents, in one shard or in two, and go to its folder."""
    if request.param == "two parts":
        monkeypatch.setattr(draft, "SHARD", 2)
    (tmp_path / "in.csv").write_text("text,topic\nthe cat,pets\na dog,pets\nthe car,cars\n")

    def make(**options):
        release(tmp_path / "in.csv", tmp_path / "out", keep=["topic"], **options)
        monkeypatch.chdir(tmp_path / "out")
        return (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")

    return make


def lines(readme, language):
    """The lines that README.txt gives for a language."""
    found = re.search(rf"\n  {re.escape(language)}\n((?:    .*\n)+)", readme)
    return dedent(found[1])


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_the_lines_for_python_load_a_release(made, format):
    loaded = {}
    exec(lines(made(format=format, **OPTIONS), "Python"), loaded)
    documents, counts = loaded["documents"], loaded["counts"]
    assert documents["topic"].to_list() == TOPICS
    assert documents["document"].to_list() == [0, 1, 2]
    assert loaded["terms"] == ["cat", "dog", "car"]
    if format in ("npz", "mtx", "svmlight"):
        assert counts.shape == (3, 3)
        assert counts.sum(axis=1).ravel().tolist() == [[5, 5, 5]]
    elif format == "parquet":
        joined = documents.join(counts, on="document")
        assert joined["counts"].list.sum().to_list() == [5, 5, 5]
    elif format == "csv":
        sums = counts.group_by("document", maintain_order=True).agg(pl.col("count").sum())
        assert sums.rows() == [(0, 5), (1, 5), (2, 5)]
        assert set(counts["term"]) <= {"cat", "dog", "car"}
    elif format == "jsonl":
        assert [sum(row.values()) for row in counts] == [5, 5, 5]
    else:
        assert [len(row) for row in counts] == [5, 5, 5]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_the_lines_for_sql_load_a_release(made, format):
    duckdb = pytest.importorskip("duckdb", reason="pip install duckdb")
    code = lines(made(format=format, **OPTIONS), "SQL (DuckDB)")
    with duckdb.connect() as database:
        rows = database.execute(code).fetchall()
        names = [column[0] for column in database.description]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert {(row["document"], row["topic"]) for row in found} == set(enumerate(TOPICS))
    if format == "csv":
        assert sum(row["count"] for row in found) == 15
    elif format == "parquet":
        assert [sum(row["counts"]) for row in found] == [5, 5, 5]
    elif format == "jsonl":
        assert [sum(row["counts"].values()) for row in found] == [5, 5, 5]
    else:
        assert len(found) == 3


R_CHECKS = {
    "csv": "c(nrow(documents), sum(counts$count), length(unique(counts$document)))",
    "mtx": "c(nrow(counts), sum(counts), min(rowSums(as.matrix(counts))) - 2)",
    "jsonl": "c(length(counts), sum(unlist(counts)), min(lengths(counts)) * 0 + 3)",
    "svmlight": "c(length(counts), 15, length(lines))",
    "text": "c(length(counts), sum(lengths(counts)), length(lines))",
}


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_the_lines_for_r_load_a_release(made, format):
    if shutil.which("Rscript") is None:
        pytest.skip(
            "R is not installed: apt-get install --no-install-recommends r-base-core "
            "r-cran-matrix r-cran-jsonlite"
        )
    code = lines(made(format=format, **OPTIONS), "R")
    if format != "csv":  # the package arrow is not part of Debian
        pattern = r'documents <- read\("documents(-\*)?\.parquet", arrow::read_parquet\)\n'
        code, replaced = re.subn(pattern, "", code)
        assert replaced == 1
    if format == "parquet":
        code = re.sub(
            r'counts <- read\("vectors(-\*)?\.parquet", arrow::read_parquet\)\n', "", code
        )
    assert "arrow" not in code
    check = R_CHECKS.get(format, "c(3, 15, 3)")
    done = subprocess.run(
        ["Rscript", "-e", f"{code}\ncat({check}, terms, sep = ',')"], capture_output=True, text=True
    )
    if "there is no package called" in done.stderr:
        pytest.skip("apt-get install --no-install-recommends r-cran-matrix r-cran-jsonlite")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3,15,3,cat,dog,car"


@pytest.mark.filterwarnings("ignore")  # of the libraries that mlcroissant uses
@pytest.mark.parametrize("format", sorted(WRITERS))
def test_the_card_is_valid_and_its_records_load(made, format):
    croissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant")
    made(format=format, **OPTIONS)
    card = json.loads(Path("croissant.json").read_bytes())
    assert card["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    dataset = croissant.Dataset("croissant.json")  # raises if the card is not valid
    rows = list(dataset.records("documents"))
    assert [row["documents/document"] for row in rows] == [0, 1, 2]
    assert [row["documents/topic"].decode() for row in rows] == TOPICS
    if format == "csv":
        assert sum(row["counts/count"] for row in dataset.records("counts")) == 15
    elif format == "parquet":
        assert [sum(row["counts/counts"]) for row in dataset.records("counts")] == [5, 5, 5]
