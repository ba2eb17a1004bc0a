"""Make releases with small public data, and play a forger who can seal them again."""

from dataclasses import replace

import polars as pl
import pytest

from syntf.core import entropy
from syntf.privacy.guarantee import Guarantee
from syntf.release.folder import draft, write_release
from syntf.rows import build, draw, guarantee
from syntf.settings import Settings
from syntf.topics import plan
from syntf.topics.codebook import Codebook
from syntf.words.language import embedded_pack
from syntf.words.vectors import WordVectors

TEXTS = ["cat dog mouse", "", "car bus train road", "bread and cheese", "a song on the piano"]


@pytest.fixture(scope="module")
def small(toy_vectors, toy_codebook):
    """Take the toy vectors and the toy codebook for the embedded ones, and a pilot from 20 on."""
    vectors = WordVectors(toy_vectors.words, toy_vectors.matrix, pack=embedded_pack())
    book = replace(toy_codebook, origin="embedded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "PILOT_FROM", 20)
        patch.setattr(plan, "PILOT_SHARE", plan.Fraction(1, 2))
        patch.setattr(Codebook, "of_pack", classmethod(lambda cls, pack: book))
        patch.setattr(WordVectors, "of_pack", classmethod(lambda cls, pack: vectors))
        yield


@pytest.fixture(scope="module")
def make(small, tmp_path_factory):
    """A function that makes a release of some texts."""

    def make(number=40, *, preset=None, format="npz", source=entropy.system, keep=("topic",),
             most=None, shuffled=False, **settings):  # fmt: skip
        texts = pl.Series([TEXTS[i % len(TEXTS)] for i in range(number)], dtype=pl.String)
        rows = build(Settings.of(preset, **settings), [texts])
        drawn = draw(rows.scheme(number), rows.encode(texts, source), source)
        promised = guarantee(
            rows, drawn.schemes, documents=number, kept_columns=keep, shuffled=shuffled,
            documents_per_author=most, source=source,
        )  # fmt: skip
        kept = pl.DataFrame({name: [f"{i % 3}" for i in range(number)] for name in keep})
        folder = tmp_path_factory.mktemp("made") / "release"
        with draft(folder) as new:
            write_release(new, drawn, kept, promised, format=format)
        return folder

    return make


def stated(folder):
    return Guarantee.from_json((folder / "guarantee.json").read_text())


@pytest.fixture(scope="session")
def seal():
    """A function that changes fields of a guarantee and gives it right digests and checksum."""

    def seal(folder, **changed):
        from syntf.release.folder import sha256_of

        before = stated(folder)
        found = {path.name: f"sha256:{sha256_of(path)}" for path in sorted(folder.iterdir())}
        del found["guarantee.json"]
        after = replace(before, **{"files": found, **changed})
        (folder / "guarantee.json").write_text(after.as_json())
        return after

    return seal
