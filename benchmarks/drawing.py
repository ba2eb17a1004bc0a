"""Measure drawing and writing: from documents in memory to a release on disk.

    python benchmarks/drawing.py [--data-home DIR]

Uses all of 20 newsgroups and the preset words, on one thread. Prints processor seconds: the
median and the range of interleaved rounds.
"""

import argparse
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from scipy.sparse import csr_matrix, save_npz
from sklearn.datasets import fetch_20newsgroups

from syntf.core import drawing, entropy, parallel
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft
from syntf.releases.contents import archive, writers
from syntf.releases.contents.folder import row_numbers
from syntf.report.table_summary import summarize_table

ROUNDS = 9


def processor(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def changed(
    module: ModuleType, work: Callable[[], object], **replacements: object
) -> Callable[[], None]:
    """Return the work, done with some attributes of a module replaced."""

    def run() -> None:
        with patch.multiple(module, **replacements):
            work()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home")
    texts = fetch_20newsgroups(data_home=parser.parse_args().data_home, subset="all").data
    with parallel.at_most(1):
        compare(texts)


def compare(texts: Sequence[str]) -> None:
    anonymizer = Anonymizer.build(Settings.from_preset("words"))
    documents = anonymizer.read(texts)
    counts: csr_matrix = anonymizer.draw(documents)
    length = anonymizer.settings.length
    table = summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=length)
    numbers = row_numbers(0, len(texts)).to_frame()
    promise, words = anonymizer.guarantee(), anonymizer.vocabulary.outputs
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name) / "out", Path(name) / "counts.npz"
        plain = Path(name) / "plain.npz"

        def draw() -> None:
            anonymizer.draw(documents)

        def write() -> None:
            draft.write(folder, counts, words, numbers, promise, table, force=True)

        def pack() -> None:
            with path.open("wb") as file:
                writers.npz(file, counts, words, 0)

        works: dict[str, Callable[[], object]] = {
            "random bytes": lambda: entropy.system(8 * (length + 1) * len(texts)),
            "drawing and counting": draw,
            "drawing and counting, NumPy": changed(drawing, draw, _compiled=None),
            "writing a release": write,
            "packing counts": pack,
            "packing counts, zlib 1": changed(archive, pack, deflating=zlib, LEVEL=1),
            "packing counts, zlib 6": changed(archive, pack, deflating=zlib, LEVEL=6),
            "not packing them": lambda: save_npz(plain, counts, compressed=False),
        }
        taken: dict[str, list[float]] = {name: [] for name in works}
        sizes = {}
        for _ in range(ROUNDS):
            for name, work in works.items():
                taken[name].append(processor(work))
                if "packing" in name:
                    sizes[name] = (plain if "not" in name else path).stat().st_size
    print(f"{len(texts):,} documents, {length} words each, {counts.nnz:,} counts")
    for name, times in taken.items():
        size = f"{sizes[name] / 1e6:8.2f} MB" if name in sizes else ""
        print(
            f"{name:<28} {statistics.median(times):7.3f} s "
            f"({min(times):.3f} to {max(times):.3f}){size}"
        )
    each = length * len(texts) / statistics.median(taken["drawing and counting"])
    print(f"words drawn and counted per second and core: {each / 1e6:.1f} million")


if __name__ == "__main__":
    main()
