"""The tight loss of the paper's rating on a GPU: seconds, and the digest beside a processor's.

    python benchmarks/gpu.py VECTORS [--sizes 2000,25000,200000] [--cpu-most 25000]

The first words of a file of vectors, inputs and outputs alike, ε = 47.5, s = 0.3, on `--device`.
Up to `--cpu-most` words the processor measures the same table: its digest must be the same. The
bare product is that of the int8 vectors on the device.
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
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("vectors")
    options.add_argument("--sizes", default="2000,25000,100000,200000")
    options.add_argument("--cpu-most", type=int, default=25000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--device", default="cuda")
    chosen = options.parse_args()
    torch = gpu.load_torch(chosen.device)
    vectors = WordVectors.read(chosen.vectors)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    print("  words  bare product   tight loss  with set-up       loss  digest")
    for size in map(int, chosen.sizes.split(",")):
        words, matrix = vectors.words[:size], np.asarray(vectors.matrix[:size])
        start = time.perf_counter()
        rating = WordRating(words, matrix, words, matrix, spelling=SPELLING)
        set_up = time.perf_counter() - start
        found, seconds = timed(partial(measured, rating, chosen.device), chosen.rounds)
        product = timed(partial(bare, torch, matrix, chosen.device), chosen.rounds)[1]
        line = f"{size:7,}  {product:10.3f} s  {seconds:9.3f} s  {seconds + set_up:9.3f} s"
        print(f"{line}  {found.loss:9.5f}  {found.digest[:16]}", flush=True)
        if size <= chosen.cpu_most:
            start = time.perf_counter()
            own = ExponentialMechanism(WithEmptyDocument(rating), epsilon=EPSILON)
            seconds = time.perf_counter() - start
            same = "the same" if own.digest == found.digest else "NOT THE SAME"
            print(f"{'':7}  on the processor {seconds:9.3f} s, digest {same}", flush=True)


def measured(rating: WordRating, device: str) -> ExponentialMechanism:
    """The mechanism, its extremes measured on the device: all that `syntf` does with it."""
    return ExponentialMechanism(WithEmptyDocument(rating), epsilon=EPSILON, device=device)


def bare(torch: Any, matrix: Any, device: str) -> None:
    """All inner products, a block at a time."""
    left = torch.as_tensor(matrix, device=device).half()
    for start in range(0, len(left), 8192):
        left[start : start + 8192] @ left.T
    torch.cuda.synchronize()


def timed(work: Callable[[], Any], rounds: int) -> tuple[Any, float]:
    """What it gives, and the least seconds it took, after a first time that compiles."""
    result, times = work(), []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, min(times)


if __name__ == "__main__":
    main()
