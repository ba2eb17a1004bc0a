"""Print the figures of docs/trust.md, from the last run of the tests and of ``make fuzz``.

The tests count what they survived or caught (fixture ``trust``), and pytest keeps the counts in its
cache. ``make fuzz`` writes its counts to build/fuzz.json.
"""

import json
from pathlib import Path

TEST_COUNTS = Path(".pytest_cache/v/syntf/trust")
FUZZ_COUNTS = Path("build/fuzz.json")


def main() -> None:
    rows: dict[str, int] = {}
    if TEST_COUNTS.exists():
        rows |= json.loads(TEST_COUNTS.read_text(encoding="utf-8"))
    if FUZZ_COUNTS.exists():
        report = json.loads(FUZZ_COUNTS.read_text(encoding="utf-8"))
        for tool in ("hypothesis", "atheris"):
            rows[f"inputs fuzzed by make fuzz, {tool}"] = sum(report[tool].values())
        rows["inputs fuzzed by make fuzz, in all"] = report["total"]
    if not rows:
        raise SystemExit("there are no counts yet: run make test-all and make fuzz first")
    print("| what | last run |\n|---|---|")
    for name, count in sorted(rows.items()):
        print(f"| {name} | {count:,} |")


if __name__ == "__main__":
    main()
