"""Read files of word vectors in any supported format."""

from pathlib import Path

from syntf.words.quantize import Table


def read(path: Path) -> Table:
    """Read the table in a file."""
    raise NotImplementedError
