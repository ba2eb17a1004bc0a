"""A release: a folder for the person who receives it, written whole or not at all.

It grows in a draft beside its place: shards of documents, each complete when it appears.
The last step renames the draft. A run that was killed leaves the draft, from which another
run can go on; documents of complete shards are never drawn for again.
"""

import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import file_digest, sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, load_npz, vstack

from syntf import entropy
from syntf.errors import COMPLETE, SyntfError
from syntf.formats import WRITERS, npz
from syntf.guarantee import Guarantee
from syntf.readme import readme
from syntf.report.contents import Released
from syntf.report.page import NAME as REPORT
from syntf.report.page import page
from syntf.report.portrait import Portrait
from syntf.vocabulary import as_lines

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NUMBER = "document"
"""The column that numbers the documents, where no id names them."""

SHARD = 1 << 16
"""Documents in a file of a release, and the least work that is worth resuming."""

_STATE, _LOCK = "state.json", "lock"
_PART = re.compile(
    r"(vectors|documents)(-\d{5})?\.[a-z]+|vocabulary\.txt|README\.txt|report\.html|guarantee\.json"
)


class Draft:
    """A release in the making. Use as a context; it vanishes unless finished or worth resuming.

    folder : where the release will appear.
    key : tells runs apart that may not continue each other's drafts.
    resume : go on with the draft of a run that was interrupted.
    force : replace an earlier release, and start over an earlier draft.
    """

    def __init__(
        self, folder: Path, *, key: str = "", resume: bool = False, force: bool = False
    ) -> None:
        check_target(folder, force=force)
        self.folder = folder
        self._key = key
        self._finished = False
        self._draft = folder.absolute().with_name(f".{folder.name}.partial")
        self._final = self._draft.with_name(f"{self._draft.name}-final")
        if self._draft.is_symlink():
            raise SyntfError(f"{self._draft} is a link, and is not followed: remove it")
        self._draft.mkdir(exist_ok=True)
        self._lock = self._locked()
        try:
            if _restored(self._final, folder):
                check_target(folder, force=force)
            self.rows = self._begin(resume=resume, force=force)
        except BaseException:
            self._lock.close()
            raise

    @property
    def documents(self) -> int:
        """Documents in the shards that are complete."""
        return sum(self.rows)

    def add(self, counts: csr_matrix, documents: pl.DataFrame) -> None:
        """One more shard."""
        digest = self._write_shard(len(self.rows), counts, documents)
        self.rows.append(documents.height)
        self._digests.append(digest)
        about = {"key": self._key, "rows": self.rows, "digests": self._digests}
        state = self._draft / f"{_STATE}.new"
        state.write_text(json.dumps(about), encoding="utf-8")
        _settle(state, self._draft / _STATE)

    def finish(
        self,
        vocabulary: Sequence[str],
        guarantee: Guarantee,
        portrait: Portrait,
        *,
        shuffle: entropy.Source | None = None,
        numbered: bool = False,
        format: str = "npz",
    ) -> None:
        """Assemble the release beside the draft, in a random order if asked to; let it appear.

        The shards stay as they are until then, so this step can be done again from the start.
        If `numbered`, the first column of the documents counts them, in their new order.
        """
        self._final.mkdir()
        try:
            self._assemble(self._final, vocabulary, guarantee, portrait, shuffle, numbered, format)
            _appear(self._final, self.folder)
        finally:  # whatever interrupts this, and whenever
            self._finished = not self._final.exists()
            shutil.rmtree(self._final, ignore_errors=True)
        self.discard()

    def discard(self) -> None:
        """Remove the draft."""
        shutil.rmtree(self._draft, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._finished:
            error.add_note(COMPLETE)
        if self._finished or self.documents < SHARD:  # too little to go on with
            self.discard()
        elif error is not None:
            error.add_note(f"{self.documents:,} documents are done: add --resume to go on")
        self._lock.close()

    def _locked(self) -> IO[bytes]:
        """Hold the draft: one run at a time writes to it. The system lets go of it at any end."""
        lock = (self._draft / _LOCK).open("wb")
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                raise SyntfError(f"another run is writing to {self.folder}") from None
        return lock

    def _state(self) -> dict[str, Any]:
        """What an earlier run wrote down of its complete shards."""
        try:
            state = json.loads((self._draft / _STATE).read_text(encoding="utf-8"))
            rows = [int(count) for count in state["rows"]]
            digests = [str(digest) for digest in state["digests"]]
            if len(rows) == len(digests) and min(rows, default=1) > 0:
                return {"key": str(state["key"]), "rows": rows, "digests": digests}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return {"key": self._key, "rows": [], "digests": []}

    def _begin(self, *, resume: bool, force: bool) -> list[int]:
        """Documents in each shard to go on with, if any; the draft cleared of all else."""
        state = self._state()
        if not resume and not force and sum(state["rows"]) >= SHARD:
            raise SyntfError(
                f"an unfinished run has left {sum(state['rows']):,} documents in {self._draft}: "
                "add --resume to go on with them, or --force to start over"
            )
        rows = self._resume(state) if resume else []
        self._digests: list[str] = state["digests"][: len(rows)]
        self._clear(keep=len(rows))
        return rows

    def _resume(self, state: dict[str, Any]) -> list[int]:
        if state["key"] != self._key:
            raise SyntfError(
                f"{self._draft} was begun with another input or other options: repeat those, or "
                "start over with --force in place of --resume"
            )
        rows: list[int] = state["rows"]
        for shard in range(len(rows)):
            for path in self._shard(shard):
                if not path.is_file():
                    raise SyntfError(f"{self._draft} lacks {path.name}: start over with --force")
        return rows

    def _clear(self, keep: int) -> None:
        """Remove all but the first shards: what follows never became complete."""
        stay = {path for shard in range(keep) for path in self._shard(shard)}
        stay |= {self._draft / name for name in ([_LOCK, _STATE] if keep else [_LOCK])}
        for path in set(self._draft.iterdir()) - stay:
            path.unlink()

    def _assemble(
        self,
        final: Path,
        vocabulary: Sequence[str],
        guarantee: Guarantee,
        portrait: Portrait,
        shuffle: entropy.Source | None,
        numbered: bool,
        format: str,
    ) -> None:
        suffix, write_counts = WRITERS[format]
        shards = range(len(self.rows))
        ordered = self._shuffled(final, shuffle) if shuffle else map(self._read_shard, shards)
        columns: list[str] = []
        first = 0
        longest = min(guarantee.length, len(vocabulary))
        released = Released.of(np.array([], dtype=np.int64), longest)
        for shard, (counts, documents) in enumerate(ordered):
            part = f"-{shard:05}" if len(self.rows) > 1 else ""
            columns = documents.columns
            released += Released.of(np.diff(counts.indptr), longest)
            write_counts(final / f"vectors{part}{suffix}", counts, vocabulary, first)
            if numbered:
                documents = documents.with_columns(row_numbers(first, documents.height))
            _write_parquet(final / f"documents{part}.parquet", documents)
            first += documents.height
        part = "-*" if len(self.rows) > 1 else ""
        (final / "vocabulary.txt").write_bytes(as_lines(vocabulary).encode())
        text = readme(
            guarantee, first, columns, f"vectors{part}{suffix}", f"documents{part}.parquet"
        )
        (final / "README.txt").write_bytes(text.encode())
        (final / REPORT).write_bytes(page(guarantee, portrait, released).encode())
        promise = replace(guarantee, files=digests(final))
        (final / "guarantee.json").write_bytes(promise.as_json().encode())
        for path in [*final.iterdir(), final]:
            _sync(path)

    def _shuffled(
        self, scratch: Path, source: entropy.Source
    ) -> Iterator[tuple[csr_matrix, pl.DataFrame]]:
        """The shards in a uniform order, with one of them in memory at a time.

        Every document goes to a random shard; then each shard is put in a random order.
        """
        shards = len(self.rows)
        for shard in range(shards):
            counts, documents = self._read_shard(shard)
            goes = entropy.integers(source, documents.height, 63) % shards
            for target in range(shards):
                chosen = np.flatnonzero(goes == target)
                piece = scratch / f"piece-{target}-{shard}"
                npz(piece.with_suffix(".npz"), counts[chosen], (), 0)
                _write_parquet(piece.with_suffix(".parquet"), documents[chosen])
        for target in range(shards):
            pieces = [scratch / f"piece-{target}-{shard}" for shard in range(shards)]
            counts = vstack(
                [load_npz(piece.with_suffix(".npz")) for piece in pieces], format="csr"
            ).astype(np.int32)
            documents = pl.concat(
                [_read_parquet(piece.with_suffix(".parquet")) for piece in pieces],
                how="vertical_relaxed",
            )
            for piece in pieces:
                piece.with_suffix(".npz").unlink()
                piece.with_suffix(".parquet").unlink()
            order = entropy.permutation(source, documents.height)
            yield counts[order], documents[order]

    def _write_shard(self, shard: int, counts: csr_matrix, documents: pl.DataFrame) -> str:
        """Both files of a shard, each complete when it has its name; the digest of both."""
        new = self._draft / "new"
        npz(new, counts, (), 0)
        vectors, rows = self._shard(shard)
        _settle(new, vectors)
        _write_parquet(new, documents)
        _settle(new, rows)
        return _digest(vectors.read_bytes(), rows.read_bytes())

    def _read_shard(self, shard: int) -> tuple[csr_matrix, pl.DataFrame]:
        vectors, rows = self._shard(shard)
        raw = [path.read_bytes() for path in (vectors, rows)]
        if self._digests[shard] != _digest(*raw):
            raise SyntfError(f"{vectors} or {rows.name} is damaged: start over with --force")
        return load_npz(io.BytesIO(raw[0])), pl.read_parquet(raw[1])

    def _shard(self, shard: int) -> tuple[Path, Path]:
        return (
            self._draft / f"vectors-{shard:05}.npz",
            self._draft / f"documents-{shard:05}.parquet",
        )


def write(
    folder: Path,
    counts: csr_matrix,
    vocabulary: Sequence[str],
    documents: pl.DataFrame,
    guarantee: Guarantee,
    portrait: Portrait,
    *,
    format: str = "npz",
    force: bool = False,
) -> None:
    """A release of documents that are all in memory."""
    with Draft(folder, force=force) as draft:
        try:
            draft.add(counts, documents)
            draft.finish(vocabulary, guarantee, portrait, format=format)
        except BaseException:
            draft.discard()
            raise


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot or must not be written, before any work is done."""
    if folder.exists() or folder.is_symlink():
        if not force:
            raise SyntfError(f"{folder} exists already: choose another --out, or add --force")
        if not folder.is_dir() or folder.is_symlink() or not _is_release(folder):
            raise SyntfError(
                f"{folder} is not a release of syntf, so --force does not replace it: "
                "choose another --out"
            )
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise SyntfError(f"the folder {parent} does not exist: create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise SyntfError(f"the folder {parent} cannot be written to")


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a release and nothing else, or nothing at all."""
    found = {path.name for path in folder.iterdir()}
    return not found or ("guarantee.json" in found and all(map(_PART.fullmatch, found)))


def _appear(final: Path, folder: Path) -> None:
    """Take the place of the target, or leave an old release there."""
    old = _aside(final)
    try:
        if folder.exists():
            folder.rename(old)
        final.rename(folder)
        _sync(folder.absolute().parent)
    finally:  # whichever step was the last
        if old.exists() and not folder.exists():
            old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by name, sorted: of what is released, so it tells no more."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = f"sha256:{file_digest(file, 'sha256').hexdigest()}"
    return found


def _aside(final: Path) -> Path:
    """Where an old release is for the moment in which a new one takes its place."""
    return final.with_name(f"{final.name}-old")


def _restored(final: Path, folder: Path) -> bool:
    """Whether an old release was put back, that a run killed in that moment had moved aside.

    Whatever else such a run left behind is removed.
    """
    old = _aside(final)
    lost = old.is_dir() and not folder.exists()
    if lost:
        old.rename(folder)
    for path in (old, final):
        shutil.rmtree(path, ignore_errors=True)
    return lost


def _digest(vectors: bytes, documents: bytes) -> str:
    """The SHA-256 of a shard: what is read again is what was drawn, or refused unread."""
    return sha256(sha256(vectors).digest() + sha256(documents).digest()).hexdigest()


def _settle(new: Path, path: Path) -> None:
    """Give a file its name once its bytes are on the disk, and have the name there too."""
    _sync(new)
    os.replace(new, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folder
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def row_numbers(first: int, count: int) -> pl.Series:
    """The column that numbers the documents of a release, from `first` on."""
    return pl.Series(NUMBER, range(first, first + count), dtype=pl.Int64)


def _read_parquet(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path.read_bytes())


def _write_parquet(path: Path, frame: pl.DataFrame) -> None:
    parquet = io.BytesIO()  # so that a full disk is an OSError here too
    frame.write_parquet(parquet)
    path.write_bytes(parquet.getvalue())
