"""The command line."""

from syntf.cli.app import main

__all__ = ["main"]
