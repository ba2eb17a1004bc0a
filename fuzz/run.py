"""Try many inputs on every target, count them, and stop at the first fault (``make fuzz``).

Hypothesis edits well-formed inputs. If atheris is installed, it adds inputs that are guided by code
coverage.
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
"""Documents in one call of ``transform``."""


def many(examples: int) -> settings:
    """Return settings of hypothesis for many examples, without a time limit or a database."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def fuzz(target: Target, inputs: int) -> int:
    """Try inputs on a target and return how many were tried."""
    count = 0

    @many(inputs)
    @given(damaged(target.seeds))
    def try_input(raw: bytes) -> None:
        nonlocal count
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            target.run(raw, Path(folder))

    try_input()
    return count


def transform(inputs: int) -> int:
    """Check that documents of every kind yield n words; return how many were tried."""
    count = 0

    @many(max(1, inputs // BATCH))
    @given(st.lists(DOCUMENTS, min_size=BATCH, max_size=BATCH))
    def try_input(texts: list[object]) -> None:
        nonlocal count
        count += len(texts)
        Words.check(texts)

    try_input()
    return count


def guided(target: Target, inputs: int) -> int:
    """Try inputs on a target with atheris, in another process; return how many were tried."""
    script = Path(__file__).with_name("guided.py")
    command = [sys.executable, str(script), target.name, f"-runs={inputs}", "-max_len=2000"]
    with tempfile.TemporaryDirectory() as folder:  # atheris writes inputs that fail here
        result = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    if result.returncode:
        sys.exit(f"{target.name}: {result.stderr[-3000:]}")
    return inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=3000, help="inputs for each target")
    parser.add_argument("--documents", type=int, default=50_000, help="documents for transform")
    parser.add_argument(
        "--guided", type=int, default=1000, help="inputs for each target with atheris"
    )
    parser.add_argument("--only", default="", help="try only targets whose name starts with this")
    parser.add_argument("--report", type=Path, help="write the counts to this JSON file")
    options = parser.parse_args()
    warnings.simplefilter("error")
    counts: dict[str, dict[str, int]] = {"hypothesis": {}, "atheris": {}}
    start = time.monotonic()
    targets = [target for target in TARGETS if target.name.startswith(options.only)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = folder
        for target in targets:
            counts["hypothesis"][target.name] = fuzz(target, options.inputs)
            print(f"{target.name:<26} {options.inputs:>7,} inputs", flush=True)
        if "documents".startswith(options.only):
            counts["hypothesis"]["documents"] = transform(options.documents)
            print(f"{'documents':<26} {options.documents:>7,} inputs", flush=True)
        Trials.end()
        if find_spec("atheris") is None:
            print("atheris is not installed (pip install atheris): no inputs guided by coverage")
        elif options.guided:
            for target in targets:
                counts["atheris"][target.name] = guided(target, options.guided)
                print(f"{target.name:<26} {options.guided:>7,} inputs, guided", flush=True)
    total = sum(sum(each.values()) for each in counts.values())
    print(f"{total:,} inputs, no fault, {time.monotonic() - start:.0f} s")
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps({**counts, "total": total}, indent=1) + "\n")


if __name__ == "__main__":
    main()
