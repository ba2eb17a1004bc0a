"""What a release promises: the guarantee, and the bounds behind its numbers."""
