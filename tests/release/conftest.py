"""A small release of hand-made topics, and one of words."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from syntf.core import entropy
from syntf.mechanism.response import ResponseMechanism
from syntf.privacy.guarantee import Public
from syntf.rows import Drawn, Scheme, guarantee
from syntf.settings import Settings

TERMS = ["cat", "café", "猫", "dog", "=1+1"]
PROFILES = csr_matrix(
    np.array([[3, 0, 0, 2, 0], [0, 5, 0, 0, 1], [1, 1, 2, 1, 0], [0, 0, 0, 0, 0]], dtype=np.int32)
)
NAMES = ["cats, dogs", "coffee", "tiere", "nothing known"]


def toy_scheme(loss=3.0, draws=1, listed=True, answers=4):
    return Scheme(
        mechanism=ResponseMechanism(answers if listed else len(TERMS), loss=loss), draws=draws,
        terms=TERMS, profiles=PROFILES[:answers] if listed else None,
        names=NAMES[:answers] if listed else TERMS, digest="5a" * 32, listed=listed,
        find_targets=lambda encoded: encoded,
    )  # fmt: skip


def promise_of(drawn, settings=None, **more):
    """The guarantee of hand-made answers."""
    settings = settings or Settings()
    method = SimpleNamespace(settings=settings, public={"topics": Public("sha256:0", "embedded")})
    return guarantee(method, drawn.schemes, documents=len(drawn), **more)


@pytest.fixture
def topics():
    """Six documents, two of them in the pilot, with two topics each."""
    first, rest = toy_scheme(draws=2), toy_scheme(draws=2, answers=3)
    answers = np.array([[0, 1], [2, 2], [3, 0], [1, 0], [2, 1], [0, 0]])
    pilot = np.array([False, False, True, False, True, False])
    return Drawn(answers, pilot, first, rest)


@pytest.fixture
def words():
    """Three documents of four words each."""
    scheme = toy_scheme(draws=4, listed=False)
    answers = np.array([[0, 1, 1, 4], [2, 2, 2, 2], [3, 0, 1, 2]])
    return Drawn(answers, np.zeros(3, dtype=bool), scheme, scheme)


@pytest.fixture
def promise():
    return promise_of


@pytest.fixture
def scheme():
    return toy_scheme


@pytest.fixture
def seeded():
    return entropy.Seeded(1)
