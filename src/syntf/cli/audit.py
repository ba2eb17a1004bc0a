"""`syntf audit`: is the promise true of the program that is installed here?"""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from syntf import __version__
from syntf.audit import Finding, audit
from syntf.cli import console
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Guarantee

MARKS = {"passed": "green", "weak": "yellow", "failed": "bold red"}


def run(
    settings: Settings, draws: int | None, *, quick: bool, as_json: bool, quiet: bool = False
) -> int:
    """The exit code: 1 if a check failed."""
    with console.progress(quiet) as stages:
        subject = Anonymizer.build(settings, stages=stages)
        findings = list(audit(subject, draws=draws, quick=quick, stages=stages))
    if as_json:
        console.emit(_record(subject.guarantee(), findings))
    else:
        show(subject.guarantee(), findings)
    return int(any(finding.outcome == "failed" for finding in findings))


def show(guarantee: Guarantee, findings: Sequence[Finding]) -> None:
    """Each check with what was tried, what came out and what it would have caught."""
    console.out.print(
        f"syntf {__version__}, {guarantee.mechanism}, ε = {guarantee.epsilon:g}, "
        f"{guarantee.input_size:,} inputs, {guarantee.vocabulary_size:,} outputs, "
        f"{guarantee.length} words"
    )
    for finding in findings:
        console.out.print(
            f"\n[{MARKS[finding.outcome]}]{finding.outcome:>6}[/]  [bold]{finding.check}[/]"
        )
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        for name, lines in (
            ("tried", [finding.tried]),
            ("found", finding.results),
            ("weak", finding.limits),
            ("FAULT", finding.faults[:5]),
            ("catches", [finding.catches]),
        ):
            for place, line in enumerate(line for line in lines if line):
                table.add_row("" if place else name, escape(line))
        console.show(table)
    names = {
        outcome: [finding.check for finding in findings if finding.outcome == outcome]
        for outcome in MARKS
    }
    if names["failed"]:
        end = f"FAILED: {', '.join(names['failed'])}. Release nothing with this program."
    elif names["weak"]:
        end = f"Nothing failed; with these parameters {', '.join(names['weak'])} can tell little."
    else:
        end = f"All {len(findings)} checks passed."
    console.out.print(f"\n{end}")


def _record(guarantee: Guarantee, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "version": __version__,
        "passed": all(finding.outcome != "failed" for finding in findings),
        "checks": [finding.as_dict() for finding in findings],
        "guarantee": guarantee.as_dict(),
    }
