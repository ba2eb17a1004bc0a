"""The parts of the suite: each has rows to measure and figures computed from them."""
