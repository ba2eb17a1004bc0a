"""Readers of single formats: one module for each kind of file, database or mail."""
