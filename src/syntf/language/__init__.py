"""Language packs: everything that depends on the language of the texts, in one public folder."""
