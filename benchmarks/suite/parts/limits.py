"""The bare limits: no program of this kind can be faster than its parts."""

from suite.figures import Figure
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "The bare limits"
NOTE = """\
Reading the bytes of 20 newsgroups from a file the system has in memory, random bytes from the
operating system (eight for each word that is drawn), and SHA-256. The bare matrix product stands
with the vocabularies."""


def groups(place: Place) -> list[list[Row]]:
    rows = {
        "read": ("reading 20 newsgroups", str(place.news())),
        "random": ("random bytes, `os.urandom`", ""),
        "sha256": ("SHA-256", ""),
    }
    return [
        [
            Row(
                f"limits/{key}", title, worker("bare", key, given), "kept", place.rounds, "MB",
                warm=True,
            )
            for key, (title, given) in rows.items()
        ]
    ]  # fmt: skip


def figures(found: Results) -> list[Figure]:
    return []
