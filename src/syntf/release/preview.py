"""What a release would be like: for the owner of the texts alone, before anything is charged."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from syntf.core import entropy
from syntf.core.exact import shown
from syntf.inputs.corpus import Corpus, Reading
from syntf.release import kept
from syntf.release.job import Documents, Paths
from syntf.rows import build, guarantee
from syntf.settings import Settings


def preview(
    inputs: Paths,
    *,
    text: str = "text",
    id: str | None = None,
    keep: Sequence[str] = (),
    shuffle: bool = False,
    settings: Settings,
    reading: Reading = Reading(),  # noqa: B008  (it is frozen)
    **others: Any,
) -> dict[str, Any]:
    """Read the whole input and say what a release of it would promise and show.

    others : options of :func:`~syntf.release.job.anonymize` that change nothing here.

    Returns
    -------
    Sentences and figures by name. They depend on the texts: keep them private.
    """
    columns = kept.columns_to_keep(text, id, keep)
    rows = build(settings)
    with closing(Corpus(inputs, text, columns, reading)) as corpus:
        documents = Documents.read(rows, corpus.batches(), text, entropy.system, corpus.size)
    scheme = rows.scheme(len(documents))
    promise = guarantee(rows, [scheme], documents=len(documents))
    weights = scheme.mechanism.weights(0)
    answers = f"{scheme.draws} for each document, of {scheme.mechanism.shape[1]:,} public ones"
    known = 1 - documents.unknown / len(documents)
    return {
        "documents": f"{len(documents):,}",
        "with a known word": f"{known:.1%}",
        "loss per document": f"{shown(promise.loss_per_document, 2)} at most",
        "answers": answers,
        "an answer is kept": f"in {int(weights.max()) / scheme.mechanism.total:.1%} of draws",
        "pilot": f"{scheme.pilot:,} documents" if scheme.pilot else "none",
        "kept columns": ", ".join(columns) or "none",
        "notices": "; ".join(
            [
                *corpus.notices, *documents.notices(),
                *kept.warnings(documents.columns.select(columns), id=id, shuffle=shuffle),
            ]
        ) or "none",
    }  # fmt: skip
