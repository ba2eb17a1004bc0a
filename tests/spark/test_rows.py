"""Frames are refused if a repeated task could see other rows."""

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.spark import anonymize, rows
from syntf.spark.rows import NOT_UNIQUE, Numbering, with_places


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
def test_a_frame_from_a_shuffle_needs_an_id(frame, parameters, shuffled):
    with pytest.raises(SyntfError, match=r"from a shuffle.*name the documents with id"):
        anonymize(shuffled(frame(20, 2)), **parameters)


def test_a_frame_from_a_shuffle_is_accepted_with_an_id(frame, parameters):
    shuffled = frame(40, 4).repartition(3).orderBy("text")
    data = anonymize(shuffled, id="name", **parameters).data
    assert sorted(map(str, data.collect())) == sorted(map(str, data.repartition(5).collect()))


@pytest.mark.parametrize("id", [None, "name"])
def test_expressions_that_change_are_refused(frame, parameters, id):
    from pyspark.sql import functions

    given = frame(20, 2).where(functions.rand() < 0.5)
    with pytest.raises(SyntfError, match="change with every evaluation"):
        anonymize(given, id=id, **parameters)


@pytest.fixture
def ambiguous(spark):
    """Make frames in which an id occurs twice, or is missing."""
    repeated = [(f"n{i % 19}", "x") for i in range(20)]
    missing = [("a", "x"), (None, "y")]
    return {
        name: spark.createDataFrame(rows, "name string, text string")
        for name, rows in {"repeated": repeated, "missing": missing}.items()
    }


