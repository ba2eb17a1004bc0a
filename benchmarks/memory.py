"""Measure peak memory and time of `syntf anonymize` for different numbers of documents.

    python benchmarks/memory.py [--data-home DIR] [--times 1 10 50] [--plot docs/memory.svg]

Writes 20 newsgroups, repeated --times times, to a CSV file, anonymises it with the default settings
in its own process, and prints the peak memory of that process.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import fetch_20newsgroups

# ru_maxrss would include the memory of the parent process.
RUN = """
import re, sys
from syntf.cli.app import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    print(re.search(r"VmHWM:\\s+(\\d+)", status)[1], file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    texts = fetch_20newsgroups(
        data_home=options.data_home, subset="all", remove=("headers", "footers", "quotes")
    ).data
    print(f"{'documents':>10} {'input':>9} {'peak memory':>12} {'time':>8} {'files':>6}")
    points = []
    for times in options.times:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder, "texts.csv"), Path(folder, "out")
            with source.open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(["text"])
                for _ in range(times):
                    rows.writerows([text.replace("\0", "")] for text in texts)
            start = time.perf_counter()
            result = subprocess.run(
                [sys.executable, "-c", RUN, "anonymize", str(source), "--quiet", "--out", str(out)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            peak = int(result.stderr.split()[-1]) / 1024
            files = len(list(out.glob("vectors*")))
            size = source.stat().st_size / 1e6
        documents = times * len(texts)
        points.append((documents, peak))
        print(f"{documents:>10,} {size:>6,.0f} MB {peak:>9,.0f} MB {seconds:>6,.0f} s {files:>6}")
    if options.plot:
        draw(points, options.plot)


def draw(points: list[tuple[int, float]], path: Path) -> None:
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    documents, peaks = zip(*points, strict=True)
    axes.plot(documents, peaks, "o-")
    axes.set_xscale("log")
    axes.set_ylim(0, max(peaks) * 1.25)
    axes.set_xlabel("documents")
    axes.set_ylabel("peak memory, MB")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.savefig(path)


if __name__ == "__main__":
    main()
