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
    def topical(self) -> NDArray[np.float32]:
        """How much each word says about a topic, from 0 to 1."""
        return word_weights(self.encoder.vectors)[self.rows]

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """How frequent each word is in public texts, times what it says about a topic."""
        return np.asarray(np.maximum(self.topical, 0.02) / (self.rows + 200.0))

    def directions(self, texts: Sequence[str]) -> Vectors:
        """Return where short texts point, such as names of labels; zeros for unknown words."""
        plain = pl.Series([_SEPARATORS.sub(" ", text) for text in texts], dtype=pl.String)
        return self.encoder.encode(self.reader.counts(plain))

    def topic_list(self, count: int) -> TopicList:
        """Return a list of public topics, which take the place of labels."""
        return topic_list(self.encoder.codebook, count)

    def topics(self, count: int) -> tuple[tuple[str, ...], Vectors]:
        """Return names and vectors of a public list of topics; the last is *nothing known*.

        Its vector is zero.
        """
        topics = self.topic_list(count)
        _, names = profiles(topics, self.encoder)
        distinct = [
            f"{name} ({names[:i].count(name) + 1})" if name in names[:i] else name
            for i, name in enumerate(names)
        ]
        nothing = np.zeros((1, topics.vectors.shape[1]), dtype=np.int16)
        return tuple(distinct), np.vstack([topics.vectors, nothing])
