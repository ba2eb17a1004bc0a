"""Synthetic counts on a Spark cluster: a DataFrame with texts in, a release out.

Needs the extra ``syntf[spark]`` and Java 17 or newer. Names are imported when they are first used:
the Python processes of executors import this package too, and need few of its modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntf.spark.frames import Release, anonymize, check_installed
    from syntf.spark.schemas import guarantee_of
    from syntf.spark.stream_keys import StreamKey

__all__ = ["Release", "StreamKey", "anonymize", "check_installed", "guarantee_of"]

_MODULES = {
    "Release": "frames",
    "StreamKey": "stream_keys",
    "anonymize": "frames",
    "check_installed": "frames",
    "guarantee_of": "schemas",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'syntf.spark' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"syntf.spark.{_MODULES[name]}"), name)
    return value
