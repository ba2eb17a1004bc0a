"""Word vectors as int8: the table embedded in the package, a language pack, a file, an object.

The mechanism sees these integers and nothing finer.
"""

import json
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntf.core import cache
from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of
from syntf.settings import SPACY
from syntf.words import adapters, vector_files
from syntf.words.language import LanguagePack, embedded_pack
from syntf.words.quantize import Table, quantize

CACHED_BYTES = 1 << 25
"""Files of at least this size are read once and then kept as int8 in the cache."""

_SCHEME = "syntf vectors 3"
"""Change this whenever the same file would be read as another table."""


class WordVectors:
    """Words, most frequent first, with their int8 vectors.

    Parameters
    ----------
    words : the words, in the order of the matrix's rows.
    matrix : int8 array, one row for each word.
    pack : the language pack that the vectors come from; it has more public data on their words.

    Examples
    --------
    >>> vectors = WordVectors.embedded()
    >>> len(vectors.words) >= 100_000, vectors.matrix.dtype
    (True, dtype('int8'))
    >>> vectors.find("Car") == vectors.words.index("car"), vectors.find("no such word")
    (True, None)
    """

    def __init__(
        self,
        words: Sequence[str],
        matrix: NDArray[np.int8],
        pack: LanguagePack | None = None,
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
        self.pack = pack

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed when it is first used."""
        computed = ("row_of", "digest")
        return {name: value for name, value in vars(self).items() if name not in computed}

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each word, as it is written."""
        last = len(self.words) - 1
        return dict(zip(reversed(self.words), range(last, -1, -1), strict=True))

    def __contains__(self, term: object) -> bool:
        """Tell whether a term has a vector as it is written."""
        return term in self.row_of

    def find(self, term: str) -> int | None:
        """Return the row of a term, or of its lower case; None if neither has a vector."""
        row = self.row_of.get(term)
        return row if row is not None else self.row_of.get(term.lower())

    def at(self, rows: Sequence[int]) -> NDArray[np.int8]:
        """Return the vectors of these rows, without a copy if these are all rows in order."""
        if rows == range(len(self.words)):
            return self.matrix
        vectors: NDArray[np.int8] = self.matrix[np.asarray(rows, dtype=np.intp)]
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
        matrix = np.load(pack.path("vectors"), mmap_mode="r", allow_pickle=False)
        return cls(_words_of(pack), matrix, pack)

    @classmethod
    def quantize(cls, words: Sequence[str], matrix: Any) -> Self:
        """Round floating-point vectors to int8."""
        return cls(words, quantize(words, np.asarray(matrix)))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read vectors from a file, or from an installed spaCy model named ``spacy:MODEL``.

        The formats are those of :mod:`syntf.words.vector_files`. A big file is read once; then its
        int8 vectors are memory-mapped from the cache as long as the file has the same bytes.
        """
        name = fspath(path)
        if name.startswith(SPACY):
            pipeline = adapters.load_pipeline(name.removeprefix(SPACY))
            return cls(*adapters.from_pipeline(pipeline)[0])
        file = Path(name)
        if not file.is_file():
            raise SyntfError(f"no vector file at {file}")
        if file.stat().st_size < CACHED_BYTES:
            return cls(*vector_files.read(file))
        return cls(*_read_cached(file))

    @classmethod
    def from_object(cls, source: Any) -> "WordVectors":
        """Return vectors from a path, gensim's KeyedVectors, a spaCy pipeline, or WordVectors."""
        if isinstance(source, WordVectors):
            return source
        if isinstance(source, (str, PathLike)):
            return cls.read(source)
        return cls(*adapters.from_object(source))


@lru_cache(4)
def _words_of(pack: LanguagePack) -> list[str]:
    return pack.path("words").read_text(encoding="utf-8").split("\n")


def _read_cached(path: Path) -> Table:
    """Read a file, or memory-map its table from the cache.

    An entry holds the shape, the int8 numbers, and then the words as JSON.
    """
    key = sha256(f"{_SCHEME}\n{sha256_of(path)}".encode()).hexdigest()
    entry = cache.folder() / f"{key}.vectors"
    raw = cache.mapped(entry)
    if raw is None:
        table = vector_files.read(path)
        shape = np.array(table.matrix.shape, dtype="<i8").tobytes()
        words = json.dumps(table.words).encode()
        cache.store(entry, shape, np.ascontiguousarray(table.matrix).data, words)
        return table
    rows, columns = raw[:16].view("<i8").tolist()
    end = 16 + rows * columns
    return Table(json.loads(raw[end:].tobytes()), raw[16:end].view(np.int8).reshape(rows, columns))
