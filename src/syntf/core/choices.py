"""The values that a named choice can have, for every package that offers or records it."""

from typing import Literal

Morphology = Literal["lemma", "lower", "orth"]
"""Form in which words are counted: dictionary form, lower case, or as written."""

Weighting = Literal["tf", "tfidf", "topical"]
"""How terms of a document are weighted before they are drawn."""

Draws = Literal["independent", "systematic"]
"""How terms are drawn from a document."""

Provenance = Literal["public", "fitted"]
"""Whether a part of the mechanism is public or was made from the texts that are released."""

Unit = Literal["document", "words"]
"""What a loss is spent on: one choice for the whole document, or each of its drawn words."""

EMBEDDED = "en"
"""The code of the language whose pack comes with syntf."""

OPINIONS = "syntf:opinions"
"""What stands for a file where the codebook of opinions is meant that comes with syntf."""

FAST = "fast"
"""The name of the built-in analyzer."""

SPACY = "spacy:"
"""What stands before the name of a spaCy pipeline, as in ``spacy:en_core_web_sm``."""

SUDACHI = "sudachi "
"""What stands before the versions of SudachiPy and its dictionary."""

ANALYZER_SEPARATOR = ", "
"""What stands between the names of the analyzers of several languages, if they differ."""
