"""A corpus with labels, authors and a training part, on which analyst and attackers are tested."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from syntf.core.errors import SyntfError
from syntf.inputs import columns

TRAIN = ("train", "training")
TEST = ("test", "testing")


@dataclass(frozen=True)
class LabelledCorpus:
    """Documents in order; an empty label or author means that it is unknown.

    `notices` are sentences about rows that could not be used.
    """

    texts: Sequence[str]
    labels: NDArray[np.str_]
    authors: NDArray[np.str_]
    train: NDArray[np.bool_]
    notices: Sequence[str] = field(default=())

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
        return digest.hexdigest()

    def select(self, rows: NDArray[np.intp], train: NDArray[np.bool_]) -> "LabelledCorpus":
        """Return these documents in this order, with a new division for training."""
        texts = [self.texts[i] for i in rows.tolist()]
        return LabelledCorpus(texts, self.labels[rows], self.authors[rows], train)


def corpus_from_table(
    table: pl.DataFrame,
    *,
    text: str,
    label: str | None = None,
    author: str | None = None,
    split: str | None = None,
    test_share: float = 0.4,
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
    """
    texts = columns.texts(table, text)
    labels, authors = (_stripped_column(table, column) for column in (label, author))
    if split is None:
        train, notices = _divide(authors if author else labels, test_share)
    else:
        train, notices = _read_split(table, split), []
    for column, values in ((label, labels), (author, authors)):
        missing = int((values == "").sum())
        if column is not None and missing:
            part = f"{missing:,} of {len(texts):,} texts"
            notices.append(f"{part} have no value in column {column!r}")
    return LabelledCorpus(texts, labels, authors, train, notices)


def validation_split(corpus: LabelledCorpus, share: float = 0.4) -> LabelledCorpus:
    """Divide the training documents again, to choose parameters without the test documents.

    Only documents with a label are used; the division is the same every time and takes the same
    share of each label.
    """
    rows = np.flatnonzero(corpus.train & (corpus.labels != ""))
    return corpus.select(rows, _divide(corpus.labels[rows], share)[0])


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


def _divide(groups: NDArray[np.str_], share: float) -> tuple[NDArray[np.bool_], list[str]]:
    """Choose training documents; each group keeps its share where the groups allow it."""
    if not 0 < share < 1:
        raise SyntfError(f"the share of test texts must be between 0 and 1, not {share!r}")
    if len(groups) < 2:
        raise SyntfError("at least two texts are needed: one for training and one for testing")
    names, counts = np.unique(groups, return_counts=True)
    single = {name for name, count in zip(names, counts, strict=True) if count < 2}
    notices = []
    if single:
        have = "has" if len(single) == 1 else "have"
        notices.append(
            f"{len(single):,} of {len(names):,} groups {have} a single text, which is never tested"
        )
    several = np.flatnonzero(~np.isin(groups, sorted(single)))
    train = np.ones(len(groups), dtype=bool)
    kinds = len(names) - len(single)
    possible = kinds and min(share, 1 - share) * len(several) >= kinds
    among, stratify = (several, groups[several]) if possible else (np.arange(len(groups)), None)
    _, tested = train_test_split(among, test_size=share, stratify=stratify, random_state=0)
    train[tested] = False
    return train, notices
