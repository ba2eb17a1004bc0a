"""Measure how long `syntf evaluate`, `tune` and `reproduce` take on 20 newsgroups."""

import sys

from suite.figures import Figure, plain
from suite.place import Place
from suite.rows import Results, Row

TITLE = "Evaluating and tuning: 20 newsgroups"
NOTE = """\
Whole processes on 18,846 messages with newsgroups and authors, divided as the data set divides
them, once each. `evaluate` makes ten releases and attacks them; `tune` looks for the smallest loss
that keeps 0.6 of the analyst's F1; `reproduce --quick` repeats a part of the paper's evaluation.
With a run of `--times` 100 or more only."""

COLUMNS = ("--label", "topic", "--author", "author", "--split", "split")
JOBS = {
    "evaluate": ("`syntf evaluate`, ten runs", ["evaluate"], 600),
    "tune": ("`syntf tune --target-utility 0.6`", ["tune", "--target-utility", "0.6"], 900),
    "reproduce": ("`syntf reproduce --quick`", ["reproduce", "--quick"], 120),
}
"""Each job: its title, its options, and the seconds that it may take."""


def groups(place: Place) -> list[list[Row]]:
    if max(place.times) < 100:
        return []
    own_file = [str(place.labelled()), *COLUMNS]
    data_home = ["--data-home", place.data_home] if place.data_home else []
    rows = []
    for key, (title, options, _) in JOBS.items():
        inputs = data_home if key == "reproduce" else own_file
        out = place.scratch / f"results-{key}"
        command = [sys.executable, "-m", "syntf", *options, *inputs, "--quiet", "--out", str(out)]
        rows.append(Row(f"evaluation/{key}", title, command, "whole", 1, env=place.env))
    return [rows]


def figures(found: Results) -> list[Figure]:
    return [
        figure
        for key, (title, _, most) in JOBS.items()
        for figure in plain(
            f"evaluation/{key}", title, found[f"evaluation/{key}"], unit="s", must=most
        )
    ]
