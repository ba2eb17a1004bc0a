"""A ledger limits the loss of documents and authors over all releases."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Import the class that version 0.1 offered in its module ``syntf.ledger``."""
    if name != "Ledger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from syntf.ledger.ledger import Ledger

    return Ledger
