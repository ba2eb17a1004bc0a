"""A corpus with labels, authors and a training part, on which analyst and attackers are tested."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.splits import (
    check_groups,
    divide,
    divide_by_group,
    divide_by_time,
)
from syntf.inputs import columns

TRAIN = ("train", "training")
TEST = ("test", "testing")


@dataclass(frozen=True)
class LabelledCorpus:
    """Documents in order; an empty label or author means that it is unknown.

    `notices` are sentences about rows that could not be used. `groups` and `times` are names of
    groups and times, empty if unknown; None without such a column. Documents of a group are never
    both for training and for testing. `by_time` says that the later documents are for testing.
    """

    texts: Sequence[str]
    labels: NDArray[np.str_]
    authors: NDArray[np.str_]
    train: NDArray[np.bool_]
    notices: Sequence[str] = field(default=())
    groups: NDArray[np.str_] | None = None
    times: NDArray[np.str_] | None = None
    by_time: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def training_texts(self) -> list[str]:
        return [text for text, train in zip(self.texts, self.train, strict=True) if train]

    @property
    def digest(self) -> str:
        """A SHA-256 of all documents: an experiment continues only with the same corpus."""
        digest = sha256()
        for row in zip(self.texts, self.labels, self.authors, self.train, strict=True):
            digest.update("\0".join(map(str, row)).encode("utf-8", "surrogatepass") + b"\1")
        for column in (self.groups, self.times):
            if column is not None:
                digest.update("\0".join(column.tolist()).encode("utf-8", "surrogatepass") + b"\1")
        return digest.hexdigest()

    def select(self, rows: NDArray[np.intp], train: NDArray[np.bool_]) -> "LabelledCorpus":
        """Return these documents in this order, with a new division for training."""
        texts = [self.texts[i] for i in rows.tolist()]
        groups, times = (
            None if values is None else values[rows] for values in (self.groups, self.times)
        )
        return LabelledCorpus(
            texts, self.labels[rows], self.authors[rows], train, (), groups, times, self.by_time
        )


def corpus_from_table(
    table: pl.DataFrame,
    *,
    text: str,
    label: str | None = None,
    author: str | None = None,
    split: str | None = None,
    test_share: float = 0.4,
    group: str | None = None,
    time: str | None = None,
    split_by: str | None = None,
) -> LabelledCorpus:
    """Build a corpus from the columns of a table.

    Parameters
    ----------
    text, label, author : str
        Names of columns. Without a label or author column, all labels or authors are unknown.
    split : str, optional
        Name of a column that says train or test in every row.
    test_share : float, default=0.4
        Without `split`, the share of documents that are for testing: the same documents every
        time, and the same share of each author, or of each label if there is no author column.
    group : str, optional
        Name of a column, such as the thread: its documents are never on both sides.
    time : str, optional
        Name of a column with the time of each document.
    split_by : {'time'}, optional
        Test on the later documents.
    """
    texts = columns.texts(table, text)
    labels, authors = (_stripped_column(table, column) for column in (label, author))
    groups = _stripped_column(table, group) if group else None
    times = _stripped_column(table, time) if time else None
    by_time = split_by == "time"
    if by_time and times is None:
        raise SyntfError("--split-by time needs a column: name it with --time")
    if by_time and split is not None:
        raise SyntfError("--split and --split-by exclude each other: give one of them")
    notices: list[str] = []
    if split is not None:
        train = _read_split(table, split)
        if groups is not None:
            check_groups(groups, train)
    else:
        strata = authors if author else labels
        train, notices = _choose(strata, groups, times if by_time else None, test_share)
    for column, values in ((label, labels), (author, authors)):
        missing = int((values == "").sum())
        if column is not None and missing:
            part = f"{missing:,} of {len(texts):,} texts"
            notices.append(f"{part} have no value in column {column!r}")
    return LabelledCorpus(texts, labels, authors, train, notices, groups, times, by_time)


def validation_split(corpus: LabelledCorpus, share: float = 0.4) -> LabelledCorpus:
    """Divide the training documents again, to choose parameters without the test documents.

    Only documents with a label are used; the division is the same every time and takes the same
    share of each label. A corpus that is divided by groups or by time is so divided again.
    """
    rows = np.flatnonzero(corpus.train & (corpus.labels != ""))
    part = corpus.select(rows, np.ones(len(rows), dtype=bool))
    times = part.times if part.by_time else None
    return corpus.select(rows, _choose(part.labels, part.groups, times, share)[0])


def _choose(
    strata: NDArray[np.str_],
    groups: NDArray[np.str_] | None,
    times: NDArray[np.str_] | None,
    share: float,
) -> tuple[NDArray[np.bool_], list[str]]:
    """Choose training documents by time, by group, or else with the same share of each stratum."""
    if times is not None:
        return divide_by_time(times, groups, share), []
    if groups is not None:
        return divide_by_group(groups, share), []
    return divide(strata, share)


def _stripped_column(table: pl.DataFrame, column: str | None) -> NDArray[np.str_]:
    if column is None:
        return np.full(table.height, "", dtype=np.str_)
    return np.array([value.strip() for value in columns.texts(table, column)], dtype=np.str_)


def _read_split(table: pl.DataFrame, column: str) -> NDArray[np.bool_]:
    values = [value.strip().lower() for value in columns.texts(table, column)]
    for number, value in enumerate(values, 1):
        if value not in TRAIN + TEST:
            raise SyntfError(
                f"column {column!r} must say train or test in every row, but row {number} does not"
            )
    train = np.array([value in TRAIN for value in values])
    if train.all() or not train.any():
        raise SyntfError(f"column {column!r} must have both train rows and test rows")
    return train
