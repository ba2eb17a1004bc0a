"""Measure tables and find neighbours on a GPU: the same integers as on the processor.

This is for vocabularies that take a processor minutes. The results are those that
:class:`~syntf.mechanism.exponential.ExponentialMechanism` and
:func:`~syntf.mechanism.nearest.nearest` would find themselves, and are checked in the same way: no
row outside the extremes is drawn from.
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

BLOCK_ENTRIES = 1 << 27
"""Entries in a block of rows; each takes six bytes of the device's memory."""
_GROUP = 16  # the int8 matrix product needs multiples of this many rows and columns


def extremes(
    rating: Rating,
    table: Weights,
    total: int,
    device: str,
    progress: Progress | None = None,
) -> tuple[Weights, Weights, Weights]:
    """Return the sum of each row and the least and the greatest weight of each column.

    `table` and `total` are those of :func:`syntf.mechanism.reference.weigh`. `progress` is called
    with the number of rows just done.
    """
    torch = load_torch(device)
    words = rating.words if isinstance(rating, WithEmptyDocument) else rating
    on_device = _DeviceRating(words, device)
    inputs, outputs = on_device.shape
    integer_table, float_table = on_device.put(table), on_device.put(table.astype(np.float64))
    # The processor computes rows that belong to no word, such as the empty document's.
    other_levels = rating.levels(np.arange(inputs, rating.shape[0]))
    other_weights, other_sums = kernels.weigh(other_levels, table, total)
    low = on_device.put(other_weights.min(axis=0, initial=total))
    high = on_device.put(other_weights.max(axis=0, initial=0))
    sums = torch.zeros(inputs, dtype=torch.int64, device=device)
    for block, levels, top in on_device.blocks(progress):
        rows = levels.shape[0]
        best = torch.full((rows,), outputs, dtype=torch.int32, device=device)
        on_device.run("add_up", rows, levels, top, integer_table, GRID, outputs, sums[block], best)
        scale = float(total) / sums[block].double()
        used = torch.zeros(rows, dtype=torch.int64, device=device)
        on_device.run(
            "widen", -(-rows // on_device.loops.ROWS), levels, top, float_table, GRID, scale, best,
            rows, outputs, used, low, high, ROWS=on_device.loops.ROWS,
        )  # fmt: skip
        # The rounding difference is added to the first best output: its weight comes last.
        best_weight = torch.round(float_table[GRID] * scale).long() + (total - used)
        low.scatter_reduce_(0, best.long(), best_weight, "amin")
        high.scatter_reduce_(0, best.long(), best_weight, "amax")
    return np.append(sums.cpu().numpy(), other_sums), low.cpu().numpy(), high.cpu().numpy()


def neighbours(
    rating: Rating, count: int, device: str, progress: Progress | None = None
) -> NDArray[np.int32]:
    """Return the `count` outputs of highest level for each input; of equal ones, the first."""
    torch = load_torch(device)
    on_device = _DeviceRating(rating, device)
    inputs, outputs = on_device.shape
    place = torch.arange(outputs - 1, -1, -1, device=device)
    found = np.empty((inputs, count), dtype=np.int32)
    for block, levels, _ in on_device.blocks(progress):
        distinct = levels.long() * outputs + place  # of equal levels, the first is the largest
        best = torch.topk(distinct, count, dim=1).values % outputs
        found[block] = (outputs - 1 - best).cpu().numpy()
    return found


def load_torch(device: str) -> Any:
    """Return the module PyTorch, or raise an error that says what is missing."""
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


class _DeviceRating:
    """A rating in the memory of a device, which computes its levels there."""

    def __init__(self, rating: Rating, device: str) -> None:
        from syntf.mechanism import gpu_loops

        if not isinstance(rating, WordRating):
            raise SyntfError(f"{device} supports only the rating of words by their vectors")
        self.loops = gpu_loops
        self._torch = load_torch(device)
        self._device = device
        self.shape = rating.shape
        self._vectors_in = self.put(_padded(rating.vectors_in, more=2 * _GROUP))
        self._vectors_out = self.put(_padded(rating.vectors_out)).t()
        bigrams = rating.bigrams
        self._parts = [
            self.put(part)
            for part in (
                rating.scale_in, rating.scale_out, bigrams.input_starts, bigrams.input_bigrams,
                bigrams.incidence(), bigrams.input_counts, bigrams.output_counts,
                rating.penalty.astype(np.int32),
            )
        ]  # fmt: skip
        self._penalty_width = rating.penalty.shape[1]

    def put(self, array: NDArray[Any]) -> Any:
        return self._torch.as_tensor(np.ascontiguousarray(array), device=self._device)

    def run(self, name: str, rows: int, *arguments: Any, **sizes: int) -> None:
        """Run one of the loops over this many rows, or groups of rows, and all columns."""
        loop = getattr(self.loops, name)
        width = self.loops.WIDTH
        loop[rows, -(-self.shape[1] // width)](*arguments, WIDTH=width, **sizes, num_warps=8)

    def blocks(self, progress: Progress | None) -> Iterator[tuple[slice, Any, Any]]:
        """Yield blocks of rows: their slice, their levels, and the highest level of each."""
        torch = self._torch
        scale_in, scale_out, starts, ids, incidence, count_in, count_out, penalty = self._parts
        size = max(2 * _GROUP, BLOCK_ENTRIES // self.shape[1] // _GROUP * _GROUP)
        levels = torch.empty((size, self.shape[1]), dtype=torch.uint16, device=self._device)
        for start in range(0, self.shape[0], size):
            block = slice(start, min(start + size, self.shape[0]))
            rows = block.stop - block.start
            group = max(2 * _GROUP, -(-rows // _GROUP) * _GROUP)
            dot = torch._int_mm(self._vectors_in[start : start + group], self._vectors_out)
            top = torch.zeros(rows, dtype=torch.int32, device=self._device)
            self.run(
                "rate", rows, dot, dot.stride(0), scale_in[block], scale_out, starts[start:], ids,
                incidence, count_in[block], count_out, penalty, self._penalty_width,
                self.shape[1], levels, top,
            )  # fmt: skip
            yield block, levels[:rows], top
            if progress:
                progress(rows)


def _padded(vectors: NDArray[np.int8], more: int = 0) -> NDArray[np.int8]:
    """Pad vectors with zeros to multiples of the group size, at least two groups; `more` rows."""
    rows, columns = (max(2 * _GROUP, -(-size // _GROUP) * _GROUP) for size in vectors.shape)
    padded = np.zeros((rows + more, columns), dtype=np.int8)
    padded[: vectors.shape[0], : vectors.shape[1]] = vectors
    return padded
