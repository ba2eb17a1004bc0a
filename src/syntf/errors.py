"""The name of :mod:`syntf.core.errors` in version 0.1, kept for programs that import it."""

from syntf.core.errors import *  # noqa: F403
