"""A small corpus in place of 20 newsgroups."""

import numpy as np
import pytest

from paper.corpus import Corpus

ANIMALS = "cat dog mouse horse cow bird fish"
ROADS = "car train bus boat road wheel engine"


@pytest.fixture
def corpus():
    """60 texts with two topics that differ in their words, by three authors on both topics."""
    rng = np.random.default_rng(2)
    number = np.arange(60)
    words = [ANIMALS.split(), ROADS.split()]
    texts = [" ".join(rng.choice(words[i % 2], 9)) for i in number]
    labels = np.array(["animal", "road"])[number % 2]
    authors = np.array(["ann", "bob", "eve"])[number // 2 % 3]
    return Corpus(texts, labels, authors, number < 36)
