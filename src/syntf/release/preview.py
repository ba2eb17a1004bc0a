"""What a release would be like: for the owner of the texts alone, before anything is charged."""

import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from syntf.core import entropy
from syntf.inputs.corpus import Corpus, Reading
from syntf.privacy.guarantee import Guarantee
from syntf.release import kept
from syntf.release.job import Documents, Paths, limited, open_ledger, prepare
from syntf.rows import guarantee
from syntf.settings import Settings

MEASURED = 1000
"""At most so many documents are drawn for, in memory, to estimate time and size."""
OTHER_FILES = 35_000
"""Bytes of the files that are about the same in every release, such as the report."""


@dataclass(frozen=True)
class Preview:
    """What a release would be like. All of it depends on the texts.

    guarantee : what it would promise.
    documents, left_out : how many documents it would have, and how many the limit on the loss of
        authors would leave out.
    known : the share of its texts that have a known word.
    draws, answers : how many answers each document would have, of how many public ones.
    kept : how likely an answer is the document's own; None if that depends on the word.
    pilot : how many documents would answer first.
    seconds, bytes : estimates, from some of the documents.
    notices : sentences for the owner.
    """

    guarantee: Guarantee
    documents: int
    left_out: int
    known: float
    draws: int
    answers: int
    kept: float | None
    pilot: int
    seconds: float
    bytes: int
    notices: Sequence[str]


def preview(
    inputs: Paths,
    *,
    text: str = "text",
    id: str | None = None,
    keep: Sequence[str] = (),
    shuffle: bool = False,
    author: str | None = None,
    author_loss: float | None = None,
    ledger: Any = None,
    settings: Settings,
    reading: Reading = Reading(),  # noqa: B008  (it is frozen)
    **others: Any,
) -> Preview:
    """Read the whole input and say what a release of it would promise and show.

    others : options of :func:`~syntf.release.job.anonymize` that change nothing here.
    """
    began = perf_counter()
    columns = kept.columns_to_keep(text, id, keep, author)
    open_ledger(ledger, author, author_loss)
    wanted = [*columns, *([author] if author else [])]
    source = entropy.system
    with closing(Corpus(inputs, text, wanted, reading)) as corpus:
        rows, batches = prepare(settings, corpus, text)
        documents = Documents.read(rows, batches, text, source, corpus.size)
    total = len(documents)
    documents, most = limited(documents, rows, author, author_loss, source)
    released = documents.kept(columns)
    kept.check_values(released)
    scheme = rows.scheme(len(documents))
    seconds = perf_counter() - began
    some = documents.encoded[:MEASURED]
    counts = scheme.counts(scheme.answer(some, source))
    share = len(documents) / len(some)
    seconds += share * (perf_counter() - began - seconds)
    chance = getattr(scheme.mechanism, "keep_probability", None)
    arrays = (counts.data, counts.indices)
    size = share * sum(len(zlib.compress(one.tobytes(), 1)) for one in arrays)
    size += OTHER_FILES + released.estimated_size() + sum(len(term) + 1 for term in scheme.terms)
    return Preview(
        guarantee=guarantee(
            rows, [scheme], documents=len(documents), kept_columns=columns, shuffled=shuffle,
            documents_per_author=most,
        ),
        documents=len(documents),
        left_out=total - len(documents),
        known=1 - documents.unknown.mean(),
        draws=scheme.draws,
        answers=scheme.mechanism.shape[1],
        kept=None if chance is None else float(chance),
        pilot=scheme.pilot,
        seconds=seconds,
        bytes=round(size),
        notices=[
            *corpus.notices, *documents.notices(),
            *kept.warnings(released, id=id, shuffle=shuffle),
        ],
    )  # fmt: skip
