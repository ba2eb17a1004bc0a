"""A worker of the suite: prepares, then does and times a round for each line it is sent.

    python benchmarks/work.py NAME [ARGUMENTS]

NAME is a module of ``suite/work``. Answers are lines of JSON: one when all is prepared, one a
round, or one that says why there is none. What a library prints goes to standard error.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any


def answers(name: str, given: Sequence[str]) -> Iterator[dict[str, Any]]:
    once = import_module(f"suite.work.{name}").prepare(*given)
    yield {}
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        found = once() or {}
        took = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        yield {**took, **found}


def reason(error: BaseException) -> str:
    """An error in a line: its kind, and the first line of it that says something."""
    said = [line.strip() for line in str(error).splitlines() if re.search(r"\w", line)]
    return ": ".join([type(error).__name__, *said[:1]])


def main() -> None:
    name, *given = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        for answer in answers(name, given):
            print(json.dumps(answer), file=out, flush=True)
    except Exception as error:  # the suite tells of it, and goes on with the others
        print(json.dumps({"error": reason(error)}), file=out, flush=True)
        raise


if __name__ == "__main__":
    main()
