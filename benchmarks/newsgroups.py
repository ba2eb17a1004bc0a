"""The paper's setting on 20 newsgroups: its tight loss, and what measuring it costs.

    python benchmarks/newsgroups.py GLOVE [--data-home DIR] [--numpy]

GLOVE is glove.6B.100d.txt, plain or gzipped; the newsgroups come from scikit-learn's
`fetch_20newsgroups`, downloaded where they are not in DIR yet. Vocabulary: lemmas with a
vector in at least two training messages, headers, footers and quotes stripped; s = 0.3,
ε = 47.5, n = 150. --numpy leaves the compiled loops out. Times are the median of
interleaved rounds, and ratios of one run.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import fetch_20newsgroups

from syntf import kernels
from syntf.analysis import Analyzer
from syntf.anonymizer import Anonymizer, Settings
from syntf.mechanism import ExponentialMechanism
from syntf.rating import WordRating
from syntf.vectors import WordVectors
from syntf.vocabulary import Vocabulary

ROUNDS = 5


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("glove")
    options.add_argument("--data-home")
    options.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--numpy", action="store_true", help="without the compiled loops")
    chosen = options.parse_args()
    if chosen.numpy:
        kernels._compiled = None
    texts = fetch_20newsgroups(
        data_home=chosen.data_home, subset="train", remove=("headers", "footers", "quotes")
    ).data
    vectors = WordVectors.read(chosen.glove)
    vocabulary = Vocabulary.fit(texts, Analyzer(), vectors)
    matrix = np.ascontiguousarray(vectors.matrix[np.asarray(vocabulary.input_rows)])
    words = vocabulary.inputs

    def from_scratch() -> ExponentialMechanism:
        rating = WordRating(words, matrix, words, matrix, spelling=0.3)
        return ExponentialMechanism(rating, epsilon=47.5)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mechanism = from_scratch()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if chosen.memory:
        print(f"{before} {peak}")
        return
    floats = matrix.astype(np.float32)

    def bare_product() -> None:
        for row in range(0, len(floats), 512):
            floats[row : row + 512] @ floats.T

    print(f"vocabulary                 {len(words):,} lemmas, {matrix.shape[1]} dimensions")
    print(f"tight loss at ε = 47.5     {mechanism.loss:.4f}   (the paper: 25.4)")
    rounds = [(timed(bare_product), timed(from_scratch)) for _ in range(ROUNDS)]
    ratios = [ours / bare for bare, ours in rounds]
    bare, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    how = "compiled loops" if kernels._compiled else "NumPy loops"
    print(f"bare matrix product        {bare:.2f} s, {os.cpu_count()} cores")
    print(f"loss from scratch          {ours:.2f} s ({how})")
    print(
        f"ratio                      {statistics.median(ratios):.1f} "
        f"({min(ratios):.1f} to {max(ratios):.1f})"
    )
    script = [sys.executable, __file__, chosen.glove, "--memory"]
    script += ["--data-home", chosen.data_home] if chosen.data_home else []
    memory = subprocess.run(script, capture_output=True, text=True, check=True).stdout.split()
    print(f"peak memory                {int(memory[1]) / 1024:,.0f} MB, all data loaded before it")

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = folder
        settings = Settings(fit_vocabulary=True, vectors=vectors)
        first = timed(lambda: Anonymizer.build(settings, texts))
        again = timed(lambda: Anonymizer.build(settings, texts))
        anonymizer = Anonymizer.build(settings, texts)
        drawing = timed(lambda: anonymizer.anonymize(texts))
    print(f"fit, first and cached      {first:.2f} s, {again:.2f} s (vocabulary included)")
    drawn = 150 * len(texts)
    print(
        f"{len(texts):,} messages           {drawing:.2f} s, "
        f"{drawn / drawing:,.0f} words drawn a second"
    )


if __name__ == "__main__":
    main()
