"""Known weaknesses of the pinned packages: pip-audit on the lock file, where it can ask.

Fails if a pinned package has a published weakness. Where the service that lists them cannot be
reached, it says so and does not fail: that is no fault of a change.
"""

import json
import subprocess
import sys

COMMAND = ["pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off",
           "--format", "json", "--requirement", "requirements-dev.lock"]  # fmt: skip


def main() -> int:
    try:
        found = subprocess.run(
            [sys.executable, "-m", *COMMAND],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        packages = json.loads(found.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError, OSError):
        print("pip-audit could not ask for known weaknesses: nothing was audited")
        return 0
    asked = [one for one in packages if "skip_reason" not in one]
    if not asked:
        print("pip-audit could not ask for known weaknesses: nothing was audited")
        return 0
    weak = [one for one in asked if one["vulns"]]
    for one in weak:
        names = ", ".join(weakness["id"] for weakness in one["vulns"])
        print(f"{one['name']} {one['version']}: {names}")
    print(f"{len(asked)} of {len(packages)} pinned packages audited, {len(weak)} with weaknesses")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main())
