"""The place of the presets in version 0.1, kept for programs that import them."""

from syntf.pipeline.settings import PRESETS, Settings

__all__ = ["PRESETS", "settings"]

settings = Settings.from_preset
