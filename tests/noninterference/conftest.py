import os

import pytest
from machine import Machine


@pytest.fixture
def machine(tmp_path, toy_vectors, monkeypatch):
    """A machine that does not wait for its disk, nor tries Parquet files in another process."""
    monkeypatch.setattr(os, "fsync", lambda number: None)
    monkeypatch.setattr("syntf.inputs.formats.parquet.survives", lambda path, batch, format: True)
    return Machine(tmp_path, toy_vectors)
