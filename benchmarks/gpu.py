"""Measure the tight loss of the paper's rating on a GPU, and compare the digest with the CPU's.

    python benchmarks/gpu.py VECTORS [--sizes 2000,25000,200000] [--cpu-most 25000]

Uses the first words of a file of vectors as input and output words, ε = 47.5 and s = 0.3. Up to
`--cpu-most` words, the CPU measures the same table, and its digest must be equal. The bare product
multiplies the int8 vectors on the device.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from syntf.mechanism import gpu
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.rating import WithEmptyDocument, WordRating
from syntf.vectors.word_vectors import WordVectors

EPSILON, SPELLING = 47.5, 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors")
    parser.add_argument("--sizes", default="2000,25000,100000,200000")
    parser.add_argument("--cpu-most", type=int, default=25000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    cupy = gpu.load_cupy(options.device)
    vectors = WordVectors.read(options.vectors)
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    print(properties["name"].decode(), "CuPy", cupy.__version__)
    print("  words  bare product   tight loss  with set-up       loss  digest")
    for size in map(int, options.sizes.split(",")):
        words, matrix = vectors.words[:size], np.asarray(vectors.matrix[:size])
        start = time.perf_counter()
        rating = WordRating(words, matrix, words, matrix, spelling=SPELLING)
        set_up = time.perf_counter() - start
        mechanism, seconds = timed(partial(measure, rating, options.device), options.rounds)
        product = timed(partial(bare, cupy, matrix), options.rounds)[1]
        line = f"{size:7,}  {product:10.3f} s  {seconds:9.3f} s  {seconds + set_up:9.3f} s"
        print(f"{line}  {mechanism.loss:9.5f}  {mechanism.digest[:16]}", flush=True)
        if size <= options.cpu_most:
            start = time.perf_counter()
            on_cpu = ExponentialMechanism(WithEmptyDocument(rating), epsilon=EPSILON)
            seconds = time.perf_counter() - start
            same = "the same" if on_cpu.digest == mechanism.digest else "NOT THE SAME"
            print(f"{'':7}  on the processor {seconds:9.3f} s, digest {same}", flush=True)


def measure(rating: WordRating, device: str) -> ExponentialMechanism:
    """Build the mechanism and measure its loss on the device."""
    return ExponentialMechanism(WithEmptyDocument(rating), epsilon=EPSILON, device=device)


def bare(cupy: Any, matrix: Any) -> None:
    """Compute all inner products in half precision, one block at a time."""
    left = cupy.asarray(matrix).astype(cupy.float16)
    for start in range(0, len(left), 8192):
        left[start : start + 8192] @ left.T
    cupy.cuda.Device().synchronize()


def timed(work: Callable[[], Any], rounds: int) -> tuple[Any, float]:
    """Return the result and the least time of several rounds, after a first call that compiles."""
    result, times = work(), []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, min(times)


if __name__ == "__main__":
    main()