@pytest.mark.parametrize("fault", ["repeated", "missing"])
def test_ids_must_be_present_and_unique(ambiguous, parameters, tmp_path, fault):
    """The pass that draws finds it out, wherever the rows are."""
    release = anonymize(ambiguous[fault], id="name", **parameters)
    with pytest.raises(
        SyntfError, match="'name' must have a different value for every document"
    ) as caught:
        release.write(str(tmp_path / "out"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    if fault == "repeated":
        for look in (
            release.data.count,
            release.data.where("name = 'n0'").select("counts").collect,
        ):
            with pytest.raises(Exception, match=NOT_UNIQUE):
                look()


@pytest.mark.parametrize("fault", ["repeated", "missing"])
def test_ambiguous_ids_are_not_charged(ambiguous, parameters, tmp_path, fault):
    ledger = Ledger.create(tmp_path / "ledger", budget=1000)
    release = anonymize(ambiguous[fault], id="name", ledger=ledger, **parameters)
    with pytest.raises(SyntfError, match="'name' must have a different value for every document"):
        release.write(str(tmp_path / "out"))
    assert not ledger.verify().runs


def test_ids_are_checked_without_a_further_shuffle(frame, parameters):
    """The whole plan has one exchange: the one that deals rows to parts."""
    plan = anonymize(frame(20, 2), id="name", **parameters).data._jdf.queryExecution()
    assert plan.executedPlan().toString().count("Exchange") == 1


def test_ids_are_text_or_whole_numbers(spark, parameters):
    real = spark.createDataFrame([(1.0, "x")], "name double, text string")
    with pytest.raises(
        SyntfError, match="'name' has the type double: ids are text or whole numbers"
    ):
        anonymize(real, id="name", **parameters)


def test_adaptive_execution_is_restored(frame, parameters, spark):
    before = spark.conf.get("spark.sql.adaptive.enabled")
    anonymize(frame(4, 1), **parameters)
    assert spark.conf.get("spark.sql.adaptive.enabled") == before
    with pytest.raises(SyntfError):
        anonymize(frame(4, 1).repartition(2), **parameters)
    assert spark.conf.get("spark.sql.adaptive.enabled") == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "txt"}, "no column 'txt'; did you mean 'text'"),
        ({"text": "topic"}, "'topic' has the type int: texts are string or binary"),
        ({"keep": ["text"]}, "'text' cannot be released"),
        ({"keep": ["nobody"]}, "no column 'nobody'"),
        ({"keep": "topic"}, r"keep is a list of columns: keep=\['topic'\]"),
        ({"output": "matrix"}, "output must be vector or arrays, not 'matrix'"),
        ({"fit_vocabulary": True, "vocabulary": None}, "a cluster cannot fit on the texts"),
        ({"weights": "tfidf", "idf": "fitted"}, "a cluster cannot fit on the texts"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_runs(frame, parameters, options, message):
    with pytest.raises(SyntfError, match=message):
        anonymize(frame(4, 1), **{**parameters, **options})


def test_reserved_and_repeated_columns_are_refused(frame, parameters):
    given = frame(4, 1)
    with pytest.raises(SyntfError, match="the release has its own column 'counts'"):
        anonymize(given.withColumnRenamed("topic", "counts"), keep=["counts"], **parameters)
    with pytest.raises(SyntfError, match="more than one column 'topic'"):
        anonymize(given.select("*", "topic"), keep=["topic"], **parameters)


def test_unusual_column_names_and_texts(spark, parameters):
    rows = [(1, "a", None), (2, "b", ""), (3, "c", "cat \u0000 dog"), (4, "d", "🐈" * 1000)]
    given = spark.createDataFrame(rows, "`a.b` long, `c ``d` string, `the text` string")
    data = anonymize(given, text="the text", keep=["c `d"], id="a.b", **parameters).data
    assert data.columns == ["a.b", "c `d", "counts"]
    assert [sum(row["counts"].values) for row in data.collect()] == [30] * 4
    binary = given.selectExpr("cast(`the text` as binary) as text")
    assert anonymize(binary, **parameters).documents == 4


@pytest.mark.parametrize(("declared", "private"), [("yes", True), ("no", False)])
def test_a_vocabulary_is_what_its_header_declares(frame, parameters, tmp_path, declared, private):
    path = tmp_path / "terms.txt"
    path.write_text(f"# syntf vocabulary\n# documents: 9\n# public: {declared}\n\ncat\ndog\n")
    release = anonymize(frame(4, 1), **{**parameters, "vocabulary": str(path)})
    assert release.guarantee.private == private


def test_document_numbers_follow_file_names_and_not_file_sizes(spark, parameters, tmp_path):
    """Spark reads the largest file first, and so the longest texts."""
    for name, texts in {"a": ["cat"] * 3, "b": ["dog " * 5000] * 2, "c": ["cow " * 100]}.items():
        lines = (f'{{"text": "{text}", "name": "{name}{i}"}}\n' for i, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    frame = spark.read.schema("text string, name string").json(str(tmp_path))
    selected = frame.selectExpr("name as kept_0", "*")
    placed, numbering = with_places(selected)
    numbers = {
        row["kept_0"]: int(numbering.numbers_of(np.array([row["place"]]))[0])
        for row in placed.collect()
    }
    assert numbers == {"a0": 0, "a1": 1, "a2": 2, "b0": 3, "b1": 4, "c0": 5}


def test_rows_that_were_not_counted_are_refused():
    numbering = Numbering.of_splits([("a", 0, 3), ("b", 1 << 33, 2)])
    assert numbering.documents == 5
    assert numbering.numbers_of(np.array([0, 2, 1 << 33, (1 << 33) + 1])).tolist() == [0, 2, 3, 4]
    for place in (3, (1 << 33) + 2, 2 << 33, -1):
        with pytest.raises(RuntimeError, match="changed"):
            numbering.numbers_of(np.array([place]))


def test_places_and_numbers_are_each_others_inverse():
    splits = [("c", 0, 3), ("a", 3, 4), ("b", 1 << 33, 2), ("a2", 5 << 33, 1)]
    numbering = Numbering.of_splits(splits)
    places = numbering.places_of(np.arange(10))
    assert places.tolist() == [3, 4, 5, 6, 5 << 33, 1 << 33, (1 << 33) + 1, 0, 1, 2]
    assert numbering.numbers_of(places).tolist() == list(range(10))


@pytest.fixture
def stored(spark, tmp_path):
    """Make frames of 2,000 rows that are read from small row groups of Parquet or ORC."""

    def make(format="parquet"):
        made = spark.range(2000).selectExpr("concat('n', id) as name", "repeat('cat ', 50) as text")
        made.coalesce(1).write.option("parquet.block.size", 4096).format(format).save(
            f"{tmp_path}/{format}"
        )
        return spark.read.format(format).load(f"{tmp_path}/{format}")

    return make


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_documents_are_counted_without_reading_texts(spark, stored, parameters, tmp_path, format):
    """The texts of this frame cannot be computed. Counting does not notice, but drawing does."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        broken = stored(format).selectExpr("name", "cast(cast(text as int) as string) as text")
        release = anonymize(broken.where("name <> 'n7'"), **parameters)
        assert release.documents == 1999
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            release.write(str(tmp_path / "out"))
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_places_are_counted_from_the_partitions_that_are_drawn_for(spark, stored):
    """If Spark would cut the files otherwise now, the rows that were planned are counted."""
    from pyspark.sql import functions

    placed = stored().withColumn("place", functions.monotonically_increasing_id())
    planned = placed._jdf.queryExecution().toRdd()
    assert rows._only_places(placed, planned).count() == 2000
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        assert rows._only_places(placed, planned) is None
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


@pytest.mark.parametrize(
    "combined",
    [
        lambda frame: frame.union(frame),
        lambda frame: frame.coalesce(1),
        lambda frame: frame.join(frame.where("name = 'n1'").hint("broadcast"), "name"),
    ],
    ids=["union", "coalesced", "joined"],
)
def test_frames_that_move_rows_are_counted_as_they_are_drawn_for(stored, combined):
    from pyspark.sql import functions

    placed = combined(stored()).withColumn("place", functions.monotonically_increasing_id())
    assert rows._only_places(placed, placed._jdf.queryExecution().toRdd()) is None


def test_rows_of_text_files_are_counted_with_all_their_columns(spark, parameters, tmp_path):
    """Which rows are left out as broken depends on the columns that are read."""
    (tmp_path / "in.csv").write_text("cat,1\ndog,broken\ncow,3\n")
    reader = spark.read.schema("text string, number int").option("mode", "DROPMALFORMED")
    release = anonymize(reader.csv(str(tmp_path / "in.csv")), keep=["number"], **parameters)
    assert release.documents == 2
    assert release.write(str(tmp_path / "out")).documents == 2
