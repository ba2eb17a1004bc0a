"""Measure the Rényi divergence over all pairs of rows, on the CPU and on a GPU.

    python benchmarks/renyi.py [--sizes 400,4000,30000] [--cpu-most 4000] [--device cuda]

Uses synthetic words with random vectors, as many input words as output words, and ε = 12. NumPy is
used up to `--cpu-most` words, CuPy on `--device` if there is one. The last column is the
divergence at each order: both must agree in all digits shown.
"""

import argparse
import time
from collections.abc import Iterator
from hashlib import shake_256

import numpy as np

from syntf.core.errors import SyntfError
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.rating import WithEmptyDocument, WordRating
from syntf.privacy import renyi

SIZES = "400,1000,2000,4000,10000,20000,30000"
ORDERS = (0.0625, 0.5, 4.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--cpu-most", type=int, default=4000)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    try:
        renyi.array_functions(options.device)
        devices: list[str | None] = [None, options.device]
    except SyntfError as error:
        print(f"{error}: NumPy only")
        devices = [None]
    alphas = ", ".join(f"{1 + a:g}" for a in ORDERS)
    print(f"words   by        rows in  an order  divergence at α = {alphas}")
    for size in map(int, options.sizes.split(",")):
        mechanism = mechanism_of(size)
        for device in devices:
            if device is not None or size <= options.cpu_most:
                start = time.perf_counter()
                divergence = renyi.all_pairs(mechanism, device)
                rows = time.perf_counter() - start
                values, seconds = zip(*timed(divergence), strict=True)
                found = "  ".join(f"{value:.9f}" for value in values)
                by = device or "numpy"
                print(
                    f"{size:6,}  {by:8} {rows:6.1f} s  {min(seconds):6.3f} s  {found}", flush=True
                )


def timed(divergence: renyi.Divergence) -> Iterator[tuple[float, float]]:
    """Yield the divergence at each order and the seconds it took."""
    for a in ORDERS:
        start = time.perf_counter()
        yield divergence(a), time.perf_counter() - start


def mechanism_of(size: int) -> ExponentialMechanism:
    """Return a mechanism over words with random vectors."""
    words = [f"w{i}" for i in range(size)]
    raw = np.frombuffer(shake_256(b"vectors").digest(size * 200), dtype=np.uint8)
    table = (raw.reshape(size, 50, 4).mean(axis=2) - 127.5).round().clip(-127, 127).astype(np.int8)
    rating = WordRating(words, table, words, table, spelling=0.0)
    return ExponentialMechanism(WithEmptyDocument(rating), epsilon=12.0)


if __name__ == "__main__":
    main()
