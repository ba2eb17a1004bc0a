"""Write the tables and figures of docs/results.md from the results of `syntf reproduce`.

    python benchmarks/results_page.py DIR     # DIR is the --out of syntf reproduce
    python benchmarks/results_page.py         # again from benchmarks/results.csv.gz

The first form stores DIR/results.csv, with scores of five digits, as benchmarks/results.csv.gz.
Both write the parts of docs/results.md between two comments, and the figures in docs/results.
"""

import argparse
import gzip
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from syntf.evaluation import bound_figures
from syntf.evaluation.experiment import folder
from syntf.evaluation.experiment.results import Result, Results, read_results, write_results
from syntf.evaluation.figures import save_figures
from syntf.research import grid_tables, paper_figures, paper_tables
from syntf.research.paper import OPTIMUM

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "results.csv.gz"
PAGE, FIGURES = ROOT / "docs" / "results.md", ROOT / "docs" / "results"
DIGITS = 5

PARTS: dict[str, Callable[[Results], str]] = {
    "summary": grid_tables.summary_table,
    "attack": grid_tables.summary_sentence,
    "parameters": paper_tables.parameters_table,
    "criterion": grid_tables.criterion_sentence,
    "comparison": lambda found: paper_tables.comparison_table(
        found, OPTIMUM, "top10-any", "nb", beside_paper=True
    ),
    "spelling": grid_tables.spelling_section,
    "scrubbing": grid_tables.scrubbing_section,
    "order": lambda found: paper_tables.attackers_table(found, OPTIMUM),
    "search": grid_tables.grid_section,
    "best": grid_tables.best_section,
}
"""The parts of the page, by the name in the comment before each."""


def store(results: list[Result], path: Path) -> None:
    """Write results with rounded scores to a compressed file; equal results give equal bytes."""
    rounded = [
        replace(
            one,
            **{
                field.name: round(value, DIGITS)
                for field in fields(one)
                if field.name in ("f1", "f1_std", "precision", "recall", "loss_per_word")
                and isinstance(value := getattr(one, field.name), float)
            },
        )
        for one in results
    ]
    with TemporaryDirectory() as temporary:
        plain = Path(temporary) / "results.csv"
        write_results(plain, rounded)
        path.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))


def read_stored(path: Path = STORED) -> Results:
    """Read what :func:`store` has written."""
    with TemporaryDirectory() as temporary:
        plain = Path(temporary) / "results.csv"
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return Results(read_results(plain))


def fill_page(page: str, results: Results) -> str:
    """Return the page with every part written anew; a part that is missing is an error."""
    for name, write in PARTS.items():
        begin, end = f"<!-- {name}: benchmarks/results_page.py -->\n", "<!-- end -->\n"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        part = f"{begin}{wrap(write(results)).rstrip()}\n{end}"
        page, count = pattern.subn(lambda _, part=part: part, page)
        if count != 1:
            raise SystemExit(f"docs/results.md must have the part {name} once, not {count} times")
    return page


def wrap(text: str) -> str:
    """Break paragraphs into lines; tables and code stay as they are."""
    paragraphs = text.rstrip().split("\n\n")
    return "\n\n".join(
        one if one.startswith(("|", "```")) else textwrap.fill(one, 100) for one in paragraphs
    )


def draw(results: Results, out: Path) -> None:
    """Draw the figures of the page, as `syntf reproduce` does."""
    figures = folder.draw_figures(results, OPTIMUM)
    figures["attackers"] = paper_figures.attackers(results, OPTIMUM)
    figures["bounds"] = bound_figures.loss_bounds(OPTIMUM.epsilon, results.loss(OPTIMUM))
    with TemporaryDirectory() as temporary:
        save_figures(Path(temporary), figures)
        for picture in Path(temporary).glob("*.svg"):
            (out / picture.name).write_bytes(picture.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    chosen = parser.parse_args().folder
    if chosen is not None:
        store(read_results(chosen / folder.RESULTS), STORED)
    results = read_stored()
    PAGE.write_text(fill_page(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    draw(results, FIGURES)
    print(grid_tables.grid_sentence(results))


if __name__ == "__main__":
    main()
