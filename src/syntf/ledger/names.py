"""The names of documents and authors in a ledger: keyed digests, never the names themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Literal

from syntf.core.errors import SyntfError
from syntf.ledger.store import Run

NamedBy = Literal["id", "text"]


@dataclass(frozen=True)
class Names:
    """Whom to charge for a batch of documents: each by its id or its text, and by its author."""

    documents: Sequence[str]
    authors: Sequence[str] | None = None
    by: NamedBy = "text"

    def __post_init__(self) -> None:
        if self.authors is not None and len(self.authors) != len(self.documents):
            raise SyntfError("give one author for each document")

    def hashed(self, key: bytes) -> dict[str, list[bytes]]:
        """Return digests of the documents and authors, 128 bits each, under the ledger's key."""
        found = {"document": _digests(key, self.by, self.documents)}
        if self.authors is not None:
            found["author"] = _digests(key, "author", self.authors)
        return found


@dataclass(frozen=True)
class HashedNames(Names):
    """Names that were hashed elsewhere, under the ledger's key; `documents` are placeholders."""

    digests: Mapping[str, list[bytes]] = field(default_factory=dict)

    def hashed(self, key: bytes) -> dict[str, list[bytes]]:
        """Return the digests as they were given."""
        return dict(self.digests)


@dataclass
class Charge:
    """A run that was charged. `run` is None if it had no documents.

    Only charged documents may be drawn for, and a file can change between charging and drawing:
    call :meth:`confirm` for each batch before it is drawn for.
    """

    key: bytes = field(repr=False)
    run: Run | None = None
    _batches: list[bytes] = field(default_factory=list, repr=False)
    _confirmed: int = field(default=0, repr=False)

    def add(self, names: Names) -> dict[str, list[bytes]]:
        """Add a batch to charge, and return its digests."""
        hashed = names.hashed(self.key)
        self._batches.append(_batch_digest(hashed))
        return hashed

    def confirm(self, names: Names) -> None:
        """Raise an error unless this is the next batch of those that were charged."""
        place, self._confirmed = self._confirmed, self._confirmed + 1
        if place >= len(self._batches) or self._batches[place] != _batch_digest(
            names.hashed(self.key)
        ):
            raise SyntfError(
                "the input changed while it was being read: these are not the documents that the "
                "ledger was charged for"
            )

    def rewind(self) -> None:
        """Confirm all batches once more, when the input is read a second time."""
        self._confirmed = 0


def _digests(key: bytes, kind: str, values: Sequence[str]) -> list[bytes]:
    begun = blake2b(key=key, digest_size=16, person=f"syntf {kind}".encode())
    found = []
    for value in values:
        one = begun.copy()
        one.update(value.encode("utf-8", "surrogatepass"))
        found.append(one.digest())
    return found


def _batch_digest(hashed: Mapping[str, Sequence[bytes]]) -> bytes:
    return sha256(b"".join(digest for kind in hashed.values() for digest in kind)).digest()
