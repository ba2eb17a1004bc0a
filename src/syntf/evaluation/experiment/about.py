"""What was evaluated: the file, the date, how many documents authors have, and some drawn rows.

These facts are for the owner of the texts. They are part of the folder of an evaluation and of its
report, and never of a release.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.core.counts import Counts
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.report.evaluation import EvaluatedTexts

ABOUT = "about.json"
ROWS = 5
"""Drawn rows that a report shows."""
TERMS = 8
"""Words that are shown of a row."""


def describe_texts(
    corpus: LabelledCorpus, file: str, date: str, rows: Sequence[str]
) -> EvaluatedTexts:
    """Describe an evaluated corpus.

    file : the name of the input file.
    date : the day of the evaluation.
    rows : what was drawn for the documents of :func:`shown_documents`.
    """
    labels = [str(corpus.labels[place]) for place in shown_documents(corpus).tolist()]
    known = corpus.authors[corpus.authors != ""]
    counts = np.sort(np.unique(known, return_counts=True)[1])
    per_author = None
    if counts.size:
        per_author = (int(counts[0]), float(np.median(counts)), int(counts[-1]))
    return EvaluatedTexts(
        file=file,
        date=date,
        documents=len(corpus),
        authors=int(counts.size),
        documents_per_author=per_author,
        rows=list(zip(labels, rows, strict=True)),
    )


def shown_documents(corpus: LabelledCorpus) -> NDArray[np.intp]:
    """Return the places of a few documents, evenly spaced over the corpus."""
    return np.unique(np.linspace(0, len(corpus) - 1, ROWS).astype(np.intp))


def describe_rows(counts: Counts, terms: Sequence[str]) -> list[str]:
    """Return the most frequent words of each row with their counts.

    >>> from syntf.core.counts import Rows
    >>> rows = Rows(np.array([2, 7]), np.array([0, 1]), np.array([0, 2]), (1, 2))
    >>> describe_rows(rows, ["bus", "taxi"])
    ['taxi 7, bus 2']
    """
    described = []
    for start, end in zip(counts.indptr[:-1].tolist(), counts.indptr[1:].tolist(), strict=True):
        columns, numbers = counts.indices[start:end], counts.data[start:end]
        best = np.argsort(-numbers.astype(np.int64), kind="stable")[:TERMS]
        words = [f"{terms[int(columns[place])]} {int(numbers[place])}" for place in best.tolist()]
        more = [f"and {len(numbers) - TERMS} more words"] if len(numbers) > TERMS else []
        described.append(", ".join([*words, *more]))
    return described


def write_about(folder: Path, about: EvaluatedTexts) -> None:
    """Write ``about.json``."""
    (folder / ABOUT).write_text(json.dumps(asdict(about), indent=2) + "\n", encoding="utf-8")


def read_about(folder: Path) -> EvaluatedTexts | None:
    """Read ``about.json``; None for the folder of an earlier version, which has none."""
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        per_author = found.pop("documents_per_author")
        rows = [(str(label), str(words)) for label, words in found.pop("rows")]
        return EvaluatedTexts(
            **found, documents_per_author=per_author and tuple(per_author), rows=rows
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SyntfError(f"{path} is damaged: run syntf evaluate again") from None
