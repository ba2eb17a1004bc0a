"""On a real cluster: one draw a document, whatever happens to executors and tasks."""

import base64
import os
import signal
import time
from collections import defaultdict
from threading import Thread

import pytest

from syntf.spark import anonymize, frames
from syntf.spark.batches import drawn

KEY = bytes(range(200, 232))


@pytest.fixture
def slow(spark, cluster, tmp_path):
    """A frame whose texts take their time, and a record of which attempts read them.

    A text takes `each` seconds; in the first attempt of partition 0, `first` seconds more.
    """
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    def make(frame, each=0.0, first=0.0):
        folder = str(tmp_path)

        @udf("string")
        def slowly(text):
            import os
            import time

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
        """The attempts of each partition so far."""
        found = defaultdict(set)
        for path in tmp_path.iterdir():
            partition, attempt, process = path.name.split("-")
            found[int(partition)].add((int(attempt), int(process)))
        return found

    return make, attempts


def by_name(rows):
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: row["counts"] for row in rows}


def test_a_frame_in_a_frame_out(frame, parameters):
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
def test_draws_are_those_of_the_streams(frame, parameters, monkeypatch, id):
    """Bit for bit what one process draws from the same key, names and texts."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    given = frame(40, 4)
    release = anonymize(given, keep=["name"], id=id, **parameters)
    expected = {}
    for place, row in enumerate(given.collect()):
        partition, number = divmod(place, 10)
        name = row["name"] if id else str((partition << 33) + number)
        made = drawn(release._anonymizer, KEY, [name.encode()], [row["text"].encode()])
        expected[row["name"]] = made.toarray()[0].tolist()
    found = by_name(release.data.collect())
    assert {name: counts.toArray().tolist() for name, counts in found.items()} == expected


def test_arrays_say_what_vectors_say(frame, parameters, monkeypatch):
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    given = frame(30, 2)
    vectors = anonymize(given, id="name", **parameters)
    arrays = anonymize(given, id="name", output="arrays", **parameters)
    found = by_name(vectors.data.collect())
    for row in arrays.data.collect():
        vector = found[row["name"]]
        terms = [vectors.vocabulary[place] for place in vector.indices]
        assert (row["terms"], row["counts"]) == (terms, [int(n) for n in vector.values])


def test_equal_texts_draw_apart(frame, parameters):
    given = frame().where("text = 'cat dog'")
    rows = anonymize(given, keep=["name"], **parameters).data.collect()
    assert len(rows) == 40
    assert len({tuple(row["counts"].toArray()) for row in rows}) > 30


def test_whatever_is_made_of_a_release_shows_the_same_draws(frame, parameters, spark):
    data = anonymize(frame(40, 4), keep=["name", "topic"], **parameters).data
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


def test_a_second_look_is_planned_as_the_first(spark, tmp_path, parameters):
    """Files are cut into partitions by settings that may change between two looks."""
    rows = [(f"n{i}", "cat dog" * 50) for i in range(2000)]
    spark.createDataFrame(rows, "name string, text string").coalesce(1).write.option(
        "parquet.block.size", 4096
    ).parquet(f"{tmp_path}/in")
    data = anonymize(spark.read.parquet(f"{tmp_path}/in"), keep=["name"], **parameters).data
    once = by_name(data.collect())
    cut = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        assert by_name(data.select("name", "counts").collect()) == once
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", cut)


def test_another_call_draws_anew(frame, parameters):
    one, two = (anonymize(frame(40, 2), id="name", **parameters) for _ in range(2))
    first, second = (by_name(release.data.collect()) for release in (one, two))
    assert sum(first[name] != second[name] for name in first) > 30


def test_a_worker_process_reads_the_table_once_and_has_one_thread(
    frame, parameters, cluster, monkeypatch
):
    from seen_tables import Seen

    monkeypatch.setattr(frames, "Anonymizer", Seen)
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
    with pytest.raises(Exception, match=r"[Bb]roadcast"):
        release.data.collect()


@pytest.mark.parametrize("id", [None, "name"])
def test_an_executor_killed_in_mid_job_draws_nothing_twice(frame, slow, cluster, parameters, id):
    make, attempts = slow
    data = anonymize(make(frame(160, 8), each=0.1), keep=["name"], id=id, **parameters).data
    found = []
    job = Thread(target=lambda: found.extend(data.collect()))
    job.start()
    until = time.monotonic() + 120
    while len(attempts()) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)  # in the middle of its rows
    victims = cluster.executors()
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    job.join(180)
    assert not job.is_alive()
    assert max(len(tried) for tried in attempts().values()) > 1  # some task was done again
    disturbed = by_name(found)
    assert len(disturbed) == 160
    assert by_name(data.collect()) == disturbed


def test_a_slow_task_and_its_copy_draw_the_same(frame, slow, parameters):
    make, attempts = slow
    data = anonymize(make(frame(80, 8), first=90.0), keep=["name"], **parameters).data
    began = time.monotonic()
    hasty = by_name(data.collect())
    assert {attempt for attempt, _ in attempts()[0]} == {0, 1}
    assert time.monotonic() - began < 90  # the copy was the first to finish
    assert len(hasty) == 80
    assert by_name(data.collect()) == hasty


def test_the_key_is_written_nowhere(frame, spark, cluster, parameters, monkeypatch, tmp_path):
    """Not in event logs, plans, logs of executors, broadcast or shuffle files."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    words = [*parameters["vocabulary"], "zimbabwe"]
    release = anonymize(frame(), keep=["name"], **{**parameters, "vocabulary": words})
    release.data.repartition(3).groupBy("name").count().collect()
    release.write(str(tmp_path / "out"))
    assert KEY.hex() not in release.data._jdf.queryExecution().toString()
    forms = [KEY, KEY.hex().encode(), KEY.hex().upper().encode(), base64.b64encode(KEY)]
    forms += [KEY[:16], repr(KEY).encode()[2:-1]]
    seen, logs, files = set(), [], 0
    for folder, _, names in [*os.walk(cluster.folder), *os.walk(tmp_path)]:
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
            except FileNotFoundError:  # Spark has cleaned up
                continue
            files += 1
            if name == "stderr":
                logs.append(content)
            if b"zimbabwe" in content:
                seen.add(os.path.relpath(folder, cluster.folder).split(os.sep)[0])
            assert not any(form in content for form in forms), name
    assert files > 10
    assert "local-driver" in seen  # where the table was found, the key would have been
    assert any(b"Started daemon" in content for content in logs)  # of executors
    events = list((cluster.folder / "events").rglob("*"))
    assert any(b"MapInArrow" in path.read_bytes() for path in events if path.is_file())
