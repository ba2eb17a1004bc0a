"""Print the figures of quality in the README and the documentation, each with its command.

    python benchmarks/quality.py presets --data-home DIR [--runs 5] [document words accurate paper]
    python benchmarks/quality.py losses FILE --label COLUMN [--text COLUMN] [--runs 5]

``presets`` measures 20 newsgroups, official split, without headers, footers and quotes: all 18,846
messages are released together. The authors are the ten of *Top 10/Any*: those with the most
training messages, of those with five test messages or more. ``losses`` measures one corpus at nine
losses per document; more loss must not keep less.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from syntf.evaluate import measures as names
from syntf.evaluate.analysts import topics
from syntf.evaluate.corpus import Corpus, read_corpus
from syntf.evaluate.evaluation import Evaluation, evaluate
from syntf.evaluate.measures import percent, score
from syntf.settings import PRESETS, Settings

LOSSES = (6.0, 8.0, 10.0, 11.0, 12.0, 13.0, 14.0, 16.0, 20.0)
TOLERANCE = 0.02
"""F1 may be so much lower at a higher loss: the mean of five runs moves by about .005."""

NEWSGROUPS = "evaluate newsgroups.csv --label group --author sender"
"""What a table of 20 newsgroups in a file is measured with; the split is then another one."""


def newsgroups(data_home: Path | None) -> Corpus:
    """Return 20 newsgroups with their official split."""
    from paper.corpus import newsgroups as load

    found = load(data_home)
    columns = {"label": found.labels, "author": found.authors}
    labels, authors = (pl.Series(name, values) for name, values in columns.items())
    return Corpus.of(pl.Series("text", found.texts), labels, authors, train=found.train)


def cell(evaluation: Evaluation, name: str) -> str:
    """Return a figure with its interval, and chance and the label alone in brackets."""
    one = evaluation.find(name)
    if one is None:
        return "–"
    form = names.SENTENCES[name][1]
    ends = "" if one.interval is None else f" ({form(one.interval[0])}–{form(one.interval[1])})"
    beside = [f"chance {form(one.chance)}"] if one.chance is not None else []
    if names.LABEL in one.references:
        beside.append(f"label alone {form(one.references[names.LABEL])}")
    return f"{form(one.value)}{ends}; {', '.join(beside)}"


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    for row in (headers, ["---"] * len(headers), *rows):
        print(f"| {' | '.join(row)} |")


def presets(data_home: Path | None, runs: int, chosen: Sequence[str]) -> None:
    """Print the figures of 20 newsgroups for each preset."""
    corpus = newsgroups(data_home)
    rows, original = [], {}
    for preset in chosen:
        found = evaluate(corpus, Settings.of(preset), runs=runs)
        kept = found.find(names.TOPICS)
        for name in (names.TOPICS, names.AUTHORS):
            one = found.find(name)
            original[name] = one.references[names.ORIGINAL] if one else 0.0
        rows.append(
            [
                preset,
                f"{found.guarantee.loss_per_document:,.0f}",
                cell(found, names.TOPICS),
                percent(kept.kept or 0.0) if kept else "–",
                cell(found, names.AUTHORS),
                cell(found, names.FIRST),
                cell(found, names.FIRST_OF_LABEL),
                cell(found, names.RARE),
                f"`syntf {NEWSGROUPS} --preset {preset}`",
            ]
        )
        print(f"{preset}: done", file=sys.stderr)
    headers = [
        "preset", "loss per document", "topics, F1", "of the distance from chance",
        "author of 10, F1", "found first", "found first, label released",
        "rare text recognised at 1 %", "the same on your texts",
    ]  # fmt: skip
    print(f"20 newsgroups, {len(corpus):,} messages, official split, mean of {runs} releases.")
    print(
        f"On the texts themselves: topics F1 {score(original[names.TOPICS])}, author of 10 F1 "
        f"{score(original[names.AUTHORS])}.\n"
    )
    print_table(headers, rows)


def losses(corpus: Corpus, runs: int) -> int:
    """Print F1 at nine losses; return 1 if it falls by more than the tolerance."""
    rows, before, worst = [], 0.0, 0.0
    for loss in LOSSES:
        found = evaluate(corpus, Settings(document_loss=loss), runs=runs, metrics=[topics])
        one = found.find(names.TOPICS)
        if one is None:
            raise SystemExit("the corpus has no labels")
        worst = max(worst, before - one.value)
        before = max(before, one.value)
        command = f"`syntf evaluate FILE --label COLUMN --loss {loss:g} --runs {runs}`"
        rows.append([f"{loss:g}", cell(found, names.TOPICS), percent(one.kept or 0.0), command])
    print_table(["loss per document", "topics, F1", "of the distance from chance", "command"], rows)
    print(f"\nLargest fall at a higher loss: {worst:.3f} (allowed: {TOLERANCE}).")
    return int(worst > TOLERANCE)


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["presets", "losses"])
    parser.add_argument("values", nargs="*", help="presets; or the file of the corpus")
    parser.add_argument("--data-home", type=Path, help="scikit-learn's data home")
    parser.add_argument("--label", default="label")
    parser.add_argument("--text", default="text")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_intermixed_args()
    if given.what == "losses":
        return losses(read_corpus(given.values, given.text, given.label), given.runs)
    presets(given.data_home, given.runs, given.values or list(PRESETS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
