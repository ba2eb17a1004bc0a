"""`syntf report`: render the report of a release again, with an evaluation if there is one."""

from dataclasses import replace
from pathlib import Path

import click

from syntf.cli import output
from syntf.cli.commands.verify import (
    codebook_option,
    language_option,
    run_verification,
    vectors_option,
)
from syntf.cli.options import FILE, Command, option, quiet
from syntf.core.errors import SyntfError


@click.command("report", cls=Command)
@click.argument("folder", type=FILE, metavar="RELEASE")
@option("--out", type=FILE, required=True, metavar="FILE", help="The file to write.")
@option(
    "--evaluation",
    type=FILE,
    metavar="DIR",
    help="Add the scores of syntf evaluate with the same parameters, for the owner of the texts.",
)
@vectors_option
@codebook_option
@language_option
@option("--force", is_flag=True, help="Replace the file if it exists.")
@quiet
def command(
    folder: Path,
    out: Path,
    evaluation: Path | None,
    vectors: Path | None,
    codebook: Path | None,
    language: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Render report.html of a release again, from its other files.

    The release is verified first. With --evaluation the page also shows how well an analyst and
    attackers do, and the verdict is printed; such a page is for the owner of the texts only.

    \b
    Example:
      syntf report release --evaluation proof --out report.html
    """
    from syntf.report.page import render_report
    from syntf.verification.result import FAILED, NOT_CHECKED
    from syntf.verification.texts import render_report_again

    if out.absolute().parent.resolve() == folder.resolve():
        raise SyntfError(
            f"{folder} is sealed, its own report included: choose another folder for --out"
        )
    if out.exists() and not force:
        raise SyntfError(f"{out} exists already: choose another --out, or add --force")
    result = run_verification(folder, vectors, codebook, language, slow=True, quiet=quiet)
    guarantee, sparsity = result.guarantee, result.sparsity
    described = result.table or result.summary
    if not result.verified or guarantee is None or sparsity is None or described is None:
        first = [*result.with_status(FAILED), *result.with_status(NOT_CHECKED)][0]
        raise SyntfError(f"{folder} could not be verified: {first.name}: {first.detail}")
    scores = None
    if evaluation is not None:  # scikit-learn is imported only here
        from syntf.evaluation.experiment.folder import read_evaluation
        from syntf.evaluation.experiment.results import Parameters
        from syntf.evaluation.tasks.tables import read_tasks

        scores = read_evaluation(evaluation, Parameters.of(guarantee))
        scores = replace(scores, tasks=read_tasks(evaluation))
    if isinstance(described, tuple):
        page = render_report_again(guarantee, *described, sparsity, scores)
    else:
        page = render_report(guarantee, described, sparsity, scores)
    out.write_bytes(page.encode())
    if not quiet:
        if scores is not None:
            from syntf.cli import evaluation_tables
            from syntf.report.verdict import judge

            evaluation_tables.print_heading([])
            promised = guarantee.loss_per_document if guarantee.private else None
            evaluation_tables.print_verdict(judge(scores, promised))
        output.say(f"Report written to {output.escape(out)}", wrap=False)
