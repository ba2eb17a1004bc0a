"""The result of one check of the audit."""

from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "weak", "failed"]


@dataclass
class CheckResult:
    """What one check tried, what it found and what it would have caught.

    A check *failed* if there is a fault. It is *weak* if there is no fault, but these parameters
    do not allow it to tell; `limits` says why.

    >>> result = CheckResult("sums", "every row", "a row with another sum")
    >>> result.require(1 + 1 == 2, "the sum of row 0 is wrong")
    >>> result.outcome
    'passed'
    >>> result.require(1 + 1 == 3, "the sum of row 1 is wrong")
    >>> result.outcome, result.faults
    ('failed', ['the sum of row 1 is wrong'])
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

    def require(self, condition: bool, fault: str) -> None:
        """Add the fault unless the condition holds; each fault only once."""
        if not condition and fault not in self.faults:
            self.faults.append(fault)

    def confirm(self, result: str) -> None:
        """Add a result that holds only if there is no fault so far."""
        if not self.faults:
            self.results.append(result)

    def as_dict(self) -> dict[str, Any]:
        return {"check": self.check, "outcome": self.outcome, **vars(self)}
