"""Turn a notebook into a Markdown page with its text, its code and its stored output.

Building the site does not run the notebook.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> list[Cell]:
    """Return the cells of a notebook, in order."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def joined(text: str | list[str]) -> str:
    """Return a text of a notebook, which is stored as a string or as a list of lines.

    >>> joined(["a\\n", "b"]), joined("c")
    ('a\\nb', 'c')
    """
    return text if isinstance(text, str) else "".join(text)


def page(cells: list[Cell], folder: str) -> tuple[str, dict[str, bytes]]:
    """Return the page as Markdown, and its pictures by name; the names begin with `folder`."""
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for number, cell in enumerate(cells):
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for place, output in enumerate(cell["outputs"]):
            picture = output.get("data", {}).get("image/png")
            if picture is None:
                parts += [_fenced(text) for text in _texts(output)]
                continue
            name = f"{folder}/{number}-{place}.png"
            pictures[name] = base64.b64decode(joined(picture))
            alt = joined(output["data"].get("text/plain", "figure")).strip()
            parts.append(f"![{described(cell) or alt}]({name})")
    return "\n\n".join(parts) + "\n", pictures


def described(cell: Cell) -> str:
    """Return the description of a cell's picture, which is stored in the cell's metadata."""
    return str(cell["metadata"].get("alt", ""))


def _texts(output: Cell) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield joined(output["text"])
    elif "text/plain" in output.get("data", {}):
        yield joined(output["data"]["text/plain"])


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
