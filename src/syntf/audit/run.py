"""Run all checks on one program; a failed check does not stop the others."""

from collections.abc import Callable, Iterator

from syntf.audit.distinguisher import check_distinguisher
from syntf.audit.documents import audit_documents
from syntf.audit.draws import check_draws
from syntf.audit.guarantee import check_guarantee
from syntf.audit.release import check_release
from syntf.audit.replay import check_replay
from syntf.audit.result import CheckResult
from syntf.audit.sampler import check_sampler
from syntf.audit.table import Measured, check_table
from syntf.audit.vocabulary import check_vocabulary
from syntf.core.progress import Stages, silent
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer

DRAWS = 2_000_000
QUICK_DRAWS = 100_000


def audit(
    subject: Anonymizer | DocumentAnonymizer,
    *,
    draws: int | None = None,
    quick: bool = False,
    stages: Stages = silent,
) -> Iterator[CheckResult]:
    """Audit a program that is ready to draw. No texts of the user are needed.

    Parameters
    ----------
    subject : the anonymizer that `syntf anonymize` would use, or a replacement under test.
    draws : number of words drawn from each row, in the checks that count draws.
    quick : check a sample of rows, draw less, and do not compute the table again.
    stages : reports progress.

    Yields
    ------
    The result of each check as soon as it is done. A check that raises an error has failed.

    Examples
    --------
    >>> from syntf.pipeline.settings import Settings
    >>> words = ["cat", "dog", "car", "train", "bus"]
    >>> subject = Anonymizer.build(Settings(vocabulary=words, epsilon=4.0, length=8))
    >>> {result.check: result.outcome for result in audit(subject, quick=True)}["table"]
    'passed'
    """
    count = draws or (QUICK_DRAWS if quick else DRAWS)
    if isinstance(subject, DocumentAnonymizer):
        yield from audit_documents(subject, draws=count, quick=quick, stages=stages)
        return
    mechanism = subject.mechanism
    empty_row = mechanism.shape[0] - 1
    result, measured = _measure(subject, quick, stages)
    yield result
    words = [row for row in (measured.high, measured.low) if row != empty_row]
    words.append(measured.rows[(len(measured.rows) - 1) // 2])
    rows = [*dict.fromkeys(words), empty_row]
    checks: dict[str, Callable[[], CheckResult]] = {
        "sampler": lambda: check_sampler(mechanism, rows, stages=stages),
        "draws": lambda: check_draws(mechanism, rows, count, stages=stages),
        "replay": lambda: check_replay(subject, quick=quick),
        "vocabulary": lambda: check_vocabulary(subject),
        "distinguisher": lambda: check_distinguisher(subject, measured, count, stages=stages),
        "guarantee": lambda: check_guarantee(subject, measured, quick=quick, stages=stages),
        "release": lambda: check_release(subject, quick=quick, stages=stages),
    }
    for name, check in checks.items():
        yield _run(name, check)


def _measure(subject: Anonymizer, quick: bool, stages: Stages) -> tuple[CheckResult, Measured]:
    """Check the table. If that raises an error, return rows that the other checks can use."""
    found: list[Measured] = []

    def check() -> CheckResult:
        result, measured = check_table(subject.mechanism, quick=quick, stages=stages)
        found.append(measured)
        return result

    result = _run("table", check)
    rows = range(subject.mechanism.shape[0])
    return result, found[0] if found else Measured(rows, False, None, 0, rows[-1], 0)


def _run(name: str, check: Callable[[], CheckResult]) -> CheckResult:
    try:
        return check()
    except Exception as error:  # whatever stopped it, the check did not pass
        broken = CheckResult(name, "The check stopped with an error.", "")
        broken.faults.append(f"{type(error).__name__}: {error}")
        return broken
