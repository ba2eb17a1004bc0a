"""Compare two Spark workers with one, each with half of a core (benchmarks/spark.py)."""

from collections.abc import Callable
from pathlib import Path

import spark


def prepare(source: str, times: str) -> Callable[[], dict[str, float]]:
    def once() -> dict[str, float]:
        made = spark.measure(Path(source), int(times), 1, 0.5, 20, "")
        runs = {run["workers"]: run for run in made["runs"]}
        (faster,) = spark.ratios(made)
        return {
            "seconds": runs[2]["seconds"],
            "cpu": runs[2]["core_seconds"],
            "amount": runs[2]["documents"],
            "faster": faster,
        }

    return once
