"""The name of :mod:`syntf.privacy.bounds` in version 0.1, kept for programs that import it."""

from syntf.privacy.bounds import *  # noqa: F403
