"""From texts to counts of known words: tokens, dictionary forms, readers."""
