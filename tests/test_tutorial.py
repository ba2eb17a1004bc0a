"""docs/tutorial.ipynb runs from top to bottom, and prints what it says."""

from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter's packages
def test_the_tutorial_runs(tmp_path):
    nbformat, nbclient, _ = (
        pytest.importorskip(name, reason="run pip install nbclient ipykernel")
        for name in ("nbformat", "nbclient", "ipykernel")
    )
    notebook = nbformat.read(TUTORIAL, as_version=4)
    there = {"metadata": {"path": tmp_path}}
    nbclient.NotebookClient(notebook, timeout=120, resources=there).execute()
    printed = [
        "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    assert "loss per document: 10.0" in printed[1]
    assert "verified" in printed[-1].splitlines()
