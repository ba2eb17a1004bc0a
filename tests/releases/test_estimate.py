"""Estimates of the time and size of a release, from its first rows."""

import gzip

import polars as pl
import pytest

from syntf import release
from syntf.inputs import corpus as inputs
from syntf.inputs.corpus import Corpus
from syntf.inputs.formats import csv_rows
from syntf.inputs.rows import Rows
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import estimate

TEXTS = [
    f"The bus number {number} is late and the driver waits at the station." for number in range(600)
]
UNITS = [{"preset": "default"}, {"preset": "words", "length": 20, "max_size": 1000}]


def built(chosen):
    settings = Settings.from_preset(**chosen)
    kind = DocumentAnonymizer if settings.unit == "document" else Anonymizer
    return kind.build(settings)


@pytest.mark.parametrize("chosen", UNITS, ids=["document", "words"])
@pytest.mark.parametrize("format", ["npz", "jsonl"])
def test_the_estimated_size_is_near_that_of_the_release(tmp_path, chosen, format):
    table = pl.DataFrame({"text": TEXTS, "place": [text[:20] for text in TEXTS]})
    table.write_csv(tmp_path / "texts.csv")
    rate = estimate.measure(
        built(chosen), TEXTS[:200], Rows.of(table[:200, ["place"]]), format=format
    )
    seconds, size = estimate.estimate(rate, len(TEXTS), whole=False, setup=1.0)
    assert seconds == pytest.approx(1.0 + len(TEXTS) * rate.seconds)
    made = release(
        tmp_path / "texts.csv", tmp_path / "out", keep=["place"], format=format, **chosen
    )
    true = sum(path.stat().st_size for path in made.path.iterdir())
    assert size == pytest.approx(true, rel=0.4)


def test_many_whole_documents_are_read_twice():
    rate = estimate.Rate(seconds=0.5, bytes=2.0, fixed_bytes=10)
    assert estimate.estimate(rate, 100_000, whole=True, setup=0.0) == (100_000.0, 200_010)
    assert estimate.estimate(rate, 100_000, whole=False, setup=0.0) == (50_000.0, 200_010)


BATCH = 100 if csv_rows._compiled is not None else 10_000
"""Rows of a batch. Without the compiled loop, bytes are read ahead of small batches."""


def counted(path, monkeypatch, rows):
    """Count the documents of a file that is read in batches of so many rows."""
    monkeypatch.setattr(inputs, "BATCH", rows)
    corpus = Corpus([path], "text", None)
    batches = iter(corpus)
    return estimate.count_documents(corpus, next(batches).height, batches)


def test_rows_are_counted_in_parquet_folders_and_short_files(tmp_path, monkeypatch):
    table = pl.DataFrame({"text": TEXTS})
    table.write_parquet(tmp_path / "texts.parquet", row_group_size=100)
    table.write_csv(tmp_path / "texts.csv")
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"{number}.txt").write_text(text)
    for name in ("texts.parquet", "texts.csv", "folder"):
        assert counted(tmp_path / name, monkeypatch, BATCH) == len(TEXTS)


@pytest.mark.parametrize("name", ["texts.csv", "texts.csv.gz"])
def test_rows_of_long_files_are_estimated_by_their_bytes(tmp_path, monkeypatch, name):
    table = pl.DataFrame({"text": TEXTS * 200})
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wb") as file:
        table.write_csv(file)
    found = counted(tmp_path / name, monkeypatch, 10 * BATCH)
    assert found != table.height
    assert found == pytest.approx(table.height, rel=0.25)
