"""Synthetic, differentially private term-frequency vectors: analyse texts, protect authors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntf.core.errors import BudgetError, SyntfError
    from syntf.ledger import Ledger
    from syntf.privacy.guarantee import Guarantee
    from syntf.release.folder import read_release
    from syntf.release.job import anonymize
    from syntf.release.verify import verify
    from syntf.settings import Settings
    from syntf.sklearn import SynTF

__version__ = "0.3.0"

__all__ = [
    "BudgetError",
    "Guarantee",
    "Ledger",
    "Settings",
    "SynTF",
    "SyntfError",
    "anonymize",
    "read_release",
    "verify",
]

_MODULES = {
    "BudgetError": "core.errors",
    "Guarantee": "privacy.guarantee",
    "Ledger": "ledger",
    "Settings": "settings",
    "SynTF": "sklearn",
    "SyntfError": "core.errors",
    "anonymize": "release.job",
    "read_release": "release.folder",
    "verify": "release.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``syntf --help`` starts fast."""
    if name not in _MODULES:
        raise AttributeError(f"module 'syntf' has no attribute {name!r}")
    value = getattr(import_module(f"syntf.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
