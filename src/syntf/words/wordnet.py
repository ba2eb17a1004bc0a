"""Synonyms from WordNet's own database files, wherever a copy of them is installed.

The package contains no WordNet. Its files are plain text (wndb(5WN)), and all we need is which
words share a synset, so they are read directly, without a library or an index.
"""

import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path

from syntf.core.errors import SyntfError, shortened

FILES = ("data.noun", "data.verb", "data.adj", "data.adv")

# offset, lexicographer file, type, number of words (hex), each word with an id (hex), pointers
_SYNSET = re.compile(r"\d{8} \d\d [nvasr] ([0-9a-f]{2}) ((?:\S+ [0-9a-f] )+)\d{3} [^|]*\| ")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand: asleep(p)


def synonyms(words: Iterable[str], source: Traversable | None = None) -> dict[str, set[str]]:
    """Return the single words that share a synset with each of these, in any part of speech.

    Words are looked up in lower case; synonyms are spelt as in WordNet. Words without a synonym
    are not in the result. `source` is a folder of database files; by default the first one found.
    """
    wanted = {word.lower() for word in words}
    found: dict[str, set[str]] = {}
    for lemmas in _read_synsets(find_wordnet() if source is None else source):
        lower = [lemma.lower() for lemma in lemmas]
        if wanted.isdisjoint(lower):
            continue
        single = [(lemma, low) for lemma, low in zip(lemmas, lower, strict=True) if "_" not in low]
        for word in wanted.intersection(lower):
            others = {lemma for lemma, low in single if low != word}
            if others:
                found.setdefault(word, set()).update(others)
    return found


def find_wordnet() -> Traversable:
    """Return the folder, or the part of an archive, with WordNet's database files."""
    chosen = os.environ.get("SYNTF_WORDNET")
    for place in [Path(chosen)] if chosen else _usual_places():
        if all(place.joinpath(name).is_file() for name in FILES):
            return place
    where = f"it is not in {chosen} (SYNTF_WORDNET)" if chosen else "it is not installed"
    raise SyntfError(
        f"synsets need WordNet, and {where}: `apt-get install wordnet-base`, or `pip install nltk` "
        "and `python -m nltk.downloader wordnet`; or set SYNTF_WORDNET to a folder with its "
        f"{', '.join(FILES)}"
    )


def _usual_places() -> Iterator[Traversable]:
    """Yield where installers put WordNet: Debian's package and NLTK's downloader."""
    yield Path("/usr/share/wordnet")
    for folder in nltk_folders():
        yield folder / "corpora" / "wordnet"
        with suppress(OSError, *_DAMAGED):  # another copy may be intact
            yield zipfile.Path(folder / "corpora" / "wordnet.zip", "wordnet/")


def nltk_folders() -> list[Path]:
    """Return the folders in which NLTK looks for its data, in its order."""
    named = [Path(name) for name in os.environ.get("NLTK_DATA", "").split(os.pathsep) if name]
    prefix, usr, local = Path(sys.prefix), Path("/usr"), Path("/usr/local")
    others = [Path.home(), prefix, prefix / "share", prefix / "lib", usr / "share", local / "share"]
    return named + [place / "nltk_data" for place in (*others, usr / "lib", local / "lib")]


def _read_synsets(source: Traversable) -> Iterator[list[str]]:
    """Yield the words of each synset; words of several parts have underscores."""
    for name in FILES:
        path = source.joinpath(name)
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, *_DAMAGED) as error:
            raise SyntfError(f"cannot read {path}: {shortened(error)}") from error
        synsets = 0
        for number, line in enumerate(text.split("\n"), start=1):
            if not line or line.startswith("  "):  # the licence, at the top
                continue
            fields = _SYNSET.match(line)
            words = fields[2].split()[::2] if fields else []
            if fields is None or len(words) != int(fields[1], 16):
                raise SyntfError(
                    f"{path} is damaged: line {number} is not a synset; install WordNet again"
                )
            synsets += 1
            yield [_MARKER.sub("", word) for word in words] if name == "data.adj" else words
        if not synsets:
            raise SyntfError(f"{path} is damaged: it has no synset; install WordNet again")
