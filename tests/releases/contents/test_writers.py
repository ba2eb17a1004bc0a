"""Each format, read back by the tool it is for."""

import json
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.io import mmread
from scipy.sparse import csr_matrix, load_npz
from sklearn.datasets import load_svmlight_file

from syntf.core.counts import compact
from syntf.releases.contents import archive, writers
from syntf.releases.contents.writers import WRITERS

TERMS = ["zebra", "apple", "naïve", 'say "hi"', "égal"]
COUNTS = csr_matrix(np.array([[0, 2, 0, 1, 0], [3, 0, 0, 0, 0], [0, 0, 1, 1, 1]], dtype=np.int32))


@pytest.fixture
def written(tmp_path):
    def write(format, first=0):
        suffix, writer = WRITERS[format]
        path = tmp_path / f"vectors{suffix}"
        with path.open("wb") as file:
            writer(file, COUNTS, TERMS, first)
        return path

    return write


def test_npz_in_scipy(written):
    found = load_npz(written("npz"))
    assert (found != COUNTS).nnz == 0
    assert (found.format, found.dtype) == ("csr", np.int32)


def test_parquet_in_polars(written):
    found = pl.read_parquet(written("parquet", first=10))
    assert found.to_dicts() == [
        {"document": 10, "terms": ["apple", 'say "hi"'], "counts": [2, 1]},
        {"document": 11, "terms": ["zebra"], "counts": [3]},
        {"document": 12, "terms": ["naïve", 'say "hi"', "égal"], "counts": [1, 1, 1]},
    ]


def test_matrix_market_in_scipy(written):
    found = mmread(written("mtx"))
    assert (csr_matrix(found) != COUNTS).nnz == 0


def test_matrix_market_in_gensim(written):
    corpora = pytest.importorskip("gensim.corpora", reason="needs gensim: pip install gensim")
    rows = [dict(document) for document in corpora.MmCorpus(str(written("mtx")))]
    assert rows == [{1: 2, 3: 1}, {0: 3}, {2: 1, 3: 1, 4: 1}]


def test_svmlight_in_scikit_learn(written):
    found, target = load_svmlight_file(str(written("svmlight")), n_features=5)
    assert (found != COUNTS).nnz == 0
    assert target.tolist() == [0, 0, 0]


def test_svmlight_columns_count_from_one(written):
    """The reader guesses the base from the least column: without column 0 it must guess right."""
    assert written("svmlight").read_text().splitlines()[0] == "0 2:2 4:1"


def test_json_lines_in_json(written):
    lines = written("jsonl", first=7).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"document": 7, "counts": {"apple": 2, 'say "hi"': 1}},
        {"document": 8, "counts": {"zebra": 3}},
        {"document": 9, "counts": {"naïve": 1, 'say "hi"': 1, "égal": 1}},
    ]


def test_text_repeats_each_word_in_alphabetical_order(written):
    assert written("text").read_text(encoding="utf-8") == (
        'apple apple say "hi"\nzebra zebra zebra\nnaïve say "hi" égal\n'
    )


@pytest.mark.parametrize(("format", "rows"), list(product(WRITERS, [1, 3])))
def test_every_format_supports_any_number_of_documents(tmp_path, format, rows):
    suffix, writer = WRITERS[format]
    with (tmp_path / f"v{suffix}").open("wb") as file:
        writer(file, COUNTS[:rows], TERMS, 0)
    assert (tmp_path / f"v{suffix}").stat().st_size > 0


@pytest.mark.parametrize("format", WRITERS)
def test_bytes_do_not_depend_on_integer_types_or_piece_sizes(tmp_path, monkeypatch, format):
    _, writer = WRITERS[format]
    with (tmp_path / "whole").open("wb") as file:
        writer(file, COUNTS, TERMS, 7)
    monkeypatch.setattr(archive, "PIECE", 2)
    monkeypatch.setattr(writers, "LISTED_DOCUMENTS", 2)
    with (tmp_path / "parts").open("wb") as file:
        writer(file, compact(COUNTS), TERMS, 7)
    if format == "parquet":  # whose groups of rows are these pieces
        whole, parts = (pl.read_parquet(tmp_path / name) for name in ("whole", "parts"))
        assert whole.equals(parts)
        assert whole.schema == parts.schema
    elif format == "npz":  # packed in other pieces
        whole, parts = (load_npz(tmp_path / name) for name in ("whole", "parts"))
        assert (whole != parts).nnz == 0
        assert (parts.data.dtype, parts.indices.dtype) == (np.int32, np.int32)
    else:
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
