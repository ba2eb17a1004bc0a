"""Release a corpus as a whole, document by document, and score each release.

All documents are released together, as ``syntf anonymize`` releases a file: a pilot first, if there
are enough of them, and then the others. Analysts and attackers learn from the released training
documents and are tested on the released test documents of the same release.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from syntf.codebook.encoder import Encoded
from syntf.core.counts import matrix
from syntf.evaluation.experiment.evaluator import Evaluator, TaskScore
from syntf.evaluation.experiment.results import Parameters
from syntf.evaluation.informed import ReleasedEntries
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism

T = TypeVar("T")


def document_parameters(anonymizer: DocumentAnonymizer, documents: int) -> Parameters:
    """Return the parameters that results of such releases have, those of their guarantee."""
    return Parameters.of(anonymizer.guarantee(anonymizer.mechanism(documents)))


def score_document_releases(
    mechanism: DocumentMechanism,
    encoded: Encoded,
    runs: Sequence[int],
    evaluator: Evaluator,
    attackers: Sequence[str],
    pool: Parallel,
) -> Iterator[tuple[int, list[TaskScore]]]:
    """Draw a release for each run and score it; yields runs in the order in which they end."""

    def jobs() -> Iterator[Any]:
        for run in runs:
            drawn = mechanism.release(encoded)
            counts = matrix(mechanism.described(drawn)[0])
            yield delayed(numbered)(
                run, evaluator.score_counts, counts, mechanism.terms, attackers, run,
                ReleasedEntries.of(drawn),
            )  # fmt: skip

    yield from pool(jobs())


def numbered(
    number: T, function: Callable[..., Any], *arguments: Any, **options: Any
) -> tuple[T, Any]:
    """Call a function, and return its result with the number, or the name, of the call."""
    return number, function(*arguments, **options)
