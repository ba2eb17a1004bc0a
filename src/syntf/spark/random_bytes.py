"""Random bytes for each document of a run, which every attempt of a task computes again.

A cluster may run a task several times: after a failure, or as a second copy of a slow task. If
each attempt asked the operating system for entropy, one document would have several draws. So a
run takes one key from the operating system. The bytes for a document are SHAKE-256 of the key,
the name of the document within the run, and its text.

*Guarantee.* While the key is secret, the bytes of different (name, text) pairs cannot be
distinguished from independent uniform bytes; the operating system's own generator stretches a key
in the same way. The same (name, text) pair always has the same bytes and therefore the same draws,
so seeing them twice reveals nothing new. A name with another text has other bytes, so two texts are
never drawn for with the same bytes. Whoever learns the key can repeat the draws. The key is kept
in memory while the run can be evaluated, and is never written to a file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

KEY_BYTES = 32

DRAW_DOMAIN = b"syntf spark 1\0"
ORDER_DOMAIN = b"syntf order 1\0"
PILOT_DOMAIN = b"syntf pilot 1\0"
SAMPLE_DOMAIN = b"syntf sample 1\0"
LIST_DOMAIN = b"syntf list 1\0"
"""Separate the bytes for draws, those that decide the order of rows and the pilot (by the ids or
the numbers of documents), and the keys of lists."""


def document_bytes(key: bytes, name: bytes, text: bytes, size: int) -> bytes:
    """Return the first `size` random bytes of one document.

    The hashed string is unambiguous: key and domain have a fixed length, and the name follows
    its own length. The number of bytes does not depend on the text.

    >>> long = document_bytes(bytes(32), b"1", b"a text", 16)
    >>> document_bytes(bytes(32), b"1", b"a text", 8) == long[:8]
    True
    """
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes, not {len(key)}")
    state = shake_256(b"".join([key, DRAW_DOMAIN, len(name).to_bytes(8, "little"), name]))
    state.update(text)
    return state.digest(size)


def list_key(key: bytes, digest: str) -> bytes:
    """Return the key of the draws from a list of answers with this digest.

    The list after a pilot depends on the texts of the pilot. If a run is repeated with the same key
    and one of these texts has changed, the other documents answer from another list. With the same
    bytes, two different answers of a document would show that both are true.
    """
    return shake_256(key + LIST_DOMAIN + digest.encode()).digest(KEY_BYTES)


def order_keys(key: bytes, names: Sequence[bytes]) -> NDArray[np.int64]:
    """Return a random integer for each document; released rows are sorted by it.

    It depends on the key and the name only, so the order of rows tells nothing about a text.
    """
    digests = [shake_256(key + ORDER_DOMAIN + name).digest(8) for name in names]
    return np.frombuffer(b"".join(digests), dtype="<i8")


def pilot_numbers(key: bytes, names: Sequence[bytes]) -> NDArray[np.int64]:
    """Return a random number below 2**63 for each document; the smallest ones are the pilot.

    It depends on the key and the name only, so who is in the pilot tells nothing about a text.
    """
    digests = [shake_256(key + PILOT_DOMAIN + name).digest(8) for name in names]
    return (np.frombuffer(b"".join(digests), dtype="<u8") >> np.uint64(1)).astype(np.int64)


def sample_numbers(key: bytes, documents: int, size: int) -> NDArray[np.int64]:
    """Choose `size` of the numbers below `documents`, ascending; every choice is equally likely.

    They are the first different numbers of a sequence of independent uniform ones. It depends on
    the key only, so who is in the pilot tells nothing about a text.

    >>> sample_numbers(bytes(32), 10, 10).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if not 0 <= size <= documents:
        raise ValueError(f"cannot choose {size} of {documents} documents")
    state = shake_256(key + SAMPLE_DOMAIN)
    unused = np.uint64(64 - max(1, (documents - 1).bit_length()))
    count = 4 * size + 64
    while True:
        words = np.frombuffer(state.digest(8 * count), dtype="<u8")
        drawn = (words >> unused).astype(np.int64)
        different, first = np.unique(drawn[drawn < documents], return_index=True)
        if len(different) >= size:
            return np.sort(different[np.argsort(first)[:size]])
        count *= 2  # a longer digest begins with the shorter one


@dataclass
class BatchSource:
    """An entropy source for one batch of documents, each with its own bytes.

    The anonymizer draws for all documents of a batch at once. It makes one call for each step
    and expects the bytes of all documents in it, those of one document together.
    `bytes_per_call` says how many bytes of one document each call takes. A call for any other
    number is refused, because it would mix the bytes of different documents.
    """

    bytes_of: NDArray[np.uint8]
    bytes_per_call: Sequence[int]
    _calls: int = field(default=0, repr=False)

    def __call__(self, size: int) -> bytes:
        documents, width = self.bytes_of.shape
        done = self._calls
        expected = self.bytes_per_call[done] if done < len(self.bytes_per_call) else 0
        first = sum(self.bytes_per_call[:done])
        if size != documents * expected or first + expected > width or not expected:
            raise RuntimeError(f"{size} random bytes requested instead of {documents * expected}")
        self._calls += 1
        return self.bytes_of[:, first : first + expected].tobytes()

    @classmethod
    def for_documents(
        cls,
        key: bytes,
        names: Sequence[bytes],
        texts: Sequence[bytes],
        bytes_per_call: Sequence[int],
    ) -> "BatchSource":
        """Compute the bytes of these documents, as many as the calls need."""
        size = sum(bytes_per_call)
        drawn = [document_bytes(key, *pair, size) for pair in zip(names, texts, strict=True)]
        table = np.frombuffer(b"".join(drawn), dtype=np.uint8).reshape(len(drawn), size)
        return cls(table, bytes_per_call)


def draw_sizes(length: int, *, systematic: bool) -> tuple[int, int]:
    """Return the bytes that a document needs to draw `length` terms, then to replace them."""
    return 8 * (1 if systematic else length), 8 * length
