"""Prepare each method once: these tests make hundreds of releases."""

from importlib import import_module

import pytest

from syntf import rows

_prepared = {}


@pytest.fixture(autouse=True)
def prepared_methods(monkeypatch):
    """Let the job and verify share what is built from the same settings; no text is in it."""
    build = rows.build

    def cached(settings, texts=()):
        key = repr(settings)
        if key not in _prepared:
            _prepared[key] = build(settings, texts)
        return _prepared[key]

    monkeypatch.setattr("syntf.release.job.build", cached)
    monkeypatch.setattr(import_module("syntf.release.verify"), "build", cached)
