"""Print how fast syntf is, as ratios of times that were measured in one run.

    python benchmarks/speed.py --data-home DIR [--large]

DIR is a scikit-learn data home with 20 newsgroups. The unit is the time that scikit-learn's
CountVectorizer takes to count the words of these messages. Every measurement is the median of
ROUNDS runs, and the rounds alternate, so that a busy machine slows all of them alike. With --large,
a file of 300 MB and one of 1.9 million documents are released, too.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import CountVectorizer

ROUNDS = 5
FASTEST_PEER = 21_600
"""Words per second and core of the fastest other library that was measured: mldp-text 'SynTF'."""


def syntf(*arguments: str, cache: Path) -> tuple[float, float]:
    """Run the program; return the seconds it took and the megabytes it used at most."""
    command = [sys.executable, "-m", "syntf", *arguments]
    begun = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, "SYNTF_CACHE": str(cache)})
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - begun, used.ru_maxrss / 1024


def words_per_second(texts: list[str]) -> float:
    """Return the words that the preset words draws in a second of one core's time."""
    from syntf import Settings
    from syntf.rows import build, draw

    rows = build(Settings.of("words"))
    scheme, series = rows.scheme(None), pl.Series(texts)
    draw(scheme, rows.encode(series[:100]))
    encoded = rows.encode(series)
    begun = resource.getrusage(resource.RUSAGE_SELF)
    draw(scheme, encoded)
    ended = resource.getrusage(resource.RUSAGE_SELF)
    seconds = ended.ru_utime - begun.ru_utime + ended.ru_stime - begun.ru_stime
    return len(texts) * scheme.draws / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--large", action="store_true", help="measure large files, too")
    options = parser.parse_args()
    parts = ("headers", "footers", "quotes")
    news = fetch_20newsgroups(
        data_home=options.data_home, subset="all", remove=parts, download_if_missing=False
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = pl.DataFrame({"text": news.data, "topic": news.target})
        table.write_csv(folder / "news.csv")
        table.head(10).write_csv(folder / "ten.csv")
        runs = {
            "anonymize (document)": ("anonymize", "news.csv"),
            "verify (document)": ("verify", "document"),
            "anonymize --preset words": ("anonymize", "news.csv", "--preset", "words"),
            "verify (words)": ("verify", "words"),
            "anonymize --preset paper": ("anonymize", "news.csv", "--preset", "paper"),
        }
        os.chdir(folder)
        cold, _ = syntf("anonymize", "news.csv", "--preset", "paper", "-q", "--force",
                        "--out", "paper", cache=folder / "cold")  # fmt: skip
        cache = folder / "cold"
        seconds: dict[str, list[float]] = {"CountVectorizer": [], **{name: [] for name in runs}}
        for _ in range(ROUNDS + 1):
            begun = time.perf_counter()
            CountVectorizer().fit_transform(news.data)
            seconds["CountVectorizer"].append(time.perf_counter() - begun)
            for title, arguments in runs.items():
                command, *rest = arguments
                if command == "anonymize":
                    out = rest[-1] if len(rest) > 1 else "document"
                    rest += ["--keep", "topic", "--out", out, "--force"]
                took, _ = syntf(command, *rest, "-q", cache=cache)
                seconds[title].append(took)
        unit = statistics.median(seconds["CountVectorizer"][1:])
        print(f"CountVectorizer on 20 newsgroups: {unit:.2f} s; medians of {ROUNDS} rounds")
        for title in runs:
            ratios = [
                one / base
                for one, base in zip(
                    seconds[title][1:], seconds["CountVectorizer"][1:], strict=True
                )
            ]
            low, high = min(ratios), max(ratios)
            print(f"{title:<26} {statistics.median(ratios):.2f} x ({low:.2f} to {high:.2f})")
        print(f"{'--preset paper, cold':<26} {cold:.1f} s")
        ten = [syntf("anonymize", "ten.csv", "--out", "ten", "--force", "-q", cache=cache)[0]
               for _ in range(ROUNDS)]  # fmt: skip
        print(f"{'ten texts':<26} {statistics.median(ten):.2f} s")
        rate = words_per_second(news.data)
        print(f"words drawn by one core    {rate:,.0f} a second: {rate / FASTEST_PEER:,.0f} x "
              f"the {FASTEST_PEER:,} of the fastest peer")  # fmt: skip
        if options.large:
            size = (folder / "news.csv").stat().st_size
            for copies, title in ((round(300e6 / size), "300 MB of CSV"), (100, "x 100")):
                pl.concat([table] * copies).write_csv("large.csv")
                took, memory = syntf("anonymize", "large.csv", "--keep", "topic", "--out", "large",
                                     "--force", "-q", cache=cache)  # fmt: skip
                print(f"{title:<26} {copies * len(table):,} documents: {took:.0f} s, "
                      f"{memory / 1024:.2f} GB")  # fmt: skip


if __name__ == "__main__":
    main()
