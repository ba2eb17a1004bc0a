"""Turn texts into documents: tokens, lemmas and known terms."""
