"""Public data on words: word vectors, the vocabulary, language packs, and WordNet's synonyms."""
