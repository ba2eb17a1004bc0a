"""Access to the program under audit: recorded entropy, and parts of its table.

The program is an :class:`~syntf.pipeline.anonymizer.Anonymizer` or a replacement under test. The
audit relies on its documented behaviour only: a mechanism's ``weights(row)`` and ``sample(rows,
source=…)``, where draw i uses the top bits of the i-th eight bytes of the source, and
``anonymize(texts)``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from syntf.core.errors import SyntfError
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import Rating
from syntf.mechanism.reference import Levels, Weights
from syntf.pipeline.anonymizer import Anonymizer

TOP_BIT, ALL_BITS = bytes([0] * 7 + [128]), bytes([255] * 8)
"""Bits of eight bytes to change: the highest one, or all."""


@dataclass
class Recording:
    """An entropy source that always gives the same bytes, and records the size of each call.

    It replaces the operating system when two runs are compared. `flip` is the number of a group
    of eight bytes, from 0, and the bits to change in it.
    """

    flip: tuple[int, bytes] | None = None
    sizes: list[int] = field(default_factory=list)

    def __call__(self, size: int) -> bytes:
        raw = bytearray(shake_256(f"recording {len(self.sizes)}".encode()).digest(size))
        if self.flip is not None:
            place, mask = self.flip
            for start, bits in enumerate(mask, 8 * place - sum(self.sizes)):
                if 0 <= start < size:
                    raw[start] ^= bits
        self.sizes.append(size)
        return bytes(raw)


class ReplayedProgram:
    """The program with recorded entropy, which starts again with every call."""

    def __init__(self, subject: Anonymizer) -> None:
        self._recording = Recording()
        self._subject = replace(subject, source=self._recording)

    def anonymize(
        self, *texts: str, flip: tuple[int, bytes] | None = None
    ) -> tuple[csr_matrix, list[int]]:
        """Return the counts of these texts, and the size of each call for entropy."""
        self._recording.flip, self._recording.sizes = flip, []
        return self._subject.anonymize(list(texts)), self._recording.sizes


def outputs_at(mechanism: Mechanism, row: int, points: Weights) -> NDArray[np.intp]:
    """Return the outputs that the sampler draws from a row with these random integers."""
    shift = np.uint64(64 - (mechanism.total.bit_length() - 1))
    raw = (points.astype("<u8") << shift).tobytes()
    unread = [raw]

    def source(size: int) -> bytes:
        rest = unread.pop() if unread else b""
        if len(rest) != size:
            raise RuntimeError(f"{len(points)} draws read {size} bytes instead of {len(rest)}")
        return rest

    drawn = mechanism.sample(np.full(len(points), row), source=source)
    if unread:
        raise RuntimeError("the sampler did not read the entropy it was given")
    return np.asarray(drawn, dtype=np.intp)


@dataclass(frozen=True)
class Part:
    """Some rows and some outputs of a rating, with the same levels."""

    rating: Rating
    rows: NDArray[np.intp]
    outputs: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.outputs)

    @property
    def digest(self) -> str:
        return f"part of {self.rating.digest}: {self.rows.tolist()}, {self.outputs.tolist()}"

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        return self.rating.levels(self.rows[rows])[:, self.outputs]


def part(
    mechanism: Mechanism,
    rows: Sequence[int],
    *,
    epsilon: float,
    outputs: NDArray[np.intp] | None = None,
    total_bits: int = 62,
) -> Mechanism:
    """Build a mechanism of the same class over some rows and outputs of this one.

    For the neighbourhood mechanism, `outputs` must contain the neighbours of the rows, and the
    result has one more row, that of the empty document. If a total cannot be divided equally
    among neighbours, other neighbours may get the remainder.
    """
    chosen = np.arange(mechanism.shape[1]) if outputs is None else np.sort(outputs)
    if isinstance(mechanism, NeighbourhoodMechanism):
        near = [np.searchsorted(chosen, neighbours(mechanism, row)) for row in rows]
        return type(mechanism)(
            np.array(near), outputs=len(chosen), epsilon=epsilon, total_bits=total_bits
        )
    if isinstance(mechanism, ExponentialMechanism):
        rating = Part(mechanism.rating, np.asarray(rows, dtype=np.intp), chosen)
        return type(mechanism)(rating, epsilon=epsilon, total_bits=total_bits)
    raise SyntfError(f"the audit does not support {type(mechanism).__name__}")


def neighbours(mechanism: NeighbourhoodMechanism, row: int) -> NDArray[np.intp]:
    """Return the outputs of a row that have more weight than the background."""
    return np.flatnonzero(mechanism.weights(row) > mechanism.background)


def one_word_texts(
    subject: Anonymizer, rows: Iterator[int] | Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Yield those rows that a text of one word is read as, with the text."""
    inputs = subject.vocabulary.inputs
    for row in rows:
        text = inputs[row] if row < len(inputs) else ""
        if subject.read([text]).terms.tolist() == [row]:
            yield row, text
