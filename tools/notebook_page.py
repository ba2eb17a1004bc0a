"""A notebook as a page: its texts, its code and what its cells put out when they last ran.

The site shows the outputs that are stored in the file, so building it runs nothing.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, in order."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def joined(text: str | list[str]) -> str:
    """Notebooks keep a text as a string or as its lines.

    >>> joined(["a\\n", "b"]), joined("c")
    ('a\\nb', 'c')
    """
    return text if isinstance(text, str) else "".join(text)


def page(cells: list[Cell], folder: str) -> tuple[str, dict[str, bytes]]:
    """Markdown, and the pictures it shows by name; they are expected in `folder`."""
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
    """What the picture of a cell shows, for who cannot see it: the cell's metadata say it."""
    return str(cell["metadata"].get("alt", ""))


def _texts(output: Cell) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield joined(output["text"])
    elif "text/plain" in output.get("data", {}):
        yield joined(output["data"]["text/plain"])


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
