"""`syntf report`: the page of a release made again, with an evaluation if there is one."""

from functools import partial
from pathlib import Path

from rich.markup import escape

from syntf.cli import console
from syntf.cli.verify import check_paths, read_vectors
from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import Guarantee
from syntf.report.contents import Evaluated
from syntf.verification.report_page import again
from syntf.verification.result import FAILED
from syntf.verification.verify import verify


def run(
    folder: Path,
    out: Path,
    *,
    evaluation: Path | None,
    vectors: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Only of a release that is what it says: the numbers on the page are then verified."""
    check_paths(folder, vectors)
    if out.absolute().parent.resolve() == folder.resolve():
        raise SyntfError(f"{folder} is sealed, its own report included: choose another --out")
    if out.exists() and not force:
        raise SyntfError(f"{out} exists already: choose another --out, or add --force")
    with console.progress(quiet) as stages:
        read = None if vectors is None else partial(read_vectors, vectors, stages)
        found = verify(folder, vectors=read, stages=stages)
    guarantee, table, released = found.guarantee, found.table, found.released
    if not found.verified or guarantee is None or table is None or released is None:
        first = next(check for check in found.checks if check.status == FAILED)
        raise SyntfError(f"{folder} cannot be verified: {first.name}: {first.detail}")
    measured = None if evaluation is None else _evaluated(evaluation, guarantee)
    out.write_bytes(again(guarantee, *table, released, measured).encode())
    if not quiet:
        console.out.print(f"Report written to {escape(str(out))}", soft_wrap=True)


def _evaluated(folder: Path, guarantee: Guarantee) -> Evaluated:
    from syntf.evaluation.experiment.folder import read_evaluation  # imports scikit-learn
    from syntf.evaluation.experiment.results import Parameters

    return read_evaluation(folder, Parameters.of(guarantee))
