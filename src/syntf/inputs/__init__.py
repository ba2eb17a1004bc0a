"""Readers: one module for each file format, and the corpus that joins them."""
