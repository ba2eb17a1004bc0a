"""`syntf audit`: test whether this installation keeps its guarantee."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from syntf import __version__
from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import as_json, no_progress, option, setting_options, settings_from

if TYPE_CHECKING:
    from syntf.audit import CheckResult
    from syntf.privacy.guarantee import Guarantee

STYLES = {"passed": "green", "weak": "yellow", "failed": "bold red"}


@click.command("audit", cls=ConfiguredCommand)
@option("--quick", is_flag=True, help="Check a sample of rows with fewer draws: seconds.")
@option(
    "--samples",
    type=click.IntRange(min=1000),
    metavar="N",
    help="Words or answers drawn where draws are counted. [default: 2000000; 100000 with --quick]",
)
@setting_options("preset", "document_loss", "codebook", "encoder", "pilot")
@setting_options("length", "loss", "epsilon", "neighbours", "spelling", "language", "morphology")
@setting_options(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
@as_json
@no_progress
def command(quick: bool, samples: int | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Test whether this installation keeps the guarantee that it states.

    Takes the settings of syntf anonymize and needs no texts. The audit tries to break the
    guarantee at the mechanism, the sampler, real draws, very different documents and releases.
    It prints what was tried, what was found and what each check would have caught. The exit code
    is 1 if a check fails.

    \b
    Example:
      syntf audit --document-loss 10 --quick
    """
    from syntf.audit import audit
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.document import DocumentAnonymizer

    with output.progress(quiet) as stages:
        settings = settings_from(options)
        kind = DocumentAnonymizer if settings.unit == "document" else Anonymizer
        subject = kind.build(settings, stages=stages)
        results = list(audit(subject, draws=samples, quick=quick, stages=stages))
    if as_json:
        output.emit(_record(subject.guarantee(), results))
    else:
        _show(subject.guarantee(), results)
    return int(any(result.outcome == "failed" for result in results))


def _show(guarantee: "Guarantee", results: Sequence["CheckResult"]) -> None:
    """Print each check with what was tried, what was found and what it would have caught."""
    program = f"syntf {__version__}, {guarantee.mechanism}"
    if guarantee.unit == "document":
        output.say(f"{program}, a loss of {guarantee.loss_per_document:g} per document")
    else:
        output.say(
            f"{program}, ε = {guarantee.epsilon:g}, {guarantee.input_size:,} input words, "
            f"{guarantee.vocabulary_size:,} output words, {guarantee.length} words per document"
        )
    for result in results:
        outcome = f"[{STYLES[result.outcome]}]{result.outcome:>6}[/]"
        output.say(f"\n{outcome}  [bold]{result.check}[/]")
        rows = []
        for name, lines in (
            ("tried", [result.tried]),
            ("found", result.results),
            ("weak", result.limits),
            ("FAULT", result.faults[:5]),
            ("catches", [result.catches]),
        ):
            for number, line in enumerate(line for line in lines if line):
                rows.append([f" [dim]{'' if number else name}[/]", output.escape(line)])
        output.table(rows)
    checks = {
        outcome: [result.check for result in results if result.outcome == outcome]
        for outcome in STYLES
    }
    if checks["failed"]:
        verdict = f"FAILED: {', '.join(checks['failed'])}. Do not release with this program."
    elif checks["weak"]:
        weak = ", ".join(checks["weak"])
        verdict = f"No check failed; with these settings {weak} can find little."
    else:
        verdict = f"All {len(results)} checks passed."
    output.say(f"\n{verdict}")


def _record(guarantee: "Guarantee", results: Sequence["CheckResult"]) -> dict[str, Any]:
    return {
        "version": __version__,
        "passed": all(result.outcome != "failed" for result in results),
        "checks": [result.as_dict() for result in results],
        "guarantee": guarantee.as_dict(),
    }
