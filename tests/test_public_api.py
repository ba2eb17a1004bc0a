"""The public interface: its names, its documentation and the import paths of version 0.1."""

import importlib
import inspect
import re
import subprocess
from pathlib import Path

import pytest

import syntf

PUBLIC = {
    "BudgetError", "Guarantee", "Ledger", "Settings", "SynTF", "SyntfError", "WordVectors",
    "release", "verify",
}  # fmt: skip

OLD_PATHS = {
    "syntf.bounds": "standard_loss",
    "syntf.entropy": "Seeded",
    "syntf.errors": "SyntfError",
    "syntf.evaluation": "WritePrintsLimited",
    "syntf.guarantee": "Guarantee",
    "syntf.ledger": "Ledger",
    "syntf.mechanism": "ExponentialMechanism",
    "syntf.presets": "settings",
    "syntf.settings": "Settings",
    "syntf.vectors": "WordVectors",
}
"""Import paths of 0.1 with a name that each of them offered."""


def visible(module):
    return {name for name in dir(module) if not name.startswith("__")}


def test_dir_shows_the_public_names_only():
    assert visible(syntf) == PUBLIC
    importlib.import_module("syntf.bounds")  # old paths stay hidden after they were used
    assert visible(syntf) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_can_be_imported_and_are_documented(name):
    value = getattr(syntf, name)
    docs = inspect.getdoc(value)
    assert docs
    page = Path(__file__).parents[1].joinpath("docs", "api.md").read_text(encoding="utf-8")
    assert re.search(rf"^::: {re.escape(value.__module__)}\.{name}$", page, re.MULTILINE)
    assert re.search(rf"^(>>>|\.\.\.) .*\b{name}\b", page, re.MULTILINE)  # an example, which is run


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        syntf.nothing  # noqa: B018


def test_import_loads_no_heavy_library(python):
    script = (
        "import sys, syntf; from syntf import Settings, SyntfError; print(dir(syntf));"
        "sys.exit(bool({'numpy', 'polars', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([python, "-c", script]).returncode == 0


@pytest.mark.parametrize(("path", "name"), OLD_PATHS.items())
def test_import_paths_of_version_0_1_work(python, path, name):
    """In a process of its own: nothing else has imported the module before."""
    script = f"import {path}; {path}.{name}; from {path} import {name}"
    done = subprocess.run([python, "-W", "error", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_import_path_of_spark_works(python):
    pytest.importorskip("pyspark")
    script = "from syntf.spark import Release, anonymize; import syntf.spark"
    assert subprocess.run([python, "-c", script]).returncode == 0


def test_old_paths_give_the_same_objects():
    from syntf.ledger import Ledger
    from syntf.settings import Settings
    from syntf.vectors import WordVectors

    assert (Settings, Ledger, WordVectors) == (syntf.Settings, syntf.Ledger, syntf.WordVectors)
