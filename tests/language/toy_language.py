"""An invented language in Cyrillic letters."""

SYLLABLES = ("ба", "ку", "ле", "мо", "ту", "ши", "жа", "ро", "пи", "су", "на", "ве")
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES]
"""144 invented words in Cyrillic letters."""
