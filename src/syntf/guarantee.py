"""The name of :mod:`syntf.privacy.guarantee` in version 0.1, kept for programs that import it."""

from syntf.privacy.guarantee import *  # noqa: F403
