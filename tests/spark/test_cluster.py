"""On a real cluster: one draw per document, whatever happens to executors and tasks."""

import base64
import os
import signal
import time
from collections import defaultdict
from threading import Thread

import numpy as np
import pytest

from syntf.ledger.ledger import Ledger
from syntf.spark import anonymize, frames
from syntf.spark.drawing import draw
from syntf.spark.sessions import map_rows

KEY = bytes(range(200, 232))


@pytest.fixture
def slow(spark, cluster, tmp_path):
    """Make frames whose texts are slow to compute, and record which attempts read them.

    A text takes `each` seconds; in the first attempt of partition 0, `first` seconds more. The
    file `slow` in the folder of the test switches the delays on.
    """
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    def make(frame, each=0.0, first=0.0):
        folder = str(tmp_path)

        @udf("string")
        def slowly(text):
            import os
            import time

            if not os.path.exists(f"{folder}/slow"):
                return text
            task = TaskContext.get()
            name = f"{folder}/{task.partitionId()}-{task.attemptNumber()}-{os.getppid()}"
            fresh = not os.path.exists(name)
            open(name, "a").close()
            if fresh and task.partitionId() == 0 and task.attemptNumber() == 0:
                time.sleep(first)
            time.sleep(each)
            return text

        return frame.select("name", "topic", slowly("text").alias("text"))

    def attempts():
        """Return the attempts of each partition so far."""
        found = defaultdict(set)
        for path in tmp_path.glob("*-*-*"):
            partition, attempt, process = path.name.split("-")
            found[int(partition)].add((int(attempt), int(process)))
        return found

    return make, attempts


def by_name(rows):
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: row["counts"] for row in rows}


def test_a_frame_becomes_a_frame_of_counts(frame, parameters):
    release = anonymize(frame(), keep=["topic"], id="name", **parameters)
    rows = release.data.collect()
    assert release.data.columns == ["name", "topic", "counts"]
    assert sorted(row["name"] for row in rows) == sorted(f"n{i}" for i in range(200))
    assert all(row["topic"] == int(row["name"][1:]) % 3 for row in rows)
    assert all(row["counts"].size == 16 and sum(row["counts"].values) == 30 for row in rows)
    assert release.guarantee.private
    assert not release.guarantee.seeded
    assert release.guarantee.kept_columns == ["name", "topic"]
    assert list(release.vocabulary) == parameters["vocabulary"]


@pytest.mark.parametrize("id", [None, "name"])
def test_draws_depend_on_key_name_and_text_only(frame, parameters, monkeypatch, tmp_path, id):
    """They are bit for bit what one process draws from the same key, names and texts."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    texts = frame(40, 4)
    release = anonymize(texts, keep=["name"], id=id, **parameters)
    expected = {}
    for number, row in enumerate(texts.collect()):
        name = row["name"] if id else str(number)
        counts = draw(release._anonymizer, KEY, [name.encode()], [row["text"].encode()])
        expected[row["name"]] = counts.toarray()[0].tolist()
    release.write(str(tmp_path / "out"))
    found = by_name(release.data.collect())
    assert {name: counts.toArray().tolist() for name, counts in found.items()} == expected


def test_arrays_and_vectors_have_the_same_counts(frame, parameters, monkeypatch):
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    given = frame(30, 2)
    vectors = anonymize(given, id="name", **parameters)
    arrays = anonymize(given, id="name", output="arrays", **parameters)
    found = by_name(vectors.data.collect())
    for row in arrays.data.collect():
        vector = found[row["name"]]
        terms = [vectors.vocabulary[place] for place in vector.indices]
        assert (row["terms"], row["counts"]) == (terms, [int(n) for n in vector.values])


def test_equal_texts_get_different_draws(frame, parameters):
    equal = frame().where("text = 'cat dog'")
    rows = anonymize(equal, id="name", **parameters).data.collect()
    assert len(rows) == 40
    assert len({tuple(row["counts"].toArray()) for row in rows}) > 30


def test_every_evaluation_with_an_id_has_the_same_draws(frame, parameters, spark):
    data = anonymize(frame(40, 4), id="name", keep=["topic"], **parameters).data
    once = by_name(data.collect())
    assert by_name(data.collect()) == once
    assert by_name(data.coalesce(1).collect()) == once
    assert by_name(data.repartition(3).collect()) == once
    both = data.union(data).collect()
    assert by_name(both[:40]) == by_name(both[40:]) == once
    some = by_name(data.where("topic = 1").collect())
    assert 0 < len(some) < 40
    assert some.items() <= once.items()
    assert by_name(data.limit(7).collect()).items() <= once.items()


def test_documents_keep_their_numbers_if_spark_would_cut_files_otherwise(
    spark, tmp_path, parameters
):
    """Settings that decide how files are cut may change between counting and drawing."""
    rows = [(f"n{i}", "cat dog" * 50) for i in range(2000)]
    spark.createDataFrame(rows, "name string, text string").coalesce(1).write.option(
        "parquet.block.size", 4096
    ).parquet(f"{tmp_path}/in")
    release = anonymize(spark.read.parquet(f"{tmp_path}/in"), keep=["name"], **parameters)
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        release.write(str(tmp_path / "out"))
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert len(by_name(release.data.collect())) == 2000


def test_another_call_draws_again(frame, parameters):
    one, two = (anonymize(frame(40, 2), id="name", **parameters) for _ in range(2))
    first, second = (by_name(release.data.collect()) for release in (one, two))
    assert sum(first[name] != second[name] for name in first) > 30


def test_a_worker_process_reads_the_table_once_and_uses_one_thread(
    frame, parameters, cluster, monkeypatch
):
    from recorded_tables import RecordedTable

    monkeypatch.setattr(frames, "Anonymizer", RecordedTable)
    release = anonymize(frame(400, 40), id="name", **parameters)
    assert release.data.count() == 400
    assert len(release.data.collect()) == 400
    readers = (cluster.folder / "unpickled").read_text().split()
    assert len(readers) == len(set(readers))
    assert 1 <= len(readers) <= 8  # 80 tasks
    threads = (cluster.folder / "threads").read_text().split()
    assert len(threads) >= 80
    assert set(threads) == {"1"}
    release.close()


def test_an_executor_killed_in_mid_job_changes_nothing(
    frame, slow, cluster, parameters, tmp_path, monkeypatch
):
    """Every document has one draw, the one of an undisturbed run; the ledger has one run."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    make, attempts = slow
    texts = make(frame(160, 8), each=0.1)
    undisturbed = anonymize(texts, keep=["name"], **parameters)
    undisturbed.write(str(tmp_path / "undisturbed"))
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=10_000)
    release = anonymize(texts, keep=["name"], ledger=ledger, **parameters)
    (tmp_path / "slow").touch()
    job = Thread(target=lambda: release.write(str(tmp_path / "out")))
    job.start()
    until = time.monotonic() + 120
    while not ledger.verify().runs and time.monotonic() < until:
        time.sleep(0.05)
    for path in tmp_path.glob("*-*-*"):  # of the pass that hashed names for the ledger
        path.unlink()
    while len(attempts()) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)  # in the middle of its rows
    victims = cluster.executors()
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    job.join(240)
    assert not job.is_alive()
    assert max(len(tried) for tried in attempts().values()) > 1  # some task was repeated
    disturbed = by_name(release.data.collect())
    assert len(disturbed) == 160
    assert disturbed == by_name(undisturbed.data.collect())
    assert len(ledger.verify().runs) == 1


