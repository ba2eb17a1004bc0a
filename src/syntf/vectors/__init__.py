"""Word vectors as int8: the embedded table, files in several formats, objects of other
libraries."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Import the class that version 0.1 offered in its module ``syntf.vectors``."""
    if name != "WordVectors":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from syntf.vectors.word_vectors import WordVectors

    return WordVectors
