"""Shards of documents in the folder of a draft: each complete when it appears, and refused if
it changed before it is read again. Those that are files of a release as they stand are packed as
such; others are read once, so they are not."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core.atomic_files import settle
from syntf.core.counts import Counts, Rows
from syntf.core.errors import SyntfError
from syntf.releases.writers import npz

Shard = tuple[Counts, pl.DataFrame]
"""Counts, and what is released of each document beside them."""


@dataclass(frozen=True)
class Written:
    """What stands in the files of a shard: words that differ in each document, and columns."""

    sizes: NDArray[np.int64]
    columns: Sequence[str]


_ARRAYS = ("data", "indices", "indptr", "shape")
LOCK, _STATE = "lock", "state.json"


@dataclass
class Shards:
    """The shards that a folder says are complete, for a run with this key.

    All are `packed` as a release has them, or none is, whatever the run that goes on would have.
    """

    folder: Path
    key: str
    packed: bool = False
    rows: list[int] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    @classmethod
    def left(cls, folder: Path, key: str) -> "Shards":
        """What an earlier run wrote down of its complete shards; `key` is then its own."""
        try:
            state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
            rows = [int(count) for count in state["rows"]]
            digests = [str(digest) for digest in state["digests"]]
            if len(rows) == len(digests) and min(rows, default=1) > 0:
                return cls(folder, str(state["key"]), bool(state["packed"]), rows, digests)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return cls(folder, key)

    def check(self, key: str) -> None:
        """Refuse to go on with the shards of another run, and without all of their files."""
        if self.key != key:
            raise SyntfError(
                f"{self.folder} was begun with another input or other options: repeat those, or "
                "start over with --force in place of --resume"
            )
        for shard in range(len(self.rows)):
            for path in self._files(shard):
                if not path.is_file():
                    raise SyntfError(f"{self.folder} lacks {path.name}: start over with --force")

    def clear(self) -> None:
        """Remove all but the complete shards: what follows never became complete."""
        stay = {path for shard in range(len(self.rows)) for path in self._files(shard)}
        stay |= {self.folder / name for name in ([LOCK, _STATE] if self.rows else [LOCK])}
        for path in set(self.folder.iterdir()) - stay:
            path.unlink()

    def add(self, counts: Counts, documents: pl.DataFrame) -> None:
        """One more: both its files, each complete when it has its name; then word of it."""
        new = self.folder / "new"
        vectors, rows = self._files(len(self.rows))
        if self.packed:
            npz(new, counts, (), 0)
        else:
            write_counts(new, counts)
        settle(new, vectors)
        write_parquet(new, documents)
        settle(new, rows)
        self.rows.append(documents.height)
        self.digests.append(_joined(*map(_hash, (vectors, rows))))
        about: dict[str, Any] = {
            "key": self.key, "packed": self.packed, "rows": self.rows, "digests": self.digests,
        }  # fmt: skip
        state = self.folder / f"{_STATE}.new"
        state.write_text(json.dumps(about), encoding="utf-8")
        settle(state, self.folder / _STATE)

    def read(self, shard: int) -> Shard:
        vectors, rows = self._raw(shard)
        return read_counts(vectors), pl.read_parquet(rows)

    def copy(self, shard: int, vectors: Path, documents: Path) -> Written:
        """Both files of a shard elsewhere, as they are."""
        raw = self._raw(shard)
        vectors.write_bytes(raw[0])
        documents.write_bytes(raw[1])
        with np.load(io.BytesIO(raw[0])) as arrays:
            sizes = np.diff(arrays["indptr"])
        return Written(sizes, pl.read_parquet(raw[1]).columns)

    def _raw(self, shard: int) -> tuple[bytes, bytes]:
        """The bytes of both files, refused unless they are those that were written."""
        vectors, rows = self._files(shard)
        raw = vectors.read_bytes(), rows.read_bytes()
        if self.digests[shard] != digest(*raw):
            raise SyntfError(f"{vectors} or {rows.name} is damaged: start over with --force")
        return raw

    def _files(self, shard: int) -> tuple[Path, Path]:
        return (
            self.folder / f"vectors-{shard:05}.npz",
            self.folder / f"documents-{shard:05}.parquet",
        )


def digest(vectors: bytes, documents: bytes) -> str:
    """The SHA-256 of a shard: what is read again is what was drawn, or refused unread."""
    return _joined(sha256(vectors).digest(), sha256(documents).digest())


def _joined(vectors: bytes, documents: bytes) -> str:
    return sha256(vectors + documents).hexdigest()


def _hash(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def write_counts(path: Path, counts: Counts) -> None:
    """For this program to read again; ``scipy.sparse.load_npz`` can as well."""
    arrays = {name: getattr(counts, name) for name in _ARRAYS}
    with path.open("wb") as file:
        np.savez(file, format=np.array(b"csr"), **arrays)


def read_counts(raw: bytes) -> Counts:
    with np.load(io.BytesIO(raw)) as arrays:
        data, indices, indptr, (documents, terms) = (arrays[name] for name in _ARRAYS)
    return Rows(data, indices, indptr, (int(documents), int(terms)))


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    parquet = io.BytesIO()  # so that a full disk is an OSError here too
    frame.write_parquet(parquet)
    path.write_bytes(parquet.getvalue())
