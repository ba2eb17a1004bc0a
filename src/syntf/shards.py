"""Shards of documents in the folder of a draft: each complete when it appears, and refused if
it changed before it is read again. They are read once, so they are not compressed."""

import io
import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
from scipy.sparse import csr_matrix, load_npz, save_npz

from syntf.errors import SyntfError
from syntf.placing import settle

Shard = tuple[csr_matrix, pl.DataFrame]
"""Counts, and what is released of each document beside them."""

LOCK, _STATE = "lock", "state.json"


@dataclass
class Shards:
    """The shards that a folder says are complete, for a run with this key."""

    folder: Path
    key: str
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
                return cls(folder, str(state["key"]), rows, digests)
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

    def add(self, counts: csr_matrix, documents: pl.DataFrame) -> None:
        """One more: both its files, each complete when it has its name; then word of it."""
        new = self.folder / "new"
        vectors, rows = self._files(len(self.rows))
        write_counts(new, counts)
        settle(new, vectors)
        write_parquet(new, documents)
        settle(new, rows)
        self.rows.append(documents.height)
        self.digests.append(digest(vectors.read_bytes(), rows.read_bytes()))
        about: dict[str, Any] = {"key": self.key, "rows": self.rows, "digests": self.digests}
        state = self.folder / f"{_STATE}.new"
        state.write_text(json.dumps(about), encoding="utf-8")
        settle(state, self.folder / _STATE)

    def read(self, shard: int) -> Shard:
        vectors, rows = self._files(shard)
        raw = [path.read_bytes() for path in (vectors, rows)]
        if self.digests[shard] != digest(*raw):
            raise SyntfError(f"{vectors} or {rows.name} is damaged: start over with --force")
        return load_npz(io.BytesIO(raw[0])), pl.read_parquet(raw[1])

    def _files(self, shard: int) -> tuple[Path, Path]:
        return (
            self.folder / f"vectors-{shard:05}.npz",
            self.folder / f"documents-{shard:05}.parquet",
        )


def digest(vectors: bytes, documents: bytes) -> str:
    """The SHA-256 of a shard: what is read again is what was drawn, or refused unread."""
    return sha256(sha256(vectors).digest() + sha256(documents).digest()).hexdigest()


def write_counts(path: Path, counts: csr_matrix) -> None:
    """For this program to read again."""
    with path.open("wb") as file:
        save_npz(file, counts, compressed=False)


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    parquet = io.BytesIO()  # so that a full disk is an OSError here too
    frame.write_parquet(parquet)
    path.write_bytes(parquet.getvalue())
