"""A release: the run that makes it, its folder, and the report for whoever decides."""
