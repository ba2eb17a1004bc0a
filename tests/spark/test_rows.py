"""Frames of which a task done again would see other rows are refused."""

import pytest

from syntf.core.errors import SyntfError
from syntf.spark import anonymize


@pytest.mark.parametrize(
    "shuffled",
    [
        lambda frame: frame.repartition(3),
        lambda frame: frame.orderBy("text"),
        lambda frame: frame.groupBy("text").count(),
        lambda frame: frame.join(frame.select("text").distinct(), "text"),
        lambda frame: frame.repartition(3).where("topic = 1").select("text"),
        lambda frame: frame.limit(10),
    ],
    ids=["repartitioned", "sorted", "grouped", "joined", "filtered after", "limited"],
)
def test_rows_without_a_place_need_a_name(frame, parameters, shuffled):
    with pytest.raises(SyntfError, match=r"from a shuffle.*name the documents by a column"):
        anonymize(shuffled(frame(20, 2)), **parameters)


def test_names_do_where_places_do_not(frame, parameters):
    shuffled = frame(40, 4).repartition(3).orderBy("text")
    data = anonymize(shuffled, id="name", **parameters).data
    assert sorted(map(str, data.collect())) == sorted(map(str, data.repartition(5).collect()))


@pytest.mark.parametrize("id", [None, "name"])
def test_what_differs_each_time_is_refused(frame, parameters, id):
    from pyspark.sql import functions

    given = frame(20, 2).where(functions.rand() < 0.5)
    with pytest.raises(SyntfError, match="evaluates differently each time"):
        anonymize(given, id=id, **parameters)


def test_names_must_be_all_there_and_each_once(frame, parameters, spark):
    with pytest.raises(SyntfError, match="'topic' does not name every document"):
        anonymize(frame(20, 2), id="topic", **parameters)
    missing = spark.createDataFrame([("a", "x"), (None, "y")], "name string, text string")
    with pytest.raises(SyntfError, match="'name' does not name every document"):
        anonymize(missing, id="name", **parameters)
    real = spark.createDataFrame([(1.0, "x")], "name double, text string")
    with pytest.raises(SyntfError, match="'name' is double: names are text or whole numbers"):
        anonymize(real, id="name", **parameters)


def test_adaptive_execution_is_as_it_was(frame, parameters, spark):
    before = spark.conf.get("spark.sql.adaptive.enabled")
    anonymize(frame(4, 1), **parameters)
    assert spark.conf.get("spark.sql.adaptive.enabled") == before
    with pytest.raises(SyntfError):
        anonymize(frame(4, 1).repartition(2), **parameters)
    assert spark.conf.get("spark.sql.adaptive.enabled") == before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"text": "txt"}, "no column 'txt'; did you mean 'text'"),
        ({"text": "topic"}, "'topic' has no texts: it is int"),
        ({"keep": ["text"]}, "'text' cannot be released"),
        ({"keep": ["nobody"]}, "no column 'nobody'"),
        ({"keep": "topic"}, r"keep is a list of columns: keep=\['topic'\]"),
        ({"output": "matrix"}, "output must be vector or arrays, not 'matrix'"),
        ({"fit_vocabulary": True, "vocabulary": None}, "a cluster fits nothing"),
        ({"weights": "tfidf", "idf": "fitted"}, "a cluster fits nothing"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_runs(frame, parameters, options, told):
    with pytest.raises(SyntfError, match=told):
        anonymize(frame(4, 1), **{**parameters, **options})


def test_a_column_of_ours_and_one_that_is_there_twice(frame, parameters):
    given = frame(4, 1)
    with pytest.raises(SyntfError, match="the counts are in a column 'counts'"):
        anonymize(given.withColumnRenamed("topic", "counts"), keep=["counts"], **parameters)
    with pytest.raises(SyntfError, match="more than one column 'topic'"):
        anonymize(given.select("*", "topic"), keep=["topic"], **parameters)


def test_odd_names_odd_texts_and_missing_ones(spark, parameters):
    rows = [(1, "a", None), (2, "b", ""), (3, "c", "cat \u0000 dog"), (4, "d", "🐈" * 1000)]
    given = spark.createDataFrame(rows, "`a.b` long, `c ``d` string, `the text` string")
    data = anonymize(given, text="the text", keep=["c `d"], id="a.b", **parameters).data
    assert data.columns == ["a.b", "c `d", "counts"]
    assert [sum(row["counts"].values) for row in data.collect()] == [30] * 4
    binary = given.selectExpr("cast(`the text` as binary) as text")
    assert anonymize(binary, **parameters).data.count() == 4


@pytest.mark.parametrize(("declared", "private"), [("yes", True), ("no", False)])
def test_a_vocabulary_is_what_its_header_declares(frame, parameters, tmp_path, declared, private):
    path = tmp_path / "terms.txt"
    path.write_text(f"# syntf vocabulary\n# documents: 9\n# public: {declared}\n\ncat\ndog\n")
    release = anonymize(frame(4, 1), **{**parameters, "vocabulary": str(path)})
    assert release.guarantee.private == private
