"""Synonyms from WordNet's own database files, wherever a copy of them is installed.

The package contains no WordNet. Its files are plain text (wndb(5WN)), and all we need is which
words share a synset, so they are read directly, without a library or an index.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntf.core.errors import SyntfError

FILES = ("data.noun", "data.verb", "data.adj", "data.adv")

# offset, lexicographer file, type, number of words (hex), each word with an id (hex), pointers
_SYNSET = re.compile(r"\d{8} \d\d [nvasr] ([0-9a-f]{2}) ((?:\S+ [0-9a-f] )+)\d{3} [^|]*\| ")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand: asleep(p)


def synonyms(words: Iterable[str], folder: Path | None = None) -> dict[str, set[str]]:
    """Return the single words that share a synset with each of these, in any part of speech.

    Words are looked up in lower case; synonyms are spelt as in WordNet. Words without a synonym
    are not in the result. `folder` has the database files; by default it is :func:`find_wordnet`.
    """
    wanted = {word.lower() for word in words}
    found: dict[str, set[str]] = {}
    for lemmas in _read_synsets(find_wordnet() if folder is None else folder):
        for word in wanted.intersection(map(str.lower, lemmas)):
            others = {one for one in lemmas if "_" not in one and one.lower() != word}
            if others:
                found.setdefault(word, set()).update(others)
    return found


def find_wordnet() -> Path:
    """Return the folder with WordNet's database files: $SYNTF_WORDNET, or Debian's."""
    place = Path(os.environ.get("SYNTF_WORDNET") or "/usr/share/wordnet")
    if not all(place.joinpath(name).is_file() for name in FILES):
        raise SyntfError(
            f"synsets need WordNet, and it is not in {place}: `apt-get install wordnet-base`, or "
            f"set SYNTF_WORDNET to a folder with its {', '.join(FILES)}, such as corpora/wordnet "
            "of NLTK, unpacked"
        )
    return place


def _read_synsets(folder: Path) -> Iterator[list[str]]:
    """Yield the words of each synset; words of several parts have underscores."""
    for name in FILES:
        lines = (folder / name).read_text(encoding="utf-8", errors="replace").split("\n")
        synsets = [line for line in lines if line and not line.startswith("  ")]  # no licence
        for line in synsets:
            fields = _SYNSET.match(line)
            words = fields[2].split()[::2] if fields else []
            if fields is None or len(words) != int(fields[1], 16):
                raise SyntfError(
                    f"{folder / name} is damaged: line {lines.index(line) + 1} is not a synset; "
                    "install WordNet again"
                )
            yield [_MARKER.sub("", word) for word in words] if name == "data.adj" else words
        if not synsets:
            raise SyntfError(f"{folder / name} is damaged: it has no synset; install WordNet again")
