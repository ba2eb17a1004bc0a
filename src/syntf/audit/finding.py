"""What a check reports: what was tried, what came out, and what it would have caught."""

from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "weak", "failed"]


@dataclass
class Finding:
    """The report of one check.

    A check fails if anything it requires is not so. It is *weak* where nothing is wrong but
    these parameters leave it unable to tell: `limits` then says why.

    >>> finding = Finding("sums", "every row", "a row that sums to something else")
    >>> finding.require(1 + 1 == 2, "the sum of row 0 is off")
    >>> finding.outcome
    'passed'
    >>> finding.require(1 + 1 == 3, "the sum of row 1 is off")
    >>> finding.outcome, finding.faults
    ('failed', ['the sum of row 1 is off'])
    """

    check: str
    tried: str
    catches: str
    results: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        return "failed" if self.faults else "weak" if self.limits else "passed"

    def require(self, true: bool, fault: str) -> None:
        """Note the fault unless it is true; each once."""
        if not true and fault not in self.faults:
            self.faults.append(fault)

    def confirm(self, result: str) -> None:
        """Note a result that holds only if nothing is wrong so far."""
        if not self.faults:
            self.results.append(result)

    def as_dict(self) -> dict[str, Any]:
        return {"check": self.check, "outcome": self.outcome, **vars(self)}
