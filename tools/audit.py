"""Run pip-audit on requirements-dev.lock and fail if a pinned package has a known vulnerability.

If the vulnerability service cannot be reached, print that nothing was audited and succeed: a change
to the code is not at fault for that.
"""

import json
import subprocess
import sys

COMMAND = ["pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off",
           "--format", "json", "--requirement", "requirements-dev.lock"]  # fmt: skip


def main() -> int:
    try:
        result = subprocess.run(
            [sys.executable, "-m", *COMMAND],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        packages = json.loads(result.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError, OSError):
        packages = []
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        print("pip-audit could not reach the vulnerability service: nothing was audited")
        return 0
    vulnerable = [package for package in audited if package["vulns"]]
    for package in vulnerable:
        names = ", ".join(vulnerability["id"] for vulnerability in package["vulns"])
        print(f"{package['name']} {package['version']}: {names}")
    print(
        f"{len(audited)} of {len(packages)} pinned packages audited, "
        f"{len(vulnerable)} with known vulnerabilities"
    )
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
