"""Word vectors as int8: the table embedded in the package, or a file.

A cosine depends on directions only, so each vector is scaled until its largest component is ±127
and rounded. The mechanism sees these integers and nothing finer.
"""

import json
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntf.core import cache_store
from syntf.core.errors import SyntfError, shortened
from syntf.core.files import sha256_of
from syntf.core.progress import Stages, silent
from syntf.language.pack import LanguagePack, embedded_pack
from syntf.language.several import marked
from syntf.vectors import files
from syntf.vectors.quantize import quantize

_SCHEME = "syntf vectors 1"
"""Change this whenever the same file would be read as another table."""


class WordVectors:
    """Words, most frequent first, with their int8 vectors.

    Parameters
    ----------
    words : the words, in the order of the matrix's rows.
    matrix : int8 array, one row for each word.
    notes : sentences on what was repaired when the vectors were read.

    Examples
    --------
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
                "one row for each word is needed"
            )
        if matrix.dtype != np.int8:
            raise SyntfError(f"vectors must be int8, not {matrix.dtype}: see WordVectors.quantize")
        self.words = words
        self.matrix = matrix
        self.notes = list(notes)
        self.pack: LanguagePack | None = None
        """The language pack that the vectors come from; it has more public data on their words."""
        self.packs: Sequence[LanguagePack] = ()
        """The language packs, where the vectors come from several."""

    @property
    def is_embedded(self) -> bool:
        """Whether the vectors are those that come with syntf."""
        return self.pack is not None and self.pack.is_embedded

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed when it is first used: use does not change vectors."""
        computed = ("_row", "digest")
        return {name: value for name, value in vars(self).items() if name not in computed}

    @cached_property
    def _row(self) -> dict[str, int]:
        last = len(self.words) - 1
        return dict(zip(reversed(self.words), range(last, -1, -1), strict=True))

    def __contains__(self, term: object) -> bool:
        """Tell whether a term has a vector as it is written."""
        return term in self._row

    def find(self, term: str) -> int | None:
        """Return the row of a term, or of its lower case; None if neither has a vector."""
        row = self._row.get(term)
        return row if row is not None else self._row.get(term.lower())

    def at(self, rows: Sequence[int]) -> NDArray[np.int8]:
        """Return the vectors of these rows, without a copy if these are all rows in order."""
        if rows == range(len(self.words)):
            return self.matrix
        vectors: NDArray[np.int8] = self.matrix[np.asarray(rows)]
        return vectors

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the words and their int8 vectors, the same for every file format."""
        words = "\n".join(self.words)
        hashed = sha256(f"{self.matrix.shape}\n{words}\n".encode("utf-8", "replace"))
        hashed.update(np.ascontiguousarray(self.matrix).data)
        return hashed.hexdigest()

    @classmethod
    def embedded(cls) -> Self:
        """Return the public table that comes with the package, made from GloVe; memory-mapped."""
        return cls.of_pack(embedded_pack())

    @classmethod
    def of_pack(cls, pack: LanguagePack) -> Self:
        """Return the table of a language pack; memory-mapped."""
        try:
            matrix = np.load(str(pack.path("vectors")), mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise SyntfError(f"cannot read {pack.path('vectors')}: {shortened(error)}") from None
        vectors = cls(_words_of(pack), matrix)
        vectors.pack = pack
        return vectors

    @classmethod
    def of_packs(cls, packs: Sequence[LanguagePack]) -> Self:
        """Return the table of a pack, or of several packs, one after the other.

        The words of all packs but the first are marked with the code of their language.
        """
        tables = [cls.of_pack(pack) for pack in packs]
        if len(tables) == 1:
            return tables[0]
        if len({table.matrix.shape[1] for table in tables}) > 1:
            raise SyntfError(
                f"the word vectors of the packs {', '.join(pack.code for pack in packs)} have "
                "different numbers of dimensions, so they do not share one space: align them with "
                "syntf language align, or release the texts of each language by themselves"
            )
        words = list(tables[0].words)
        for table, pack in zip(tables[1:], packs[1:], strict=True):
            words += marked(table.words, pack.code)
        vectors = cls(words, np.concatenate([table.matrix for table in tables]))
        vectors.packs = tuple(packs)
        return vectors

    @classmethod
    def quantize(cls, words: Sequence[str], matrix: Any) -> Self:
        """Round floating-point vectors to int8."""
        return cls(words, quantize(words, np.asarray(matrix)))

    @classmethod
    def read(cls, path: str | PathLike[str], stages: Stages = silent) -> Self:
        """Read vectors from a file, in any format of :mod:`syntf.vectors.files`."""
        return cls(*files.read(path, stages))


@lru_cache(4)
def _words_of(pack: LanguagePack) -> list[str]:
    return pack.path("words").read_text(encoding="utf-8").split("\n")


def read_cached(path: str | PathLike[str], stages: Stages = silent) -> WordVectors:
    """Read word vectors from a file, or memory-map them from the cache if it has the same bytes.

    The file is hashed again after it was read. If it changed meanwhile, nothing is stored.
    """
    kind = files.kind(path)  # it may depend on the file's name
    digest = sha256_of(path)
    key = sha256(f"{_SCHEME}\n{kind}\n{digest}".encode()).hexdigest()
    entry = cache_store.folder() / f"{key}.vectors"
    known = _read_entry(entry)
    if known is not None:
        return known
    vectors = WordVectors.read(path, stages)
    if sha256_of(path) == digest:
        about = json.dumps({"words": list(vectors.words), "notes": vectors.notes}).encode()
        shape = np.array(vectors.matrix.shape, dtype="<i8").tobytes()
        cache_store.store(entry, shape, np.ascontiguousarray(vectors.matrix).data, about)
    return vectors


def _read_entry(path: Path) -> WordVectors | None:
    """Read a cache entry: the shape, the int8 numbers, then words and notes as JSON."""
    raw = cache_store.mapped(path)
    if raw is None:
        return None
    start = 16
    try:
        rows, columns = raw[:start].view("<i8").tolist()
        end = start + rows * columns
        about = json.loads(raw[end:].tobytes())
        matrix = raw[start:end].view(np.int8).reshape(rows, columns)
        return WordVectors(about["words"], matrix, about["notes"])
    except (ValueError, KeyError, TypeError, RecursionError):  # not written by this program
        return None
