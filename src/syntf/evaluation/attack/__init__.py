"""Attackers, the features they use, and linkage of texts with their releases."""
