"""The owner's documents: some to learn from, and others that analysts and attackers are tested on.

Nothing here is released. Labels and authors are numbers, because no figure depends on their names.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.core.progress import stage
from syntf.inputs import corpus as inputs
from syntf.inputs.columns import as_names, as_texts

Numbers = NDArray[np.int64]
"""A label or an author for each document; :data:`UNKNOWN` where there is none."""

UNKNOWN = -1
FEWEST = 20  # fewer documents give no figure worth reading


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in order.

    labels, authors : a number for each document, :data:`UNKNOWN` where there is none.
    train : whether a document is learned from. The others take no part in learning.
    columns, notices : the columns that were read, by their use, and sentences for the owner.
    """

    texts: pl.Series
    labels: Numbers
    authors: Numbers
    train: NDArray[np.bool_]
    columns: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_labels(self) -> bool:
        """Whether any document has a label."""
        return bool((self.labels != UNKNOWN).any())

    @classmethod
    def of(
        cls, texts: pl.Series, labels: pl.Series | None = None, authors: pl.Series | None = None,
        train: NDArray[np.bool_] | None = None,
    ) -> "Corpus":  # fmt: skip
        """Prepare columns of a table; refuse them if there is too little to learn from.

        train : whether each document is learned from; by default as :func:`divide` says.
        """
        if len(texts) < FEWEST:
            raise SyntfError(f"there are {len(texts)} documents: give at least {FEWEST}")
        unnamed = np.full(len(texts), UNKNOWN, dtype=np.int64)
        topics = unnamed if labels is None else _numbers(as_texts(labels).fill_null(""))
        writers = unnamed if authors is None else _numbers(as_names(authors))
        learned = divide(topics, writers) if train is None else train
        if labels is not None:
            known = topics[learned & (topics != UNKNOWN)]
            kinds = len(np.unique(known))
            if not 2 <= kinds <= len(known) // 2:
                raise SyntfError(
                    f"column {labels.name!r} has {kinds:,} different labels in {len(known):,} "
                    "documents to learn from: name a column in which few labels repeat"
                )
        return cls(texts.cast(pl.String).fill_null(""), topics, writers, learned)


def read_corpus(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]], text: str = "text",
    label: str | None = None, author: str | None = None,
    reading: inputs.Reading = inputs.AS_NAMED,
) -> Corpus:  # fmt: skip
    """Read files into a corpus, as :func:`syntf.anonymize` reads them."""
    named = {"text": text, "label": label, "author": author}
    columns = {use: name for use, name in named.items() if name is not None}
    if len(set(columns.values())) < len(columns):
        raise SyntfError("text, label and author must be different columns")
    wanted = [name for use, name in columns.items() if use != "text"]
    with closing(inputs.Corpus(paths, text, wanted, reading)) as found:
        batches = []
        with stage("reading", found.size) as advance:
            for batch in found.batches():
                batches.append(batch)
                advance(int(batch.estimated_size()))
        table = pl.concat(batches, how="vertical_relaxed")
    labels, authors = (table[name] if name else None for name in (label, author))
    made = Corpus.of(table[text], labels, authors)
    made.columns.update(columns)
    made.notices.extend(found.notices)
    return made


def divide(labels: Numbers, authors: Numbers) -> NDArray[np.bool_]:
    """Choose two thirds of the documents to learn from: of each author, then of each label.

    The choice is the same every time.

    >>> divide(np.zeros(6, dtype=int), np.array([0, 0, 0, 1, 1, 1])).sum()
    np.int64(4)
    """
    tie = entropy.permutation(entropy.Seeded(0), len(labels))
    order = np.lexsort((tie, labels, authors))
    train = np.ones(len(labels), dtype=bool)
    train[order[2::3]] = False
    return train


def _numbers(values: pl.Series) -> Numbers:
    """Number the different values in their order; an empty one is unknown."""
    stripped = values.str.strip_chars()
    known = (stripped != "").to_numpy()
    return np.where(known, stripped.rank("dense").to_numpy().astype(np.int64), UNKNOWN)
