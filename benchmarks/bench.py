"""The benchmark suite: measures, keeps what it measured, and says what became worse.

    python benchmarks/bench.py run [--data-home DIR] [--vectors GLOVE] [--only PART …]
                                   [--times 1 10 100] [--sizes 5000 25000] [--rounds 5]
    python benchmarks/bench.py compare
    python benchmarks/bench.py page RESULT.json …

`run` leaves every round in build/bench as JSON; a run of all parts is also added to
benchmarks/history.jsonl and shown in docs/benchmarks.md. `compare` sets the newest run beside
the one before it, and ends with 1 if something became worse. `page` writes the page again, from
one record or from several of a few parts each.
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
from suite.parts import corpus, drawing, fitted, limits, startup, tables
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
}
HISTORY = machine.ROOT / "benchmarks" / "history.jsonl"
PAGE = machine.ROOT / "docs" / "benchmarks.md"
KEPT = machine.ROOT / "build" / "bench"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = options.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure")
    run.add_argument("--data-home", default="", help="scikit-learn's, with 20 newsgroups")
    run.add_argument("--vectors", default="", help="for the paper's setting: glove.6B.100d.txt")
    run.add_argument("--times", type=int, nargs="+", default=[1, 10])
    run.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="of vocabularies")
    run.add_argument("--rounds", type=int, default=5)
    run.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    commands.add_parser("compare", help="the newest run beside the one before it")
    again = commands.add_parser("page", help="write the page from records")
    again.add_argument("records", type=Path, nargs="+")
    chosen = options.parse_args()
    if chosen.command == "compare":
        return compare()
    if chosen.command == "page":
        show(merged([Record.read(path) for path in chosen.records]))
        return 0
    try:
        record = measured(chosen)
    except Unavailable as error:  # without the texts there is nothing to measure
        print(f"bench.py: {error}", file=sys.stderr)
        return 1
    if set(chosen.only) == set(PARTS):
        history.append(HISTORY, record.run)
        show(record)
    print(figures_table(record.figures))
    return 0


def measured(chosen: argparse.Namespace) -> Record:
    about = machine.about()
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {text}", file=sys.stderr, flush=True)

    sections = []
    with tempfile.TemporaryDirectory(prefix="syntf-bench-") as folder:
        KEPT.mkdir(parents=True, exist_ok=True)
        place = Place(
            Path(folder), KEPT, say, chosen.data_home, chosen.vectors,
            tuple(chosen.times), chosen.rounds, tuple(chosen.sizes),
        )  # fmt: skip
        for name in (name for name in PARTS if name in chosen.only):
            part, found = PARTS[name], Results()
            for rows in part.groups(place):
                found |= measure(rows, say)
            made = Section(name, part.TITLE, part.NOTE, list(found.values()), part.figures(found))
            sections.append(made)
            say(f"kept in {Record(about, sections).write(KEPT)}")  # whatever comes after
    return Record(about, sections)


def show(record: Record) -> None:
    """Write the page, with notes as they are worded now; numbers are those of the record."""
    sections = [
        replace(section, title=PARTS[section.name].TITLE, note=PARTS[section.name].NOTE)
        for section in sorted(record.sections, key=lambda section: list(PARTS).index(section.name))
    ]
    record = replace(record, sections=sections)
    PAGE.write_text(page(record, history.read(HISTORY)), encoding="utf-8")


def compare() -> int:
    pair = history.newest(history.read(HISTORY))
    if pair is None:
        print("there are no two runs on the same processor to compare")
        return 0
    before, after = pair
    found = history.changes(before, after)
    print(f"{before.date} {before.commit} → {after.date} {after.commit}\n")
    for change in found:
        print(
            f"{change.verdict:6}  {change.percent:+6.1f} %  "
            f"{change.before:>10g} → {change.after:<10g}  {change.key}"
        )
    return int(any(change.verdict == "worse" for change in found))


def figures_table(figures: list[Figure]) -> str:
    return table(
        ["", "measured"], [[figure.title, shown(figure.spread, figure.unit)] for figure in figures]
    )


if __name__ == "__main__":
    sys.exit(main())
