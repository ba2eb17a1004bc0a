"""A release of a corpus: measure sums of integers, add noise, fit a model, sample rows from it."""
