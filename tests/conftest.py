"""Fixtures for all tests: a separate cache, a small table of word vectors, real corpora."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A slow machine must not fail a test: hypothesis sets no time limit for an example.
settings.register_profile("syntf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("syntf")

WORDS = (
    "cat cats dog dogs mouse mice horse cow bird fish run running walk jump swim fly car cars "
    "train bus boat road wheel engine ship plane house garden tree flower river mountain bread "
    "cheese apple water music song piano guitar"
).split()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Give the tests, and the processes they start, a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTF_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def small_vectors():
    """Word vectors of forty words, made from public knowledge of nothing: fixed numbers."""
    from syntf.words.vectors import WordVectors

    matrix = np.random.default_rng(0).normal(size=(len(WORDS), 12))
    return WordVectors.quantize(WORDS, matrix)


@pytest.fixture(scope="session")
def newsgroups_home():
    """The folder of scikit-learn's data with 20 newsgroups, which is no part of the repository."""
    home = os.environ.get("SYNTF_NEWSGROUPS")
    if not home or not list(Path(home).glob("20news-bydate*.pkz")):
        pytest.skip(
            "needs 20 newsgroups: run python -c 'from sklearn.datasets import fetch_20newsgroups "
            'as f; f(data_home="data")\' and set SYNTF_NEWSGROUPS=data'
        )
    return home
