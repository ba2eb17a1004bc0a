"""The compiled inner loops. They are optional: each has a slower NumPy or Python equivalent."""

import os
from importlib import import_module
from typing import Any


def load(name: str) -> Any:
    """Import a compiled module, or return None where the package was built without a compiler.

    Setting the environment variable SYNTF_NO_NATIVE to 1 disables all compiled loops.
    """
    if os.environ.get("SYNTF_NO_NATIVE") == "1":
        return None
    try:
        return import_module(f"syntf.native.{name}")
    except ImportError:
        return None
