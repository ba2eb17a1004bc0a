"""The draft of a release: a folder beside its target that collects shards of drawn documents.

A shard is complete once the state file lists it. A run that was killed leaves its draft behind.
Another run can continue it, and never draws again for a document in a complete shard.
"""

import io
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from arro3.core import Table

from syntf.core import entropy, tables
from syntf.core.counts import Counts, Rows
from syntf.core.errors import COMPLETE, InputError, SyntfError
from syntf.core.files import place_folder, replacing, restore_folder, sha256_of
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents import folder as release_folder
from syntf.releases.contents.folder import WrittenShard, check_target
from syntf.releases.contents.writers import npz, write_documents
from syntf.releases.shuffle import Shard, shuffled
from syntf.report.document_summary import DocumentSummary
from syntf.report.table_summary import TableSummary

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SHARD = 1 << 16
"""Documents in a shard, and the least number of documents that is worth resuming."""

_ARRAYS = ("data", "indices", "indptr", "shape")
PILOT_FILE, AUTHORS_FILE = "pilot.npz", "authors.key"
"""What a run that resumes a draft needs beside the shards: the pilot, and the key of authors."""

_LOCK, _STATE = "lock", "state.json"


class Draft:
    """A release in the making, to be used as a context manager.

    At the end of the context the draft is removed, unless it is unfinished, has enough documents to
    be worth resuming and can be resumed: another run would fail again at an input with a fault.
    How many documents are done when the fault is met depends on the sizes of texts.

    Parameters
    ----------
    target : where the release will appear.
    key : a hash of everything that the run depends on. Only a run with the same key may resume.
    resume : continue the draft of an interrupted run.
    force : replace an earlier release, and discard an earlier draft.
    packed : write shards in the form that the release will have (npz, not shuffled), so that the
        last step only copies them.
    resumable : whether a later run can continue this one. Otherwise the draft is always removed.
    """

    def __init__(
        self,
        target: Path,
        *,
        key: str = "",
        resume: bool = False,
        force: bool = False,
        packed: bool = False,
        resumable: bool = True,
    ) -> None:
        check_target(target, force=force)
        self.target = target
        self._finished = False
        self._held: Shard | None = None
        self._key, self._packed, self._resumable = key, packed, resumable
        self._rows: list[int] = []
        self._digests: list[str] = []
        self._folder = target.absolute().with_name(f".{target.name}.partial")
        self._new_release = self._folder.with_name(f"{self._folder.name}-final")
        if self._folder.is_symlink():
            raise SyntfError(f"{self._folder} is a symbolic link: remove it and run again")
        self._folder.mkdir(exist_ok=True)
        self._lock = self._acquire_lock()
        try:
            if restore_folder(self._new_release, target):
                check_target(target, force=force)
            self._load(resume=resume, force=force)
            self._remove_incomplete()
        except BaseException:
            self._lock.close()
            raise

    @property
    def documents(self) -> int:
        """The number of documents in complete shards."""
        return sum(self._rows) + (self._held[1].num_rows if self._held else 0)

    def add(self, counts: Counts, documents: Table) -> None:
        """Add a shard. A small first shard stays in memory until a second one or the end."""
        if self._held:
            self._write_shard(*self._held)
            self._held = None
        if documents.num_rows < SHARD and not self._rows:
            self._held = counts, documents
        else:
            self._write_shard(counts, documents)

    def finish(
        self,
        vocabulary: Sequence[str],
        guarantee: Guarantee,
        table: TableSummary | DocumentSummary,
        *,
        shuffle: entropy.Source | None = None,
        numbered: bool = False,
        format: str = "npz",
    ) -> Guarantee:
        """Write the release from the shards and put it in place.

        The shards stay until then, so a killed run can repeat this step.

        Parameters
        ----------
        vocabulary : the output words, in the order of the columns of the counts.
        guarantee, table : the contents of ``guarantee.json`` and of the report.
        shuffle : a source of random bits, to release the documents in a random order.
        numbered : number the documents anew in their first column, after shuffling.
        format : the format of the counts.

        Returns
        -------
        The guarantee with the digests of all files.
        """
        self._new_release.mkdir()
        try:
            count = 1 if self._held else len(self._rows)
            names = release_folder.shard_names(count)
            written: Iterable[WrittenShard]
            if self._packed and not self._held and not shuffle and format == "npz":
                written = (self._copy_shard(shard, name) for shard, name in enumerate(names))
            else:
                shards: Iterable[Shard] = map(self.read_shard, range(count))
                if shuffle:
                    shards = shuffled(self.read_shard, count, self._new_release, shuffle)
                written = release_folder.write_shards(
                    self._new_release, zip(names, shards, strict=True), vocabulary,
                    numbered=numbered, format=format,
                )  # fmt: skip
            sealed = release_folder.write_all(
                self._new_release, names, written, vocabulary, guarantee, table, format
            )
            place_folder(self._new_release, self.target)
        finally:  # also when it is interrupted at any point
            self._finished = not self._new_release.exists()
            shutil.rmtree(self._new_release, ignore_errors=True)
        self.discard()
        return sealed

    def store(self, name: str, content: bytes) -> None:
        """Keep a file beside the shards, for a run that resumes this draft."""
        with replacing(self._folder / name, durable=True) as file:
            file.write(content)

    def stored(self, name: str) -> bytes | None:
        """Return a file that an earlier run kept beside its complete shards."""
        path = self._folder / name
        return path.read_bytes() if self._rows and path.is_file() else None

    def complete_documents(self) -> Iterator[Table]:
        """Yield the documents of the complete shards that an earlier run wrote."""
        for shard in range(len(self._rows)):
            yield tables.from_parquet(self._read_raw(shard)[1])

    def discard(self) -> None:
        """Remove the draft."""
        shutil.rmtree(self._folder, ignore_errors=True)

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
        resumable = self._resumable and not isinstance(error, InputError)
        if self._finished or self.documents < SHARD or not resumable:
            self.discard()
        elif error is not None:
            error.add_note(f"{self.documents:,} documents are done: add --resume to go on")
        self._lock.close()

    def read_shard(self, shard: int) -> Shard:
        """Read a complete shard, and refuse it if its files changed since they were written."""
        if self._held:
            return self._held
        vectors, documents = self._read_raw(shard)
        with np.load(io.BytesIO(vectors)) as arrays:
            data, indices, indptr, shape = (arrays[name] for name in _ARRAYS)
        counts = Rows(data, indices, indptr, (int(shape[0]), int(shape[1])))
        return counts, tables.from_parquet(documents)

    def _acquire_lock(self) -> ExitStack:
        """Lock the draft: one run at a time writes to it. The lock ends with the process.

        Windows lacks such locks, and could not delete a draft with an open file.
        """
        lock = ExitStack()
        if fcntl is not None:
            file = lock.enter_context((self._folder / _LOCK).open("wb"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                raise SyntfError(f"another run is writing to {self.target}: wait for it") from None
        return lock

    def _load(self, *, resume: bool, force: bool) -> None:
        """Take over the complete shards of an earlier run, or refuse to lose or to mix them."""
        try:
            state = json.loads((self._folder / _STATE).read_text(encoding="utf-8"))
            key, packed = str(state["key"]), bool(state["packed"])
            rows = [int(count) for count in state["rows"]]
            digests = [str(digest) for digest in state["digests"]]
            if len(rows) != len(digests) or min(rows, default=1) < 1:
                return
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return
        if not resume:
            if not force and sum(rows) >= SHARD:
                raise SyntfError(
                    f"an unfinished run has left {sum(rows):,} documents in {self._folder}: "
                    "add --resume to go on with them, or --force to start over"
                )
            return
        if key != self._key:
            raise SyntfError(
                f"{self._folder} was begun with another input or other options: use the same ones "
                "again, or start over with --force in place of --resume"
            )
        if rows:
            self._packed, self._rows, self._digests = packed, rows, digests
        for path in self._complete_files():
            if not path.is_file():
                raise SyntfError(f"{self._folder} lacks {path.name}: start over with --force")

    def _remove_incomplete(self) -> None:
        """Remove everything but the lock, the state and the files of complete shards."""
        keep = {*self._complete_files(), self._folder / _LOCK}
        if self._rows:
            keep |= {self._folder / name for name in (_STATE, PILOT_FILE, AUTHORS_FILE)}
        for path in set(self._folder.iterdir()) - keep:
            path.unlink()

    def _write_shard(self, counts: Counts, documents: Table) -> None:
        """Write both files of a shard, then list it in the state: it is complete from then on."""
        vectors, rows = self._files(len(self._rows))
        with replacing(vectors, durable=True) as file:
            if self._packed:
                npz(file, counts, (), 0)
            else:
                arrays = {name: getattr(counts, name) for name in _ARRAYS}
                np.savez(file, format=np.array(b"csr"), **arrays)
        with replacing(rows, durable=True) as file:
            write_documents(file, documents)
        self._rows.append(documents.num_rows)
        self._digests.append(_joint_digest(sha256_of(vectors), sha256_of(rows)))
        state: dict[str, Any] = {
            "key": self._key, "packed": self._packed, "rows": self._rows, "digests": self._digests,
        }  # fmt: skip
        with replacing(self._folder / _STATE, durable=True) as file:
            file.write(json.dumps(state).encode())

    def _copy_shard(self, shard: int, name: str) -> WrittenShard:
        """Copy both files of a packed shard into the release."""
        vectors, documents = self._read_raw(shard)
        vectors_path, documents_path = release_folder.shard_files(self._new_release, name, ".npz")
        vectors_path.write_bytes(vectors)
        documents_path.write_bytes(documents)
        with np.load(io.BytesIO(vectors)) as arrays:
            sizes = np.diff(arrays["indptr"])
        return WrittenShard(sizes, tables.types(tables.from_parquet(documents)))

    def _read_raw(self, shard: int) -> tuple[bytes, bytes]:
        """Return the bytes of both files of a shard, if they are those that were written."""
        vectors, rows = self._files(shard)
        raw = vectors.read_bytes(), rows.read_bytes()
        if self._digests[shard] != shard_digest(*raw):
            raise SyntfError(f"{vectors} or {rows.name} is damaged: start over with --force")
        return raw

    def _complete_files(self) -> list[Path]:
        return [path for shard in range(len(self._rows)) for path in self._files(shard)]

    def _files(self, shard: int) -> tuple[Path, Path]:
        return (
            self._folder / f"vectors-{shard:05}.npz",
            self._folder / f"documents-{shard:05}.parquet",
        )


def shard_digest(vectors: bytes, documents: bytes) -> str:
    """Return the digest of a shard that the state file holds, from the bytes of its two files."""
    return _joint_digest(sha256(vectors).hexdigest(), sha256(documents).hexdigest())


def _joint_digest(vectors: str, documents: str) -> str:
    return sha256(bytes.fromhex(vectors + documents)).hexdigest()


def write(
    target: Path,
    counts: Counts,
    vocabulary: Sequence[str],
    documents: Table,
    guarantee: Guarantee,
    table: TableSummary | DocumentSummary,
    *,
    format: str = "npz",
    force: bool = False,
) -> None:
    """Write a release of documents that are all in memory; leave no draft if that fails."""
    with Draft(target, force=force) as draft:
        try:
            draft.add(counts, documents)
            draft.finish(vocabulary, guarantee, table, format=format)
        except BaseException:
            draft.discard()
            raise
