"""The name of :mod:`syntf.core.entropy` in version 0.1, kept for programs that import it."""

from syntf.core.entropy import *  # noqa: F403
