"""Tables measured, and neighbours found, on a GPU: the same integers as on a processor.

For vocabularies that take a processor minutes. What comes back is what
:class:`~syntf.mechanism.exponential.ExponentialMechanism` and
:func:`~syntf.mechanism.nearest.nearest` would have found
themselves, and is checked like it: no row outside the extremes is drawn from.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.exact import GRID
from syntf.core.parallel import Progress
from syntf.mechanism import kernels
from syntf.mechanism.rating import Rating, WithEmptyDocument, WordRating
from syntf.mechanism.reference import Weights

BLOCK = 1 << 27
"""Entries of a block of rows: six bytes each in the memory of the device."""
_GROUP = 16  # the product of int8 matrices takes whole groups of rows and columns


def extremes(
    rating: Rating,
    table: Weights,
    total: int,
    device: str,
    progress: Progress | None = None,
) -> tuple[Weights, Weights, Weights]:
    """The sums of rows, the least and the greatest of columns, of a table of words.

    `table` and `total` are those of :func:`syntf.mechanism.reference.weigh`; `progress` hears of
    rows done.
    """
    torch = available(device)
    on = _OnDevice(rating.words if isinstance(rating, WithEmptyDocument) else rating, device)
    inputs, outputs = on.shape
    whole, real = on.put(table), on.put(table.astype(np.float64))
    # Rows of no word, the empty document's, are not for the device.
    others = rating.levels(np.arange(inputs, rating.shape[0]))
    weights, last = kernels.weigh(others, table, total)
    low = on.put(weights.min(axis=0, initial=total))
    high = on.put(weights.max(axis=0, initial=0))
    sums = torch.zeros(inputs, dtype=torch.int64, device=device)
    for block, levels, top in on.blocks(progress):
        rows = levels.shape[0]
        best = torch.full((rows,), outputs, dtype=torch.int32, device=device)
        on.run("add_up", rows, levels, top, whole, GRID, outputs, sums[block], best)
        scale = float(total) / sums[block].double()
        used = torch.zeros(rows, dtype=torch.int64, device=device)
        on.run(
            "widen", -(-rows // on.loops.ROWS), levels, top, real, GRID, scale, best, rows, outputs,
            used, low, high, ROWS=on.loops.ROWS,
        )  # fmt: skip
        # What rounding leaves or takes is settled on the first best output: its weight is last.
        first = torch.round(real[GRID] * scale).long() + (total - used)
        low.scatter_reduce_(0, best.long(), first, "amin")
        high.scatter_reduce_(0, best.long(), first, "amax")
    return np.append(sums.cpu().numpy(), last), low.cpu().numpy(), high.cpu().numpy()


def neighbours(
    rating: Rating, count: int, device: str, progress: Progress | None = None
) -> NDArray[np.int32]:
    """As :func:`syntf.mechanism.nearest.nearest`: the outputs of highest level, of equals the
    first."""
    torch = available(device)
    on = _OnDevice(rating, device)
    inputs, outputs = on.shape
    place = torch.arange(outputs - 1, -1, -1, device=device)
    found = np.empty((inputs, count), dtype=np.int32)
    for block, levels, _ in on.blocks(progress):
        distinct = levels.long() * outputs + place  # the first of equals is the largest
        best = torch.topk(distinct, count, dim=1).values % outputs
        found[block] = (outputs - 1 - best).cpu().numpy()
    return found


def available(device: str) -> Any:
    """PyTorch, or an error that says what is missing."""
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        raise SyntfError(
            f"{device} needs {error.name}, which is not installed: pip install 'syntf[cuda]'"
        ) from None
    if not torch.cuda.is_available():
        raise SyntfError(f"PyTorch finds no device for {device} here")
    return torch


class _OnDevice:
    """The parts of a rating in the memory of a device, and levels worked out there."""

    def __init__(self, rating: Rating, device: str) -> None:
        from syntf.mechanism import gpu_loops

        if not isinstance(rating, WordRating):
            raise SyntfError(
                f"{device} rates words by their vectors, and these are rated otherwise"
            )
        self.loops = gpu_loops
        self._torch = available(device)
        self._device = device
        self.shape = rating.shape
        self._vectors_in = self.put(_padded(rating._vectors_in, more=2 * _GROUP))
        self._vectors_out = self.put(_padded(rating._given_out)).t()
        spelled = rating._spelled
        self._parts = [
            self.put(part)
            for part in (
                rating._scale_in, rating._scale_out, spelled.ptr, spelled.ids, spelled.has_bigram(),
                spelled.count_in, spelled.count_out, rating._penalty.astype(np.int32),
            )
        ]  # fmt: skip
        self._counts = rating._penalty.shape[1]

    def put(self, array: NDArray[Any]) -> Any:
        return self._torch.as_tensor(np.ascontiguousarray(array), device=self._device)

    def run(self, name: str, rows: int, *arguments: Any, **sizes: int) -> None:
        """One of the loops over so many rows, or groups of them, and all columns."""
        loop = getattr(self.loops, name)
        width = self.loops.WIDTH
        loop[rows, -(-self.shape[1] // width)](*arguments, WIDTH=width, **sizes, num_warps=8)

    def blocks(self, progress: Progress | None) -> Iterator[tuple[slice, Any, Any]]:
        """Rows in blocks: which, their levels, and the highest of each."""
        torch, (scale_in, scale_out, ptr, *rest) = self._torch, self._parts
        count_in = rest[2]
        size = max(2 * _GROUP, BLOCK // self.shape[1] // _GROUP * _GROUP)
        levels = torch.empty((size, self.shape[1]), dtype=torch.uint16, device=self._device)
        for start in range(0, self.shape[0], size):
            block = slice(start, min(start + size, self.shape[0]))
            rows = block.stop - block.start
            group = max(2 * _GROUP, -(-rows // _GROUP) * _GROUP)
            dot = torch._int_mm(self._vectors_in[start : start + group], self._vectors_out)
            top = torch.zeros(rows, dtype=torch.int32, device=self._device)
            self.run(
                "rate", rows, dot, dot.stride(0), scale_in[block], scale_out, ptr[start:],
                rest[0], rest[1], count_in[block], rest[3], rest[4], self._counts, self.shape[1],
                levels, top,
            )  # fmt: skip
            yield block, levels[:rows], top
            if progress:
                progress(rows)


def _padded(vectors: NDArray[np.int8], more: int = 0) -> NDArray[np.int8]:
    """Vectors with zeros to the right and below, to two whole groups at least; `more` rows."""
    rows, columns = (max(2 * _GROUP, -(-size // _GROUP) * _GROUP) for size in vectors.shape)
    padded = np.zeros((rows + more, columns), dtype=np.int8)
    padded[: vectors.shape[0], : vectors.shape[1]] = vectors
    return padded
