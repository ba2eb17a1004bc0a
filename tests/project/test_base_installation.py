"""A base installation: releases need no extra, and other commands name the one that they need."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONAL = ["joblib", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn"]

SESSION = """
import contextlib, importlib.abc, io, json, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from syntf.cli.app import main

results = []
for command in COMMANDS:
    sys.argv = ["syntf", *command]
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            results.append([end.code, said.getvalue()])
try:
    from syntf import SynTF
except ImportError as error:
    results.append([None, str(error)])
print(json.dumps(results))
"""


def run_without_extras(folder, commands):
    """Run commands in a process that cannot import optional packages; return codes and errors."""
    session = f"OPTIONAL = {OPTIONAL!r}\nCOMMANDS = {commands!r}\n{SESSION}"
    done = subprocess.run(
        [sys.executable, "-c", session], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "SYNTF_CACHE": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    rows = [f"the library opens at {hour}, the bus is late,{hour % 2}\n" for hour in range(30)]
    (folder / "texts.csv").write_text("text,topic\n" + "".join(f'"{r[:-3]}"{r[-3:]}' for r in rows))
    return folder


FORMATS = ["npz", "parquet", "mtx", "svmlight", "jsonl", "text"]


@pytest.mark.slow
def test_every_release_is_made_and_verified_without_extras(example):
    options = ["--text", "text", "--keep", "topic", "--quiet", "--accept-coverage"]
    commands = []
    for format in FORMATS:
        for preset in ("default", "words"):
            out = f"{format}-{preset}"
            commands += [
                ["anonymize", "texts.csv", *options, "--format", format, "--out", out]
                + ["--preset", "words"] * (preset == "words"),
                ["verify", out],
            ]
    commands += [
        ["preview", "texts.csv", "--text", "text"],
        ["coverage", "texts.csv", "--text", "text"],
        ["bounds"],
        ["explain", "library"],
        ["codebook", "show"],
        ["vocabulary", "build", "texts.csv", "--text", "text", "--out", "words.txt"],
        ["report", "npz-words", "--out", "report.html"],
    ]
    *results, _ = run_without_extras(example, commands)
    failed = [(name, end) for name, end in zip(commands, results, strict=True) if end[0] != 0]
    assert failed == []


def test_commands_name_the_extra_that_they_need(example):
    options = ["texts.csv", "--text", "text", "--out", "out"]
    commands = {
        "audit": ["audit", "--quick"],
        "codebook": ["codebook", "build", *options[:3], "--out", "out.codebook"],
        "evaluate": ["evaluate", *options, "--label", "topic"],
        "tune": ["tune", *options, "--label", "topic", "--max-loss", "10"],
        "reproduce": ["reproduce", "--out", "out"],
        "frontier": ["frontier", "--out", "out"],
    }
    *results, estimator = run_without_extras(example, list(commands.values()))
    extras = {"audit": "sklearn", "codebook": "sklearn"}
    for name, (code, said) in zip(commands, results, strict=True):
        message = (
            rf"syntf: syntf {name} needs (scipy|sklearn|matplotlib|joblib), which is not "
            rf"installed: run pip install 'syntf\[{extras.get(name, 'evaluate')}\]'\n"
        )
        assert (name, code) == (name, 2)
        assert re.fullmatch(message, said), said
    assert re.fullmatch(
        r"syntf\.SynTF needs (scipy|sklearn), which is not installed: run pip install "
        r"'syntf\[sklearn\]'",
        estimator[1],
    )


def test_each_named_extra_installs_what_is_missing():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: " ".join(items) for name, items in project["optional-dependencies"].items()}
    assert "scikit-learn" in extras["sklearn"] and "scipy" in extras["sklearn"]  # noqa: PT018
    assert "syntf[sklearn]" in extras["evaluate"]
    assert "matplotlib" in extras["evaluate"]
    assert "joblib" in extras["evaluate"]
    base = " ".join(project["dependencies"])
    assert not [name for name in ("matplotlib", "scikit-learn", "scipy", "pandas") if name in base]
