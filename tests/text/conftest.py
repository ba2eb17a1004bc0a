"""What a reader must find, defined by plain loops in Python, token by token."""

import gzip
import importlib.util
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)?")
PARTS = ("aux", "noun", "verb", "adj", "adv")


@cache
def is_part_of_word(character):
    point = ord(character)
    is_symbol = 0x20D0 <= point < 0x2100 or 0xFE00 <= point < 0xFE10
    is_mark = unicodedata.category(character) in ("Mn", "Mc") and point < 0xFE30
    return character.isalnum() or (is_mark and not is_symbol)


def tokens(text, elision=False):
    """Return runs of letters and digits; two runs with one apostrophe between are one token."""
    found, place = [], 0

    def run(start):
        end = start
        while end < len(text) and is_part_of_word(text[end]):
            end += 1
        return end

    while place < len(text):
        end = run(place)
        if end > place:
            if not elision and text[end : end + 1] in ("'", "’"):
                end = max(end, run(end + 1)) if run(end + 1) > end + 1 else end
            found.append(text[place:end])
        place = max(end, place + 1)
    return found


@cache
def english_lemmas():
    """Read lemminflect's files line by line."""
    folder = Path(importlib.util.find_spec("lemminflect").origin).parent / "resources"
    text = gzip.decompress((folder / "lemma_lu.csv.gz").read_bytes()).decode()
    text += "\n" + (folder / "lemma_overrides.csv").read_text()
    found = {part: {} for part in PARTS}
    for line in text.split("\n"):
        if line.count(",") == 2 and not line.startswith("#"):
            form, part, lemma = line.strip().split(",")
            found[part.lower()][form] = lemma.split("/")[0].lower()
    return {form: found[part][form] for part in PARTS[::-1] for form in found[part]}


def candidates(token, morphology, stop_words, numbers, number_words):
    """Return the words that a token may count as, the preferred one first."""
    word = unicodedata.normalize("NFKC", token).replace("’", "'")
    word = word[:-2] if word[-2:] in ("'s", "'S") else word
    lower = word.lower()
    is_number = bool(NUMBER.fullmatch(lower)) or lower in number_words
    if not numbers if is_number else lower in stop_words:
        return ()
    if morphology == "lower":
        return (lower,)
    if morphology == "orth":
        return (word, lower)
    lemma = english_lemmas().get(lower, lower)
    return () if lemma in stop_words and not is_number else (lemma, lower)


@pytest.fixture(scope="session")
def defined():
    """A function that returns the counts of each text as a dictionary from columns."""

    def count(texts, words, *, morphology, stop_words, numbers, number_words, elision=False):
        column = {word: place for place, word in reversed(list(enumerate(words)))}

        @cache
        def column_of(token):
            options = candidates(token, morphology, stop_words, numbers, number_words)
            return next((column[word] for word in options if word in column), -1)

        counted = [Counter(map(column_of, tokens(text or "", elision))) for text in texts]
        return [{place: n for place, n in one.items() if place >= 0} for one in counted]

    return count
