"""Describe where and when a run takes place: date, commit, versions, processor."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("numpy", "scipy", "scikit-learn", "polars")


def about() -> dict[str, Any]:
    """Return a description of this run and this machine."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "commit": commit(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "load": round(os.getloadavg()[0], 1),
        "versions": {"python": platform.python_version(), **installed()},
    }


def commit() -> str:
    """Return the short hash of the commit, with a + if files were changed since."""
    try:
        hash, changed = (
            subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
            for command in (["git", "rev-parse", "--short=9", "HEAD"], ["git", "diff", "HEAD"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return hash.strip() + ("+" if changed else "")


def processor() -> str:
    """Return the name of the processor that Linux reports, or its architecture."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def installed() -> dict[str, str]:
    """Return the versions of the packages that matter here."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
