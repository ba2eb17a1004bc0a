"""Releases written by a cluster: their files, verification, targets and failures."""

import json
import shutil

import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import Guarantee
from syntf.spark import anonymize
from syntf.spark.folders import Folder
from syntf.verification.verify import verify


@pytest.fixture(scope="module", params=["vector", "arrays"])
def written(request, spark, tmp_path_factory):
    """A release of twelve documents from four partitions, one of them empty."""
    rows = [(i, "cat dog mouse" if i % 2 else "") for i in range(12)]
    parts = spark.sparkContext.parallelize(rows, 3).union(spark.sparkContext.parallelize([], 1))
    given = spark.createDataFrame(parts, "topic int, text string")
    path = tmp_path_factory.mktemp("release") / "with space"
    words = ["cat", "dog", "mouse", "horse", "bird"]
    options = {"vocabulary": words, "length": 10, "loss": 3.0, "output": request.param}
    release = anonymize(given, keep=["topic"], **options)
    return path, release, release.write(str(path))


def copied(written, tmp_path):
    return shutil.copytree(written[0], tmp_path / "copy")


def test_the_folder_holds_all_files_of_a_release(written, spark):
    path, release, result = written
    names = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    assert names == {*result.guarantee.files, "guarantee.json"}
    assert {"README.txt", "report.html", "vocabulary.txt", "croissant.json"} < names
    record = json.loads((path / "guarantee.json").read_text())
    assert record == result.guarantee.as_dict()
    expected = {**release.guarantee.as_dict(), "files": None, "checksum": None}
    assert {**record, "files": None, "template": "", "checksum": None} == expected
    assert set(record) - {"checksum"} == set(Guarantee.__dataclass_fields__)
    assert result.documents == 12
    assert sorted(map(str, spark.read.parquet(f"{path}/data").collect())) == sorted(
        map(str, release.data.collect())
    )
    assert "\n  documents                12\n" in (path / "README.txt").read_text()


