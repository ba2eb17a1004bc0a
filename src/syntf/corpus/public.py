"""What is known about words without looking at any text, as `synthesize` uses it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.text.reader import Reader
from syntf.topics.encoder import Encoder
from syntf.topics.integers import Vectors
from syntf.topics.lists import TopicList, topic_list
from syntf.topics.profiles import profiles
from syntf.topics.weights import word_weights

_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, eq=False)
class PublicWords:
    """Words that may be columns of a release, with public numbers for each of them."""

    reader: Reader
    encoder: Encoder

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The rows of all word vectors that the reader can count and that point somewhere."""
        counted = np.unique(self.reader.counts(pl.Series(list(self.reader.words))).indices)
        rows = counted.astype(np.int32)
        return rows[self.encoder.word_vectors(rows).any(axis=1)]

    @cached_property
    def vectors(self) -> Vectors:
        """The encoded vector of each word."""
        return self.encoder.word_vectors(self.rows)

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """How frequent each word is in public texts, times what it says about a topic."""
        topical = np.maximum(word_weights(self.encoder.vectors)[self.rows], 0.02)
        return np.asarray(topical / (self.rows + 200.0))

    def directions(self, texts: Sequence[str]) -> Vectors:
        """Return where short texts point, such as names of labels; zeros for unknown words."""
        plain = pl.Series([_SEPARATORS.sub(" ", text) for text in texts], dtype=pl.String)
        return self.encoder.encode(self.reader.counts(plain))

    def topics(self, count: int) -> tuple[TopicList, tuple[str, ...]]:
        """Return public topics that take the place of labels, and names; the last has no vector."""
        topics = topic_list(self.encoder.codebook, count)
        names = profiles(topics, self.encoder)[1]
        return topics, tuple(f"{place}: {name}" for place, name in enumerate(names, 1))
