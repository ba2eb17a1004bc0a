"""What every other package builds on: errors, files, exact numbers, randomness, progress."""
