"""The place of :class:`syntf.Settings` in version 0.1, kept for programs that import it."""

from syntf.pipeline.settings import Settings

__all__ = ["Settings"]
