"""Fixtures: a file of short texts on three topics, and small shards, samples and pilots."""

import polars as pl
import pytest

from syntf.codebook import plan
from syntf.releases import document_run, draft

TOPICS = {
    "space": "the rocket carried a satellite into orbit around the moon {}",
    "food": "we cooked soup with garlic, onions and fresh bread {}",
    "sport": "the goalkeeper saved a penalty in the football match {}",
}


@pytest.fixture
def texts(tmp_path):
    """A file of 240 short texts on three topics."""
    rows = [(topic, text.format(number)) for number in range(80) for topic, text in TOPICS.items()]
    pl.DataFrame(rows, schema=["topic", "text"], orient="row").write_csv(tmp_path / "texts.csv")
    return tmp_path / "texts.csv"


@pytest.fixture
def small(monkeypatch):
    """Shards of 60 documents, a sample of 50, and a pilot from 100 documents on."""
    monkeypatch.setattr(draft, "SHARD", 60)
    monkeypatch.setattr(document_run, "SAMPLE", 50)
    monkeypatch.setattr(plan, "PILOT_FROM", 100)
    monkeypatch.setattr(plan, "PILOT_MOST", 30)
