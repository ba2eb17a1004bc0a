"""Compare releases of whole documents: a document influences others only through its own row.

Without a pilot, and for documents outside the pilot, nothing but the row of the changed document
may differ. A document of the pilot may change the rows of others, but only through the row that it
has released: if two texts lead to the same row, everything else must be the same, byte for byte.
"""

from dataclasses import dataclass
from fractions import Fraction

import polars as pl
import pytest
from machine import INPUTS, READ_COUNTS, SIZES, Machine
from one_machine import rows
from pairs import Outcome, check

from syntf.codebook import plan
from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.core import entropy
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import document_run
from syntf.releases.job import release
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader
from syntf.verification.guarantee_file import read_guarantee
from syntf.verification.verify import verify

PILOT_RULE = {
    (plan, "PILOT_FROM"): 3, (plan, "PILOT_SHARE"): Fraction(1, 2), (plan, "PILOT_MOST"): 3,
}  # fmt: skip
"""A pilot of half of the documents, three at most, from three documents on."""

SAMPLES = ({}, {(document_run, "SAMPLE"): 4}, {(document_run, "SAMPLE"): 3})
"""Sizes of the sample: with the small ones, the input is read a second time."""


@dataclass(frozen=True)
class Row:
    """All that a release says about one document."""

    kept: tuple
    pilot: bool
    prototypes: tuple
    labels: str
    counts: tuple


class DocumentMachine(Machine):
    """Makes releases of whole documents on one machine, with a small codebook."""

    def __init__(self, folder, vectors, codebook):
        self.folder, self.vectors, self.codebook = folder, vectors, codebook

    def run(self, path, sizes=0, *, loss=2.0, pilot=True, **options):
        """Make a release, and return what can be seen of it."""
        out = self.folder / "out"
        settings = Settings.from_preset(
            "document", document_loss=loss, pilot=pilot, vectors=self.vectors
        )
        with pytest.MonkeyPatch.context() as patch:
            self._patch(patch, sizes)
            release(
                path, out, force=True, insecure_seed=11, jobs=1, settings=settings,
                query=self._query, **options,
            )  # fmt: skip
        return self.outcome(out)

    def _patch(self, patch, sizes):
        for (module, constant), value in (SIZES[sizes] | SAMPLES[sizes] | PILOT_RULE).items():
            patch.setattr(module, constant, value)

        def build(settings, *, source=entropy.system, stages=None):
            reader = WordReader(Analyzer(), self.vectors.words)
            encoder = Encoder(self.codebook, self.vectors)
            return DocumentAnonymizer(settings, reader, encoder, source)

        patch.setattr(DocumentAnonymizer, "build", build)
        patch.setattr(Codebook, "embedded", classmethod(lambda cls: self.codebook))

    def outcome(self, out, status=0, output=""):
        """Read what can be seen of a release."""
        content = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
        constant = ("README.txt", "vocabulary.txt")
        frame = pl.concat(map(pl.read_parquet, sorted(out.glob("documents*.parquet"))))
        terms = content["vocabulary.txt"].decode().splitlines()
        counts = []
        for path in sorted(out.glob("vectors*")):
            counts += READ_COUNTS[path.suffix](path, terms).toarray().tolist()
        own = ("pilot", "prototypes", "labels")
        kept = frame.drop(own, strict=False)
        pilot = frame["pilot"] if "pilot" in frame.columns else [False] * frame.height
        seen = zip(
            kept.iter_rows(), pilot, frame["prototypes"], frame["labels"], counts, strict=True
        )
        return Outcome(
            status,
            output,
            {name: raw for name, raw in content.items() if name in constant},
            [Row(k, p, tuple(t), label, tuple(c)) for k, p, t, label, c in seen],
            {name: raw for name, raw in content.items() if name not in constant},
        )

    def verified(self, sizes):
        """Whether every file of the last release follows from its rows."""
        with pytest.MonkeyPatch.context() as patch:
            self._patch(patch, sizes)
            return verify(self.folder / "out", vectors=lambda: self.vectors)


def promises(outcome):
    """The guarantee without the digests of files."""
    record = read_guarantee(outcome.sealed["guarantee.json"]).guarantee.as_dict()
    return {name: value for name, value in record.items() if name not in ("files", "checksum")}


def check_documents(first, second, place):
    """Check that two outcomes differ only as far as the row of the changed document allows."""
    if not first.rows[place].pilot or first.rows[place] == second.rows[place]:
        check(first, second, place)
        assert promises(first) == promises(second)
        return
    assert (first.status, first.output, first.files) == (
        second.status, second.output, second.files,
    )  # fmt: skip
    assert first.sealed.keys() == second.sealed.keys()
    for one, (before, after) in enumerate(zip(first.rows, second.rows, strict=True)):
        assert (before.kept, before.pilot) == (after.kept, after.pilot)
        if before.pilot and one != place:
            assert before == after, "the pilot's rows depend on each other"
    pair = [promises(one) for one in (first, second)]
    for record in pair:
        record["document"] = {**record["document"], "sharpened": ""}
    assert pair[0] == pair[1]


def compare(machine, name, tried, *, number, place, suffix, sizes, trust, **options):
    """Compare releases with each text tried to all earlier ones with the same row."""
    format = INPUTS[name]
    with_id = options.pop("with_id") or options["shuffle"]
    released = {
        "id": format.id if with_id else None,
        "keep": [format.topic] if options.pop("with_keep") else [],
        **options,
    }
    made, by_row = [], {}
    for text in ("cat", *tried):
        path = machine.write(name, rows(place, text, number), suffix)
        made.append(machine.run(path, sizes=sizes, **released))
    result = machine.verified(sizes)
    assert result.verified, result.checks
    at = place
    if released["shuffle"]:
        (at,) = (i for i, row in enumerate(made[0].rows) if f"d{place}" in str(row.kept))
    for outcome in made:
        check_documents(made[0], outcome, at)
        check_documents(by_row.setdefault(outcome.rows[at], outcome), outcome, at)
        trust["pairs compared by the non-interference suite"] += 1
    return made, at
