"""Draw releases word by word and score each on all cores."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from joblib import delayed

from syntf.core.progress import Stages, silent
from syntf.evaluation.experiment.document_runs import numbered
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.pipeline.anonymizer import Anonymizer
from syntf.text.documents import Documents

MAX_DRAWS_PER_PASS = 1 << 25
"""Words drawn in one pass over the mechanism's table; more words take more passes."""


class WordRelease(NamedTuple):
    """A release to draw and score: the name of its result, its words per document, its run.

    The run decides the random orders in which some attackers put words, not the draws.
    """

    name: Any
    length: int
    attackers: Sequence[str]
    run: int


def release_jobs(
    anonymizer: Anonymizer,
    documents: Documents,
    releases: Sequence[WordRelease],
    evaluator: Evaluator,
    stages: Stages = silent,
) -> Iterator[Any]:
    """Draw releases from one table and yield the work of scoring each, for a pool of processes.

    As many releases as `MAX_DRAWS_PER_PASS` allows are drawn in one pass over the table. They are
    independent, also if they differ in length.
    """
    for part in _passes([len(documents) * release.length for release in releases]):
        lengths = [release.length for release in releases[part]]
        drawn = anonymizer.draw_releases(documents, lengths, stages=stages)
        for release, counts in zip(releases[part], drawn, strict=True):
            yield delayed(numbered)(
                release.name, evaluator.score_counts, counts, anonymizer.vocabulary.outputs,
                release.attackers, release.run,
            )  # fmt: skip


def _passes(draws: Sequence[int]) -> Iterator[slice]:
    """Divide releases with these numbers of draws into passes of `MAX_DRAWS_PER_PASS` at most."""
    start, total = 0, 0
    for end, count in enumerate(draws):
        if end > start and total + count > MAX_DRAWS_PER_PASS:
            yield slice(start, end)
            start, total = end, 0
        total += count
    if start < len(draws):
        yield slice(start, len(draws))
