"""A small corpus: 40 known words in 8 dimensions."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from syntf.corpus import measure as measuring
from syntf.corpus.documents import Documents
from syntf.corpus.public import PublicWords
from syntf.text.reader import reader_for

LABELS = ("animals", "music", "cars")


@dataclass
class Corpus:
    """Encoded documents with labels."""

    labels: list
    counts: csr_matrix
    encoded: np.ndarray

    @contextmanager
    def documents(self, batch=1000, **more):
        with Documents(self.counts.shape[1], self.encoded.shape[1], **more) as kept:
            for start in range(0, len(self.labels), batch):
                part = slice(start, start + batch)
                labels = pl.Series(self.labels[part], dtype=pl.String)
                kept.add(labels, self.encoded[part], self.counts[part])
            yield kept

    def at(self, places):
        labels = [self.labels[place] for place in places]
        return Corpus(labels, self.counts[places], self.encoded[places])


@pytest.fixture(scope="session")
def public(toy_words, toy_encoder):
    return PublicWords(reader_for(words=toy_words), toy_encoder)


@pytest.fixture(scope="session")
def corpus_of(toy_encoder):
    """A function that makes a corpus of a number of documents; each label has own words."""

    def made(size, labels=LABELS, seed=0):
        random = np.random.default_rng(seed)
        own = random.integers(len(labels), size=size)
        rates = np.full((len(labels), 40), 0.05)
        for label in range(len(labels)):
            rates[label, 13 * label : 13 * label + 13] = 0.5
        counts = csr_matrix(random.poisson(rates[own]).astype(np.int32))
        return Corpus([labels[one] for one in own], counts, toy_encoder.encode(counts))

    return made


@pytest.fixture
def noise_of(monkeypatch):
    """A function that replaces the noise of measurements; it returns a list of what was drawn."""

    def replaced(draw):
        drawn = []

        class Noise:
            def __init__(self, variance):
                self.variance = variance

            def sample(self, count, source):
                noise = np.asarray(draw(self.variance, count), dtype=np.int64)
                drawn.append((self.variance, noise))
                return noise

        monkeypatch.setattr(measuring, "DiscreteGaussian", Noise)
        return drawn

    return replaced
