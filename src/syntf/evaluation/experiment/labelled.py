"""Texts with a label, an author and a half each: what analyst and attacker are measured on."""

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
class Labelled:
    """Documents in order; an empty label or author is one that is not known."""

    texts: Sequence[str]
    labels: NDArray[np.str_]
    authors: NDArray[np.str_]
    train: NDArray[np.bool_]
    notices: Sequence[str] = field(default=())
    """What could not be used, in sentences."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def seen(self) -> list[str]:
        """The texts to learn from."""
        return [text for text, train in zip(self.texts, self.train, strict=True) if train]

    @property
    def digest(self) -> str:
        """A SHA-256 of all documents: an experiment goes on only with the same."""
        found = sha256()
        for row in zip(self.texts, self.labels, self.authors, self.train, strict=True):
            found.update("\0".join(map(str, row)).encode("utf-8", "surrogatepass") + b"\1")
        return found.hexdigest()


def labelled(
    frame: pl.DataFrame,
    *,
    text: str,
    label: str | None = None,
    author: str | None = None,
    split: str | None = None,
    test_share: float = 0.4,
) -> Labelled:
    """The documents of a table, by its columns.

    Without a column that says train or test (`split`), `test_share` of the documents are
    for testing: the same ones every time, and the same share of each author (or label).
    """
    texts = columns.texts(frame, text)
    labels, authors = (_names(frame, column) for column in (label, author))
    if split is None:
        train, notices = _divided(authors if author else labels, test_share)
    else:
        train, notices = _split(frame, split), []
    for name, values in ((label, labels), (author, authors)):
        missing = int((values == "").sum())
        if name is not None and missing:
            notices.append(f"{missing:,} of {len(texts):,} texts have nothing in column {name!r}")
    return Labelled(texts, labels, authors, train, notices)


def validation(corpus: Labelled, share: float = 0.4) -> Labelled:
    """The training half alone, divided again: to choose by, so that the test half stays unseen.

    Only documents with a label; the same ones every time, and the same share of each label.
    """
    kept = np.flatnonzero(corpus.train & (corpus.labels != ""))
    labels = corpus.labels[kept]
    train, _ = _divided(labels, share)
    texts = [corpus.texts[i] for i in kept.tolist()]
    return Labelled(texts, labels, corpus.authors[kept], train)


def _names(frame: pl.DataFrame, column: str | None) -> NDArray[np.str_]:
    if column is None:
        return np.full(frame.height, "", dtype=np.str_)
    values = [value.strip() for value in columns.texts(frame, column)]
    return np.array(values, dtype=np.str_)


def _split(frame: pl.DataFrame, column: str) -> NDArray[np.bool_]:
    values = [value.strip().lower() for value in columns.texts(frame, column)]
    for number, value in enumerate(values, 1):
        if value not in TRAIN + TEST:
            raise SyntfError(
                f"column {column!r} must say train or test in every row; row {number} does not"
            )
    train = np.array([value in TRAIN for value in values])
    if train.all() or not train.any():
        raise SyntfError(f"column {column!r} must name both train and test rows")
    return train


def _divided(groups: NDArray[np.str_], share: float) -> tuple[NDArray[np.bool_], list[str]]:
    """A division that keeps the share of each group, where the groups allow it."""
    if not 0 < share < 1:
        raise SyntfError(f"the share of test texts must lie between 0 and 1, not {share!r}")
    if len(groups) < 2:
        raise SyntfError("there must be at least two texts, one to learn from and one to test on")
    names, counts = np.unique(groups, return_counts=True)
    rare = {name for name, count in zip(names, counts, strict=True) if count < 2}
    notices = []
    if rare:
        single = "has" if len(rare) == 1 else "have"
        notices.append(
            f"{len(rare):,} of {len(names):,} groups {single} a single text: never tested"
        )
    often = np.flatnonzero(~np.isin(groups, sorted(rare)))
    train = np.ones(len(groups), dtype=bool)
    kinds = len(names) - len(rare)
    possible = kinds and min(share, 1 - share) * len(often) >= kinds
    among, stratify = (often, groups[often]) if possible else (np.arange(len(groups)), None)
    _, tested = train_test_split(among, test_size=share, stratify=stratify, random_state=0)
    train[tested] = False
    return train, notices
