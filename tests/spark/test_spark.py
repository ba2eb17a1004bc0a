"""Releases on Spark: one draw for each document, whatever is tried again or edited."""

import pickle
from hashlib import shake_256

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf import spark as module
from syntf.core import entropy
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger import Ledger
from syntf.release.verify import verify
from syntf.rows import build
from syntf.settings import Settings
from syntf.spark import ENTROPY, _Work, anonymize, document_bits

KEY = bytes(range(32))
WORDS = "cat dog mouse horse cow bird fish car train bus boat road moon rocket soup bread".split()
SMALL = {"vocabulary": WORDS, "length": 20}
SETTINGS = {
    "document": {"preset": "document"},
    "words": {"preset": "words", **SMALL},
    "paper": {"preset": "paper", **SMALL},
}


# Random bits, without a cluster


def test_the_bits_of_a_document_are_shake_256_of_key_use_name_and_text():
    hashed = KEY + b"answer" + b"\x02\0\0\0\0\0\0\0" + b"17" + b"The text."
    source = document_bits(KEY, b"answer", [b"17"], [b"The text."], 40)
    assert source(40) == shake_256(hashed).digest(40)
    with pytest.raises(RuntimeError, match="0 bytes instead of 8"):
        entropy.words(source, 1)


@given(st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3)), unique=True, max_size=20))
def test_other_names_texts_uses_and_keys_have_other_bits(documents):
    """Also if name and text joined are equal."""
    found = {
        document_bits(key, use, [name], [text], 32)(32)
        for name, text in documents
        for use in (b"encode", b"answer", b"order ")
        for key in (KEY, bytes(32))
    }
    assert len(found) == 6 * len(documents)


@pytest.fixture(scope="module", params=SETTINGS)
def work(request):
    rows = build(Settings.of(**SETTINGS[request.param]))
    scheme = rows.scheme(5)
    return _Work(rows, scheme, scheme, {})


TEXTS = [b"the rocket flew to the moon", b"", b"soup \xff\xfe and bread", b"cat " * 5000, b"1 2 3"]


def test_draws_do_not_depend_on_the_documents_around(work):
    """A task that is tried again with other batches gives the same rows."""
    names = [b"%d" % number for number in range(len(TEXTS))]
    together = work.draw(KEY, names, TEXTS)
    for place in range(len(TEXTS)):
        alone = work.draw(KEY, names[place : place + 1], TEXTS[place : place + 1])
        assert (alone.answers == together.answers[[place]]).all()
    halves = [work.draw(KEY, names[part], TEXTS[part]) for part in (slice(0, 2), slice(2, 5))]
    assert (np.vstack([half.answers for half in halves]) == together.answers).all()
    pickler = pytest.importorskip("pyspark.cloudpickle", reason="needs PySpark")
    again = pickle.loads(pickler.dumps(work))  # noqa: S301
    assert (again.draw(KEY, names, TEXTS).answers == together.answers).all()


def test_draws_follow_the_mechanism(work):
    """Over 2,000 ids, the answers of one text are those of the mechanism, within 6 deviations."""
    count = 2000
    drawn = work.draw(KEY, [b"%d" % number for number in range(count)], [TEXTS[0]] * count)
    mechanism = work.rest.mechanism
    encoded = work.rows.encode(pl.Series([TEXTS[0].decode()] * count))
    targets = work.rest.find_targets(encoded).ravel()
    expected = np.zeros(mechanism.shape[1])
    for target, times in zip(*np.unique(targets, return_counts=True), strict=True):
        expected += times * (mechanism.weights(int(target)) / mechanism.total)
    found = np.bincount(drawn.answers.ravel(), minlength=len(expected))
    likely = expected > 20
    spread = np.sqrt(2 * expected[likely])  # the targets themselves were sampled, twice
    assert likely.any()
    assert (abs(found - expected)[likely] < 6 * spread).all()
    assert abs(found[~likely].sum() - expected[~likely].sum()) < 6 * np.sqrt(2 * expected.sum())


def test_the_pilot_repeats_what_it_released(work):
    names, answers = [b"a", b"b", b"c"], np.zeros(work.rest.draws, dtype=np.int64)
    repeated = _Work(work.rows, work.first, work.rest, {b"b": answers})
    drawn, plain = (one.draw(KEY, names, TEXTS[:3]) for one in (repeated, work))
    assert drawn.pilot.tolist() == [False, True, False]
    assert (drawn.answers[1] == answers).all()
    assert (drawn.answers[[0, 2]] == plain.answers[[0, 2]]).all()


