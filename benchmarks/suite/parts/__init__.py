"""The parts of the suite: what is measured in each, and the figures drawn from it."""