def test_a_slow_task_and_its_copy_draw_the_same(frame, slow, parameters, tmp_path):
    make, attempts = slow
    release = anonymize(make(frame(80, 8), first=90.0), id="name", **parameters)
    (tmp_path / "slow").touch()
    start = time.monotonic()
    first = by_name(release.data.collect())
    assert {attempt for attempt, _ in attempts()[0]} == {0, 1}
    assert time.monotonic() - start < 90  # the copy finished first
    assert len(first) == 80
    assert by_name(release.data.collect()) == first


def test_a_function_of_any_size_is_kept_out_of_broadcast_variables(spark, monkeypatch):
    """Such as one with the numbers of documents from many files; broadcasts are files."""
    large, made = np.random.default_rng(1).bytes(2 << 20), []
    context = type(spark.sparkContext)
    broadcast = context.broadcast

    def same(batches):
        assert len(large) == 2 << 20
        return batches

    def recorded(self, value):
        made.append(len(value))
        return broadcast(self, value)

    monkeypatch.setattr(context, "broadcast", recorded)
    assert map_rows(spark.range(3), same, "id long").count() == 3
    assert made == []
    spark.range(3).mapInArrow(same, "id long")
    assert len(made) == 1  # the setting of the session is as before


def test_the_key_is_written_nowhere(frame, spark, cluster, parameters, monkeypatch, tmp_path):
    """It is not in event logs, plans, logs of executors, broadcast or shuffle files."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    words = [*parameters["vocabulary"], "zimbabwe"]
    release = anonymize(frame(), id="name", **{**parameters, "vocabulary": words})
    release.data.repartition(3).groupBy("name").count().collect()
    assert KEY.hex() not in release.data._jdf.queryExecution().toString()
    release.write(str(tmp_path / "out"))
    forms = [KEY, KEY.hex().encode(), KEY.hex().upper().encode(), base64.b64encode(KEY)]
    forms += [KEY[:16], repr(KEY).encode()[2:-1]]
    seen, logs, files = set(), [], 0
    for folder, _, names in [*os.walk(cluster.folder), *os.walk(tmp_path)]:
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
            except FileNotFoundError:  # Spark has deleted it
                continue
            files += 1
            if name == "stderr":
                logs.append(content)
            if b"zimbabwe" in content:
                seen.add(os.path.relpath(folder, cluster.folder).split(os.sep)[0])
            assert not any(form in content for form in forms), name
    assert files > 10
    assert "local-driver" in seen  # the key would be where the table is
    assert any(b"Started daemon" in content for content in logs)  # of executors
    events = list((cluster.folder / "events").rglob("*"))
    assert any(b"MapInArrow" in path.read_bytes() for path in events if path.is_file())
