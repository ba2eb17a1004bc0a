"""A stream of random bytes for each document of a run, which any attempt can make again.

A cluster evaluates a task as often as it must: after a failure, beside a slow copy, or because
someone looks at a lazy frame twice. Drawing from the operating system each time would release
several draws for one document. So a run takes one key from the operating system, and the bytes
for a document are SHAKE-256 of the key, the name of the document within the run, and its text.

*Guarantee.* With a key that nobody knows, the streams of different (name, text) are
indistinguishable from independent uniform bytes, as the operating system's own generator is: it,
too, stretches a key. The same (name, text) gives the same stream, and so the same draws: what is
seen twice is one release. A name with another text has another stream, so no two texts are ever
drawn for with the same bytes. Whoever learns the key can repeat the draws: it is kept in memory
for as long as the run can be evaluated, and written nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

KEY = 32
"""Bytes of a key."""

DOMAIN = b"syntf spark 1\0"
"""Sets these streams apart from all else that a key could be used for."""


def stream(key: bytes, name: bytes, text: bytes, size: int) -> bytes:
    """The first `size` bytes of the stream of one document.

    What is hashed can be taken apart in one way only: key and domain have a fixed length, the
    name is preceded by its own. How many bytes are read does not depend on the text.

    >>> stream(bytes(32), b"1", b"a text", 8) == stream(bytes(32), b"1", b"a text", 16)[:8]
    True
    """
    if len(key) != KEY:
        raise ValueError(f"a key has {KEY} bytes, not {len(key)}")
    head = b"".join([key, DOMAIN, len(name).to_bytes(8, "little"), name])
    made = shake_256(head)
    made.update(text)
    return made.digest(size)


@dataclass
class Dealt:
    """A source that serves a batch of documents, each from a stream of its own.

    Draws are made for all documents of a batch at once, and ask for the bytes of all of them in
    one call, those of a document together. `shares` are the bytes of one document in each call,
    in their order; any other request is refused, as it would mix up the streams.
    """

    streams: NDArray[np.uint8]
    shares: Sequence[int]
    _calls: int = field(default=0, repr=False)

    def __call__(self, size: int) -> bytes:
        documents, width = self.streams.shape
        expected = self.shares[self._calls] if self._calls < len(self.shares) else 0
        first = sum(self.shares[: self._calls])
        if size != documents * expected or first + expected > width or not expected:
            raise RuntimeError(f"{size} bytes were asked for where {documents * expected} are due")
        self._calls += 1
        return self.streams[:, first : first + expected].tobytes()

    @classmethod
    def of(
        cls, key: bytes, names: Sequence[bytes], texts: Sequence[bytes], shares: Sequence[int]
    ) -> "Dealt":
        """The streams of these documents, as long as the calls need."""
        size = sum(shares)
        drawn = [stream(key, *each, size) for each in zip(names, texts, strict=True)]
        made = np.frombuffer(b"".join(drawn), dtype=np.uint8).reshape(len(drawn), size)
        return cls(made, shares)


def shares(length: int, *, systematic: bool) -> tuple[int, int]:
    """Bytes that a document of `length` words takes: to draw its terms, then to replace them."""
    return 8 * (1 if systematic else length), 8 * length
