"""Foundations: errors, exact numbers, random bits, counts, threads, files that appear
atomically."""
