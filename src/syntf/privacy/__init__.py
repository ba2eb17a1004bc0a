"""Privacy loss: the paper's bounds, accounting at a δ, and the guarantee of a release."""
