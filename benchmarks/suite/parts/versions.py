"""Measure an earlier version beside this one: the same jobs, in turn, in one run."""

import os
import subprocess
import sys
from pathlib import Path

from suite.figures import Figure, compared
from suite.place import Place
from suite.process import Unavailable, worker
from suite.rows import Kind, Results, Row

TITLE = "Against an earlier version"
NOTE = """\
`--earlier FOLDER/src` names the checkout of an earlier version, with its compiled loops built. Both
versions do the same jobs in turn, word by word: the preset `words`, which was the default of 0.1.
All rows are whole processes with a filled cache, but for the estimator, where only the call is
timed, and the tight loss, which is measured without a cache. The ratios compare processor time,
which other programs on the machine change least."""

MOST = 1.1
"""The largest ratio that is allowed."""

JOBS = {
    "start": "ten texts",
    "csv": "20 newsgroups, CSV",
    "verify": "`syntf verify` of that release",
    "jsonl": "20 newsgroups, JSON lines",
    "estimator": "`SynTF.fit_transform`, 20 newsgroups",
    "paper": "20 newsgroups, preset paper",
    "loss": "tight loss, preset paper",
}


def groups(place: Place) -> list[list[Row]]:
    if not place.earlier:
        return []
    rows = []
    for job in JOBS:
        for which, source in (("earlier", place.earlier), ("now", "")):
            rows.append(_row(place, job, which, source))
    return [rows]


def _row(place: Place, job: str, which: str, source: str) -> Row:
    env = {"SYNTF_CACHE": str(place.kept / f"cache-{which}")}
    if source:
        env["PYTHONPATH"] = source
    version = _version(env)
    preset = "default" if version.startswith("0.1.") else "words"
    out = place.scratch / f"release-{job}-{which}"
    command = [sys.executable, "-m", "syntf"]
    written = ["--force", "--quiet", "--out", str(out)]
    if job == "estimator":
        command = worker("estimator", preset, place.news())
    elif job == "verify":
        command += ["verify", "--quiet", str(place.scratch / f"release-csv-{which}")]
    elif job == "loss":
        command += ["bounds", "--preset", "paper"]
        env["SYNTF_CACHE"] = "/dev/null/none"
    else:
        texts = {"start": place.ten, "jsonl": place.json_lines}.get(job, place.news)()
        chosen = "paper" if job == "paper" else preset
        command += ["anonymize", str(texts), "--preset", chosen, *written]
    kind: Kind = "fresh" if job == "estimator" else "whole"
    return Row(
        f"versions/{job}/{which}", f"{JOBS[job]}, {version}", command, kind, place.rounds,
        warm=True, env=env,
    )  # fmt: skip


def _version(env: dict[str, str]) -> str:
    """Return the version that a process with this environment imports."""
    command = [sys.executable, "-c", "import syntf; print(syntf.__version__)"]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"there is no syntf in {Path(env.get('PYTHONPATH', '.'))}")
    return done.stdout.strip()


def figures(found: Results) -> list[Figure]:
    return [
        figure
        for job, title in JOBS.items()
        for figure in compared(
            f"versions/{job}", f"{title}, against the earlier version",
            found[f"versions/{job}/now"], found[f"versions/{job}/earlier"], of="cpu", must=MOST,
        )
    ]  # fmt: skip
