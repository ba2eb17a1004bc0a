"""Run docs/tutorial.ipynb from top to bottom and store its output.

python tools/run_tutorial.py [NOTEBOOK] [--out FILE]

Without --out, the notebook itself is overwritten. No times are stored: if the output is the same,
the file stays the same.
"""

import argparse
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.ipynb"


def run(path: Path, out: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, coalesce_streams=True, timeout=600, kernel_name="python3", record_timing=False
    ).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
    nbformat.write(notebook, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path, nargs="?", default=TUTORIAL)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    run(options.notebook, options.out or options.notebook)
    print(f"{options.notebook.name} ran in {time.perf_counter() - began:.1f} s")
