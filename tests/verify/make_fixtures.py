"""Make the releases of this version that every later 0.3 must verify: one for each preset.

Run once for each version, before it is published: ``python tests/verify/make_fixtures.py``. The
draws come from a seed, so the releases are marked NOT PRIVATE; their texts are in this file.
"""

import shutil
from pathlib import Path

import polars as pl

from syntf import __version__
from syntf.core.entropy import Seeded
from syntf.release.folder import draft, write_release
from syntf.rows import build, draw, guarantee
from syntf.settings import Settings

FOLDER = Path(__file__).with_name("fixtures") / __version__
TEXTS = ["The bus to the station is late again.", "", "Bread, cheese and a good song.",
         "My computer has a virus, and the printer is broken."]  # fmt: skip
RELEASES = {
    "document": (1000, "npz", {}),
    "words": (12, "parquet", {"length": 20, "max_size": 200}),
    "accurate": (12, "csv", {"length": 20, "max_size": 200}),
    "paper": (12, "npz", {"length": 20, "max_size": 50}),
}
"""For each preset: the number of documents, the format, and what makes the release small."""


def make(preset: str, number: int, format: str, **chosen: object) -> None:
    """Make one release."""
    texts = pl.Series([TEXTS[i % len(TEXTS)] for i in range(number)])
    rows, source = build(Settings.of(preset, **chosen)), Seeded(3)
    drawn = draw(rows.scheme(number), rows.encode(texts, source), source)
    promised = guarantee(
        rows, drawn.schemes, documents=number, kept_columns=["topic"], source=source
    )
    kept = pl.DataFrame({"topic": ["abcd"[i % 4] for i in range(number)]})
    with draft(FOLDER / preset, force=True) as new:
        write_release(new, drawn, kept, promised, format=format)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for preset, (number, format, chosen) in RELEASES.items():
        make(preset, number, format, **chosen)
