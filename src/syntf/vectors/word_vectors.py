"""Word vectors as int8: the embedded table, or a person's own file.

A cosine depends on directions only, so each vector is stretched until its largest
component is ±127 and rounded. The mechanism sees these integers and nothing finer.
"""

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib import resources
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.vectors import files
from syntf.vectors.quantize import rounded


class WordVectors:
    """Words, most frequent first, their int8 vectors, and notes on what was mended in reading.

    >>> vectors = WordVectors.embedded()
    >>> len(vectors.words) >= 100_000, vectors.matrix.dtype
    (True, dtype('int8'))
    """

    def __init__(
        self, words: Sequence[str], matrix: NDArray[np.int8], notes: Sequence[str] = ()
    ) -> None:
        if matrix.ndim != 2 or matrix.shape[0] != len(words) or 0 in matrix.shape:
            raise SyntfError(
                f"vectors of shape {matrix.shape} do not fit {len(words)} words: "
                "one row a word is needed"
            )
        if matrix.dtype != np.int8:
            raise SyntfError(f"vectors must be int8, not {matrix.dtype}: see WordVectors.quantize")
        self.words = words
        self.matrix = matrix
        self.notes = list(notes)
        self.is_embedded = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_row"}

    @cached_property
    def _row(self) -> dict[str, int]:
        last = len(self.words) - 1
        return dict(zip(reversed(self.words), range(last, -1, -1), strict=True))

    def __contains__(self, term: object) -> bool:
        """Whether a term has a vector as it is written."""
        return term in self._row

    def find(self, term: str) -> int | None:
        """The row of a term, or of its lower case; None if neither has a vector."""
        row = self._row.get(term)
        return row if row is not None else self._row.get(term.lower())

    def at(self, rows: Sequence[int]) -> NDArray[np.int8]:
        """The vectors of these rows; of all in their order, the table itself."""
        if rows == range(len(self.words)):
            return self.matrix
        found: NDArray[np.int8] = self.matrix[np.asarray(rows)]
        return found

    @property
    def digest(self) -> str:
        """The SHA-256 of the words and their int8 vectors, whatever file they came from."""
        words = "\n".join(self.words)
        found = sha256(f"{self.matrix.shape}\n{words}\n".encode("utf-8", "replace"))
        found.update(np.ascontiguousarray(self.matrix).data)
        return found.hexdigest()

    @classmethod
    def embedded(cls) -> Self:
        """The public table that comes with the package, made from GloVe; memory-mapped."""
        data = resources.files("syntf").joinpath("data")
        words = data.joinpath("words.txt").read_text(encoding="utf-8").split("\n")
        made = cls(words, np.load(str(data.joinpath("vectors.npy")), mmap_mode="r"))
        made.is_embedded = True
        return made

    @classmethod
    def quantize(cls, words: Sequence[str], matrix: Any) -> Self:
        """int8 vectors from floating-point ones."""
        return cls(words, rounded(words, np.asarray(matrix)))

    @classmethod
    def read(cls, path: str | PathLike[str], stages: Stages = silent) -> Self:
        """Vectors from a file, in any format of :mod:`syntf.vectors.files`."""
        return cls(*files.read(path, stages))
