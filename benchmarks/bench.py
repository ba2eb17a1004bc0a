"""Run the benchmark suite, store its results, and report what became slower.

    python benchmarks/bench.py run [--data-home DIR] [--vectors GLOVE] [--only PART …]
                                   [--times 1 10 100] [--sizes 5000 25000] [--rounds 5]
                                   [--earlier FOLDER/src]
    python benchmarks/bench.py compare
    python benchmarks/bench.py page RESULT.json …

`run` writes every round to build/bench as JSON. A run of all parts is also added to
benchmarks/history.jsonl and shown in docs/benchmarks.md. `compare` compares the newest run with the
one before it on the same processor; its exit code is 1 if something became worse. `page` writes the
page again from one or more of the JSON files.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from suite import history, machine
from suite.figures import Figure
from suite.page import page, shown, table
from suite.parts import (
    cluster,
    corpus,
    drawing,
    evaluation,
    fitted,
    limits,
    service,
    startup,
    tables,
    versions,
)
from suite.place import SIZES, Place
from suite.process import Unavailable
from suite.record import Record, Section, merged
from suite.rows import Results, measure

PARTS = {
    "startup": startup,
    "corpus": corpus,
    "tables": tables,
    "drawing": drawing,
    "fitted": fitted,
    "limits": limits,
    "evaluation": evaluation,
    "service": service,
    "cluster": cluster,
    "versions": versions,
}
OPTIONAL = {"evaluation", "cluster", "versions"}
"""Parts that need an option of their own; a run without them still counts as a whole run."""
HISTORY = machine.ROOT / "benchmarks" / "history.jsonl"
PAGE = machine.ROOT / "docs" / "benchmarks.md"
RESULTS = machine.ROOT / "build" / "bench"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run the benchmarks")
    run.add_argument(
        "--data-home", default="", help="scikit-learn data home that holds 20 newsgroups"
    )
    run.add_argument(
        "--vectors", default="", help="glove.6B.100d.txt, for the setting of the paper"
    )
    run.add_argument("--times", type=int, nargs="+", default=[1, 10])
    run.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="sizes of the vocabularies"
    )
    run.add_argument("--rounds", type=int, default=5)
    run.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    run.add_argument(
        "--earlier", default="", help="sources of an earlier version, for the part versions"
    )
    commands.add_parser("compare", help="compare the newest run with the one before it")
    page_parser = commands.add_parser("page", help="write the page from JSON files of runs")
    page_parser.add_argument("records", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "compare":
        return compare()
    if options.command == "page":
        show(merged([Record.read(path) for path in options.records]))
        return 0
    try:
        record = run_parts(options)
    except Unavailable as error:  # 20 newsgroups are missing
        print(f"bench.py: {error}", file=sys.stderr)
        return 1
    if set(options.only) | OPTIONAL == set(PARTS):
        history.append(HISTORY, record.run)
        show(record)
    print(figures_table(record.figures))
    return 0


def run_parts(options: argparse.Namespace) -> Record:
    """Measure the chosen parts, and store the results after each part."""
    about = machine.about()
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {text}", file=sys.stderr, flush=True)

    sections = []
    with tempfile.TemporaryDirectory(prefix="syntf-bench-") as folder:
        RESULTS.mkdir(parents=True, exist_ok=True)
        place = Place(
            Path(folder), RESULTS, say, options.data_home, options.vectors,
            tuple(options.times), options.rounds, tuple(options.sizes), options.earlier,
        )  # fmt: skip
        for name in (name for name in PARTS if name in options.only):
            part, results = PARTS[name], Results()
            for rows in part.groups(place):
                results |= measure(rows, say)
            rows = list(results.values())
            if not rows:
                continue
            figures = part.figures(results)
            sections.append(Section(name, part.TITLE, part.NOTE, rows, figures))
            say(f"written to {Record(about, sections).write(RESULTS)}")
    return Record(about, sections)


def show(record: Record) -> None:
    """Write the page with the current notes and the numbers of the record."""
    sections = [
        replace(section, title=PARTS[section.name].TITLE, note=PARTS[section.name].NOTE)
        for section in sorted(record.sections, key=lambda section: list(PARTS).index(section.name))
    ]
    record = replace(record, sections=sections)
    PAGE.write_text(page(record, history.read(HISTORY)), encoding="utf-8")


def compare() -> int:
    """Print how each figure changed since the run before; return 1 if one became worse."""
    pair = history.newest(history.read(HISTORY))
    if pair is None:
        print("the history has no two runs on the same processor")
        return 0
    before, after = pair
    changes = history.changes(before, after)
    print(f"{before.date} {before.commit} → {after.date} {after.commit}\n")
    for change in changes:
        print(
            f"{change.verdict:6}  {change.percent:+6.1f} %  "
            f"{change.before:>10g} → {change.after:<10g}  {change.key}"
        )
    return int(any(change.verdict == "worse" for change in changes))


def figures_table(figures: list[Figure]) -> str:
    return table(
        ["", "measured"], [[figure.title, shown(figure.spread, figure.unit)] for figure in figures]
    )


if __name__ == "__main__":
    sys.exit(main())
