"""Non-interference on Spark: a text changes the counts of its document, and nothing else."""

import csv
import json
import re
from contextlib import suppress

import polars as pl
import pytest
from pairs import TEXTS, Outcome, check

from syntf.core.errors import SyntfError
from syntf.spark import anonymize, frames
from syntf.spark.inputs import read

KEY = bytes(range(100, 132))
DOCUMENTS = 3000
SECRETS = {f"n{60 * i + 7}": text for i, text in enumerate(TEXTS.values())}
"""Names of the documents whose texts change, and their texts in one of the runs."""

LONG = "cat dog " * 150_000
RUNS = {
    "ordinary texts": dict.fromkeys(SECRETS, "cat"),
    "unusual texts": SECRETS,
    "a long text": {**dict.fromkeys(SECRETS, "cat"), "n1207": LONG},
}


def rows(texts):
    """Return 3,000 short documents, some of which have the given texts."""
    names = (f"n{i}" for i in range(DOCUMENTS))
    return [
        {"text": texts.get(name, f"cat house {i % 17}"), "name": name}
        for i, name in enumerate(names)
    ]


def write_input(folder, format, texts):
    path = folder / f"in.{format}"
    if format == "csv":
        with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
            writer = csv.DictWriter(file, ["text", "name"], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows(texts))
    elif format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows(texts)), encoding="utf-8")
    else:
        clean = [
            {**row, "text": row["text"].encode("utf-8", "replace").decode()} for row in rows(texts)
        ]
        pl.DataFrame(clean).write_parquet(path, row_group_size=500)
    return path


@pytest.fixture
def small_parts(monkeypatch, spark):
    """Cut files every 32 kB, and put 1,000 documents into a part."""
    monkeypatch.setattr(frames, "PART_DOCUMENTS", 1000)
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "32768")
    yield
    spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def released(spark, folder, format, texts, parameters, id):
    """Make a release; return what can be seen of it, without the counts of the secret documents."""
    folder.mkdir()
    frame = read(spark, [str(write_input(folder, format, texts))], "text")
    release = anonymize(frame, keep=["name"], id=id, output="arrays", **parameters)
    documents = release.write(str(folder / "out")).documents
    uuid = re.compile(r"-[0-9a-f]{8}-[0-9a-f-]{27}-")  # Spark chooses it before it reads anything
    parts = {
        uuid.sub("-", path.name): pl.read_parquet(path)
        for path in sorted((folder / "out" / "data").iterdir())
    }
    guarantee = json.loads((folder / "out" / "guarantee.json").read_text())
    names = sorted(uuid.sub("-", name) for name in guarantee["files"])
    fixed = {**guarantee, "files": names, "checksum": None}
    files = {
        name: (folder / "out" / name).read_bytes() for name in ("README.txt", "vocabulary.txt")
    }
    sizes = {name: f"{table.height} {table.schema}".encode() for name, table in parts.items()}
    counts = [
        (row["name"], None if row["name"] in SECRETS else (*row["terms"], *row["counts"]))
        for table in parts.values()
        for row in table.iter_rows(named=True)
    ]
    return Outcome(documents, json.dumps(fixed), {**files, **sizes}, counts)


@pytest.mark.parametrize(
    ("format", "id"), [("parquet", None), ("jsonl", None), ("csv", None), ("jsonl", "name")]
)
def test_a_text_changes_the_counts_of_its_document_only(
    spark, parameters, tmp_path, small_parts, trust, format, id
):
    """Parts, their sizes, the order of rows, names of files and all other counts stay equal."""
    runs = RUNS if id is None else ("ordinary texts", "a long text")
    found = [
        released(spark, tmp_path / str(place), format, RUNS[run], parameters, id)
        for place, run in enumerate(runs)
    ]
    assert len([name for name in found[0].files if name.startswith("part")]) == 3
    for other in found[1:]:
        assert check(found[0], other, None) is None
        trust["pairs compared by the non-interference suite"] += 1


def test_parts_do_not_tell_the_length_of_a_text(spark, parameters, tmp_path, monkeypatch):
    """Spark cuts files by bytes. Version 0.1 wrote one part per cut, of as many rows."""
    monkeypatch.setattr(frames, "fresh_key", lambda: KEY)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "32768")
    try:
        heights = []
        for place, text in enumerate(("", LONG)):
            (tmp_path / str(place)).mkdir()
            path = write_input(tmp_path / str(place), "jsonl", {"n1207": text})
            frame = spark.read.schema("text string, name string").json(str(path))
            anonymize(frame, **parameters).write(str(tmp_path / str(place) / "out"))
            parts = sorted((tmp_path / str(place) / "out" / "data").iterdir())
            heights.append([pl.read_parquet(part).height for part in parts])
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", "128m")
    assert heights[0] == heights[1]


def test_rewritten_input_gives_no_second_draw(spark, parameters, tmp_path):
    """Without an id, a document is known by its number, which a rewritten file changes."""
    lines = [f'{{"text": "cat dog x{i}", "name": "n{i}"}}\n' for i in range(6)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(lines))
    frame = spark.read.schema("text string, name string").json(str(path))
    release = anonymize(frame, keep=["name"], **parameters)
    looks = []
    for _ in range(2):
        with suppress(SyntfError):  # refused: see the next tests
            looks.append({row["name"]: row["counts"] for row in release.data.collect()})
        path.write_text("".join(lines[::-1]))
    assert all(look == looks[0] for look in looks)


def test_data_without_an_id_must_be_written_first(frame, parameters):
    with pytest.raises(SyntfError, match="write the release before you read its data"):
        _ = anonymize(frame(4, 1), **parameters).data


def test_input_that_changed_before_it_is_written_is_refused(spark, parameters, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "cat"}\n{"text": "dog"}\n')
    release = anonymize(read(spark, [str(path)], "text"), **parameters)
    path.write_text('{"text": "dog"}\n{"text": "horse"}\n')
    with pytest.raises(SyntfError, match="the input files changed"):
        release.write(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_data_after_writing_reads_the_written_rows(spark, parameters, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"text": "cat x{i}", "name": "n{i}"}}\n' for i in range(6)))
    release = anonymize(read(spark, [str(path)], "text"), keep=["name"], **parameters)
    release.write(str(tmp_path / "out"))
    before = sorted(map(str, release.data.collect()))
    path.write_text('{"text": "horse", "name": "other"}\n')
    assert sorted(map(str, release.data.collect())) == before
    with pytest.raises(SyntfError, match="copy that folder"):
        release.write(str(tmp_path / "again"))
