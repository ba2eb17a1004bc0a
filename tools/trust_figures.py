"""The figures of docs/trust.md, from the last run of the tests and of ``make fuzz``.

The tests count what they survived or caught (fixture ``trust``); pytest keeps the counts in its
cache. ``make fuzz`` leaves its own in build/fuzz.json.
"""

import json
from pathlib import Path

COUNTED = Path(".pytest_cache/v/syntf/trust")
FUZZED = Path("build/fuzz.json")


def main() -> None:
    rows: dict[str, int] = {}
    if COUNTED.exists():
        rows |= json.loads(COUNTED.read_text(encoding="utf-8"))
    if FUZZED.exists():
        report = json.loads(FUZZED.read_text(encoding="utf-8"))
        for tool in ("hypothesis", "atheris"):
            rows[f"inputs fuzzed by make fuzz, {tool}"] = sum(report[tool].values())
        rows["inputs fuzzed by make fuzz, in all"] = report["total"]
    if not rows:
        raise SystemExit("nothing was counted yet: make test, make fuzz")
    print("| what | last run |\n|---|---|")
    for name, count in sorted(rows.items()):
        print(f"| {name} | {count:,} |")


if __name__ == "__main__":
    main()
