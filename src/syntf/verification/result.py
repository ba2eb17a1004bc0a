"""The result of verifying a release: one status for each check, and a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from syntf.core.errors import SyntfError, TableError, is_panic
from syntf.core.release_names import CARD_FILE
from syntf.mechanism.base import Mechanism
from syntf.privacy.guarantee import Guarantee
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import Sparsity
from syntf.report.page import REPORT_FILE
from syntf.vocabulary.vocabulary import Vocabulary

Status = Literal["ok", "FAILED", "not checked", "unverifiable"]
OK: Status = "ok"
FAILED: Status = "FAILED"
NOT_CHECKED: Status = "not checked"
UNVERIFIABLE: Status = "unverifiable"
"""Nothing in a release shows whether the sender's statement is true."""

CHECKS = (
    "guarantee.json", "files", "consistency", "vocabulary.txt", "documents", "counts",
    "README.txt", CARD_FILE, "vectors", "public words", "table", "loss per word",
    "loss per document", "plausibility", REPORT_FILE,
)  # fmt: skip
"""All checks of a release of the words unit, in the order of the output."""

DOCUMENT_CHECKS = (
    "guarantee.json", "files", "consistency", "vocabulary.txt", "documents", "README.txt",
    CARD_FILE, "vectors", "codebook", "public words", "plan", "lists", "loss per document",
    "counts", "plausibility", "prototypes.csv", REPORT_FILE,
)  # fmt: skip
"""All checks of a release of the document unit, in the order of the output."""


class NotCheckedError(SyntfError):
    """A check was not made: the version is unknown, or the check would take too long."""


@dataclass(frozen=True)
class Finding:
    """The outcome of a check that did not fail, with a value that later checks use."""

    detail: str
    value: Any = True
    status: Status = OK


@dataclass(frozen=True)
class Check:
    """One line of the result."""

    name: str
    status: Status
    detail: str


@dataclass
class VerificationResult:
    """The outcome of all checks, and what they derived from the release.

    Attributes
    ----------
    guarantee : None unless ``guarantee.json`` is well formed.
    checksum : the checksum that it states.
    documents : the number of documents.
    table : the mechanism derived again, and the words of its rows; None in the document unit.
    summary : what the report of a release of the document unit shows, computed again.
    sparsity : of the released counts.
    uncompared : files whose encoding this program cannot repeat.
    """

    checks: list[Check] = field(default_factory=list)
    guarantee: Guarantee | None = None
    checksum: str | None = None
    documents: int = 0
    table: tuple[Mechanism, Vocabulary] | None = None
    summary: DocumentSummary | None = None
    sparsity: Sparsity | None = None
    uncompared: list[str] = field(default_factory=list)

    @property
    def expected(self) -> Sequence[str]:
        """The names of all checks that a release of this unit needs."""
        is_document = self.guarantee is not None and self.guarantee.unit == "document"
        checks = DOCUMENT_CHECKS if is_document else CHECKS
        if self.guarantee is None or CARD_FILE in self.guarantee.files:
            return checks
        return [name for name in checks if name != CARD_FILE]

    @property
    def verified(self) -> bool:
        """Whether every check was made and none failed."""
        passed = {check.name for check in self.checks if check.status in (OK, UNVERIFIABLE)}
        return passed.issuperset(self.expected)

    @property
    def verdict(self) -> Literal["verified", "failed", "not checked"]:
        """The outcome in one word; "not checked" if no check failed but some were not made."""
        if self.verified:
            return "verified"
        return "failed" if self.with_status(FAILED) else "not checked"

    def with_status(self, status: Status) -> list[Check]:
        """Return the checks that have a status."""
        return [check for check in self.checks if check.status == status]

    def attempt(self, name: str, make_check: Callable[..., Finding], *arguments: Any) -> Any:
        """Make one check and record it; several threads may do so at once.

        Returns the value of its finding, or None if it failed.
        """
        try:
            finding = make_check(*arguments)
        except NotCheckedError as error:
            finding = Finding(str(error), None, NOT_CHECKED)
        except (SyntfError, TableError) as error:
            finding = Finding(str(error), None, FAILED)
        except BaseException as error:
            if not isinstance(error, _unreadable()) and not is_panic(error):
                raise
            finding = Finding(f"cannot be read ({type(error).__name__})", None, FAILED)
        self.checks.append(Check(name, finding.status, finding.detail))
        return finding.value

    def complete(self) -> None:
        """Record the checks that were not made, and put all checks in order."""
        made = {check.name for check in self.checks}
        reason = "needs a check that failed or was not made"
        missing = [name for name in self.expected if name not in made]
        self.checks += [Check(name, NOT_CHECKED, reason) for name in missing]
        self.checks.sort(key=lambda check: self.expected.index(check.name))


def _unreadable() -> tuple[type[BaseException], ...]:
    """Return what libraries raise on bytes that are not what they expect."""
    from syntf.verification.counts_file import unreadable  # not needed by most commands

    return unreadable()


def one_line(value: Any) -> str:
    """Return a value as one line that cannot control a terminal.

    >>> one_line({"idf": "public"}), one_line([]), one_line(False), one_line("a\\x1b[2Jb")
    ('idf public', 'nothing', 'no', 'a?[2Jb')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{key} {text}" for key, text in value.items()]
    if isinstance(value, list):
        value = ", ".join(value) or "nothing"
    return "".join(letter if letter.isprintable() else "?" for letter in str(value))
