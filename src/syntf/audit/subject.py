"""The program under audit, met from outside: chosen bytes for its entropy, parts of its table.

An audit examines an :class:`~syntf.pipeline.anonymizer.Anonymizer`, or whatever stands in for one.
It
relies on what is documented of it: a mechanism's ``weights(row)`` and ``sample(rows, source=…)``,
where draw i takes the top bits of the i-th eight bytes of the source; and ``anonymize(texts)``.
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

TOP, ALL = bytes([0] * 7 + [128]), bytes([255] * 8)
"""Bits of eight bytes: that which is half of the range, and all."""


@dataclass
class Recording:
    """A source that gives the same bytes to whoever asks alike, and notes what was asked for.

    It stands in for the operating system where two runs are to be compared. `flip` names eight
    bytes, the first being 0, and the bits of them to change.
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


class Replayed:
    """A program whose entropy is a recording, played from its beginning for every run."""

    def __init__(self, subject: Anonymizer) -> None:
        self._recording = Recording()
        self._subject = replace(subject, source=self._recording)

    def __call__(
        self, *texts: str, flip: tuple[int, bytes] | None = None
    ) -> tuple[csr_matrix, list[int]]:
        """What becomes of these texts, and the bytes that each call for entropy asked for."""
        self._recording.flip, self._recording.sizes = flip, []
        return self._subject.anonymize(list(texts)), self._recording.sizes


def outputs_at(mechanism: Mechanism, row: int, points: Weights) -> NDArray[np.intp]:
    """What the sampler makes of a row at these random integers, each below the total."""
    shift = np.uint64(64 - (mechanism.total.bit_length() - 1))
    raw = (points.astype("<u8") << shift).tobytes()
    unread = [raw]

    def source(size: int) -> bytes:
        given = unread.pop() if unread else b""
        if len(given) != size:
            raise RuntimeError(f"{len(points)} draws asked for {size} bytes, not for {len(given)}")
        return given

    drawn = mechanism.sample(np.full(len(points), row), source=source)
    if unread:
        raise RuntimeError("the sampler drew without reading the entropy it was given")
    return np.asarray(drawn, dtype=np.intp)


@dataclass(frozen=True)
class Part:
    """Some rows and some outputs of a rating, rated as they are in the whole."""

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
    """A mechanism of the same make over some words of this one; its rows are these, in order.

    For the neighbourhood mechanism `outputs` must contain the neighbours of the rows, one more
    row, the last, is that of the document without a known word, and where a total does not divide
    among neighbours, others of them may get the one more.
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
    raise SyntfError(f"no part can be taken of a {type(mechanism).__name__}")


def neighbours(mechanism: NeighbourhoodMechanism, row: int) -> NDArray[np.intp]:
    """The outputs that weigh more than the background."""
    return np.flatnonzero(mechanism.weights(row) > mechanism.background)


def readable(subject: Anonymizer, rows: Iterator[int] | Sequence[int]) -> Iterator[tuple[int, str]]:
    """Those of the rows that a text of one word draws from, with the text."""
    inputs = subject.vocabulary.inputs
    for row in rows:
        text = inputs[row] if row < len(inputs) else ""
        if subject.read([text]).terms.tolist() == [row]:
            yield row, text