@pytest.mark.parametrize("counted", [3, 5])
def test_a_row_for_each_counted_document_is_released_or_nothing(
    frame, parameters, tmp_path, counted
):
    release = anonymize(frame(4, 1), id="name", **parameters)
    release.documents = counted  # as if rows had appeared or vanished after they were counted
    with pytest.raises(SyntfError, match="input changed while it was being read"):
        release.write(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_folder_that_a_late_task_leaves_behind_is_deleted(
    frame, parameters, tmp_path, monkeypatch
):
    write_rows = Folder.write_rows

    def late(self, data):
        write_rows(self, data)
        (tmp_path / "out" / "data" / "_temporary" / "0").mkdir(parents=True)

    monkeypatch.setattr(Folder, "write_rows", late)
    anonymize(frame(4, 1), **parameters).write(str(tmp_path / "out"))
    assert {path.suffix for path in (tmp_path / "out" / "data").iterdir()} == {".parquet"}


def test_polars_reads_the_rows(written):
    path, _, _ = written
    table = pl.read_parquet(path / "data" / "*.parquet")
    assert table.height == 12
    counts = table["counts"]
    if counts.dtype == pl.List(pl.Int32):
        assert counts.list.sum().to_list() == [10] * 12
    else:
        assert counts.struct.field("values").list.sum().to_list() == [10.0] * 12


def test_the_release_is_verified(written):
    report = verify(written[0])
    assert report.verified, report.checks
    assert report.documents == 12


def test_the_card_describes_the_rows(spark, parameters, tmp_path):
    """Its types are those that verify reads; structs, such as vectors, cannot be described."""
    kept = {
        "a text": ("'x'", "sc:Text"), "byte": ("1Y", "sc:Integer"), "long": ("1L", "sc:Integer"),
        "real": ("1.5D", "sc:Float"), "decimal": ("1.5BD", "sc:Float"),
        "boolean": ("true", "sc:Boolean"), "date": ("date'2026-01-02'", "sc:Date"),
        "time": ("timestamp'2026-01-02 03:04:05'", "sc:Date"),
        "list": ("array(1, 2)", "sc:Integer"), "map": ("map('a', 1)", None),
        "struct": ("struct(1 as a)", None), "binary": ("x'00'", "sc:Text"),
    }  # fmt: skip
    columns = [f"{value} as `{name}`" for name, (value, _) in kept.items()]
    given = spark.range(3).selectExpr("'cat' as text", *columns)
    anonymize(given, keep=list(kept), **parameters).write(str(tmp_path / "out"))
    report = verify(tmp_path / "out")
    assert report.verified, report.checks
    card = json.loads((tmp_path / "out" / "croissant.json").read_text())
    (described,) = card["recordSet"]
    found = {field["name"]: field["dataType"] for field in described["field"]}
    assert found == {name: kind for name, (_, kind) in kept.items() if kind}
    repeated = [field["name"] for field in described["field"] if field.get("repeated")]
    assert repeated == ["list"]


@pytest.mark.parametrize("fault", ["changed", "added", "removed", "linked"])
def test_a_changed_release_is_not_verified(written, tmp_path, fault):
    folder = copied(written, tmp_path)
    part = sorted((folder / "data").iterdir())[0]
    if fault == "changed":
        part.write_bytes(part.read_bytes()[:-1] + b"!")
    elif fault == "added":
        shutil.copy(part, part.with_name("part-99999.parquet"))
    elif fault == "removed":
        part.unlink()
    else:
        shutil.move(folder / "data", tmp_path / "elsewhere")
        (folder / "data").symlink_to(tmp_path / "elsewhere")
    assert not verify(folder).verified


def test_counts_are_verified_and_not_only_digests(written, tmp_path, spark):
    """A forger who corrects every digest is caught by the counts."""
    from dataclasses import replace
    from hashlib import sha256

    from syntf.verification.guarantee_file import read_guarantee

    folder = copied(written, tmp_path)
    guarantee = read_guarantee((folder / "guarantee.json").read_bytes()).guarantee
    name = next(
        name
        for name in sorted(guarantee.files)
        if name.startswith("data/") and pl.read_parquet(folder / name).height
    )
    table = pl.read_parquet(folder / name)
    counts = table["counts"]
    if counts.dtype == pl.List(pl.Int32):
        forged = counts.list.eval(pl.element() + 1)
    else:
        field = pl.col("counts").struct
        more = field.field("values").list.eval(pl.element() + 1)
        forged = table.select(field.with_fields(more.alias("values")))["counts"]
    table.with_columns(forged.alias("counts")).write_parquet(folder / name)
    digest = f"sha256:{sha256((folder / name).read_bytes()).hexdigest()}"
    card = (folder / "croissant.json").read_text()
    card = card.replace(
        guarantee.files[name].removeprefix("sha256:"), digest.removeprefix("sha256:")
    )
    (folder / "croissant.json").write_text(card)
    files = {name: digest, "croissant.json": f"sha256:{sha256(card.encode()).hexdigest()}"}
    mended = replace(guarantee, files={**guarantee.files, **files})
    (folder / "guarantee.json").write_text(mended.as_json())
    report = verify(folder)
    assert [check.name for check in report.checks if check.status == "FAILED"] == ["counts"]


def test_an_existing_folder_is_not_replaced_unless_forced(written, tmp_path, frame, parameters):
    folder = copied(written, tmp_path)
    before = (folder / "guarantee.json").read_bytes()
    release = anonymize(frame(4, 1), **parameters)
    with pytest.raises(SyntfError, match="already exists"):
        release.write(str(folder))
    assert (folder / "guarantee.json").read_bytes() == before
    (folder / "mine.txt").write_text("of somebody")
    with pytest.raises(SyntfError, match="not a release"):
        release.write(str(folder), force=True)
    assert (folder / "guarantee.json").read_bytes() == before
    (folder / "mine.txt").unlink()
    release.write(str(folder), force=True)
    assert verify(folder).documents == 4
    (folder / "guarantee.json").unlink()
    with pytest.raises(SyntfError, match="not a release"):
        anonymize(frame(4, 1), **parameters).write(str(folder), force=True)
    assert (folder / "data").exists()


def test_a_failed_run_leaves_nothing(frame, parameters, tmp_path):
    from pyspark.sql.functions import udf

    @udf("string")
    def broken(text):
        raise RuntimeError("no such text")

    texts = frame(4, 1).select("name", broken("text").alias("text"))
    with pytest.raises(Exception, match="no such text"):
        anonymize(texts, id="name", **parameters).write(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
