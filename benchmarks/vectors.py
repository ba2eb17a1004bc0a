"""Measure loading word vectors, compared with reading and parsing the file alone.

    python benchmarks/vectors.py GLOVE [--rounds 7]

GLOVE is glove.6B.100d.txt, plain or gzipped. For comparison, the fastest installed library (polars,
pyarrow or pandas) parses the decompressed file and drops the numbers. Rounds are interleaved.
Prints medians with the least and the largest value, and ratios within one round. Memory is measured
in a separate process for each load.
"""

import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from syntf.core import cache_store
from syntf.vectors.word_vectors import WordVectors, read_cached

MEMORY = """
import re, sys
from syntf.vectors.word_vectors import read_cached
from syntf.vectors.word_vectors import WordVectors
if sys.argv[1:]:
    (WordVectors.read if sys.argv[2] == "read" else read_cached)(sys.argv[1])
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
"""Prints the peak that Linux reports; getrusage would include the memory of the parent process."""


def parsers(width: int) -> dict[str, Callable[[Path], object]]:
    """Return functions that parse the decompressed file, by library."""
    names = [str(i) for i in range(width + 1)]

    def with_polars(kind: type[pl.DataType]) -> Callable[[Path], object]:
        schema = {name: pl.String if name == "0" else kind for name in names}
        return lambda path: pl.read_csv(
            path.read_bytes(), separator=" ", has_header=False, quote_char=None, schema=schema
        )

    found = {"polars, float32": with_polars(pl.Float32), "polars, float64": with_polars(pl.Float64)}
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        pass
    else:
        types = {name: pa.string() if name == "0" else pa.float32() for name in names}
        found["pyarrow, float32"] = lambda path: csv.read_csv(
            pa.BufferReader(path.read_bytes()),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(column_types=types),
        )
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        kinds = {name: str if name == "0" else "float32" for name in names}
        found["pandas, float32"] = lambda path: pd.read_csv(
            path, sep=" ", header=None, names=names, dtype=kinds, quoting=3, na_filter=False
        )
    return found


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(*arguments: str) -> float:
    """Return the peak memory of a process in MB."""
    script = [sys.executable, "-c", MEMORY, *arguments]
    return int(subprocess.run(script, capture_output=True, text=True, check=True).stdout) / 1024


def show(name: str, times: list[float], unit: str = " s") -> None:
    middle = statistics.median(times)
    print(f"{name:34} {middle:6.2f}{unit}   ({min(times):.2f} to {max(times):.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("glove")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    glove = str(Path(options.glove).resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = str(Path(folder) / "cache")
        raw = Path(glove).read_bytes()
        plain = Path(folder) / "plain.txt"
        plain.write_bytes(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        with plain.open("rb") as file:
            width = file.readline().count(b" ")
        ways = {f"parsed by {name}": way for name, way in parsers(width).items()}
        work = {name: lambda way=way: way(plain) for name, way in ways.items()}
        work["loaded"] = lambda: WordVectors.read(glove)
        if glove != str(plain):
            work["loaded, decompressed before"] = lambda: WordVectors.read(plain)

        def first() -> None:
            cache_store.clear()
            read_cached(glove)

        work["loaded and cached"] = first
        work["loaded from the cache"] = lambda: read_cached(glove)
        for one in work.values():
            one()
        rounds = [{name: timed(one) for name, one in work.items()} for _ in range(options.rounds)]
        times = {name: [made[name] for made in rounds] for name in work}
        fastest = min(ways, key=lambda name: statistics.median(times[name]))
        print(f"{Path(glove).name}, {len(raw) / 1e6:.0f} MB, {plain.stat().st_size / 1e6:.0f} MB")
        print(f"{options.rounds} rounds, {os.cpu_count()} cores\n")
        for name, taken in times.items():
            show(name, taken)
        print(f"\nthe fastest of the parsers: {fastest.removeprefix('parsed by ')}")
        for name in list(work)[len(ways) :]:
            ratios = [a / b for a, b in zip(times[name], times[fastest], strict=True)]
            show(f"ratio, {name}", ratios, "  ")
        print()
        print(f"peak memory, nothing loaded        {peak():6.0f} MB")
        print(f"peak memory, loaded                {peak(glove, 'read'):6.0f} MB")
        print(f"peak memory, from the cache        {peak(glove, 'cache'):6.0f} MB")


if __name__ == "__main__":
    main()
