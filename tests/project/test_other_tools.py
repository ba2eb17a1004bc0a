"""The recipes of docs/other-tools.md run as they stand there, each with its tool."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "other-tools.md").read_text(encoding="utf-8")
TOOLS = {
    "pandas": ("pandas", "pandas-*.parquet"),
    "polars": ("polars", "polars.parquet"),
    "DuckDB": ("duckdb", "duckdb.parquet"),
    "Dask": ("dask", "dask/*.parquet"),
    "Ray Data": ("ray", "ray/*.parquet"),
}
TOPICS = ["bus", "food", None] * 10
TEXTS = ["The evening bus is late again.", "Garlic and onions in the soup.", None] * 10


def blocks(section):
    """The code of a section of the page."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


def test_every_section_with_code_is_run():
    start, *sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    assert "def draw(texts)" in blocks(start)
    assert {part.splitlines()[0] for part in sections if blocks(part)} == set(TOOLS)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOOLS)
def test_a_recipe_draws_once_for_each_document(tmp_path, name):
    package, written = TOOLS[name]
    for needed in (package, "pandas", "pyarrow"):
        if find_spec(needed) is None:
            pytest.skip(f"needs {needed}: pip install 'syntf[integration]'")
    pl.DataFrame({"text": TEXTS, "topic": TOPICS}).write_parquet(tmp_path / "mails.parquet")
    start, *sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    section = next(part for part in sections if part.startswith(f"{name}\n"))
    code = f"{blocks(start)}\n{blocks(section)}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(tmp_path / written)
    assert [name for name in table.columns if name in ("topic", "terms", "counts", "text")] == [
        "topic", "terms", "counts",
    ]  # fmt: skip
    key = pl.col("topic").fill_null("")
    assert sorted(table.select(key)["topic"]) == sorted(topic or "" for topic in TOPICS)
    for terms, counts in table.select("terms", "counts").iter_rows():
        terms = terms.split(" ") if isinstance(terms, str) else terms
        counts = json.loads(counts) if isinstance(counts, str) else counts
        assert len(set(terms)) == len(terms) == len(counts) > 0
        assert min(counts) >= 1
