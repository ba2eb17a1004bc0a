"""All pairs of rows compared: seconds an order, and the divergence, on the CPU and on a GPU.

    python benchmarks/renyi.py [--sizes 400,4000,30000] [--cpu-most 4000] [--device cuda]

Synthetic words with random vectors, as many inputs as outputs, ε = 12. By NumPy up to `--cpu-most`
words, and by PyTorch on `--device` where it finds one. The last column is the divergence at each
order: both devices must agree in all digits shown.
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
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sizes", default=SIZES)
    options.add_argument("--cpu-most", type=int, default=4000)
    options.add_argument("--device", default="cuda")
    chosen = options.parse_args()
    try:
        renyi.engine(chosen.device)
        devices: list[str | None] = [None, chosen.device]
    except SyntfError as error:
        print(f"{error}: NumPy only")
        devices = [None]
    alphas = ", ".join(f"{1 + a:g}" for a in ORDERS)
    print(f"words   by        rows in  an order  divergence at α = {alphas}")
    for size in map(int, chosen.sizes.split(",")):
        mechanism = made(size)
        for device in devices:
            if device is not None or size <= chosen.cpu_most:
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
    """The divergence at each order, and the seconds it took."""
    for a in ORDERS:
        start = time.perf_counter()
        yield divergence(a), time.perf_counter() - start


def made(size: int) -> ExponentialMechanism:
    """A mechanism over words that are alike at random."""
    words = [f"w{i}" for i in range(size)]
    raw = np.frombuffer(shake_256(b"vectors").digest(size * 200), dtype=np.uint8)
    table = (raw.reshape(size, 50, 4).mean(axis=2) - 127.5).round().clip(-127, 127).astype(np.int8)
    rating = WordRating(words, table, words, table, spelling=0.0)
    return ExponentialMechanism(WithEmptyDocument(rating), epsilon=12.0)


if __name__ == "__main__":
    main()
