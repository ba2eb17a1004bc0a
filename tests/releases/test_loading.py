"""The lines in README.txt that load a release do so, as they stand there."""

import re
from textwrap import dedent

import polars as pl
import pytest

from syntf.releases import draft
from syntf.releases.job import release

OPTIONS = {"length": 5, "vocabulary": ["cat", "dog", "car"]}


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


@pytest.mark.parametrize("format", ["npz", "mtx", "parquet", "svmlight", "jsonl", "text"])
def test_the_lines_for_python_load_a_release(made, format):
    loaded = {}
    exec(lines(made(format=format, **OPTIONS), "Python"), loaded)
    assert loaded["documents"]["topic"].to_list() == ["pets", "pets", "cars"]
    assert loaded["terms"] == ["cat", "dog", "car"]
    if format in ("npz", "mtx"):
        assert loaded["counts"].shape == (3, 3)
        assert loaded["counts"].sum(axis=1).ravel().tolist() == [[5, 5, 5]]
    elif format == "parquet":
        assert loaded["counts"]["counts"].list.sum().to_list() == [5, 5, 5]
    else:
        assert "counts" not in loaded


def test_the_lines_for_sql_load_a_release(made):
    queries = lines(made(format="parquet", **OPTIONS), "SQL (DuckDB)").split(";\n")[:-1]
    counts, documents = (pl.sql(query).collect() for query in queries)
    assert counts["counts"].list.sum().to_list() == [5, 5, 5]
    assert documents["topic"].to_list() == ["pets", "pets", "cars"]


def test_the_lines_for_r_name_the_files(made):
    readme = made(document_loss=10.0, format="mtx")
    _, counts, documents, terms = lines(readme, "R").splitlines()
    assert re.fullmatch(r'counts <- read\("vectors(-\*)?\.mtx", Matrix::readMM\)', counts)
    assert re.fullmatch(
        r'documents <- read\("documents(-\*)?\.parquet", arrow::read_parquet\)', documents
    )
    assert terms == 'terms <- readLines("vocabulary.txt", encoding = "UTF-8")'
