"""The mechanisms: integer tables, the privacy loss measured on them, and exact samplers."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Import a name that version 0.1 offered in its module ``syntf.mechanism``."""
    if name not in ("ExponentialMechanism", "Extremes"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from syntf.mechanism import exponential

    return getattr(exponential, name)
