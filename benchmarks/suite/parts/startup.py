"""Measure the start-up: how long a run on ten texts takes."""

import sys

from suite.figures import Figure, compared, plain
from suite.place import Place
from suite.rows import Results, Row

TITLE = "Start-up"
NOTE = """\
Whole processes, with the results of earlier runs in the cache. Every run imports NumPy and arro3,
which writes Parquet files; the time for that is shown beside. polars, which was imported too before
decision 21, is for comparison."""


def groups(place: Place) -> list[list[Row]]:
    return [
        [
            place.anonymize("startup/document", "`syntf anonymize`, ten texts", place.ten()),
            place.anonymize(
                "startup/ten", "`syntf anonymize --preset words`, ten texts", place.ten(),
                "--preset", "words",
            ),
            place.anonymize(
                "startup/paper", "`syntf anonymize --preset paper`, ten texts", place.ten(),
                "--preset", "paper",
            ),
            _python("startup/help", "`syntf --help`", place.rounds, "-m", "syntf", "--help"),
            _python(
                "startup/libraries", "Python, importing NumPy and polars", place.rounds,
                "-c", "import numpy, polars",
            ),
            _python(
                "startup/arro3", "Python, importing NumPy and arro3", place.rounds,
                "-c", "import numpy, arro3.io",
            ),
            _python("startup/numpy", "Python, importing NumPy", place.rounds, "-c", "import numpy"),
            _python("startup/python", "Python, doing nothing", place.rounds, "-c", "pass"),
        ]
    ]  # fmt: skip


def _python(key: str, title: str, rounds: int, *arguments: str) -> Row:
    return Row(key, title, [sys.executable, *arguments], "whole", rounds, warm=True)


def figures(found: Results) -> list[Figure]:
    return [
        *plain(
            "startup/document", "ten texts, whole process", found["startup/document"],
            must=0.5, aim=0.4,
        ),
        *compared(
            "startup/document-arro3", "ten texts, processor time against importing NumPy and "
            "arro3", found["startup/document"], found["startup/arro3"], of="cpu",
        ),
        *plain(
            "startup/ten", "ten texts, preset words, whole process", found["startup/ten"],
            must=1.0, aim=0.4,
        ),
        *plain("startup/help", "`syntf --help`", found["startup/help"]),
    ]  # fmt: skip