# On Spark


def by_name(release):
    rows = release.data.collect()
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: tuple(row) for row in rows}


@pytest.mark.parametrize("preset", SETTINGS)
def test_a_frame_becomes_a_release_that_can_be_verified(frame, tmp_path, preset):
    documents = 1100 if preset == "document" else 60
    release = anonymize(frame(documents), id="name", keep=["topic"], **SETTINGS[preset])
    found = release.guarantee
    assert (found.entropy, found.private, found.shuffled) == (ENTROPY, True, True)
    assert (found.kept_columns, found.documents) == (["name", "topic"], documents)
    assert preset == "paper" or found.loss_per_document == {"document": 10, "words": 160}[preset]
    rows = release.data.collect()
    assert sorted(row["name"] for row in rows) == sorted(f"n{i}" for i in range(documents))
    assert all(row["topic"] == int(row["name"][1:]) % 4 for row in rows)
    assert all(0 <= place < len(release.terms) for row in rows for place in row["indices"])
    if preset == "document":
        assert sum(row["pilot"] for row in rows) == 165
        assert len(release._schemes) == 2
        answers = [str(row["answer"]) for row in rows if row["topic"] == 0]
        assert max(map(answers.count, answers)) > 0.5 * len(answers)
    else:
        assert {sum(row["counts"]) for row in rows} == {20}
    written = release.write(tmp_path / "out")
    assert [row["name"] for row in rows] == list(
        pl.read_parquet(tmp_path / "out" / "documents.parquet")["name"]
    )
    result = verify(tmp_path / "out")
    assert result.ok, result.checks
    assert result.guarantee == written
    with pytest.raises(SyntfError, match="exists already"):
        release.write(tmp_path / "out")


def test_a_task_that_fails_after_its_rows_were_made_gives_the_same_rows(
    frame, tmp_path, monkeypatch
):
    """The first two attempts of every task fail at their end; all attempts made the same rows."""
    folder = str(tmp_path)

    def fail_twice(batches):
        import pickle
        from pathlib import Path

        from pyspark import TaskContext

        made = list(batches)
        context = TaskContext.get()
        attempt = context.attemptNumber()
        rows = [row for batch in made for row in batch.to_pylist()]
        name = f"{made[0].schema.names[0]}-{context.partitionId()}-{attempt}"
        Path(folder, name).write_bytes(pickle.dumps(rows))
        if attempt < 2:
            raise RuntimeError("after the rows were made")
        yield from made

    drawn = module._drawn

    def failing(*arguments):
        made = drawn(*arguments)
        return made.mapInArrow(fail_twice, made.schema)

    monkeypatch.setattr(module, "_drawn", failing)
    ledger = Ledger.create(tmp_path / "ledger", document=10)
    release = anonymize(frame(1000, 2), id="name", ledger=ledger)
    attempts = {}
    for path in tmp_path.glob("*-*-*"):
        kind, partition, attempt = path.name.split("-")
        rows = pickle.loads(path.read_bytes())  # noqa: S301
        attempts.setdefault((kind, partition), {})[attempt] = rows
        path.unlink()
    assert {*attempts} == {(kind, part) for kind in ("syntf_id", "name") for part in "01"}
    for found in attempts.values():
        assert {*found} == {"0", "1", "2"}
        assert found["0"] == found["1"] == found["2"] != []
    made = [row for (kind, _), found in attempts.items() if kind == "name" for row in found["0"]]
    assert {row["name"]: row["answer"] for row in made} == {
        name: row[2] for name, row in by_name(release).items()
    }
    assert [run.documents for run in ledger.runs()] == [1000]
    assert not list(tmp_path.glob("*-*-*"))  # nothing was drawn for a second look


