"""The corpus of an evaluation: 20 newsgroups as the paper uses them, or a file of the user."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.datasets import fetch_20newsgroups
from sklearn.model_selection import train_test_split

from syntf.core.errors import SyntfError

_FROM = re.compile(r"^From:(.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"[^\s<>()\[\]\",;:@]+@[^\s<>()\[\]\",;:@]+")
TEST_SHARE = 0.4


@dataclass(frozen=True)
class Corpus:
    """Documents in order, in an array for each column; an empty label or author is unknown."""

    texts: Sequence[str]
    labels: NDArray[np.str_]
    authors: NDArray[np.str_]
    train: NDArray[np.bool_]


def newsgroups(data_home: Path | None = None) -> Corpus:
    """Load all messages without headers, footers and quotes; training messages come first.

    They are read from scikit-learn's `data_home`, or downloaded there by scikit-learn. The author
    is the first e-mail address in the ``From`` header, in lower case; 73 messages have none.
    """
    try:
        raw, plain = (
            [
                fetch_20newsgroups(data_home=data_home, subset=part, shuffle=False, remove=remove)
                for part in ("train", "test")
            ]
            for remove in ((), ("headers", "footers", "quotes"))
        )
    except OSError as error:
        raise SyntfError(
            f"20 newsgroups are not in {data_home or 'the data home of scikit-learn'} and cannot "
            f"be downloaded ({error}): name a folder with --data-home that "
            "sklearn.datasets.fetch_20newsgroups has filled"
        ) from error
    names = np.array(raw[0].target_names)
    messages = [message for part in raw for message in part.data]
    return Corpus(
        texts=[text for part in plain for text in part.data],
        labels=names[np.concatenate([part.target for part in raw])],
        authors=np.array([message_author(message) for message in messages]),
        train=np.arange(len(messages)) < len(raw[0].data),
    )


def message_author(message: str) -> str:
    """Return the first e-mail address in the ``From:`` line, in lower case, or an empty string.

    Continuation lines of the header are ignored: they hold identifiers, not the author.

    >>> message_author("From: Jane <Jane@Example.org> (J)\\nSubject: hi\\n\\nbody")
    'jane@example.org'
    """
    line = _FROM.search(message)
    address = _ADDRESS.search(line[1]) if line else None
    return address[0].lower() if address else ""


def from_table(table: pl.DataFrame, text: str, author: str, label: str | None = None) -> Corpus:
    """Build a corpus from columns of a table.

    Two fifths of the documents are for testing: the same ones every time, and the same share of
    each author who has at least two documents.
    """

    def column(name: str | None) -> NDArray[np.str_]:
        if name is None:
            return np.full(table.height, "", dtype=np.str_)
        values = table[name].cast(pl.String).fill_null("").str.strip_chars()
        return values.to_numpy().astype(np.str_)

    authors = column(author)
    _, place, counts = np.unique(authors, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[place] > 1)
    stratified = TEST_SHARE * len(several) >= (counts > 1).sum() > 0
    _, tested = train_test_split(
        several if stratified else np.arange(table.height),
        test_size=TEST_SHARE,
        stratify=authors[several] if stratified else None,
        random_state=0,
    )
    train = ~np.isin(np.arange(table.height), tested)
    return Corpus(
        table[text].cast(pl.String).fill_null("").to_list(), column(label), authors, train
    )
