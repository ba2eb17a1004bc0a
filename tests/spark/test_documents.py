"""The document unit on a cluster: one draw for each document, and the pilot before all others."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from syntf import SynTF
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.spark import anonymize, documents, folders, frames
from syntf.spark.documents import DocumentTable, PilotAnswers, numbers_of, only_members
from syntf.spark.random_bytes import document_bytes, list_key, pilot_numbers, sample_numbers
from syntf.verification.verify import verify

KEY = bytes(range(200, 232))
LOSS = 8
TOPICS = [
    "the rocket carried a satellite into orbit around the moon",
    "we cooked soup with garlic, onions and fresh bread",
    "the goalkeeper saved a penalty in the football match",
    "",
]
DOCUMENTS = 1100


def text_of(number):
    return f"{TOPICS[number % 4]} {number}" if TOPICS[number % 4] else ""


@pytest.fixture(scope="module")
def texts(spark):
    """A frame of 1,100 documents, enough for a pilot of 165."""
    rows = [(f"n{number}", number % 4, text_of(number)) for number in range(DOCUMENTS)]
    rdd = spark.sparkContext.parallelize(rows, 3)
    return spark.createDataFrame(rdd, "name string, topic int, text string")


@pytest.fixture(scope="module")
def written(texts, tmp_path_factory):
    """A release with a pilot, drawn with a known key."""
    path = tmp_path_factory.mktemp("release") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "fresh_key", lambda: KEY)
        release = anonymize(texts, id="name", keep=["topic"], output="arrays", document_loss=LOSS)
    return path, release, release.write(str(path))


def rows_of(path):
    return pl.read_parquet(path / "data" / "*.parquet")


def test_the_guarantee_says_that_the_order_is_random(written):
    path, _, made = written
    assert made.guarantee.shuffled
    assert "in the order of the source" not in (path / "README.txt").read_text(encoding="utf-8")


# Without a cluster


def test_the_numbers_of_the_pilot_depend_on_key_and_name_only():
    names = [b"%d" % number for number in range(1000)]
    numbers = pilot_numbers(KEY, names)
    assert numbers.min() >= 0
    assert len(set(numbers.tolist())) == 1000
    assert (pilot_numbers(KEY, names[::-1])[::-1] == numbers).all()
    assert (pilot_numbers(bytes(32), names) != numbers).all()
    assert abs((numbers < 1 << 62).mean() - 0.5) < 0.1


def test_documents_of_the_pilot_are_found_by_their_numbers():
    pilot = PilotAnswers(np.array([3, 5, 9]), np.array([[30], [50], [90]]), None)
    found, places = pilot.find(np.array([9, 4, 3, 100, 0, 5]))
    assert found.tolist() == [True, False, True, False, False, True]
    assert pilot.answers[places[found], 0].tolist() == [90, 30, 50]


def test_documents_without_ids_are_found_by_their_own_numbers():
    assert numbers_of(KEY, [b"7", b"0", b"1234567890123"], has_ids=False).tolist() == [
        7, 0, 1234567890123
    ]  # fmt: skip
    assert numbers_of(KEY, [], has_ids=False).tolist() == []
    assert numbers_of(KEY, [b"7"], has_ids=True) == pilot_numbers(KEY, [b"7"])


def test_executors_import_only_what_they_draw_with():
    """Every Python process of an executor pays for its imports."""
    modules = "{'polars', 'scipy', 'pandas', 'minijinja', 'sklearn', 'pyspark', 'pyarrow'}"
    script = f"import sys, syntf.spark.documents; sys.exit(bool({modules} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_two_lists_never_draw_with_the_same_bytes():
    """A repeated batch whose pilot has changed has another list under the same key.

    If the draws from both lists used the same bytes, noise would give the same answer twice, and
    two different answers would be true for certain.
    """
    anonymizer = DocumentAnonymizer.build(Settings.from_preset(document_loss=LOSS))
    mechanism = anonymizer.mechanism(None)
    table, general = DocumentTable(anonymizer, mechanism), mechanism.general
    other = replace(general, vectors=general.vectors[::-1].copy())
    names, texts = [b"%d" % number for number in range(2000)], [text_of(0).encode()] * 2000
    encoded = table.read(texts[:1]).at(np.zeros(2000, dtype=np.intp))
    first, again, second = (
        table.draw(entry_list, KEY, names, texts, encoded)[:, 0]
        for entry_list in (general, replace(general), other)
    )
    assert (first == again).all()
    noisy = np.bincount(first).argmax() != first
    assert noisy.sum() > 100
    assert (first == second)[noisy].mean() < 0.1


# On a cluster


def test_the_release_is_verified_and_states_exactly_the_loss(written):
    path, release, result = written
    report = verify(path)
    assert report.verified, report.checks
    assert report.documents == result.documents == DOCUMENTS
    assert result.guarantee.loss_per_document == LOSS
    assert result.guarantee.private
    stated = json.loads((path / "guarantee.json").read_text())
    assert stated == result.guarantee.as_dict()
    assert release.guarantee.document.sharpened == stated["document"]["sharpened"] != ""


def test_the_rows_are_those_of_a_release_by_one_machine(written):
    path, _, result = written
    rows = rows_of(path)
    assert rows.columns == [
        "name", "topic", "pilot", "prototypes", "labels", "terms", "counts"
    ]  # fmt: skip
    assert rows["pilot"].sum() == result.guarantee.document.pilot == 165
    assert rows["name"].n_unique() == DOCUMENTS
    assert set(rows["counts"].list.sum()) == {46}
    assert (path / "prototypes.csv").read_text().startswith("list,prototype,label,released")
    for topic in range(3):
        labels = rows.filter((pl.col("topic") == topic) & ~pl.col("pilot"))["labels"]
        assert labels.value_counts()["count"].max() > 0.8 * len(labels)


def test_draws_depend_on_key_name_and_text_only(written):
    """They are bit for bit what one process draws from the same key, names and texts."""
    path, release, _ = written
    table, pilot = release._drawing.table.value, release._pilot.value
    rows = {row["name"]: row for row in rows_of(path).iter_rows(named=True)}
    names = [f"n{number}".encode() for number in range(DOCUMENTS)]
    first = set(np.argsort(pilot_numbers(KEY, names))[:165].tolist())
    for number in range(0, DOCUMENTS, 7):
        row = rows[f"n{number}"]
        assert row["pilot"] == (number in first)
        entry_list = table.mechanism.general if row["pilot"] else pilot.sharpened
        own = [text_of(number).encode()]
        (answer,) = table.draw(entry_list, KEY, [names[number]], own, table.read(own))
        assert row["prototypes"] == entry_list.entries(answer)[0].tolist()


@pytest.mark.parametrize("ledger", [False, True])
@pytest.mark.parametrize("id", [None, "name"])
def test_only_texts_of_the_pilot_are_sent_to_draw_for_it(texts, tmp_path, monkeypatch, id, ledger):
    """Unless a ledger confirms that all rows of a task were charged. The pilot is always the same.

    Without an id, the driver chooses it, and no job reads all documents for that.
    """
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    sent = []

    def recorded(frame, job, schema, original=documents.map_rows):
        sent.append((type(job).__name__, frame.count()))
        return original(frame, job, schema)

    monkeypatch.setattr(documents, "map_rows", recorded)
    budget = Ledger.create(tmp_path / "ledger", budget=1000 * LOSS) if ledger else None
    release = anonymize(
        texts, id=id, keep=["name"], output="arrays", document_loss=LOSS, ledger=budget
    )
    release.write(str(tmp_path / "out"))
    number = [("NumberDrawing", DOCUMENTS)] if id else []
    assert sent == [*number, ("PilotDrawing", DOCUMENTS if ledger else 165)]
    names = [f"n{number}" for number in range(DOCUMENTS)]
    chosen = sample_numbers(KEY, DOCUMENTS, 165)
    if id:
        chosen = np.argsort(pilot_numbers(KEY, [name.encode() for name in names]))[:165]
    rows = {row["name"]: row for row in rows_of(tmp_path / "out").iter_rows(named=True)}
    assert {name for name in names if rows[name]["pilot"]} == {names[i] for i in chosen}
    table, pilot = release._drawing.table.value, release._pilot.value
    for number in range(0, DOCUMENTS, 9):
        row, own = rows[names[number]], [text_of(number).encode()]
        entry_list = table.mechanism.general if row["pilot"] else pilot.sharpened
        name = (names[number] if id else str(number)).encode()
        (answer,) = table.draw(entry_list, KEY, [name], own, table.read(own))
        assert row["prototypes"] == entry_list.entries(answer)[0].tolist()


@pytest.mark.parametrize(
    ("kind", "values", "members"),
    [
        ("string", [b"a", b"\xff\xfe", b" a", b"", "ä".encode()], [b"a", b"\xff\xfe", b""]),
        ("bigint", [b"7", b"-12", b"0", b"9223372036854775807"], [b"-12", b"9223372036854775807"]),
    ],
)
def test_rows_of_the_pilot_are_found_by_the_bytes_of_their_ids(spark, kind, values, members):
    given = spark.createDataFrame([(value,) for value in values], "name binary")
    cast = "cast(name as string)" if kind == "string" else "cast(cast(name as string) as bigint)"
    named = given.selectExpr(f"{cast} as name", "name as text")
    assert named.schema["name"].dataType.simpleString() == kind
    found = only_members(named, members)
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan
    assert "LocalTableScan [member" in plan  # needs no Python process
    assert sorted(bytes(row["text"]) for row in found.collect()) == sorted(members)


def test_the_draw_is_randomised_response_with_the_bytes_of_the_document(written):
    _, release, _ = written
    table = release._drawing.table.value
    general = table.mechanism.general
    response = table.mechanism.response(general)
    own = list_key(KEY, general.digest)
    for number in range(300):
        name, text = b"%d" % number, b""
        (answer,) = table.draw(general, KEY, [name], [text], table.read([text]))
        point = int.from_bytes(document_bytes(own, name, text, 8), "little") >> 2
        noise = point < response.answers * response.background
        assert answer[0] == (point // response.background if noise else 0)


def test_later_documents_can_answer_from_the_list_of_the_release(written):
    path, _, result = written
    synthetic = SynTF(document_loss=LOSS, list_from=path).fit([])
    assert synthetic.guarantee_.document.sharpened == result.guarantee.document.sharpened


@pytest.mark.parametrize("in_pilot", [False, True])
def test_a_text_changes_other_rows_only_through_the_list(
    spark, tmp_path, monkeypatch, written, in_pilot
):
    """Another text in one document, drawn with the same key.

    Outside the pilot, it changes the row of its own document only. In the pilot, it changes no
    other row of the pilot, and others only if its released answer, and so the list, is another.
    """
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    before = rows_of(written[0]).sort("name")
    name = before.filter(pl.col("pilot") == in_pilot)["name"][0]
    rows = [
        (f"n{number}", number % 4, "a judge " * 9000 if f"n{number}" == name else text_of(number))
        for number in range(DOCUMENTS)
    ]
    given = spark.createDataFrame(
        spark.sparkContext.parallelize(rows, 2), "name string, topic int, text string"
    )
    release = anonymize(given, id="name", keep=["topic"], output="arrays", document_loss=LOSS)
    made = release.write(str(tmp_path / "out"))
    after = rows_of(tmp_path / "out").sort("name")
    assert after["name"].equals(before["name"])
    assert after["pilot"].equals(before["pilot"])
    same_list = made.guarantee.document.sharpened == written[2].guarantee.document.sharpened
    assert same_list or in_pilot
    untouched = (before["name"] != name) & (before["pilot"] | same_list)
    assert after.filter(untouched).equals(before.filter(untouched))
    assert untouched.sum() >= (164 if in_pilot else DOCUMENTS - 1)


@pytest.mark.slow
def test_a_second_attempt_to_write_keeps_the_pilot_and_all_draws(
    texts, tmp_path, monkeypatch, written
):
    """The release fails after the draws; writing again releases the same draws."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    pilots = []

    def counted(*arguments, original=frames.draw_pilot):
        pilots.append(original(*arguments))
        return pilots[-1]

    monkeypatch.setattr(frames, "draw_pilot", counted)
    release = anonymize(texts, id="name", keep=["topic"], output="arrays", document_loss=LOSS)
    with monkeypatch.context() as broken:
        broken.setattr(folders.Folder, "finish", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            release.write(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    release.write(str(tmp_path / "out"))
    assert len(pilots) == 1
    assert rows_of(tmp_path / "out").sort("name").equals(rows_of(written[0]).sort("name"))


def test_every_document_is_charged_before_anything_is_drawn(texts, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "ledger", budget=LOSS)
    drawn = []
    monkeypatch.setattr(
        frames, "draw_pilot",
        lambda *arguments, original=frames.draw_pilot: (
            drawn.append(ledger.verify().runs) or original(*arguments)
        ),
    )  # fmt: skip
    release = anonymize(texts, id="name", document_loss=LOSS, ledger=ledger)
    release.write(str(tmp_path / "out"))
    ((run,),) = drawn  # the ledger had been charged when the pilot was drawn for
    assert run.documents == DOCUMENTS
    assert verify(tmp_path / "out").verified
    again = anonymize(texts, id="name", document_loss=LOSS, ledger=ledger)
    with pytest.raises(BudgetError):
        again.write(str(tmp_path / "again"))
    assert len(drawn) == 1


@pytest.mark.parametrize("chosen", [{"pilot": False}, {"document_loss": 20}])
def test_few_documents_and_no_pilot_answer_from_the_general_list(texts, tmp_path, chosen):
    given = texts.where("topic = 1")
    release = anonymize(given, id="name", **{"document_loss": 4, **chosen})
    release.write(str(tmp_path / "out"))
    assert release.data.columns == ["name", "prototypes", "labels", "counts"]
    assert release.guarantee.document.pilot == 0
    report = verify(tmp_path / "out")
    assert report.verified, report.checks
    assert report.documents == DOCUMENTS // 4


@pytest.mark.parametrize("name", ["pilot", "prototypes", "labels"])
def test_a_kept_column_must_not_have_the_name_of_a_released_one(texts, name):
    with pytest.raises(SyntfError, match=f"its own column '{name}'"):
        anonymize(texts.withColumnRenamed("topic", name), keep=[name], document_loss=4)


@pytest.mark.slow
def test_the_command_makes_a_verified_release(cluster, tmp_path):
    rows = {"text": [text_of(number) for number in range(DOCUMENTS)]}
    pl.DataFrame(rows).write_parquet(tmp_path / "texts.parquet")
    done = subprocess.run(
        [
            sys.executable, "-m", "syntf", "anonymize", "texts.parquet", "--document-loss", "20",
            "--engine", "spark", "--master", "local[1]", "--out", "release", "--json",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["guarantee"]["loss_per_document"] == 20
    report = verify(tmp_path / "release")
    assert report.verified, report.checks
    assert report.guarantee.document.pilot == 165