def test_the_rows_are_evaluated_once_and_an_edited_input_changes_nothing(
    spark, frame, tmp_path, monkeypatch
):
    """The input is edited between freezing and drawing, and again afterwards, then deleted."""
    monkeypatch.setattr(entropy, "system", lambda size: shake_256(b"fixed").digest(size))
    place = str(tmp_path / "in")
    texts = frame(40)
    texts.write.parquet(place)
    expected = by_name(anonymize(spark.read.parquet(place), id="name", **SETTINGS["words"]))
    drawn = module._drawn

    def edited(*arguments):
        texts.selectExpr("name", "topic", "'something else' as text").write.mode(
            "overwrite"
        ).parquet(place)
        return drawn(*arguments)

    monkeypatch.setattr(module, "_drawn", edited)
    release = anonymize(spark.read.parquet(place), id="name", **SETTINGS["words"])
    monkeypatch.undo()
    assert by_name(release) == expected
    frame(7).write.mode("overwrite").parquet(place)
    assert by_name(release) == expected
    spark.createDataFrame([], texts.schema).write.mode("overwrite").parquet(place)
    assert by_name(release) == expected


def test_expressions_that_change_are_evaluated_once(frame, tmp_path):
    """Ids and rows that are random are those that were charged, at every look."""
    from pyspark.sql import functions

    random = frame(60).where(functions.rand() < 0.7).withColumn("name", functions.expr("uuid()"))
    ledger = Ledger.create(tmp_path / "ledger", document=10)
    release = anonymize(random.repartition(3), id="name", ledger=ledger)
    rows = by_name(release)
    assert by_name(release) == rows
    assert ledger.runs()[0].documents == ledger.summary()["document"].names == len(rows)
    again = ledger.names("id").add(rows)
    with pytest.raises(BudgetError, match=f"{len(rows)} documents would"):
        ledger.charge(release.guarantee, again)


