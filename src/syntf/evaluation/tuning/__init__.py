"""Search for the parameters that reach a goal with the smallest loss."""
