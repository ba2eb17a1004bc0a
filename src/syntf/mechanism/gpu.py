"""Measure tables and find neighbours on a GPU: the same integers as on the processor.

This is for vocabularies that take a processor minutes. The results are those that
:class:`~syntf.mechanism.exponential.ExponentialMechanism` and
:func:`~syntf.mechanism.nearest.nearest` would find themselves, and are checked in the same way: no
row outside the extremes is drawn from. The loops are in ``gpu_loops.cu``, which CuPy compiles once
on each machine.
"""

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.exact import GRID
from syntf.core.parallel import Progress
from syntf.mechanism import kernels
from syntf.mechanism.rating import Rating, WithEmptyDocument, WordRating
from syntf.mechanism.reference import Weights

BLOCK_ENTRIES = 1 << 30
"""Entries in a block of rows. Two blocks, of two bytes for each entry, take 4 GB of the device."""

# As in gpu_loops.cu:
_TILE_ROWS = 32
_TILE_COLUMNS = 256
_GROUP_ROWS = 512
_STEP = 32  # dimensions multiplied at once
_MOST_DIMENSIONS = 768  # TILE_ROWS longer vectors do not fit into shared memory

_MOST_COPIED = 64 << 10
"""The most bytes of bigrams and penalties that are copied to a block's shared memory."""

_ROUNDING = 1e-4
"""More than what float32 can change in a logarithm of a weight, which is at most 62·ln 2."""