def test_another_call_is_another_release_and_is_charged_again(frame, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", document=2000, author=250 * 1000)
    options = {"id": "name", "preset": "words", "ledger": tmp_path / "ledger", "author": "topic"}
    one, two = (by_name(anonymize(frame(40), **options)) for _ in range(2))
    assert all(one[name] != two[name] for name in one)
    accounts = ledger.summary()
    assert accounts["document"].largest_loss == 2000
    assert (accounts["author"].names, accounts["author"].largest_loss) == (4, 20_000)
    with pytest.raises(BudgetError, match="40 documents"):
        anonymize(frame(40), **options)


def test_every_document_is_charged_before_anything_is_drawn(frame, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "ledger", document=10)
    drawn = []

    def broken(*arguments):
        drawn.append([run.documents for run in ledger.runs()])
        raise OSError("no space left")

    monkeypatch.setattr(module, "_drawn", broken)
    with pytest.raises(OSError, match="no space") as caught:
        anonymize(frame(30), id="name", ledger=ledger)
    assert drawn == [[30]]
    assert "run 1 stays charged" in caught.value.__notes__[0]
    with pytest.raises(BudgetError):
        anonymize(frame(30), id="name", ledger=ledger)
    assert len(drawn) == 1
    ledger.cancel(1)
    monkeypatch.undo()
    assert anonymize(frame(30), id="name", ledger=ledger).run.number == 2


def test_a_text_changes_the_row_of_its_document_only(spark, tmp_path, monkeypatch):
    """The other rows, their order and the sizes of parts stay.

    Spark cuts files by their bytes and reads the largest part first.
    """
    monkeypatch.setattr(module, "PART", 300)
    texts = {f"n{number}": f"the cat and the house {number % 17}" for number in range(1000)}

    def released(texts):
        calls = iter(range(1000))
        monkeypatch.setattr(
            entropy, "system", lambda size: shake_256(b"%d" % next(calls)).digest(size)
        )
        folder = tmp_path / f"{len(str(texts))}"
        folder.mkdir()
        table = pl.DataFrame({"name": [*texts], "text": [*texts.values()]})
        for half in (0, 500):
            table[half : half + 500].write_parquet(
                folder / f"{half}.parquet", row_group_size=50, compression="uncompressed"
            )
        frame = spark.read.parquet(str(folder))
        cuts.append((frame.rdd.getNumPartitions(), frame.first()["name"]))
        data = anonymize(frame, id="name").data
        return data.rdd.glom().map(len).collect(), [tuple(row) for row in data.collect()]

    cuts = []
    spark.conf.set("spark.sql.files.maxPartitionBytes", "16384")
    try:
        parts, rows = released(texts)
        others = [place for place, row in enumerate(rows) if not row[1]]  # not of the pilot
        place = next(place for place in others if int(rows[place][0][1:]) < 500)
        again = released({**texts, rows[place][0]: "dog " * 150_000})
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert cuts[0][0] < cuts[1][0]
    assert cuts[0][1] != cuts[1][1]
    assert len(parts) == 4
    assert again[0] == parts
    assert [row[0] for row in again[1]] == [row[0] for row in rows] != sorted(texts)
    assert [n for n, row in enumerate(rows) if row != again[1][n]] in ([], [place])


def test_the_key_is_in_no_file(spark, frame, files_of_spark, monkeypatch):
    """Files of Spark hold broadcast variables, stored rows and a log of events, uncompressed."""
    monkeypatch.setattr(entropy, "system", lambda size: shake_256(b"the key").digest(size))
    key = entropy.system(32)
    release = anonymize(frame(1200), id="name", keep=["topic"])
    contents = [path.read_bytes() for path in files_of_spark.rglob("*") if path.is_file()]
    found = [content for content in contents if b"syntf.spark" in content]
    assert len(found) > 1  # the search finds what is sent in files
    assert release.data.count() == 1200
    for form in (key, key.hex().encode(), str(key).encode()[2:-1]):
        assert not [content for content in contents if form in content]


def test_unusual_columns_and_texts(spark, tmp_path):
    rows = [(1, "a", None), (2, "b", ""), (3, "c", "cat \u0000 dog"), (4, "d", "🐈" * 1000)]
    made = spark.createDataFrame(rows, "`a.b` long, `c ``d` string, `the text` string")
    broken = made.selectExpr(
        "`a.b`", "`c ``d`", "cast(unhex('ff63617420') as string) as `the text`"
    ).limit(1)
    given = made.where("`a.b` > 1").union(broken)
    release = anonymize(given, text="the text", keep=["c `d"], id="a.b", preset="words")
    assert release.data.columns == ["a.b", "c `d", "indices", "counts"]
    found = {row["a.b"]: sum(row["counts"]) for row in release.data.collect()}
    assert found == dict.fromkeys(range(1, 5), 125)


@pytest.mark.parametrize("fault", ["twice", "missing", "empty"])
def test_ids_that_do_not_name_every_document_are_not_charged(spark, tmp_path, fault):
    rows = {"twice": [("a", "x"), ("a", "y")], "missing": [("a", "x"), (None, "y")], "empty": []}
    given = spark.createDataFrame(rows[fault], "name string, text string")
    ledger = Ledger.create(tmp_path / "ledger", document=10)
    message = "no documents" if fault == "empty" else "'name' must have a different value for every"
    with pytest.raises(SyntfError, match=message):
        anonymize(given, id="name", ledger=ledger)
    assert ledger.runs() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "txt"}, "no column 'txt'; did you mean 'text'"),
        ({"id": "nobody"}, "no column 'nobody'"),
        ({"keep": ["text"]}, "'text' cannot be released"),
        ({"keep": "topic"}, r"keep is a list of columns: keep=\['topic'\]"),
        ({"keep": ["counts"]}, "no column 'counts'"),
        ({"author": "topic"}, "give ledger, too"),
        ({"fit_vocabulary": 2}, "a cluster cannot fit a vocabulary"),
        ({"document_los": 2}, "did you mean 'document_loss'"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_runs(frame, monkeypatch, options, message):
    monkeypatch.setattr(module, "build", lambda *_: pytest.fail("built"))
    with pytest.raises(SyntfError, match=message):
        anonymize(frame(4), **{"id": "name", **options})


def test_frames_that_cannot_be_released_are_refused(spark, frame):
    renamed = frame(4).withColumnRenamed("topic", "counts")
    with pytest.raises(SyntfError, match="a column 'counts' of its own"):
        anonymize(renamed, id="name", keep=["counts"])
    with pytest.raises(SyntfError, match="more than one column 'topic'"):
        anonymize(frame(4).select("*", "topic"), id="name", keep=["topic"])
    stream = spark.readStream.format("rate").load().selectExpr("value as name", "'x' as text")
    for other in (stream, pl.DataFrame({"name": ["a"], "text": ["b"]})):
        with pytest.raises(SyntfError, match="neither of Spark Connect nor a stream"):
            anonymize(other, id="name")
