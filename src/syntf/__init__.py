"""Synthetic term-frequency vectors of documents, with a differential-privacy guarantee.

The names below are the public interface; docs/api.md documents them. All other modules are
internal and may change without notice. Names are imported when they are first used, so that
``import syntf`` and ``syntf --help`` are fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntf.core.errors import BudgetError, SyntfError
    from syntf.ledger.ledger import Ledger
    from syntf.pipeline.settings import Settings
    from syntf.privacy.guarantee import Guarantee
    from syntf.releases.job import release
    from syntf.sklearn import SynTF
    from syntf.vectors.word_vectors import WordVectors
    from syntf.verification.verify import verify

__version__ = "0.2.0"

__all__ = [
    "BudgetError",
    "Guarantee",
    "Ledger",
    "Settings",
    "SynTF",
    "SyntfError",
    "WordVectors",
    "release",
    "verify",
]

_MODULES = {
    "BudgetError": "core.errors",
    "Guarantee": "privacy.guarantee",
    "Ledger": "ledger.ledger",
    "Settings": "pipeline.settings",
    "SynTF": "sklearn",
    "SyntfError": "core.errors",
    "WordVectors": "vectors.word_vectors",
    "release": "releases.job",
    "verify": "verification.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'syntf' has no attribute {name!r}")
    if name == "SynTF":
        from syntf.core.extras import needed_for

        with needed_for("syntf.SynTF", "sklearn"):
            value = getattr(import_module("syntf.sklearn"), name)
    else:
        value = getattr(import_module(f"syntf.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