def extremes(
    rating: Rating,
    find_table: Callable[[], Weights],
    total: int,
    device: str,
    progress: Progress | None = None,
) -> tuple[Weights, Weights, Weights]:
    """Return the sum of each row and the least and the greatest weight of each column.

    `find_table` returns the table of :func:`syntf.mechanism.reference.weigh`, which also describes
    `total`. `progress` is called with the number of rows just submitted.
    """
    cupy = load_cupy(device)
    words = rating.words if isinstance(rating, WithEmptyDocument) else rating
    there = _DeviceRating(words, cupy, device)
    inputs, outputs = there.shape
    table = find_table()
    weights = cupy.asarray(table)
    slope, slack = _line(table)
    # The processor computes the row that belongs to no word, the empty document's.
    others = np.zeros((rating.shape[0] - inputs, outputs), dtype=np.uint16)
    other_weights, other_sums = kernels.weigh(others, table, total)
    low = cupy.asarray(other_weights.min(axis=0, initial=total))
    high = cupy.asarray(other_weights.max(axis=0, initial=0))
    sums = cupy.empty(inputs, dtype=np.int64)
    # While `widen` waits for the memory of the device, the levels of the next block are computed.
    first, second = cupy.cuda.get_current_stream(), cupy.cuda.Stream(non_blocking=True)
    before = None
    for block, levels in there.blocks(progress):
        rows = block.stop - block.start
        scales = cupy.empty(rows, dtype=np.float64)
        tops, bests = (cupy.empty(rows, dtype=np.int32) for _ in range(2))
        there.run(
            "add_up", (rows,), 1024,
            levels, there.stride, outputs, weights, np.int64(total), sums[block],
            scales, tops, bests, low, high,
            shared_memory=2 * (GRID + 1),
        )  # fmt: skip
        # ln(weight) is about slope·level + offset.
        offsets = cupy.log(scales * float(table[GRID])) - slope * tops
        offsets = offsets.astype(np.float32)
        second.wait_event(first.record())
        with second:
            there.run(
                "widen", (-(-outputs // 512), -(-rows // _GROUP_ROWS)), 128,
                levels, there.stride, outputs, rows, weights, scales, tops, bests,
                offsets, np.float32(slope), np.float32(slack), low, high,
            )  # fmt: skip
        if before is not None:  # the next block is written over the one before this
            first.wait_event(before[0])
        before = second.record(), (scales, tops, bests, offsets)  # not to be used again yet
    second.synchronize()
    return np.append(sums.get(), other_sums), low.get(), high.get()


def neighbours(
    rating: Rating, count: int, device: str, progress: Progress | None = None
) -> NDArray[np.int32]:
    """Return the `count` outputs of highest level for each input; of equal ones, the first."""
    cupy = load_cupy(device)
    there = _DeviceRating(rating, cupy, device)
    inputs, outputs = there.shape
    found = np.empty((inputs, count), dtype=np.int32)
    for block, levels in there.blocks(progress):
        rows = block.stop - block.start
        keys = cupy.empty((rows, count), dtype=np.int64)
        there.run("nearest", (rows,), 256, levels, there.stride, outputs, count, keys)
        keys.sort(axis=1)
        found[block] = (outputs - 1 - keys[:, ::-1] % outputs).get()
    return found


def load_cupy(device: str) -> Any:
    """Return the module CuPy, with this device as the thread's own, or say what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise SyntfError(
            f"{device} needs {error.name}, which is not installed: pip install 'syntf[cuda]'"
        ) from None
    name, _, number = device.partition(":")
    if name != "cuda" or not (number.isdecimal() or device == "cuda"):
        raise SyntfError(f"{device!r} is no device: use cuda, or cuda:1 for the second GPU")
    try:
        there = cupy.cuda.runtime.getDeviceCount() > int(number or 0)
    except cupy.cuda.runtime.CUDARuntimeError:
        there = False
    if not there:
        raise SyntfError(f"CuPy finds no device for {device} here")
    cupy.cuda.Device(int(number or 0)).use()
    return cupy


def _line(table: Weights) -> tuple[float, float]:
    """Fit a line to the logarithms of the weights; return its slope and twice its largest error.

    The error includes that of rounding a scaled weight to an integer (scales are at least 2) and
    of arithmetic with 24 bits. With twice the error, no weight beyond an extreme is missed: one
    error is that of the weight, the other that of the extreme.
    """
    logarithms = np.log(table.astype(np.float64))
    slope = float(logarithms[GRID] - logarithms[0]) / GRID
    line = logarithms[GRID] + slope * np.arange(-GRID, 1)
    return slope, 2 * float((np.abs(logarithms - line) + 0.5 / table).max() + _ROUNDING)


class _DeviceRating:
    """A rating in the memory of a device, which computes its levels there."""

    def __init__(self, rating: Rating, cupy: Any, device: str) -> None:
        if not isinstance(rating, WordRating):
            raise SyntfError(f"{device} supports only the rating of words by their vectors")
        if rating.vectors_in.shape[1] > _MOST_DIMENSIONS:
            raise SyntfError(f"{device} supports vectors of at most {_MOST_DIMENSIONS} dimensions")
        if int(cupy.cuda.Device().compute_capability) < 80:
            raise SyntfError(f"{device} is too old: the loops need compute capability 8.0 or more")
        self._cupy = cupy
        self.shape = rating.shape
        self.stride = -(-rating.shape[1] // _TILE_COLUMNS) * _TILE_COLUMNS
        bigrams, put = rating.bigrams, cupy.asarray
        dimensions = -(-rating.vectors_in.shape[1] // _STEP) * _STEP
        self._vectors_in = self._padded(rating.vectors_in, rating.shape[0] + _TILE_ROWS, dimensions)
        self._scale_in, self._count_in = put(rating.scale_in), put(bigrams.input_counts)
        self._starts = put(bigrams.input_starts.astype(np.int32))
        self._bigrams = put(bigrams.input_bigrams.astype(np.int32))
        rows = int(bigrams.output_bigrams.max()) + 1
        incidence = cupy.zeros((rows, self.stride), dtype=np.uint8)
        incidence[put(bigrams.output_bigrams), put(bigrams.output_words)] = 1
        # Only as many penalties as there are bigrams in these words.
        most_in, most_out = int(bigrams.input_counts.max()), int(bigrams.output_counts.max())
        penalty = rating.penalty[: min(most_in, most_out) + 1, : most_in + most_out + 1]
        self._outputs = (
            self._padded(rating.vectors_out, self.stride, dimensions),
            self._padded(rating.scale_out, self.stride),
            cupy.packbits(incidence.ravel(), bitorder="little"),
            rows,
            self._padded(bigrams.output_counts, self.stride),
            put(np.ascontiguousarray(penalty)),
        )
        copied = _TILE_COLUMNS // 8 * rows + 2 * penalty.size
        self._copied = copied if copied <= _MOST_COPIED else 0
        code = files("syntf.mechanism").joinpath("gpu_loops.cu").read_text(encoding="utf-8")
        defined = {"STEPS": dimensions // _STEP, "COPIED": int(self._copied > 0)}
        options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defined.items()))
        self._loops = cupy.RawModule(code=code, options=options)

    def _padded(self, array: NDArray[Any], *shape: int) -> Any:
        """Return an array on the device, with zeros at the end of each axis."""
        padded = self._cupy.zeros(shape, dtype=array.dtype)
        padded[tuple(map(slice, array.shape))] = self._cupy.asarray(array)
        return padded

    def run(
        self,
        name: str,
        grid: tuple[int, ...],
        threads: int,
        *arguments: Any,
        shared_memory: int = 0,
    ) -> None:
        """Run one of the loops on a grid of blocks of threads."""
        loop = self._loops.get_function(name)
        if shared_memory:
            loop.max_dynamic_shared_size_bytes = shared_memory
        given = [np.int32(value) if type(value) is int else value for value in arguments]
        loop(grid, (threads,), tuple(given), shared_mem=shared_memory)

    def blocks(self, progress: Progress | None) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of rows: their slice and their levels, which the next but one overwrites."""
        vectors_out, scale_out, incidence, incidence_rows, count_out, penalty = self._outputs
        size = max(_GROUP_ROWS, BLOCK_ENTRIES // self.stride // _GROUP_ROWS * _GROUP_ROWS)
        size = min(size, self.shape[0])
        pair = [self._cupy.empty((size, self.stride), dtype=np.uint16) for _ in range(2)]
        for number, start in enumerate(range(0, self.shape[0], size)):
            levels = pair[number % 2]
            block = slice(start, min(start + size, self.shape[0]))
            rows = block.stop - block.start
            self.run(
                "rate", (self.stride // _TILE_COLUMNS, -(-rows // _GROUP_ROWS)), 256,
                self._vectors_in[start:], vectors_out, self._scale_in[start:], scale_out,
                self._starts[start:], self._bigrams, incidence, incidence_rows,
                self._count_in[start:], count_out, penalty, penalty.shape[1], penalty.size,
                rows, self.stride, levels,
                shared_memory=self._copied,
            )  # fmt: skip
            yield block, levels
            if progress:
                progress(rows)
