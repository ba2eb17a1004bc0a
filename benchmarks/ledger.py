"""Measure time, memory and file size of a ledger for different numbers of documents.

    python benchmarks/ledger.py [--documents 10000 100000 1000000] [--folder DIR]

Charges the documents, with one author for every hundred, three times to one ledger, and then
verifies it. Each step runs in its own process. Prints the wall time, the processor time and the
peak memory of each process. Then charges runs of one document as `syntf serve` does, several in one
transaction, and opens the ledger again. DIR should be on the kind of disk that the ledger will use.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
from syntf.ledger.session import Due, Session

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


def charge_small_runs(path: Path, sizes: list[int], transactions: int = 50) -> None:
    """Print the time of transactions with several runs of one document each."""
    ledger = Ledger.create(path, budget=1e6)
    session, key, total = Session(ledger), ledger.name_key(), 0

    def charge(size: int) -> tuple[float, float]:
        nonlocal total
        dues = [Due.of(Names([str(total + one)], None, "id"), key) for one in range(size)]
        total += size
        start, busy = time.perf_counter(), time.process_time()
        session.spend_each(10.0, dues)
        return time.perf_counter() - start, time.process_time() - busy

    print(f"{'runs in a transaction':>22} {'time':>10} {'processor per run':>18}")
    charge(1)
    for size in sizes:
        took = [charge(size) for _ in range(transactions)]
        seconds = sum(seconds for seconds, _ in took) / transactions
        busy = sum(busy for _, busy in took) / transactions / size
        print(f"{size:>22} {1000 * seconds:>7.1f} ms {1e6 * busy:>15.0f} µs")
    session.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, busy = charge(1)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"to open a ledger of {total - 1:,} runs again: {busy:.2f} s of processor time, "
          f"{grown:.0f} MB more memory")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 200])
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
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        charge_small_runs(Path(folder, "texts.ledger"), options.sizes)


if __name__ == "__main__":
    main()
