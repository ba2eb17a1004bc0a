"""Under which names documents and authors stand in a ledger: keyed digests, nothing else."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Literal

from syntf.core.errors import SyntfError
from syntf.ledger.store import Run

NamedBy = Literal["id", "text"]


@dataclass(frozen=True)
class Names:
    """Whom a batch of documents is charged to: each by its id or its text, and its author."""

    documents: Sequence[str]
    authors: Sequence[str] | None = None
    by: NamedBy = "text"

    def __post_init__(self) -> None:
        if self.authors is not None and len(self.authors) != len(self.documents):
            raise SyntfError("there must be one author for each document")

    def hashed(self, key: bytes) -> dict[str, list[bytes]]:
        """The digests of documents and authors, 128 bits each, under the ledger's key."""
        found = {"document": _digests(key, self.by, self.documents)}
        if self.authors is not None:
            found["author"] = _digests(key, "author", self.authors)
        return found


@dataclass
class Charge:
    """A run that was charged; `run` is None if it had no documents.

    Only what was charged may be drawn for, and a file can change between the two times it is
    read: :meth:`confirm` each batch before its draws.
    """

    key: bytes = field(repr=False)
    run: Run | None = None
    _batches: deque[bytes] = field(default_factory=deque, repr=False)

    def add(self, names: Names) -> dict[str, list[bytes]]:
        """One more batch to charge; returns its digests."""
        hashed = names.hashed(self.key)
        self._batches.append(_together(hashed))
        return hashed

    def confirm(self, names: Names) -> None:
        """Refuse a batch that is not the next of those charged."""
        if not self._batches or self._batches.popleft() != _together(names.hashed(self.key)):
            raise SyntfError(
                "the input changed while it was being read: these are not the documents that the "
                "ledger was charged for"
            )


def _digests(key: bytes, kind: str, values: Sequence[str]) -> list[bytes]:
    begun = blake2b(key=key, digest_size=16, person=f"syntf {kind}".encode())
    found = []
    for value in values:
        one = begun.copy()
        one.update(value.encode("utf-8", "surrogatepass"))
        found.append(one.digest())
    return found


def _together(hashed: Mapping[str, Sequence[bytes]]) -> bytes:
    return sha256(b"".join(digest for kind in hashed.values() for digest in kind)).digest()
