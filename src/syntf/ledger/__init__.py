"""A budget over all releases that refuses to be overspent."""
