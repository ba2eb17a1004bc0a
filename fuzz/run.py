"""``make fuzz``: many inputs for every target, counted; fails on the first fault."""

import argparse
import json
import os
import tempfile
import time
import warnings
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from inputs import DOCUMENTS, damaged
from targets import TARGETS, Target, Words

PHASES = (Phase.generate, Phase.shrink)
BATCH = 100
"""Documents given to ``transform`` at once."""


def fuzz(target: Target, inputs: int) -> int:
    """How many inputs a target has taken."""
    count = 0

    @settings(max_examples=inputs, deadline=None, database=None, phases=PHASES,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(damaged(target.seeds))
    def take(raw: bytes) -> None:
        nonlocal count
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            target.run(raw, Path(folder))

    take()
    return count


def transform(inputs: int) -> int:
    """Documents of every kind, many at once: each yields n words."""
    count = 0

    @settings(max_examples=max(1, inputs // BATCH), deadline=None, database=None, phases=PHASES,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.lists(DOCUMENTS, min_size=BATCH, max_size=BATCH))
    def take(texts: list[object]) -> None:
        nonlocal count
        count += len(texts)
        Words.drawn(texts)

    take()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=5000, help="for each target")
    parser.add_argument("--only", default="", help="targets whose name begins so")
    parser.add_argument("--report", type=Path, help="a JSON file for the counts")
    chosen = parser.parse_args()
    warnings.simplefilter("error")
    counts: dict[str, int] = {}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = folder
        for target in TARGETS:
            if target.name.startswith(chosen.only):
                start = time.monotonic()
                counts[target.name] = fuzz(target, chosen.inputs)
                print(f"{target.name:<26} {counts[target.name]:>7,} inputs"
                      f" {time.monotonic() - start:6.1f} s", flush=True)  # fmt: skip
        if "documents".startswith(chosen.only):
            counts["documents"] = transform(10 * chosen.inputs)
    total = sum(counts.values())
    print(f"{total:,} inputs, no fault, {time.monotonic() - begun:.0f} s")
    if chosen.report:
        chosen.report.write_text(json.dumps({"inputs": counts, "total": total}, indent=1) + "\n")


if __name__ == "__main__":
    main()
