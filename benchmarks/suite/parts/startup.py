"""Measure the start-up: how long a run on ten texts takes."""

import sys

from suite.figures import Figure, plain
from suite.place import Place
from suite.rows import Results, Row

TITLE = "Start-up"
NOTE = "Whole processes, with the results of earlier runs in the cache."


def groups(place: Place) -> list[list[Row]]:
    return [
        [
            place.anonymize("startup/ten", "`syntf anonymize`, ten texts", place.ten()),
            place.anonymize(
                "startup/paper", "`syntf anonymize --preset paper`, ten texts", place.ten(),
                "--preset", "paper",
            ),
            _python("startup/help", "`syntf --help`", place.rounds, "-m", "syntf", "--help"),
            _python("startup/numpy", "Python, importing NumPy", place.rounds, "-c", "import numpy"),
            _python("startup/python", "Python, doing nothing", place.rounds, "-c", "pass"),
        ]
    ]  # fmt: skip


def _python(key: str, title: str, rounds: int, *arguments: str) -> Row:
    return Row(key, title, [sys.executable, *arguments], "whole", rounds, warm=True)


def figures(found: Results) -> list[Figure]:
    return [
        *plain("startup/ten", "ten texts, whole process", found["startup/ten"], must=1.0, aim=0.4),
        *plain("startup/help", "`syntf --help`", found["startup/help"]),
    ]
