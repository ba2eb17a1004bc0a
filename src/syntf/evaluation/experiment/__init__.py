"""Anonymise and evaluate a labelled corpus several times, and write the results."""
