"""``make fuzz``: many inputs for every target, counted; stops at the first fault.

Hypothesis edits well-formed inputs; atheris, where it is installed, is guided by coverage.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from inputs import DOCUMENTS, damaged
from targets import TARGETS, Target, Trials, Words

BATCH = 100
"""Documents given to ``transform`` at once."""


def many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def fuzz(target: Target, inputs: int) -> int:
    """How many inputs a target has taken."""
    count = 0

    @many(inputs)
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

    @many(max(1, inputs // BATCH))
    @given(st.lists(DOCUMENTS, min_size=BATCH, max_size=BATCH))
    def take(texts: list[object]) -> None:
        nonlocal count
        count += len(texts)
        Words.drawn(texts)

    take()
    return count


def guided(target: Target, inputs: int) -> int:
    """The same, guided by coverage, in a process of its own."""
    script = Path(__file__).with_name("guided.py")
    command = [sys.executable, str(script), target.name, f"-runs={inputs}", "-max_len=2000"]
    with tempfile.TemporaryDirectory() as folder:  # where it leaves what it found
        found = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    if found.returncode:
        sys.exit(f"{target.name}: {found.stderr[-3000:]}")
    return inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=3000, help="for each target")
    parser.add_argument("--documents", type=int, default=50_000, help="for transform")
    parser.add_argument("--guided", type=int, default=1000, help="for each target, with atheris")
    parser.add_argument("--only", default="", help="targets whose name begins so")
    parser.add_argument("--report", type=Path, help="a JSON file for the counts")
    chosen = parser.parse_args()
    warnings.simplefilter("error")
    counts: dict[str, dict[str, int]] = {"hypothesis": {}, "atheris": {}}
    begun = time.monotonic()
    targets = [target for target in TARGETS if target.name.startswith(chosen.only)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = folder
        for target in targets:
            counts["hypothesis"][target.name] = fuzz(target, chosen.inputs)
            print(f"{target.name:<26} {chosen.inputs:>7,} inputs", flush=True)
        if "documents".startswith(chosen.only):
            counts["hypothesis"]["documents"] = transform(chosen.documents)
            print(f"{'documents':<26} {chosen.documents:>7,} inputs", flush=True)
        Trials.end()
        if find_spec("atheris") is None:
            print("atheris is not installed (pip install atheris): not guided by coverage")
        elif chosen.guided:
            for target in targets:
                counts["atheris"][target.name] = guided(target, chosen.guided)
                print(f"{target.name:<26} {chosen.guided:>7,} inputs, guided", flush=True)
    total = sum(sum(each.values()) for each in counts.values())
    print(f"{total:,} inputs, no fault, {time.monotonic() - begun:.0f} s")
    if chosen.report:
        chosen.report.parent.mkdir(parents=True, exist_ok=True)
        chosen.report.write_text(json.dumps({**counts, "total": total}, indent=1) + "\n")


if __name__ == "__main__":
    main()
