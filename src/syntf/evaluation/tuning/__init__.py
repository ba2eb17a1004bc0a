"""Search for the settings that reach a goal at the least loss."""
