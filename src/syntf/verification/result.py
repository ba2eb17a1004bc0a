"""What came of verifying a release: one finding a check, and a verdict."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from syntf.core.errors import SyntfError, TableError
from syntf.mechanism.base import Mechanism
from syntf.privacy.guarantee import Guarantee
from syntf.report.contents import Released
from syntf.report.page import NAME as REPORT
from syntf.verification.count_readers import UNREADABLE
from syntf.vocabulary.vocabulary import Vocabulary

Status = Literal["ok", "FAILED", "not checked", "on the sender's word"]
OK: Status = "ok"
FAILED: Status = "FAILED"
SKIPPED: Status = "not checked"
WORD: Status = "on the sender's word"

CHECKS = (
    "guarantee.json", "files", "caveats", "vocabulary.txt", "documents", "counts", "README.txt",
    "vectors", "public words", "table", "loss per word", "loss per document", REPORT,
)  # fmt: skip
"""All that are made, in the order they are reported in."""


@dataclass(frozen=True)
class Finding:
    """What a check that did not fail has to say, and what it leaves for those after it."""

    detail: str
    value: Any = True
    status: Status = OK


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and what was found."""

    name: str
    status: Status
    detail: str


@dataclass
class Report:
    """What came of all checks. `guarantee` is None unless its bytes are as syntf writes them.

    `table`, with the words of its rows, and `released` are what was derived and counted.
    """

    checks: list[Check] = field(default_factory=list)
    guarantee: Guarantee | None = None
    documents: int = 0
    table: tuple[Mechanism, Vocabulary] | None = None
    released: Released | None = None

    @property
    def verified(self) -> bool:
        """Whether each of the checks was made, and none failed."""
        passed = {check.name for check in self.checks if check.status in (OK, WORD)}
        return passed.issuperset(CHECKS)

    def attempt(self, name: str, look: Callable[..., Finding], *args: Any) -> Any:
        """Make a check and note what it found; returns what it leaves, None if it failed."""
        try:
            found = look(*args)
        except (SyntfError, TableError) as error:
            self.checks.append(Check(name, FAILED, str(error)))
            return None
        except UNREADABLE as error:
            self.checks.append(Check(name, FAILED, f"cannot be read ({type(error).__name__})"))
            return None
        self.checks.append(Check(name, found.status, found.detail))
        return found.value

    def complete(self) -> None:
        """Name the checks that could not be made, and put all in order."""
        made = {check.name for check in self.checks}
        left = [name for name in CHECKS if name not in made]
        self.checks += [Check(name, SKIPPED, "because of what failed") for name in left]
        self.checks.sort(key=lambda check: CHECKS.index(check.name))


def plain(value: Any) -> str:
    """A value as one line that can do nothing to a terminal.

    >>> plain({"idf": "public"}), plain([]), plain(False), plain("a\\x1b[2Jb")
    ('idf public', 'nothing', 'no', 'a?[2Jb')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{key} {text}" for key, text in value.items()]
    if isinstance(value, list):
        value = ", ".join(value) or "nothing"
    return "".join(letter if letter.isprintable() else "?" for letter in str(value))
