"""Measure time, memory and file size of a ledger for different numbers of documents.

    python benchmarks/ledger.py [--documents 10000 100000 1000000] [--folder DIR]

Charges the documents, with one author for every hundred, three times to one ledger, and then
verifies it. Each step runs in its own process. Prints the wall time, the processor time and the
peak memory of each process. DIR should be on the kind of disk that the ledger will use.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from syntf.ledger.ledger import Ledger

RUN = """
import resource, sys, time
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
path, documents = sys.argv[1], int(sys.argv[2])
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def batches():
    for start in range(0, documents, 1 << 15):
        rows = range(start, min(documents, start + (1 << 15)))
        authors = documents // 100
        yield Names([f"number {i}" for i in rows], [f"author {i % authors}" for i in rows])
ledger = Ledger(path)
start, busy = time.perf_counter(), time.process_time()
ledger.spend(994.5, batches()) if documents else ledger.verify()
print(time.perf_counter() - start, time.process_time() - busy, base / 1024,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(f"{'documents':>10} {'what':>7} {'time':>8} {'processor':>10} "
          f"{'peak memory':>12} {'before it':>10} {'file':>8}")  # fmt: skip
    for documents in options.documents:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder, "texts.ledger")
            Ledger.create(path, budget=1e4, author_budget=1e6)
            for what in ("run 1", "run 2", "run 3", "verify"):
                count = 0 if what == "verify" else documents
                result = subprocess.run(
                    [sys.executable, "-c", RUN, str(path), str(count)],
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
                seconds, busy, base, peak = map(float, result.stdout.split())
                size = path.stat().st_size / 1e6
                print(f"{documents:>10,} {what:>7} {seconds:>6.1f} s {busy:>8.1f} s "
                      f"{peak:>9,.0f} MB {base:>7,.0f} MB {size:>5,.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
