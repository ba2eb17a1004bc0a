"""Synthetic, differentially private term-frequency vectors (SynTF)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntf.sklearn import SynTF

__all__ = ["SynTF", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import scikit-learn only when SynTF is asked for: `syntf --help` does without it."""
    if name == "SynTF":
        return import_module("syntf.sklearn").SynTF
    raise AttributeError(f"module 'syntf' has no attribute {name!r}")
