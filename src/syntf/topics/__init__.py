"""Public topics: codebooks, how documents are encoded, and the lists that answers come from."""
