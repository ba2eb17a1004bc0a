"""The commands, one module each: options and what they do.

Modules here import what a command needs inside its functions, so that help and shell completion
do not wait for NumPy, polars or rich.
"""
