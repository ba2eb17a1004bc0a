"""Documents as far as they are measured: private, in memory or in a file without a name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from syntf.corpus.sums import Block
from syntf.topics.integers import Vectors

LABEL_CHARACTERS = 100
"""Longer labels are cut to this length. A missing label is the empty one."""

Cells = Callable[[NDArray[np.int64], Vectors], NDArray[np.int64]]
"""Finds the number of each document's label, or −1, from codes of labels and from vectors."""

_IN_MEMORY = 1 << 28  # bytes; more are written to a file


@dataclass(eq=False)
class Documents:
    """What is kept of documents until they are measured: label, vector, and which words occur.

    Use it in a ``with`` statement, which removes everything at its end.

    folder : a private folder for a file without a name, where memory does not suffice.
    """

    words: int
    dimensions: int
    folder: str | None = None
    labels: dict[str, int] = field(default_factory=dict)
    _starts: list[int] = field(default_factory=lambda: [0])
    _kept: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY, dir=self.folder)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._starts[-1]

    def add(self, labels: pl.Series | None, encoded: Vectors, counts: csr_matrix) -> None:
        """Add documents; without labels, they all have the empty one."""
        if labels is None:
            codes = np.full(len(encoded), self.labels.setdefault("", 0), dtype=np.int32)
        else:
            names = labels.cast(pl.String).fill_null("").str.slice(0, LABEL_CHARACTERS)
            for name in names.unique(maintain_order=True).to_list():
                self.labels.setdefault(name, len(self.labels))
            codes = names.replace_strict(self.labels, return_dtype=pl.Int32).to_numpy()
        self._file.seek(0, 2)
        for array in (codes, encoded, counts.indptr, counts.indices.astype(np.int32)):
            np.lib.format.write_array(self._file, np.ascontiguousarray(array))
        self._starts.append(len(self) + len(encoded))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Leave out all other documents, such as those of an author beyond a limit."""
        self._kept = chosen

    def label_counts(self) -> NDArray[np.int64]:
        """Return how many documents have each label. Private."""
        counts = np.zeros(len(self.labels), dtype=np.int64)
        for block in self.blocks(lambda codes, encoded: codes):
            counts += np.bincount(block.labels[block.labels >= 0], minlength=len(counts))
        return counts

    def blocks(self, cells: Cells) -> Iterator[Block]:
        """Return all documents, with the number that `cells` finds for each of them."""
        self._file.seek(0)
        for start in self._starts[:-1]:
            codes, encoded, ends, words = (_read(self._file) for _ in range(4))
            found = cells(codes.astype(np.int64), encoded)
            if self._kept is not None:
                found = np.where(self._kept[start : start + len(found)], found, -1)
            ones = np.ones(len(words), dtype=np.int8)
            yield Block(found, encoded, csr_matrix((ones, words, ends), (len(codes), self.words)))


def _read(file: IO[bytes]) -> NDArray[Any]:
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
