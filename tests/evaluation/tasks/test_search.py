"""Search: reading queries and judgements, and the scores of texts and releases."""

import json

import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.core.errors import SyntfError
from syntf.evaluation.tasks.judgements import read_search_task
from syntf.evaluation.tasks.search import evaluate_search
from syntf.pipeline.settings import Settings

pytest.importorskip("bm25s", reason="needs bm25s: pip install 'syntf[evaluate]'")

TEXTS = [
    "The rocket reached its orbit around the moon.",
    "Fry the garlic and add the soup.",
    "The goalkeeper saved the penalty of the football team.",
    "A spacecraft with two astronauts left for space.",
    "Bake the bread and melt the cheese.",
    "The hockey team lost the final match.",
]
DOCUMENTS = pl.DataFrame({"id": [f"d{i}" for i in range(6)], "text": TEXTS})
QUERIES = "id,text\nq1,orbit of a spacecraft\nq2,bread and soup\nq3,football team\n"
RELEVANCE = "query,doc\nq1,d0\nq1,d3\nq2,d1\nq2,d4\nq3,d2\nq3,d5\n"


@pytest.fixture
def task(tmp_path):
    """Reads a task from the contents of two files."""

    def read(queries=QUERIES, relevance=RELEVANCE, **options):
        (tmp_path / "queries.csv").write_text(queries)
        (tmp_path / "relevance.csv").write_text(relevance)
        return read_search_task(
            DOCUMENTS, tmp_path / "queries.csv", tmp_path / "relevance.csv",
            text="text", id="id", **options,
        )  # fmt: skip

    return read


def test_judgements_are_matched_with_documents_and_queries(task):
    found = task(relevance="query,doc,grade\nq2,d4,2\nq1,d0,1\nq1,d1,0\n")
    assert [(one.query, one.documents.tolist(), one.grades.tolist()) for one in found.judged] == [
        (0, [0], [1.0]),
        (1, [4], [2.0]),
    ]
    assert found.notices == ["1 of 3 queries have no relevant document"]


def test_other_column_names(task):
    found = task(
        "number,question\n1,orbit\n", "topic,file,rel\n1,d0,3\n",
        query_columns=("number", "question"), relevance_columns=("topic", "file", "rel"),
    )  # fmt: skip
    assert found.query_names == ["1"]
    assert found.judged[0].grades.tolist() == [3.0]


def test_judgements_for_missing_documents_are_named_by_their_row(task):
    found = task(relevance=RELEVANCE + "q1,d99\nq9,d1\n")
    assert len(found.judged) == 3
    assert found.notices == [
        "1 of 8 judgements in relevance.csv name a query that is not in queries.csv; the first is "
        "in row 8",
        "1 of 8 judgements in relevance.csv name a document that is not in column 'id' of the "
        "documents; the first is in row 7",
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"relevance": "query,doc\nq1,d99\n"}, "no query has a relevant document: 1 of 1 judge"),
        ({"relevance": "query,doc,grade\nq1,d0,0\n"}, "no grade in relevance.csv is above 0"),
        ({"relevance": "query,doc,grade\nq1,d0,high\n"}, "numbers from 0 on, but row 1 does not"),
        ({"queries": "id,text\nq1,a\nq1,b\n"}, "must identify every row, but row 2 repeats"),
        ({"queries": "id,text\n,a\n"}, "must identify every row, but row 1 is empty"),
        ({"queries": "id,question\nq1,a\n"}, "no column 'text'"),
    ],
)
def test_bad_files_are_refused_in_one_line(task, files, message):
    with pytest.raises(SyntfError, match=message) as error:
        task(**files)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        Settings.from_preset(document_loss=60.0),
        Settings.from_preset("words", loss=30.0),
    ],
    ids=["document", "words"],
)
def test_almost_noiseless_releases_find_the_right_documents(task, settings):
    results, notices = evaluate_search(task(), settings, runs=2)
    assert not notices
    scores = {one.method: one.score for one in results}
    assert list(scores) == ["original", "vectorised", "syntf", "chance"]
    assert scores["syntf"].mean_average_precision > 0.8
    assert scores["vectorised"].mean_average_precision == 1
    assert scores["chance"].mean_average_precision < 0.6


def test_queries_without_a_known_word_are_counted(task):
    queries = QUERIES.replace("football team", "xqzv")
    _, notices = evaluate_search(task(queries), Settings.from_preset(document_loss=10.0), runs=1)
    (notice,) = notices
    assert notice.startswith("1 of 3 queries without a known word")
    assert notice.endswith("row 3")
    unknown = "id,text\nq1,xqzv\nq2,\nq3,wvqx\n"
    with pytest.raises(SyntfError, match="no query has a known word"):
        evaluate_search(task(unknown), Settings.from_preset(document_loss=10.0), runs=1)


def test_evaluate_measures_search_without_labels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    DOCUMENTS.write_csv("docs.csv")
    (tmp_path / "q.csv").write_text(QUERIES)
    (tmp_path / "r.csv").write_text(RELEVANCE)
    command = ["evaluate", "docs.csv", "--queries", "q.csv", "--relevance", "r.csv", "--json"]

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["syntf", *command, *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return int(stopped.value.code or 0), capsys.readouterr()

    code, shown = call("--id", "id", "--runs", "2", "--out", "proof")
    assert code == 0, shown.err
    record = json.loads(shown.out)
    assert [one["method"] for one in record["search"]] == [
        "original", "vectorised", "syntf", "chance",
    ]  # fmt: skip
    assert (tmp_path / "proof" / "search.csv").read_text().count("\n") == 5
    code, shown = call("--out", "other")
    assert code == 2
    assert "search needs all of --queries, --relevance and --id" in shown.err
