"""Draw several releases of a corpus in memory, measure each, and average."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntf import __version__
from syntf.core import entropy
from syntf.core.checks import count
from syntf.core.errors import SyntfError
from syntf.core.files import replacing
from syntf.core.progress import stage
from syntf.evaluate import measures
from syntf.evaluate.analysts import FEWEST_TESTED, authors, topics
from syntf.evaluate.corpus import UNKNOWN, Corpus
from syntf.evaluate.linkage import Holder, linkage
from syntf.evaluate.measures import Measure
from syntf.evaluate.release import Release, original, vectors_of
from syntf.privacy.guarantee import Guarantee
from syntf.rows import Rows, build, draw, guarantee, recorded
from syntf.settings import Settings

Metric = Callable[[Corpus, Release], list[Measure]]
METRICS: Sequence[Metric] = (topics, authors, linkage)
"""What is measured of every release. Each is a function of a corpus and a release alone."""

NOTE = "Measured on your texts, for you alone: no guarantee covers these figures."


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What was measured of releases of one corpus with some settings.

    measures : the means over all releases that were drawn, `runs` of them.
    guarantee, settings : what such a release promises, and the settings without names of files.
    documents, tested : how many documents there are, and how many of them were not learned from.
    columns, notices : the columns that were read, by their use, and sentences for the owner.
    """

    measures: Sequence[Measure]
    guarantee: Guarantee
    settings: Mapping[str, Any]
    documents: int
    tested: int
    runs: int
    columns: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[str] = ()

    def find(self, name: str) -> Measure | None:
        """Return the measure of this name; None if it was not measured."""
        return next((one for one in self.measures if one.name == name), None)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON types: the promise as registries of deployments have it."""
        promise = self.guarantee
        parts = ("mechanism", "answers", "draws")
        return {
            "note": NOTE,
            "syntf": __version__,
            "deployment": {
                "unit": "document",
                "adjacency": promise.adjacency,
                "model": {"rows": "local", "corpus": "central"}[promise.kind],
                "epsilon": promise.loss_per_document,
                "delta": promise.delta,
                "mechanism": [{n: getattr(one, n) for n in parts} for one in promise.composition],
                "private": promise.private,
                "caveats": list(promise.caveats),
            },
            **{name: getattr(self, name) for name in ("documents", "tested", "runs")},
            "settings": dict(self.settings),
            "columns": dict(self.columns),
            "measures": [one.as_dict() for one in self.measures],
            "notices": list(self.notices),
        }


def evaluate(
    corpus: Corpus, settings: Settings, *, runs: int = 5, metrics: Sequence[Metric] = METRICS,
    source: entropy.Source = entropy.system,
) -> Evaluation:  # fmt: skip
    """Measure releases of a corpus, of all documents together. Each run draws again.

    Analysts and attackers learn from released rows of the training documents, and are tested on
    rows of all others in the same release.
    """
    count("runs", runs)
    rows = build(settings, [corpus.texts])
    encoded = rows.encode(corpus.texts, source)
    scheme = rows.scheme(len(corpus))
    holder = Holder.of(corpus, rows, encoded, scheme)
    vectors = vectors_of(scheme.terms, settings)
    found = []
    with stage("measuring", runs + 1) as advance:
        for _ in range(runs):
            drawn = draw(scheme, encoded, source)
            counts = drawn.counts()
            release = Release.of_rows(corpus, counts, vectors, drawn=drawn, holder=holder)
            found.append([one for metric in metrics for one in metric(corpus, release)])
            advance(1)
        references = originals(corpus, rows)
        advance(1)
    keep, notices = scheme.mechanism.weights(0).max(), list(corpus.notices)
    if (corpus.authors != UNKNOWN).any() and measures.AUTHORS not in references:
        few = f"no two authors have {FEWEST_TESTED} documents to be tested on"
        notices.append(f"{few}, so nothing was measured about authors")
    return Evaluation(
        measures=[
            *(one.compared(measures.ORIGINAL, references) for one in measures.average(found)),
            Measure(name=measures.KEPT, value=float(keep) / scheme.mechanism.total),
            Measure(name=measures.UNKNOWN_TEXTS, value=float(rows.unknown(encoded).mean())),
        ],
        guarantee=guarantee(rows, drawn.schemes, documents=len(corpus)),
        settings=recorded(settings),
        documents=len(corpus),
        tested=int((~corpus.train).sum()),
        runs=runs,
        columns=corpus.columns,
        notices=notices,
    )


def originals(corpus: Corpus, rows: Rows) -> dict[str, float]:
    """Return the figures of the best analyst and attacker on the texts themselves: on words as they
    are written, or as the reader of a release counts them.
    """
    counts = rows.reader.counts(corpus.texts)
    used = np.unique(np.append(counts.indices, 0))
    vectors = vectors_of([rows.reader.words[column] for column in used.tolist()], rows.settings)
    read = Release.of_rows(corpus, counts[:, used], vectors)
    best: dict[str, float] = {}
    for release in (Release.of_rows(corpus, original(corpus)), read):
        for measure in (*topics(corpus, release), *authors(corpus, release)):
            best[measure.name] = max(measure.value, best.get(measure.name, 0.0))
    return best


def as_json(evaluation: Evaluation) -> str:
    """Return the text of ``evaluation.json``."""
    return json.dumps(evaluation.as_dict(), indent=1, ensure_ascii=False) + "\n"


def as_csv(evaluation: Evaluation) -> str:
    """Return the text of ``evaluation.csv``: a row for each measure."""
    records = []
    for one in evaluation.measures:
        low, high = one.interval or (None, None)
        figures = {"measure": one.name, "value": one.value, "low": low, "high": high}
        compared = {name: one.references.get(name) for name in (measures.ORIGINAL, measures.LABEL)}
        records.append({**figures, "chance": one.chance, **compared, "light": one.light})
    return pl.DataFrame(records, infer_schema_length=None).write_csv()


FILES = {"evaluation.json": as_json, "evaluation.csv": as_csv}
"""The files of an evaluation: the text of each is a function of it."""


def write(evaluation: Evaluation, folder: Path) -> None:
    """Write the files of an evaluation, which only their owner can read."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text_of in FILES.items():
        with replacing(folder / name, private=True) as file:
            file.write(text_of(evaluation).encode())


def check_folder(folder: Path) -> None:
    """Refuse to write an evaluation into a release."""
    if (folder / "guarantee.json").exists():
        raise SyntfError(
            f"{folder} is a release, and an evaluation must not be given away with one: name "
            "another folder"
        )
