"""The paper's evaluation on 20 newsgroups: which cells are run, and its tables in Markdown."""

from collections.abc import Sequence

import numpy as np

from syntf.evaluation.attack.scenarios import Scenario
from syntf.evaluation.experiment import scrubbing, tables
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.paper import OPTIMUM, label
from syntf.evaluation.experiment.results import Results
from syntf.research import grid

QUICK = [
    *grid.cells(epsilon=(35.0, 40.0, 47.5, 55.0)),
    *grid.cells(spelling=(0.0,)),
]
"""Cells that still show the shape of the figures."""


def markdown(corpus: Labelled, scenarios: Sequence[Scenario], results: Results, tagger: str) -> str:
    """The paper's tables with our numbers in them, and theirs in parentheses."""
    known = corpus.authors[corpus.train & (corpus.authors != "")]
    counts = np.unique(known, return_counts=True)[1]
    parts = [
        "# The paper's tables, measured again",
        "Ours, then the paper's in parentheses where it has the number. F1, P and R are averages "
        "weighted by class size; ± is the standard deviation over runs. Part-of-speech tags: "
        f"{tagger}. Scrubbing: {scrubbing.version()}.",
        "## Table 1: attack scenarios",
        tables.scenarios([one.row for one in scenarios], beside_paper=True),
        tables.authors(len(counts), int((counts >= 20).sum())),
        "## Table 2: parameters",
        tables.parameters(results),
        "## Table 3: results, Top 10/Any, naive Bayes",
        tables.comparison(results, OPTIMUM, "top10-any", "nb", beside_paper=True),
    ]
    for model in results.models:
        for scenario in results.scenarios:
            if (scenario, model) != ("top10-any", "nb"):
                parts += [
                    f"## {label(scenario)}, {label(model)}",
                    tables.comparison(results, OPTIMUM, scenario, model),
                ]
    parts += ["## Attackers, by the order that they put words in"]
    parts += [tables.attackers(results, OPTIMUM)]
    for model in results.models:
        parts += [f"## All cells, {label(model)}", tables.cells(results, model)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
