"""A small corpus in place of 20 newsgroups."""

import numpy as np
import pytest

from paper.corpus import Corpus

ANIMALS = "cat dog mouse horse cow bird fish"
ROADS = "car train bus boat road wheel engine"
OWN = "plane house garden tree flower river mountain bread cheese apple water music"


@pytest.fixture
def corpus():
    """144 texts with two topics that differ in their words, by twelve authors on both topics.

    Every author has a word of their own.
    """
    rng = np.random.default_rng(2)
    number = np.arange(144)
    words = [ANIMALS.split(), ROADS.split()]
    own = np.array(OWN.split())[number // 2 % 12]
    texts = [" ".join([*rng.choice(words[i % 2], 8), own[i]]) for i in number]
    labels = np.array(["animal", "road"])[number % 2]
    authors = np.array([f"author {i:x}" for i in range(12)])[number // 2 % 12]
    return Corpus(texts, labels, authors, number < 72)
