"""All checks on one program, each reported, whatever becomes of the others."""

from collections.abc import Callable, Iterator

from syntf.audit.distinguisher import distinguisher
from syntf.audit.draws import draws as drawing
from syntf.audit.finding import Finding
from syntf.audit.promise import promise
from syntf.audit.replay import replay
from syntf.audit.sampler import sampler
from syntf.audit.table import Measured, table
from syntf.audit.vocabulary import vocabulary
from syntf.core.progress import Stages, silent
from syntf.pipeline.anonymizer import Anonymizer

DRAWS = 2_000_000
QUICK = 100_000


def audit(
    subject: Anonymizer,
    *,
    draws: int | None = None,
    quick: bool = False,
    stages: Stages = silent,
) -> Iterator[Finding]:
    """Examine a program that is ready to draw; its texts, if it has any, are not needed.

    Parameters
    ----------
    subject : what `syntf anonymize` would draw with, or something that stands in for it.
    draws : words drawn from each row in the checks that count draws.
    quick : look at a sample of rows, draw less, do not make the table again.
    stages : hears of progress.

    Yields
    ------
    A finding for each check, as it is done. A check that breaks off has failed.

    Examples
    --------
    >>> from syntf.pipeline.settings import Settings
    >>> words = ["cat", "dog", "car", "train", "bus"]
    >>> subject = Anonymizer.build(Settings(vocabulary=words, epsilon=4.0, length=8))
    >>> {finding.check: finding.outcome for finding in audit(subject, quick=True)}["table"]
    'passed'
    """
    count = draws or (QUICK if quick else DRAWS)
    mechanism = subject.mechanism
    empty = mechanism.shape[0] - 1
    finding, measured = _measured(subject, quick, stages)
    yield finding
    words = [row for row in (measured.high, measured.low) if row != empty]
    words.append(measured.rows[(len(measured.rows) - 1) // 2])
    rows = [*dict.fromkeys(words), empty]
    checks: dict[str, Callable[[], Finding]] = {
        "sampler": lambda: sampler(mechanism, rows, stages=stages),
        "draws": lambda: drawing(mechanism, rows, count, stages=stages),
        "replay": lambda: replay(subject, quick=quick),
        "vocabulary": lambda: vocabulary(subject),
        "distinguisher": lambda: distinguisher(subject, measured, count, stages=stages),
        "guarantee": lambda: promise(subject, measured, quick=quick, stages=stages),
    }
    for name, check in checks.items():
        yield _reported(name, check)


def _measured(subject: Anonymizer, quick: bool, stages: Stages) -> tuple[Finding, Measured]:
    """The finding on the table; if none can be measured, rows that the other checks can use."""
    found: list[Measured] = []

    def check() -> Finding:
        finding, measured = table(subject.mechanism, quick=quick, stages=stages)
        found.append(measured)
        return finding

    finding = _reported("table", check)
    rows = range(subject.mechanism.shape[0])
    return finding, found[0] if found else Measured(rows, False, None, 0, rows[-1], 0)


def _reported(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # whatever stopped it, the check did not pass
        broken = Finding(name, "The check broke off.", "")
        broken.faults.append(f"{type(error).__name__}: {error}")
        return broken
