"""The command of the README collects every test on a machine that has the extra dev alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ABSENT = (
    "adlfs", "bm25s", "bokeh", "cupy", "dask", "duckdb", "gcsfs", "gensim", "markdown",
    "mkdocs", "mlcroissant", "model2vec", "nbclient", "nbformat", "openpyxl", "pandas",
    "playwright", "psutil", "psycopg", "pyarrow", "pyspark", "ray", "s3fs", "scrubadub", "spacy",
    "sudachipy", "textblob",
)  # fmt: skip
"""Packages of other extras, which are hidden from the tests."""

PLUGIN = f"""
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def test_every_test_is_collected_without_other_extras(tmp_path):
    (tmp_path / "hide_extras.py").write_text(PLUGIN, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "hide_extras", "--collect-only", "-q"]
    search = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.findall(r"(\d+) tests collected", done.stdout)[-1]) > 5000
