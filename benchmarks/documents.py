"""Measure releases of whole documents, and write the figures and their page.

    python benchmarks/documents.py DATA_HOME CORPORA [--half test] [--runs 10] [--out FILE]
    python benchmarks/documents.py --page docs/documents-figures.md    # from the figures in --out

DATA_HOME is a data home of scikit-learn with 20 newsgroups. CORPORA is a folder with the files
stackoverflow_titles.csv.gz, english_masakhanews.csv.gz and sib200_14languages.csv.gz, each with
the columns text and label. With --half train only the training half of 20 newsgroups is used: two
thirds of it to learn from, one third to test on.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl

from syntf.cli import output
from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.attack.tagging import choose_tagger
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.evaluator import DOCUMENT_ATTACKERS, Evaluator
from syntf.evaluation.experiment.names import FLOORS, TOPIC_FLOOR
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.research import documents
from syntf.research.documents_page import documents_page

LOSSES = (4.0, 6.0, 8.0, 10.0, 20.0, 40.0)
ATTACKED_LOSSES = (4.0, 6.0, 8.0, 10.0, 20.0)
FIGURES = Path(__file__).parent / "documents.json"
CORPORA = {
    "Stack Overflow, titles, 20 topics": "stackoverflow_titles.csv.gz",
    "MasakhaNEWS, English news, 6 topics": "english_masakhanews.csv.gz",
    "SIB-200, English sentences, 7 topics": "sib200_14languages.csv.gz",
}


def read_corpus(path: Path) -> LabelledCorpus:
    """Read a corpus with labels; of several languages, only English."""
    table = pl.read_csv(path, infer_schema=False)
    if "language" in table.columns:
        table = table.filter(pl.col("language") == "eng_Latn")
    labels = table["label"].to_numpy().astype(np.str_)
    nobody = np.full(len(labels), "")
    corpus = LabelledCorpus(table["text"].to_list(), labels, nobody, np.ones(len(labels), bool))
    return documents.divided(corpus)


def topic_floors(evaluator: Evaluator) -> dict[str, float]:
    """Return the F1 of an attacker who knows the topic alone, by scenario."""
    scores = evaluator.score_texts(evaluator_texts(evaluator), (TOPIC_FLOOR,))
    floors: dict[str, float] = {}
    for score in scores:
        if score.attacker == TOPIC_FLOOR:
            floors[score.scenario] = max(score.f1, floors.get(score.scenario, 0.0))
    return floors


def evaluator_texts(evaluator: Evaluator) -> list[str]:
    """Return texts for an attacker who does not read them."""
    return ["text"] * len(evaluator.labels)


def measure(arguments: argparse.Namespace, stages) -> dict:
    """Measure everything that the page shows."""
    corpus = newsgroups(arguments.data_home)
    if arguments.half == "train":
        corpus = documents.divided(corpus, np.flatnonzero(corpus.train))
    name, runs, found = "20 newsgroups", arguments.runs, []
    embedded = documents.embedded_case(name, corpus, stages)
    for case in (embedded, documents.near_case(name, corpus, stages)):
        found += documents.measure_analysts(case, LOSSES, runs, stages)
        found += documents.measure_linkage(case, ATTACKED_LOSSES, arguments.attacks, stages)
    evaluator = Evaluator.for_corpus(corpus, find_scenarios(corpus)[0], choose_tagger(None))
    attackers = [one for one in DOCUMENT_ATTACKERS if one not in FLOORS]
    found += documents.measure_attacks(
        embedded, evaluator, attackers, ATTACKED_LOSSES, arguments.attacks, stages
    )
    for title, file in CORPORA.items():
        case = documents.embedded_case(title, read_corpus(arguments.corpora / file), stages)
        found += documents.measure_analysts(case, LOSSES, runs, stages)
    return {
        "half": arguments.half,
        "command": "python benchmarks/documents.py DATA_HOME CORPORA "
        f"--half {arguments.half} --runs {runs} --attacks {arguments.attacks}",
        "topic": {one: round(f1, 4) for one, f1 in topic_floors(evaluator).items()},
        "records": [one.record() for one in found],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data_home", nargs="?", type=Path, help="data home of scikit-learn")
    parser.add_argument("corpora", nargs="?", type=Path, help="folder with the other corpora")
    parser.add_argument("--half", choices=["train", "test"], default="train")
    parser.add_argument("--runs", type=int, default=10, help="releases for the analysts")
    parser.add_argument("--attacks", type=int, default=5, help="releases for the attackers")
    parser.add_argument("--out", type=Path, default=FIGURES, help="file of the figures")
    parser.add_argument("--page", type=Path, help="write this page from the file of the figures")
    arguments = parser.parse_args()
    if arguments.data_home is not None:
        with output.progress(quiet=not sys.stderr.isatty()) as stages:
            figures = measure(arguments, stages)
        arguments.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    figures = json.loads(arguments.out.read_text(encoding="utf-8"))
    page = documents_page(figures["records"], figures)
    if arguments.page is not None:
        arguments.page.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
