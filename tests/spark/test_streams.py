"""Streams: a batch that is repeated has the same draws, and tables carry the guarantee."""

import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.spark import StreamKey, anonymize, guarantee_of


def add_file(folder, first, last):
    """Add documents to the source of a stream; it appears at once."""
    folder.mkdir(exist_ok=True)
    rows = {
        "name": [f"n{i}" for i in range(first, last)],
        "text": ["cat dog"] * (last - first),
    }
    pl.DataFrame(rows).write_parquet(folder.parent / "draft")
    (folder.parent / "draft").rename(folder / f"{first}.parquet")


def released(path):
    """Return the rows of a table by their names; there must be one for each."""
    rows = pl.read_parquet(path / "*.parquet").select("name", "terms", "counts").rows()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1:] for row in rows}


def test_a_repeated_batch_has_the_same_draws(spark, parameters, tmp_path):
    """A query fails after it has written batch 1, and starts again from its checkpoint."""
    add_file(tmp_path / "in", 0, 20)
    attempts = []

    def run(*, fails):
        key = StreamKey.open(tmp_path / "stream.key")  # as a new process would

        def release(batch, number):
            attempts.append(number)
            out = tmp_path / f"try-{len(attempts)}"
            with anonymize(
                batch, id="name", output="arrays", key=key.batch(number), **parameters
            ) as made:
                made.data.write.parquet(str(out))
            if number == fails:
                raise RuntimeError("the sink failed after it had written")

        stream = spark.readStream.schema("name string, text string")
        stream = stream.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
        writer = stream.writeStream.foreachBatch(release)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        return writer.trigger(availableNow=True).start()

    run(fails=None).awaitTermination()
    add_file(tmp_path / "in", 20, 40)
    with pytest.raises(Exception, match="the sink failed"):
        run(fails=1).awaitTermination()
    run(fails=None).awaitTermination()
    assert attempts == [0, 1, 1]
    first, failed, repeated = (released(tmp_path / f"try-{n}") for n in (1, 2, 3))
    assert failed == repeated
    assert set(first) == {f"n{i}" for i in range(20)}
    assert set(failed) == {f"n{i}" for i in range(20, 40)}
    draws = {str(counts) for counts in [*first.values(), *failed.values()]}
    assert len(draws) > 35  # equal texts have their own draws, in every batch
    stated = guarantee_of(spark.read.parquet(str(tmp_path / "try-3")))
    assert stated.loss_per_document == 120


def test_another_batch_and_another_loss_draw_again(frame, parameters, tmp_path):
    key = StreamKey.open(tmp_path / "stream.key")

    def draws(number, **changed):
        given = {**parameters, **changed}
        rows = anonymize(frame(20, 2), id="name", key=key.batch(number), **given).data.collect()
        return {row["name"]: str(row["counts"]) for row in rows}

    first = draws(1)
    assert draws(1) == first
    for other in (draws(2), draws(1, loss=4.5)):
        assert sum(other[name] == drawn for name, drawn in first.items()) < 5


def test_a_batch_needs_an_id(frame, parameters, tmp_path):
    key = StreamKey.open(tmp_path / "stream.key")
    with pytest.raises(SyntfError, match="a batch of a stream needs an id"):
        anonymize(frame(4, 1), key=key.batch(0), **parameters)


def test_a_stream_is_refused_with_advice(spark, parameters, tmp_path):
    add_file(tmp_path / "in", 0, 2)
    stream = spark.readStream.schema("name string, text string").parquet(str(tmp_path / "in"))
    with pytest.raises(SyntfError, match="anonymize each batch within foreachBatch"):
        anonymize(stream, id="name", **parameters)


def test_the_guarantee_travels_with_the_counts(frame, parameters, spark, tmp_path):
    made = anonymize(frame(8, 2), id="name", keep=["topic"], **parameters)
    for data in (
        made.data,
        made.data.where("topic = 1").select("counts"),
        made.data.join(made.data.select("name", "topic"), ["name", "topic"]),
    ):
        stated = guarantee_of(data)
        assert stated.loss_per_document == made.guarantee.loss_per_document == 120
        assert stated.kept_columns == ["name", "topic"]
        assert guarantee_of(stated.as_json()) == stated
    made.write(str(tmp_path / "out"))
    assert guarantee_of(made.data).loss_per_document == 120
    for other in (made.data.select("name"), made.data.selectExpr("name", "1 as counts")):
        with pytest.raises(SyntfError, match="the frame has no guarantee"):
            guarantee_of(other)


@pytest.mark.parametrize("format", ["parquet", "orc", "delta"])
def test_the_session_of_the_user_writes_its_own_table(frame, parameters, spark, tmp_path, format):
    if format == "delta" and "delta" not in spark.conf.get("spark.jars", ""):
        pytest.skip("needs the jars of Delta Lake: SYNTF_DELTA_JARS=<delta-spark>,<delta-storage>")
    table = str(tmp_path / "table")
    with anonymize(frame(8, 2), id="name", output="arrays", **parameters) as made:
        made.data.write.format(format).save(table)
    read = spark.read.format(format).load(table)
    assert read.count() == 8
    if format == "orc":  # stores no metadata of columns
        with pytest.raises(SyntfError, match="the frame has no guarantee"):
            guarantee_of(read)
    else:
        assert guarantee_of(read).loss_per_document == 120


def test_an_iceberg_table_keeps_the_guarantee_as_a_property(frame, parameters, spark):
    if "iceberg" not in spark.conf.get("spark.jars", ""):
        pytest.skip("needs the jar of Apache Iceberg: SYNTF_ICEBERG_JAR=<iceberg-spark-runtime>")
    with anonymize(frame(8, 2), id="name", output="arrays", **parameters) as made:
        guarantee = guarantee_of(made.data)
        table = made.data.writeTo("lake.mails.counts")
        table.tableProperty("syntf", guarantee.as_json()).create()
    read = spark.table("lake.mails.counts")
    assert read.count() == 8
    with pytest.raises(SyntfError, match="the frame has no guarantee"):
        guarantee_of(read)  # Iceberg stores no metadata of columns
    stated = spark.sql("SHOW TBLPROPERTIES lake.mails.counts ('syntf')").first()["value"]
    assert guarantee_of(stated) == guarantee
    assert guarantee.loss_per_document == 120
    with pytest.raises(SyntfError, match="a field was changed"):
        guarantee_of(stated.replace('"loss_per_document": 120', '"loss_per_document": 12'))
