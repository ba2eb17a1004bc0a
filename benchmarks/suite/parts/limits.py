"""Measure lower limits: reading bytes, random bytes and hashing."""

from suite.figures import Figure
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "Lower limits"
NOTE = """\
Times that no program of this kind can beat: reading the bytes of 20 newsgroups from a cached file,
random bytes from the operating system (eight for each word that is drawn), and SHA-256. The matrix
product of the word vectors is in the section on vocabularies."""


def groups(place: Place) -> list[list[Row]]:
    rows = {
        "read": ("reading 20 newsgroups", str(place.news())),
        "random": ("random bytes, `os.urandom`", ""),
        "sha256": ("SHA-256", ""),
    }
    return [
        [
            Row(
                f"limits/{key}", title, worker("bare", key, argument), "kept", place.rounds, "MB",
                warm=True,
            )
            for key, (title, argument) in rows.items()
        ]
    ]  # fmt: skip


def figures(found: Results) -> list[Figure]:
    return []
