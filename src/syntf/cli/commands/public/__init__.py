"""Commands that make public knowledge for a release: codebooks, language packs, vocabularies."""
