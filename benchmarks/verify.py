"""Measure time and memory of `syntf verify` for releases of different sizes and formats.

    python benchmarks/verify.py [--shards 1 6]

Makes releases of the example corpus, repeated as often as needed, and verifies each in its own
process with an empty cache, as a receiver would. Prints a table: wall time, processor time and peak
memory.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from suite.process import whole

SHARD = 1 << 16
SYNTF = [sys.executable, "-m", "syntf"]
OTHERS = ("mtx", "svmlight", "jsonl", "text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 6])
    options = parser.parse_args()
    cases: list[tuple[str, int, list[str]]] = [("the default", 320, [])]
    cases += [("the default", SHARD * shards, []) for shards in options.shards]
    most = SHARD * max(options.shards)
    cases += [("the default, Parquet", most, ["--format", "parquet"])]
    cases += [(f"the default, {name}", SHARD, ["--format", name]) for name in OTHERS]
    cases += [("`--preset paper`", 320, ["--preset", "paper"])]
    print("| release | documents | time | processor time | peak memory |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for title, documents, more in cases:
            seconds, cpu, peak = _verify(Path(scratch), documents, more)
            line = f"| {title} | {documents:,} | {seconds:.1f} s | {cpu:.1f} s | {peak:,.0f} MB |"
            print(line, flush=True)


def _verify(place: Path, documents: int, more: list[str]) -> tuple[float, float, float]:
    env = {"SYNTF_CACHE": str(place / "cache")}
    example, texts, out = place / "example.csv", place / "texts.csv", place / "release"
    if not example.exists():
        whole([*SYNTF, "example", str(example)], env)
    header, *rows = example.read_text(encoding="utf-8").splitlines(keepends=True)
    with texts.open("w", encoding="utf-8") as file:
        file.write(header)
        for start in range(0, documents, len(rows)):
            file.writelines(rows[: documents - start])
    whole([*SYNTF, "anonymize", str(texts), *more, "--force", "--quiet", "--out", str(out)], env)
    took = whole([*SYNTF, "verify", str(out)], {"SYNTF_CACHE": str(place / "none")})
    return took["seconds"], took["cpu"], took["peak"]


if __name__ == "__main__":
    main()
