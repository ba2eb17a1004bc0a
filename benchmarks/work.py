"""Run one benchmark in this process: prepare it, then time a round for each line on standard input.

    python benchmarks/work.py NAME [ARGUMENTS]

NAME is a module of ``suite/work``. The process prints a line of JSON when it is prepared and one
after each round. If it fails, the line holds the reason. Whatever a library prints goes to standard
error.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any


def answers(name: str, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield an empty answer when the benchmark is prepared, then the result of each round."""
    run_round = import_module(f"suite.work.{name}").prepare(*arguments)
    yield {}
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run_round() or {}
        took = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        yield {**took, **result}


def reason(error: BaseException) -> str:
    """Return an error as one line: its type and the first line of its message that has words."""
    lines = [line.strip() for line in str(error).splitlines() if re.search(r"\w", line)]
    return ": ".join([type(error).__name__, *lines[:1]])


def main() -> None:
    name, *arguments = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        for answer in answers(name, arguments):
            print(json.dumps(answer), file=out, flush=True)
    except Exception as error:  # the suite reports it and continues with the others
        print(json.dumps({"error": reason(error)}), file=out, flush=True)
        raise


if __name__ == "__main__":
    main()
